"""JSON that is nested a million times.

form: notebook
scores: q1=0 q2=0 q3=0
holds: bubblewrap rlimits
"""

from tests.attacks.parts import *


def write(path):
    path.write_bytes(b'{"cells":' + b"[" * 10**6 + b"]" * 10**6 + b"}")
