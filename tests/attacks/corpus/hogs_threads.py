"""Ten thousand threads.

scores: q1=0 q2=3 q3=2
holds: bubblewrap rlimits
"""

import threading


def square(x):
    for _ in range(10_000):
        try:
            threading.Thread(target=threading.Event().wait, daemon=True).start()
        except RuntimeError:
            break
    return 0
