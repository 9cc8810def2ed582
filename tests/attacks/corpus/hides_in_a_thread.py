"""A thread goes on and changes the answers of later questions.

scores: q1=0 q2=3 q3=2
holds: bubblewrap rlimits
"""

import threading
import time


def work():
    while True:
        for name in ("Counter", "inverse"):
            globals()[name] = lambda *args: 0
        time.sleep(0.001)


def square(x):
    threading.Thread(target=work, daemon=True).start()
    return 0
