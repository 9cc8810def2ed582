"""The process ends while the cell runs.

scores: q1=0 q2=3 q3=2
holds: bubblewrap rlimits
"""

import os

os._exit(0)
