"""Cells with shell lines and other languages.

form: notebook
scores: q1=0 q2=0 q3=0
holds: bubblewrap rlimits
"""

from tests.attacks.parts import *


def write(path):
    book = released()
    for text in ("%%bash\ncat @COURSE@/solutions/*/checks.py", "!touch @COURSE@/made-by-shell", "%run @COURSE@/x.py",
                 "%%javascript\nalert(1)", "%load_ext autoreload", "%%html\n<script>evil()</script>"):
        book.cells.insert(1, code(text))
    save(path, book)
