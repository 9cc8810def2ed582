"""A list that holds itself.

scores: q1=0 q2=3 q3=2
holds: bubblewrap rlimits
"""

def square(x):
    result = []
    result.append(result)
    return result
