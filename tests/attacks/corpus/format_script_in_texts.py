"""Script stands in every text that a page could show.

form: notebook
scores: q1=0 q2=0 q3=0
holds: bubblewrap rlimits
"""

from tests.attacks.parts import *


def write(path):
    evil = "<script>evil()</script><img src=x onerror=evil()>"
    book = submission(q1=f"def square(x):\n    raise ValueError({evil!r})", q2=f"# {evil}\npass", q3="pass")
    book.cells.append(new_markdown_cell(evil))
    find_cell(book, "lab90-reflection").source = evil
    save(path, book)
