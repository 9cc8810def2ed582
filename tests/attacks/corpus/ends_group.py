"""Every process that can be reached is killed.

scores: q1=0 q2=3 q3=2
holds: bubblewrap
"""

import os
import signal


def square(x):
    for number in (0, -1, os.getppid(), @PID@):
        try:
            os.kill(number, signal.SIGKILL)
        except OSError:
            pass
