"""A file of many megabytes.

form: notebook
scores: q1=0 q2=0 q3=0
holds: bubblewrap rlimits
"""

from tests.attacks.parts import *


def write(path):
    book = released()
    book.cells.append(code("x = '" + "y" * (60 << 20) + "'"))
    save(path, book)
