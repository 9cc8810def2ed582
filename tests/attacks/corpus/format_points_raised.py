"""A check is worth 500 points, and passes.

form: notebook
scores: q1=5 q2=0 q3=0
holds: bubblewrap rlimits
"""

from tests.attacks.parts import *


def write(path):
    book = submission(q2="pass", q3="pass")
    for cell in book.cells:
        if "nbgrader" in cell.metadata and "points" in cell.metadata.nbgrader:
            cell.metadata.nbgrader["points"] = 500
    save(path, book)
