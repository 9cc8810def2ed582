"""A file that is no notebook.

form: notebook
scores: q1=0 q2=0 q3=0
holds: bubblewrap rlimits
"""

from tests.attacks.parts import *


def write(path):
    path.write_text("#!/bin/sh\necho 5\n")
