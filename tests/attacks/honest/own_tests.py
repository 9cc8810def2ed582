"""Tests itself in the cell.

scores: q1=5 q2=3 q3=2
holds: bubblewrap rlimits
cells: q1
"""

def square(x):
    return x * x


assert square(3) == 9
for n in range(5):
    assert square(n) == n**2
print('all good')
