"""A hundred thousand cells.

form: notebook
scores: q1=0 q2=0 q3=0
holds: bubblewrap rlimits
"""

from tests.attacks.parts import *


def write(path):
    book = json.loads(json.dumps(released()))
    book["cells"] += [{"cell_type": "code", "id": f"c{n}", "metadata": {}, "outputs": [], "execution_count": None,
                       "source": ""} for n in range(100_000)]
    path.write_text(json.dumps(book))
