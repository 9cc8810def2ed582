"""Names and comments in other scripts.

scores: q1=5 q2=3 q3=2
holds: bubblewrap rlimits
cells: q1
"""

# 二乗を返す
def квадрат(x):
    return x * x


square = квадрат
