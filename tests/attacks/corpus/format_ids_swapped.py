"""The answer cell of question 1 has the grade id of the check of question 2.

form: notebook
scores: q1=0 q2=0 q3=0
holds: bubblewrap rlimits
"""

from tests.attacks.parts import *


def write(path):
    book = submission(q1="def square(x):\n    return 0", q2="pass", q3="pass")
    find_cell(book, "lab90-q2").metadata.nbgrader["grade_id"] = "lab90-q1-answer-2"
    find_cell(book, "lab90-q1-answer").metadata.nbgrader["grade_id"] = "lab90-q2"
    save(path, book)
