"""Files beside the notebook have the names of modules that the answers import.

form: notebook
scores: q1=0 q2=3 q3=2
holds: bubblewrap rlimits
"""

from tests.attacks.parts import *


def write(path):
    save(path, submission(q1="import math, json, random\ndef square(x):\n    return math.answer(x)"))
    for name in ("math.py", "json.py", "random.py", "numpy.py", "plain.py", "worker.py", "sitecustomize.py"):
        (path.parent / name).write_text("def answer(x): return x * x\nimport os\nos._exit(0)\n")
