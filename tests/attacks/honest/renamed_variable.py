"""Other names for parameters.

scores: q1=5 q2=3 q3=2
holds: bubblewrap rlimits
cells: q1
"""

def square(value_to_be_squared):
    return value_to_be_squared**2
