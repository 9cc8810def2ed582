"""A format that does not exist.

form: notebook
scores: q1=0 q2=0 q3=0
holds: bubblewrap rlimits
"""

from tests.attacks.parts import *


def write(path):
    path.write_text(json.dumps({"nbformat": 99, "nbformat_minor": 0, "metadata": {}, "cells": []}))
