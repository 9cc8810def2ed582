"""An endless loop.

scores: q1=0 q2=3 q3=2
holds: bubblewrap rlimits
"""

def square(x):
    while True:
        pass
