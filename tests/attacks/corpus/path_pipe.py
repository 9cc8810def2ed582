"""A named pipe in place of the notebook: who opens it waits for ever.

form: notebook
scores: q1=0 q2=0 q3=0
holds: bubblewrap rlimits
"""

from tests.attacks.parts import *


def write(path):
    os.mkfifo(path)
