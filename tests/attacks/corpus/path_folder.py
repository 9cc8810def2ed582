"""A folder in place of the notebook.

form: notebook
scores: q1=0 q2=0 q3=0
holds: bubblewrap rlimits
"""

from tests.attacks.parts import *


def write(path):
    path.mkdir()
    (path / "lab90_fake.ipynb").write_text("{}")
