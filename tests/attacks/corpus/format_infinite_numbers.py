"""Numbers that JSON does not have, in every place.

form: notebook
scores: q1=0 q2=0 q3=0
holds: bubblewrap rlimits
"""

from tests.attacks.parts import *


def write(path):
    text = json.dumps(released()).replace('"points": 5', '"points": Infinity').replace('"schema_version": 3', '"schema_version": NaN')
    path.write_text(text.replace('"nbformat_minor": 5', '"nbformat_minor": 1e999'))
