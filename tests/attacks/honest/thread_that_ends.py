"""A thread that is waited for.

scores: q1=5 q2=3 q3=2
holds: bubblewrap rlimits
cells: q1
"""

import threading


def square(x):
    found = []
    thread = threading.Thread(target=lambda: found.append(x * x))
    thread.start()
    thread.join()
    return found[0]
