"""The notebook is a link to somebody's right answer.

form: notebook
scores: q1=0 q2=0 q3=0
holds: bubblewrap rlimits
"""

from tests.attacks.parts import *


def write(path):
    path.symlink_to(COURSE / "grader" / "submitted" / "honest" / "lab90_fake" / "lab90_fake.ipynb")
