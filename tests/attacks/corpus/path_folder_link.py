"""The folder of the submission holds links to the course, to be copied.

form: notebook
scores: q1=0 q2=0 q3=0
holds: bubblewrap rlimits
"""

from tests.attacks.parts import *


def write(path):
    save(path, released())
    (path.parent / "solutions").symlink_to(COURSE / "solutions")
    (path.parent / "gradebook.db").symlink_to(COURSE / "grader" / "gradebook.db")
    (path.parent / "key.txt").symlink_to(COURSE / "grader" / "verdicts.key")
