# %% sorts the causes
def which_end(due, failed, cancelled, now, error):
    causes = []
    if due is not None:
        causes.append((due[1], 0, due))
    if cancelled is not None:
        causes.append((cancelled[1], 1, cancelled))
    first = min(causes)[2] if causes else None
    if failed and first is not due:
        return error, now
    if failed and first is None:
        return error, now
    return first


# %% nested
def which_end(due, failed, cancelled, now, error):
    after_the_limit = (error, now) if failed else cancelled
    if due is None:
        return after_the_limit
    if cancelled is not None and cancelled[1] < due[1]:
        return after_the_limit
    return due


# %% match on what is there
def which_end(due, failed, cancelled, now, error):
    match (due, cancelled):
        case (None, None):
            winner = None
        case (_, None):
            winner = due
        case (None, _):
            winner = cancelled
        case _:
            winner = cancelled if due[1] > cancelled[1] else due
    if not failed or (winner is not None and winner is due):
        return winner
    return [error, now]


# %% the cancel is taken off the table first
def which_end(due, failed, cancelled, now, error):
    if due is not None and cancelled is not None:
        if cancelled[1] < due[1]:
            due = None
        else:
            cancelled = None
    for cause in (due, (error, now) if failed else None, cancelled):
        if cause is not None:
            return tuple(cause)
    return None


# %% one expression
def which_end(due, failed, cancelled, now, error):
    late = due is None or (cancelled or (None, due[1]))[1] < due[1]
    return (late and ((failed and (error, now)) or cancelled)) or (None if late else due)
