"""The checks are gone.

form: notebook
scores: q1=0 q2=0 q3=0
holds: bubblewrap rlimits
"""

from tests.attacks.parts import *


def write(path):
    book = released()
    book.cells = [cell for cell in book.cells if not cell.source.startswith("check(")]
    save(path, book)
