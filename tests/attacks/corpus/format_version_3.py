"""An old format, with worksheets.

form: notebook
scores: q1=0 q2=0 q3=0
holds: bubblewrap rlimits
"""

from tests.attacks.parts import *


def write(path):
    cells = [{"cell_type": "code", "input": "def square(x):\n    return 0", "outputs": [{"output_type": "pyout", "text": "5"}]}]
    path.write_text(json.dumps({"nbformat": 3, "nbformat_minor": 0, "metadata": {}, "worksheets": [{"cells": cells}]}))
