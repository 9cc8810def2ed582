"""Work is left for the end of the process.

scores: q1=0 q2=3 q3=2
holds: bubblewrap rlimits
"""

import atexit
import os


def leave(*args):
    os.execv("/bin/sleep", ["@SURVIVOR@", "60"])


atexit.register(leave)


def square(x):
    return 0
