"""The check cells do something else, and say 100.

form: notebook
scores: q1=0 q2=0 q3=0
holds: bubblewrap rlimits
"""

from tests.attacks.parts import *


def write(path):
    book = released()
    for cell in book.cells:
        if cell.source.startswith("check("):
            cell.source = "100"
    save(path, book)
