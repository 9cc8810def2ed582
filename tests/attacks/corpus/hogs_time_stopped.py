"""The process stops itself.

scores: q1=0 q2=3 q3=2
holds: bubblewrap rlimits
"""

import os
import signal


def square(x):
    os.kill(os.getpid(), signal.SIGSTOP)
