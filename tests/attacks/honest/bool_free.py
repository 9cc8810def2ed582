"""Works with a lambda.

scores: q1=5 q2=3 q3=2
holds: bubblewrap rlimits
cells: q1
"""

square = lambda x: x * x
