# %% takes the smallest again and again
def longest_unserved(rows, budget):
    left = {row[0]: (row[2], row[3]) for row in rows if row[1] is False}
    served = []
    while left and len(served) < budget:
        name = min(left, key=left.get)
        served.append(name)
        del left[name]
    return served


# %% a heap
import heapq


def longest_unserved(rows, budget):
    heap = [(step, arrival, name) for name, paused, step, arrival in rows if not paused]
    return [name for _, _, name in heapq.nsmallest(budget, heap)]


# %% sorts twice, last key first
def longest_unserved(rows, budget):
    order = sorted(rows, key=lambda row: row[3])
    order = sorted(order, key=lambda row: row[2])
    names = tuple(name for name, paused, *_ in order if not paused)
    return names[:budget]
