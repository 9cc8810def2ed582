"""The marker of question 2 stands above the answer of question 1: it counts once, for question 1.

form: notebook
scores: q1=5 q2=0 q3=0
holds: bubblewrap rlimits
"""

from tests.attacks.parts import *


def write(path):
    book = released()
    cell = find_cell(book, "lab90-q1-answer")
    cell.source = "# lab90/q2 — keep this line\ndef square(x):\n    return x * x\n"
    save(path, book)
