"""Answers are raw cells and checks are prose.

form: notebook
scores: q1=0 q2=0 q3=0
holds: bubblewrap rlimits
"""

from tests.attacks.parts import *


def write(path):
    book = released()
    for cell in book.cells:
        cell["cell_type"] = "raw" if "answer" in cell.source else "markdown"
        cell.pop("outputs", None), cell.pop("execution_count", None)
    save(path, book)
