"""The check cells are called answers, so that their text is taken.

form: notebook
scores: q1=0 q2=0 q3=0
holds: bubblewrap rlimits
"""

from tests.attacks.parts import *


def write(path):
    book = released()
    for question in ("q1", "q2", "q3"):
        cell = find_cell(book, f"lab90-{question}")
        cell.metadata.nbgrader.update(solution=True, grade=True, locked=False)
        cell.source = "5"
    save(path, book)
