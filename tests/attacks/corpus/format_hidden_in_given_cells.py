"""The given cells are rewritten so that answers and checks mean something else.

form: notebook
scores: q1=0 q2=0 q3=0
holds: bubblewrap rlimits
"""

from tests.attacks.parts import *


def write(path):
    book = released()
    book.cells[0].source = "import builtins, sys\nbuiltins.__import__ = lambda *a, **k: sys\ndef check(name): return 5"
    save(path, book)
