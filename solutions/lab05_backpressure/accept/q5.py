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


# %% takes the best one again and again
def longest_unserved(rows, budget):
    left = {index: row for index, row in enumerate(rows) if not row[1]}
    served = []
    while left and len(served) < budget:
        best = min(left, key=lambda index: (left[index][2], left[index][3]))
        served.append(left.pop(best)[0])
    return served


# %% the smallest of a generator
import heapq


def longest_unserved(rows, budget):
    ready = ((step, arrival, name) for name, paused, step, arrival in rows if not paused)
    return [name for _, _, name in heapq.nsmallest(budget, ready)]


# %% two passes of a stable sort, on indices
def longest_unserved(rows, budget):
    order = [index for index in range(len(rows)) if not rows[index][1]]
    for column in (3, 2):
        order.sort(key=lambda index: rows[index][column])
    return [rows[index][0] for index in order][:budget]
