"""The checks' outputs are those of a full score, and the metadata holds verdicts.

form: notebook
scores: q1=0 q2=0 q3=0
holds: bubblewrap rlimits
"""

from tests.attacks.parts import *


def write(path):
    book = released()
    for cell in book.cells:
        if cell.cell_type == "code":
            cell.outputs = [new_output("execute_result", {"text/plain": "5"}, execution_count=1)]
            cell.execution_count = 1
    verdict = {"grade_id": "lab90-q1", "max_points": 5, "results": [], "level": "bubblewrap", "reason": ""}
    book.metadata["verdicts"] = book.metadata["inference_kit"] = {"verdicts": [verdict], "flags": [], "program": []}
    book.metadata["grading"] = book.metadata["inference_kit"]
    save(path, book)
