# %% looked up in one flat dict
def next_state(state, event, table):
    flat = {(before, name): after for before, moves in table.items() for name, after in moves.items()}
    after = flat.get((state, event))
    if after is None:
        legal = [name for before, name in flat if before == state]
        raise IllegalTransition(state, event, legal)
    return after


# %% asks forgiveness, with a helper
def legal_in(state, table):
    return [] if state not in table else [name for name in table[state]]


def next_state(state, event, table):
    try:
        return table[state][event]
    except KeyError:
        raise IllegalTransition(state, event, legal_in(state, table)) from None
