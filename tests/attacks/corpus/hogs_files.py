"""Every file descriptor.

scores: q1=0 q2=3 q3=2
holds: bubblewrap rlimits
"""

def square(x):
    kept = []
    while True:
        try:
            kept.append(open("/dev/null"))
        except OSError:
            return 0
