"""Nothing answered, every cell tagged so that it is not run.

form: notebook
scores: q1=0 q2=0 q3=0
holds: bubblewrap rlimits
"""

from tests.attacks.parts import *


def write(path):
    book = released()
    for cell in book.cells:
        cell.metadata["tags"] = ["skip-execution"]
    save(path, book)
