"""Every cell has the markers of all questions, above nothing.

form: notebook
scores: q1=0 q2=0 q3=0
holds: bubblewrap rlimits
"""

from tests.attacks.parts import *


def write(path):
    book = released()
    for cell in book.cells:
        cell.source = "\n".join(marker(question) for question in ("q1", "q2", "q3")) + "\npass"
    save(path, book)
