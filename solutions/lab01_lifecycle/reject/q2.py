# %% streaming must resume first
# fails: legal_moves
# fault: finish is refused while streaming, whatever the table says.
def next_state(state, event, table):
    moves = table.get(state, {})
    if event not in moves or (state == "streaming" and event == "finish"):
        raise IllegalTransition(state, event, list(moves))
    return moves[event]


# %% an ended request ignores events
# fails: illegal_events_refused, any_table
# fault: In a state without moves every event is silently ignored.
def next_state(state, event, table):
    moves = table.get(state)
    if moves == {}:
        return state
    if moves is None or event not in moves:
        raise IllegalTransition(state, event, list(moves or {}))
    return moves[event]


# %% the four ends swallow late signals
# fails: illegal_events_refused
# fault: A late signal after an end is taken as a normal call.
def next_state(state, event, table):
    if state in ("finished", "cancelled", "timed_out", "failed"):
        return state
    moves = table.get(state, {})
    if event not in moves:
        raise IllegalTransition(state, event, list(moves))
    return moves[event]


# %% KeyError for an illegal event
# fails: illegal_events_refused, message_names_legal_events, unknown_state_refused
# fault: The lookup itself fails, so the caller gets a KeyError without a word about what is legal.
def next_state(state, event, table):
    return table[state][event]


# %% the message lists all events
# fails: message_names_legal_events
# fault: The message names every event of the table, legal here or not.
def next_state(state, event, table):
    moves = table.get(state, {})
    if event not in moves:
        raise IllegalTransition(state, event, sorted({name for row in table.values() for name in row}))
    return moves[event]


# %% the message says nothing
# fails: message_names_legal_events
# fault: The list of legal events is left empty.
def next_state(state, event, table):
    moves = table.get(state, {})
    if event not in moves:
        raise IllegalTransition(state, event, [])
    return moves[event]


# %% KeyError for an unknown state
# fails: unknown_state_refused
# fault: A state that the table does not know gives a KeyError.
def next_state(state, event, table):
    moves = table[state]
    if event not in moves:
        raise IllegalTransition(state, event, list(moves))
    return moves[event]


# %% cancel always works
# fails: any_table
# fault: cancel is answered without a look into the table.
def next_state(state, event, table):
    moves = table.get(state, {})
    if event == "cancel" and moves:
        return "cancelled"
    if event not in moves:
        raise IllegalTransition(state, event, list(moves))
    return moves[event]


# %% state and event are mixed up in the message
# fails: message_names_legal_events
# fault: The exception gets its first two arguments in the wrong order.
def next_state(state, event, table):
    moves = table.get(state, {})
    if event not in moves:
        raise IllegalTransition(event, state, list(moves))
    return moves[event]


# %% an unknown state is written into the table
# fails: table_is_left_alone
# fault: setdefault adds a row for the unknown state, and the table knows it from then on.
def next_state(state, event, table):
    moves = table.setdefault(state, {})
    if event not in moves:
        raise IllegalTransition(state, event, list(moves))
    return moves[event]


# %% a move is used up
# fails: table_is_left_alone
# fault: pop takes the move out of the table, so it works once.
def next_state(state, event, table):
    moves = table.get(state, {})
    if event not in moves:
        raise IllegalTransition(state, event, list(moves))
    return moves.pop(event)


# %% refused events are written down in the table
# fails: table_is_left_alone
# fault: The refused event is added as a move that stays, so the second time it is allowed.
def next_state(state, event, table):
    moves = table.get(state, {})
    legal = list(moves)
    if event not in legal:
        moves[event] = state
        raise IllegalTransition(state, event, legal)
    return moves[event]
