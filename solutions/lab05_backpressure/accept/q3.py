# %% flat
def watch(unsent, paused_since, now, high, low, limit_s):
    paused = paused_since is not None
    if paused and limit_s is not None and now - paused_since >= limit_s:
        return paused_since, True
    if paused and unsent > low:
        return paused_since, False
    if not paused and unsent >= high:
        return now, False
    return None, False


# %% the two answers apart
def watch(unsent, paused_since, now, high, low, limit_s):
    ended = paused_since is not None and now >= paused_since + (float("inf") if limit_s is None else limit_s)
    if ended:
        since = paused_since
    elif paused_since is None:
        since = None if unsent < high else now
    else:
        since = paused_since if low < unsent else None
    return [since, ended]


# %% match
def watch(unsent, paused_since, now, high, low, limit_s):
    match paused_since:
        case None if unsent >= high:
            return now, False
        case None:
            return None, False
    over = False
    if limit_s is not None:
        over = not (now < paused_since + limit_s)
    return (paused_since if over or unsent > low else None, over)


# %% the decision in two lines
def watch(unsent, paused_since, now, high, low, limit_s):
    waits = paused_since is not None
    ended = waits and limit_s is not None and now - paused_since >= limit_s
    stays = ended or unsent > low if waits else unsent >= high
    return (None if not stays else paused_since if waits else now), bool(ended)
