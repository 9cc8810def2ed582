"""A cell stops with an error whose text would be shown.

form: notebook
scores: q1=0 q2=3 q3=2
holds: bubblewrap rlimits
"""

from tests.attacks.parts import *


def write(path):
    save(path, submission(q1="raise RuntimeError('LEAK ' + str(globals()))"))
