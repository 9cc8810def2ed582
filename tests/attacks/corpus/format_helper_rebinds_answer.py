"""A cell at the end replaces the answers by objects that equal everything.

form: notebook
scores: q1=0 q2=0 q3=0
holds: bubblewrap rlimits
"""

from tests.attacks.parts import *


def write(path):
    book = submission(q1="def square(x):\n    return 0", q2="pass", q3="pass")
    book.cells.append(code("class E:\n    def __eq__(self, o): return True\ndef square(x): return E()\nCounter = inverse = square"))
    save(path, book)
