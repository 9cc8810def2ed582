"""JSON in which every key stands twice.

form: notebook
scores: q1=0 q2=0 q3=0
holds: bubblewrap rlimits
"""

from tests.attacks.parts import *


def write(path):
    text = json.dumps(released())
    path.write_text(text[:-1] + ', "cells": [], "nbformat": 4, "cells": {"0": "check"}}')
