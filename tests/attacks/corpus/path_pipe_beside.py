"""A named pipe and a socket beside the notebook, to be copied.

form: notebook
scores: q1=5 q2=3 q3=2
holds: bubblewrap rlimits
"""

import socket

from tests.attacks.parts import *


def write(path):
    save(path, submission())
    os.mkfifo(path.parent / "data.csv")
    here = os.getcwd()
    os.chdir(path.parent)  # the name of a socket must be short
    try:
        socket.socket(socket.AF_UNIX).bind("data.sock")
    finally:
        os.chdir(here)
