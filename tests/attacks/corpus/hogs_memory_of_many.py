"""Memory in many processes.

scores: q1=0 q2=3 q3=2
holds: bubblewrap
"""

import os


def square(x):
    for _ in range(40):
        if os.fork() == 0:
            kept = bytearray(500 << 20)
            while True:
                kept[0] = 1
    return 0
