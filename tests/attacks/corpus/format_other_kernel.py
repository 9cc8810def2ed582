"""The notebook asks for another kernel.

form: notebook
scores: q1=0 q2=0 q3=0
holds: bubblewrap rlimits
"""

from tests.attacks.parts import *


def write(path):
    book = submission(q1="pass", q2="pass", q3="pass")
    book.metadata["kernelspec"] = {"name": "bash", "display_name": "bash", "language": "bash"}
    book.metadata["language_info"] = {"name": "bash"}
    save(path, book)
