"""Line ends of another system.

scores: q1=5 q2=3 q3=2
holds: bubblewrap rlimits
cells: q1
"""

def square(x):
    y = x * x
    return y
