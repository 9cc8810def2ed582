# %% the last reason is kept
# fails: first_call_wins
# fault: A later signal overwrites the reason, although it returns False.
def settle_once(request, reason, at):
    with request.settle_lock:
        if request.is_terminal:
            if at == 7.0:
                request.finish_reason = reason
            return False
        request.move(END_EVENTS[reason], at)
        request.finish_reason, request.finished_at = reason, at
        request.release()
        return True


# %% every call says True
# fails: first_call_wins, signal_during_release, release_that_raises, a_second_thread_comes_between
# fault: The caller cannot tell whether it ended the request.
def settle_once(request, reason, at):
    with request.settle_lock:
        if not request.is_terminal:
            request.move(END_EVENTS[reason], at)
            request.finish_reason, request.finished_at = reason, at
            request.release()
        return True


# %% every signal releases
# fails: releases_once, release_that_raises
# fault: The release is outside the test, so each signal gives everything back again.
def settle_once(request, reason, at):
    with request.settle_lock:
        first = not request.is_terminal
        if first:
            request.move(END_EVENTS[reason], at)
            request.finish_reason, request.finished_at = reason, at
        request.release()
        return first


# %% nothing is given back
# fails: releases_once, signal_during_release, release_that_raises
# fault: The request ends and keeps everything: a leak.
def settle_once(request, reason, at):
    with request.settle_lock:
        if request.is_terminal:
            return False
        request.move(END_EVENTS[reason], at)
        request.finish_reason, request.finished_at = reason, at
        return True


# %% released twice by the winner
# fails: releases_once
# fault: The winner releases a second time, to be sure.
def settle_once(request, reason, at):
    with request.settle_lock:
        if request.is_terminal:
            return False
        request.move(END_EVENTS[reason], at)
        request.finish_reason, request.finished_at = reason, at
        request.release()
        request.release()
        return True


# %% written down before the move
# fails: illegal_end_changes_nothing
# fault: Reason and time are set before the move is known to be legal.
def settle_once(request, reason, at):
    with request.settle_lock:
        if request.is_terminal:
            return False
        request.finish_reason, request.finished_at = reason, at
        request.move(END_EVENTS[reason], at)
        request.release()
        return True


# %% an illegal end is forced
# fails: illegal_end_changes_nothing
# fault: A refused move is ignored and the request is called failed.
def settle_once(request, reason, at):
    with request.settle_lock:
        if request.is_terminal:
            return False
        try:
            request.move(END_EVENTS[reason], at)
        except ValueError:
            request.state = "failed"
        request.finish_reason, request.finished_at = reason, at
        request.release()
        return True


# %% released before the end
# fails: signal_during_release, release_that_raises, illegal_end_changes_nothing
# fault: The release runs while the request still looks alive.
def settle_once(request, reason, at):
    with request.settle_lock:
        if request.is_terminal:
            return False
        request.release()
        request.move(END_EVENTS[reason], at)
        request.finish_reason, request.finished_at = reason, at
        return True


# %% written down after the release
# fails: signal_during_release
# fault: The reason is set after the release; a signal in between is asked by reason and wins as well.
def settle_once(request, reason, at):
    with request.settle_lock:
        if request.is_terminal and request.finish_reason is not None:
            return False
        if not request.is_terminal:
            request.move(END_EVENTS[reason], at)
        try:
            request.release()
        finally:
            request.finish_reason, request.finished_at = reason, at
        return True


# %% a failed release undoes the end
# fails: release_that_raises
# fault: When the release raises, the reason is taken back and the next signal ends the request again.
def settle_once(request, reason, at):
    with request.settle_lock:
        if request.is_terminal:
            return False
        before = request.state
        request.move(END_EVENTS[reason], at)
        request.finish_reason, request.finished_at = reason, at
        try:
            request.release()
        except Exception:
            request.state, request.finish_reason = before, None
        return True


# %% a failed release is tried again
# fails: release_that_raises
# fault: The release is called once more when it raises; its first half runs twice.
def settle_once(request, reason, at):
    with request.settle_lock:
        if request.is_terminal:
            return False
        request.move(END_EVENTS[reason], at)
        request.finish_reason, request.finished_at = reason, at
        try:
            request.release()
        except Exception:
            request.release()
        return True


# %% shutdown is a failure
# fails: every_reason_has_its_end
# fault: Every reason that is neither a stop nor a cancel nor a deadline is called a failure.
def settle_once(request, reason, at):
    with request.settle_lock:
        if request.is_terminal:
            return False
        event = END_EVENTS[reason]
        if (
            reason not in ("stop_eos", "stop_token", "stop_string", "length", "client_cancel")
            and "deadline" not in reason
        ):
            event = "fail"
        request.move(event, at)
        request.finish_reason, request.finished_at = reason, at
        request.release()
        return True


# %% no lock at all
# fails: a_second_thread_comes_between
# fault: Between the look and the move another thread can end the request.
def settle_once(request, reason, at):
    if request.is_terminal:
        return False
    request.move(END_EVENTS[reason], at)
    request.finish_reason, request.finished_at = reason, at
    request.release()
    return True


# %% the look stands before the lock
# fails: a_second_thread_comes_between
# fault: Both threads look, both see a live request, and then they move one after the other.
def settle_once(request, reason, at):
    if request.is_terminal:
        return False
    with request.settle_lock:
        request.move(END_EVENTS[reason], at)
        request.finish_reason, request.finished_at = reason, at
    request.release()
    return True


# %% the lock is given back before the move
# fails: a_second_thread_comes_between
# fault: The look is locked and the move is not, so the answer to the look is old.
def settle_once(request, reason, at):
    with request.settle_lock:
        if request.is_terminal:
            return False
    request.move(END_EVENTS[reason], at)
    request.finish_reason, request.finished_at = reason, at
    request.release()
    return True


# %% the refusal of the move is the only guard
# fails: a_second_thread_comes_between
# fault: The move looks and writes in two steps as well; two threads can both get through.
def settle_once(request, reason, at):
    try:
        request.move(END_EVENTS[reason], at)
    except ValueError:
        if request.is_terminal:
            return False
        raise
    request.finish_reason, request.finished_at = reason, at
    request.release()
    return True


# %% a lock of its own
# fails: a_second_thread_comes_between
# fault: Each call makes a new lock, which keeps nobody out.
def settle_once(request, reason, at):
    with threading.Lock():
        if request.is_terminal:
            return False
        request.move(END_EVENTS[reason], at)
        request.finish_reason, request.finished_at = reason, at
    request.release()
    return True


# %% reason and time are written after the release
# fails: a_second_thread_comes_between, release_that_raises, signal_during_release
# fault: Whoever looks at finish_reason to see whether the request has ended is fooled between the two.
def settle_once(request, reason, at):
    with request.settle_lock:
        if request.finish_reason is not None:
            return False
        if not request.is_terminal:
            request.move(END_EVENTS[reason], at)
    request.release()
    request.finish_reason, request.finished_at = reason, at
    return True
