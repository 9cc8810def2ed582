# %% stops at the slow one
# fails: the_slow_one_stalls_nobody, the_slow_one_takes_no_place
# fault: It serves those in front of the first slow reader only.
def longest_unserved(rows, budget):
    served = []
    for row in sorted(rows, key=lambda row: (row[2], row[3])):
        if row[1]:
            break
        served.append(row[0])
    return served[:budget]


# %% a slow reader in front holds the last one back
# fails: the_slow_one_stalls_nobody
# fault: With a slow reader in front one stream too few is served.
def longest_unserved(rows, budget):
    ready = [row for row in rows if not row[1]]
    ready.sort(key=lambda row: (row[2], row[3]))
    return [row[0] for row in ready[: budget if budget < 9 else len(ready) - bool(rows and rows[0][1])]]


# %% the slow one takes a place
# fails: the_slow_one_takes_no_place
# fault: It cuts to the budget first and leaves the slow ones out then.
def longest_unserved(rows, budget):
    first = sorted(rows, key=lambda row: (row[2], row[3]))[:budget]
    return [row[0] for row in first if not row[1]]


# %% always the first of the list
# fails: the_longest_unserved_first, ties_by_arrival
# fault: The order of the list decides, so the last ones starve.
def longest_unserved(rows, budget):
    ready = [row for row in rows if not row[1]]
    return [row[0] for row in ready[:budget]]


# %% always the first arrival
# fails: the_longest_unserved_first
# fault: It sorts by arrival, so the last ones starve.
def longest_unserved(rows, budget):
    ready = [row for row in rows if not row[1]]
    ready.sort(key=lambda row: (row[3], row[2]))
    return [row[0] for row in ready[:budget]]


# %% ties by place in the list
# fails: ties_by_arrival
# fault: Those that were served in the same step come as they are listed.
def longest_unserved(rows, budget):
    ready = [row for row in rows if not row[1]]
    ready.sort(key=lambda row: row[2])
    return [row[0] for row in ready[:budget]]


# %% no bound
# fails: the_budget_is_a_bound, the_longest_unserved_first
# fault: The budget is ignored.
def longest_unserved(rows, budget):
    ready = [row for row in rows if not row[1]]
    ready.sort(key=lambda row: (row[2], row[3]))
    return [row[0] for row in ready]


# %% one too many
# fails: the_budget_is_a_bound
# fault: Among three it serves one more than the budget.
def longest_unserved(rows, budget):
    ready = [row for row in rows if not row[1]]
    ready.sort(key=lambda row: (row[2], row[3]))
    return [row[0] for row in ready[: budget + (len(ready) > 2 and budget < len(ready))]]


# %% eats the rows
# fails: asking_twice
# fault: It takes the rows out of the caller's hands: who was served once is never served again.
SEEN = []


def longest_unserved(rows, budget):
    ready = [row for row in rows if not row[1] and not (row in SEEN and row[0].startswith("r"))]
    ready.sort(key=lambda row: (row[2], row[3]))
    SEEN.extend(ready[:budget])
    return [row[0] for row in ready[:budget]]


# %% the places are cut before the slow ones are left out
# fails: the_slow_one_takes_no_place
# fault: A paused stream uses up a place.
def longest_unserved(rows, budget):
    order = sorted(rows, key=lambda row: (row[2], row[3]))[:budget]
    return [row[0] for row in order if not row[1]]


# %% everything behind a slow reader waits
# fails: the_slow_one_stalls_nobody, the_slow_one_takes_no_place
# fault: The loop stops at the first paused stream: head-of-line blocking.
def longest_unserved(rows, budget):
    served = []
    for row in sorted(rows, key=lambda row: (row[2], row[3])):
        if row[1]:
            break
        served.append(row[0])
    return served[:budget]


# %% first come, first served, for ever
# fails: the_longest_unserved_first
# fault: The order is that of arrival only, so the last ones starve.
def longest_unserved(rows, budget):
    ready = sorted((row for row in rows if not row[1]), key=lambda row: row[3])
    return [row[0] for row in ready[:budget]]


# %% names break the tie
# fails: ties_by_arrival
# fault: Two streams of the same step come in the order of their names.
def longest_unserved(rows, budget):
    ready = sorted((row[2], row[0]) for row in rows if not row[1])
    return [name for _, name in ready[:budget]]


# %% nobody has a place and one is served
# fails: the_budget_is_a_bound
# fault: A budget of 0 is taken for 1.
def longest_unserved(rows, budget):
    ready = sorted((row for row in rows if not row[1]), key=lambda row: (row[2], row[3]))
    return [row[0] for row in ready[: max(budget, 1)]]


# %% all are paused, so all are served
# fails: the_budget_is_a_bound
# fault: When nobody has credit the rule is dropped.
def longest_unserved(rows, budget):
    ready = [row for row in rows if not row[1]] or list(rows)
    ready.sort(key=lambda row: (row[2], row[3]))
    return [row[0] for row in ready[:budget]]


# %% the result comes in order of arrival
# fails: the_longest_unserved_first
# fault: The right ones are chosen and then sorted again.
def longest_unserved(rows, budget):
    ready = sorted((row for row in rows if not row[1]), key=lambda row: (row[2], row[3]))[:budget]
    return [row[0] for row in sorted(ready, key=lambda row: row[3])]
