"""An endless loop that swallows every interrupt and ignores every signal.

scores: q1=0 q2=3 q3=2
holds: bubblewrap rlimits
"""

import signal

for number in range(1, 65):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass


def square(x):
    while True:
        try:
            while True:
                pass
        except BaseException:
            pass
