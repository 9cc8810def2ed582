"""A thread that never ends and does nothing.

scores: q1=5 q2=3 q3=2
holds: bubblewrap rlimits
cells: q1
"""

import threading

threading.Thread(target=threading.Event().wait, daemon=True).start()


def square(x):
    return x * x
