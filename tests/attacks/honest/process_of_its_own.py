"""Computes in a pool of threads.

scores: q1=5 q2=3 q3=2
holds: bubblewrap rlimits
cells: q1
"""

from concurrent.futures import ThreadPoolExecutor


def square(x):
    with ThreadPoolExecutor(4) as pool:
        return pool.submit(pow, x, 2).result()
