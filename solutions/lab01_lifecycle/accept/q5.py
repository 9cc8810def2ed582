# %% the winner is decided first
def wins(request, reason, at):
    """True for the one call that ends the request. Nothing is released here."""
    request.settle_lock.acquire()
    try:
        if request.finish_reason is not None or request.is_terminal:
            return False
        request.move(END_EVENTS[reason], at)
        request.finish_reason, request.finished_at = reason, at
        return True
    finally:
        request.settle_lock.release()


def settle_once(request, reason, at):
    won = wins(request, reason, at)
    if won:
        request.release()
    return won


# %% the release runs in finally, inside the lock
def settle_once(request, reason, at):
    with request.settle_lock:
        if not request.is_terminal:
            event = END_EVENTS[reason]
            request.move(event, at, reason=reason)
            try:
                request.finished_at = at
                request.finish_reason = reason
            finally:
                try:
                    request.release()
                except Exception as error:
                    request.release_error = error
            return True
    return False


# %% looks before it takes the lock, and once more inside
def settle_once(request, reason, at):
    if request.is_terminal:
        return False
    with request.settle_lock:
        if request.is_terminal:
            return False
        request.move(END_EVENTS[reason], at, reason=reason)
        request.finish_reason, request.finished_at = reason, at
    request.release()
    return True
