"""An endless loop in the cell itself.

scores: q1=0 q2=3 q3=2
holds: bubblewrap rlimits
"""

while True:
    pass
