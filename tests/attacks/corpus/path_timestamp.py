"""A time of submission that is none.

form: notebook
scores: q1=5 q2=3 q3=2
holds: bubblewrap rlimits
"""

from tests.attacks.parts import *


def write(path):
    save(path, submission())
    (path.parent / "timestamp.txt").write_text("tomorrow; drop table grade")
