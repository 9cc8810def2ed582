"""Cells, sources and metadata of every wrong type.

form: notebook
scores: q1=0 q2=0 q3=0
holds: bubblewrap rlimits
"""

from tests.attacks.parts import *


def write(path):
    cells = [None, 5, [], {"cell_type": 7}, {"cell_type": "code", "source": {"a": 1}, "metadata": "x"},
             {"cell_type": "code", "source": ["a", 5, None], "metadata": {"nbgrader": []}, "id": {}}]
    path.write_text(json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": [], "cells": cells}))
