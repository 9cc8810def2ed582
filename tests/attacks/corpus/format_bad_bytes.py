"""Zero bytes, half characters and byte order marks.

form: notebook
scores: q1=0 q2=0 q3=0
holds: bubblewrap rlimits
"""

from tests.attacks.parts import *


def write(path):
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(released()).encode().replace(b"TODO", b"\x00\xff\xfe\xed\xa0\x80"))
