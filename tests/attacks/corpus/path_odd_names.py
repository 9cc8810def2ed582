"""Files beside the notebook have names with line ends, quotes and escapes.

form: notebook
scores: q1=0 q2=0 q3=0
holds: bubblewrap rlimits
"""

from tests.attacks.parts import *


def write(path):
    save(path, released())
    for name in ("a\nb.txt", "quote'\".txt", "\x1b[31m.txt", "-rf", "..ipynb", "checks.py"):
        (path.parent / name).write_text("x")
