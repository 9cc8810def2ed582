"""The function interrupts whoever called it.

scores: q1=0 q2=3 q3=2
holds: bubblewrap rlimits
"""

def square(x):
    raise KeyboardInterrupt
