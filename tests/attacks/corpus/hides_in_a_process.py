"""A process of a session of its own goes on after the judging.

scores: q1=0 q2=3 q3=2
holds: bubblewrap
"""

import os


def square(x):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.execv("/bin/sleep", ["@SURVIVOR@", "60"])
        os._exit(0)
    return 0
