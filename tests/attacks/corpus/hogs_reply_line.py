"""A reply that never ends, written past the encoding.

scores: q1=0 q2=3 q3=2
holds: bubblewrap rlimits
"""

import os


def square(x):
    while True:
        for number in range(3, 64):
            try:
                os.write(number, b"x" * (1 << 16))
            except OSError:
                pass
