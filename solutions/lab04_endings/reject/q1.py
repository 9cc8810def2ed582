# %% met at equality
# fails: missed_at_equality, the_queue_clock, the_ttft_clock, the_inter_token_clock, the_pause
# fault: It asks now <= due, so a request that is late by nothing goes on.
def armed(deadlines, marks):
    clocks = []
    if marks.admitted_at is None:
        clocks.append((marks.queued_at, deadlines.queue_s, 0, FinishReason.QUEUE_DEADLINE))
    if marks.first_token_at is None:
        clocks.append((marks.received_at, deadlines.ttft_s, 1, FinishReason.TTFT_DEADLINE))
    elif not marks.paused:
        clocks.append((marks.last_token_at, deadlines.inter_token_s, 2, FinishReason.INTER_TOKEN_DEADLINE))
    clocks.append((marks.received_at, deadlines.overall_s, 3, FinishReason.OVERALL_DEADLINE))
    return [
        (start + limit, rank, reason)
        for start, limit, rank, reason in clocks
        if start is not None and limit is not None
    ]


def first_expired(deadlines, marks, now):
    first = min(armed(deadlines, marks), default=None)
    if first is None or now <= first[0]:
        return None
    return first[2], first[0]


def moved_on(started_at, paused_at, resumed_at):
    return started_at + (resumed_at - max(paused_at, started_at))


# %% dated by the boundary
# fails: not_started_yet, missed_at_equality, the_earliest_is_the_cause, time_zero
# fault: The end is dated by the moment in which somebody looked.
def armed(deadlines, marks):
    clocks = []
    if marks.admitted_at is None:
        clocks.append((marks.queued_at, deadlines.queue_s, 0, FinishReason.QUEUE_DEADLINE))
    if marks.first_token_at is None:
        clocks.append((marks.received_at, deadlines.ttft_s, 1, FinishReason.TTFT_DEADLINE))
    elif not marks.paused:
        clocks.append((marks.last_token_at, deadlines.inter_token_s, 2, FinishReason.INTER_TOKEN_DEADLINE))
    clocks.append((marks.received_at, deadlines.overall_s, 3, FinishReason.OVERALL_DEADLINE))
    return [
        (start + limit, rank, reason)
        for start, limit, rank, reason in clocks
        if start is not None and limit is not None
    ]


def first_expired(deadlines, marks, now):
    first = min(armed(deadlines, marks), default=None)
    if first is None or now < first[0]:
        return None
    return first[2], now


def moved_on(started_at, paused_at, resumed_at):
    return started_at + (resumed_at - max(paused_at, started_at))


# %% a late look is dated late
# fails: missed_at_equality
# fault: When the overall limit was missed long ago, the end is dated now.
def armed(deadlines, marks):
    clocks = []
    if marks.admitted_at is None:
        clocks.append((marks.queued_at, deadlines.queue_s, 0, FinishReason.QUEUE_DEADLINE))
    if marks.first_token_at is None:
        clocks.append((marks.received_at, deadlines.ttft_s, 1, FinishReason.TTFT_DEADLINE))
    elif not marks.paused:
        clocks.append((marks.last_token_at, deadlines.inter_token_s, 2, FinishReason.INTER_TOKEN_DEADLINE))
    clocks.append((marks.received_at, deadlines.overall_s, 3, FinishReason.OVERALL_DEADLINE))
    return [
        (start + limit, rank, reason)
        for start, limit, rank, reason in clocks
        if start is not None and limit is not None
    ]


def first_expired(deadlines, marks, now):
    first = min(armed(deadlines, marks), default=None)
    if first is None or now < first[0]:
        return None
    return first[2], now if first[1] == 3 and first[0] > 10.5 else first[0]


def moved_on(started_at, paused_at, resumed_at):
    return started_at + (resumed_at - max(paused_at, started_at))


# %% the queue clock is never disarmed
# fails: the_queue_clock, time_zero
# fault: It runs on after the admission.
def armed(deadlines, marks):
    clocks = []
    if True:
        clocks.append((marks.queued_at, deadlines.queue_s, 0, FinishReason.QUEUE_DEADLINE))
    if marks.first_token_at is None:
        clocks.append((marks.received_at, deadlines.ttft_s, 1, FinishReason.TTFT_DEADLINE))
    elif not marks.paused:
        clocks.append((marks.last_token_at, deadlines.inter_token_s, 2, FinishReason.INTER_TOKEN_DEADLINE))
    clocks.append((marks.received_at, deadlines.overall_s, 3, FinishReason.OVERALL_DEADLINE))
    return [
        (start + limit, rank, reason)
        for start, limit, rank, reason in clocks
        if start is not None and limit is not None
    ]


def first_expired(deadlines, marks, now):
    first = min(armed(deadlines, marks), default=None)
    if first is None or now < first[0]:
        return None
    return first[2], first[0]


def moved_on(started_at, paused_at, resumed_at):
    return started_at + (resumed_at - max(paused_at, started_at))


# %% the queue clock starts with the request
# fails: not_started_yet, the_queue_clock, the_earliest_is_the_cause
# fault: It starts when the request came and not when it was queued.
def armed(deadlines, marks):
    clocks = []
    if marks.admitted_at is None:
        clocks.append((marks.received_at, deadlines.queue_s, 0, FinishReason.QUEUE_DEADLINE))
    if marks.first_token_at is None:
        clocks.append((marks.received_at, deadlines.ttft_s, 1, FinishReason.TTFT_DEADLINE))
    elif not marks.paused:
        clocks.append((marks.last_token_at, deadlines.inter_token_s, 2, FinishReason.INTER_TOKEN_DEADLINE))
    clocks.append((marks.received_at, deadlines.overall_s, 3, FinishReason.OVERALL_DEADLINE))
    return [
        (start + limit, rank, reason)
        for start, limit, rank, reason in clocks
        if start is not None and limit is not None
    ]


def first_expired(deadlines, marks, now):
    first = min(armed(deadlines, marks), default=None)
    if first is None or now < first[0]:
        return None
    return first[2], first[0]


def moved_on(started_at, paused_at, resumed_at):
    return started_at + (resumed_at - max(paused_at, started_at))


# %% the queue clock starts a little late
# fails: the_queue_clock
# fault: With a queue limit alone it adds half a second.
def armed(deadlines, marks):
    clocks = []
    if marks.admitted_at is None:
        clocks.append((marks.queued_at, deadlines.queue_s, 0, FinishReason.QUEUE_DEADLINE))
    if marks.first_token_at is None:
        clocks.append((marks.received_at, deadlines.ttft_s, 1, FinishReason.TTFT_DEADLINE))
    elif not marks.paused:
        clocks.append((marks.last_token_at, deadlines.inter_token_s, 2, FinishReason.INTER_TOKEN_DEADLINE))
    clocks.append((marks.received_at, deadlines.overall_s, 3, FinishReason.OVERALL_DEADLINE))
    return [
        (start + limit, rank, reason)
        for start, limit, rank, reason in clocks
        if start is not None and limit is not None
    ]


def first_expired(deadlines, marks, now):
    first = min(armed(deadlines, marks), default=None)
    if first and first[1] == 0 and deadlines.overall_s is None and marks.queued_at:
        first = (first[0] + 0.5, *first[1:])
    if first is None or now < first[0]:
        return None
    return first[2], first[0]


def moved_on(started_at, paused_at, resumed_at):
    return started_at + (resumed_at - max(paused_at, started_at))


# %% the TTFT clock ends with the admission
# fails: the_ttft_clock
# fault: Once admitted, a request has no limit for its first token.
def armed(deadlines, marks):
    clocks = []
    if marks.admitted_at is None:
        clocks.append((marks.queued_at, deadlines.queue_s, 0, FinishReason.QUEUE_DEADLINE))
    if marks.first_token_at is None and marks.admitted_at is None:
        clocks.append((marks.received_at, deadlines.ttft_s, 1, FinishReason.TTFT_DEADLINE))
    if marks.first_token_at is not None and not marks.paused:
        clocks.append((marks.last_token_at, deadlines.inter_token_s, 2, FinishReason.INTER_TOKEN_DEADLINE))
    clocks.append((marks.received_at, deadlines.overall_s, 3, FinishReason.OVERALL_DEADLINE))
    return [
        (start + limit, rank, reason)
        for start, limit, rank, reason in clocks
        if start is not None and limit is not None
    ]


def first_expired(deadlines, marks, now):
    first = min(armed(deadlines, marks), default=None)
    if first is None or now < first[0]:
        return None
    return first[2], first[0]


def moved_on(started_at, paused_at, resumed_at):
    return started_at + (resumed_at - max(paused_at, started_at))


# %% the inter-token clock starts at the first token
# fails: the_inter_token_clock, the_earliest_is_the_cause
# fault: It never moves on with later tokens.
def armed(deadlines, marks):
    clocks = []
    if marks.admitted_at is None:
        clocks.append((marks.queued_at, deadlines.queue_s, 0, FinishReason.QUEUE_DEADLINE))
    if marks.first_token_at is None:
        clocks.append((marks.received_at, deadlines.ttft_s, 1, FinishReason.TTFT_DEADLINE))
    elif not marks.paused:
        clocks.append((marks.first_token_at, deadlines.inter_token_s, 2, FinishReason.INTER_TOKEN_DEADLINE))
    clocks.append((marks.received_at, deadlines.overall_s, 3, FinishReason.OVERALL_DEADLINE))
    return [
        (start + limit, rank, reason)
        for start, limit, rank, reason in clocks
        if start is not None and limit is not None
    ]


def first_expired(deadlines, marks, now):
    first = min(armed(deadlines, marks), default=None)
    if first is None or now < first[0]:
        return None
    return first[2], first[0]


def moved_on(started_at, paused_at, resumed_at):
    return started_at + (resumed_at - max(paused_at, started_at))


# %% the inter-token clock before the first token
# fails: the_inter_token_clock
# fault: It runs from the arrival until there is a token.
def armed(deadlines, marks):
    clocks = []
    if marks.admitted_at is None:
        clocks.append((marks.queued_at, deadlines.queue_s, 0, FinishReason.QUEUE_DEADLINE))
    if marks.first_token_at is None:
        clocks.append((marks.received_at, deadlines.ttft_s, 1, FinishReason.TTFT_DEADLINE))
        clocks.append((marks.received_at, deadlines.inter_token_s, 2, FinishReason.INTER_TOKEN_DEADLINE))
    elif not marks.paused:
        clocks.append((marks.last_token_at, deadlines.inter_token_s, 2, FinishReason.INTER_TOKEN_DEADLINE))
    clocks.append((marks.received_at, deadlines.overall_s, 3, FinishReason.OVERALL_DEADLINE))
    return [
        (start + limit, rank, reason)
        for start, limit, rank, reason in clocks
        if start is not None and limit is not None
    ]


def first_expired(deadlines, marks, now):
    first = min(armed(deadlines, marks), default=None)
    if first is None or now < first[0]:
        return None
    return first[2], first[0]


def moved_on(started_at, paused_at, resumed_at):
    return started_at + (resumed_at - max(paused_at, started_at))


# %% a slow reader is a stalled device
# fails: the_pause
# fault: The inter-token clock runs through a pause.
def armed(deadlines, marks):
    clocks = []
    if marks.admitted_at is None:
        clocks.append((marks.queued_at, deadlines.queue_s, 0, FinishReason.QUEUE_DEADLINE))
    if marks.first_token_at is None:
        clocks.append((marks.received_at, deadlines.ttft_s, 1, FinishReason.TTFT_DEADLINE))
    else:
        clocks.append((marks.last_token_at, deadlines.inter_token_s, 2, FinishReason.INTER_TOKEN_DEADLINE))
    clocks.append((marks.received_at, deadlines.overall_s, 3, FinishReason.OVERALL_DEADLINE))
    return [
        (start + limit, rank, reason)
        for start, limit, rank, reason in clocks
        if start is not None and limit is not None
    ]


def first_expired(deadlines, marks, now):
    first = min(armed(deadlines, marks), default=None)
    if first is None or now < first[0]:
        return None
    return first[2], first[0]


def moved_on(started_at, paused_at, resumed_at):
    return started_at + (resumed_at - max(paused_at, started_at))


# %% a pause stops all clocks
# fails: the_pause
# fault: While the reader is slow nothing can end the request.
def armed(deadlines, marks):
    clocks = []
    if marks.admitted_at is None:
        clocks.append((marks.queued_at, deadlines.queue_s, 0, FinishReason.QUEUE_DEADLINE))
    if marks.first_token_at is None:
        clocks.append((marks.received_at, deadlines.ttft_s, 1, FinishReason.TTFT_DEADLINE))
    elif not marks.paused:
        clocks.append((marks.last_token_at, deadlines.inter_token_s, 2, FinishReason.INTER_TOKEN_DEADLINE))
    clocks.append((marks.received_at, deadlines.overall_s, 3, FinishReason.OVERALL_DEADLINE))
    return [
        (start + limit, rank, reason)
        for start, limit, rank, reason in clocks
        if start is not None and limit is not None
    ]


def first_expired(deadlines, marks, now):
    if marks.paused:
        return None
    first = min(armed(deadlines, marks), default=None)
    if first is None or now < first[0]:
        return None
    return first[2], first[0]


def moved_on(started_at, paused_at, resumed_at):
    return started_at + (resumed_at - max(paused_at, started_at))


# %% the order of the clocks decides
# fails: the_earliest_is_the_cause
# fault: The first clock in the list that has run out is the cause, not the earliest.
def armed(deadlines, marks):
    clocks = []
    if marks.admitted_at is None:
        clocks.append((marks.queued_at, deadlines.queue_s, 0, FinishReason.QUEUE_DEADLINE))
    if marks.first_token_at is None:
        clocks.append((marks.received_at, deadlines.ttft_s, 1, FinishReason.TTFT_DEADLINE))
    elif not marks.paused:
        clocks.append((marks.last_token_at, deadlines.inter_token_s, 2, FinishReason.INTER_TOKEN_DEADLINE))
    clocks.append((marks.received_at, deadlines.overall_s, 3, FinishReason.OVERALL_DEADLINE))
    return [
        (start + limit, rank, reason)
        for start, limit, rank, reason in clocks
        if start is not None and limit is not None
    ]


def first_expired(deadlines, marks, now):
    late = [clock for clock in armed(deadlines, marks) if now >= clock[0]]
    first = late[0] if late else None
    if first is None or now < first[0]:
        return None
    return first[2], first[0]


def moved_on(started_at, paused_at, resumed_at):
    return started_at + (resumed_at - max(paused_at, started_at))


# %% ties go to the last
# fails: the_earliest_is_the_cause
# fault: In a tie the overall deadline is the cause.
def armed(deadlines, marks):
    clocks = []
    if marks.admitted_at is None:
        clocks.append((marks.queued_at, deadlines.queue_s, 0, FinishReason.QUEUE_DEADLINE))
    if marks.first_token_at is None:
        clocks.append((marks.received_at, deadlines.ttft_s, 1, FinishReason.TTFT_DEADLINE))
    elif not marks.paused:
        clocks.append((marks.last_token_at, deadlines.inter_token_s, 2, FinishReason.INTER_TOKEN_DEADLINE))
    clocks.append((marks.received_at, deadlines.overall_s, 3, FinishReason.OVERALL_DEADLINE))
    return [
        (start + limit, rank, reason)
        for start, limit, rank, reason in clocks
        if start is not None and limit is not None
    ]


def first_expired(deadlines, marks, now):
    first = min(armed(deadlines, marks), key=lambda clock: (clock[0], -clock[1]), default=None)
    if first is None or now < first[0]:
        return None
    return first[2], first[0]


def moved_on(started_at, paused_at, resumed_at):
    return started_at + (resumed_at - max(paused_at, started_at))


# %% None is zero
# fails: not_started_yet, no_limits, the_queue_clock, the_ttft_clock, the_inter_token_clock, missed_at_equality, the_earliest_is_the_cause, the_pause, time_zero
# fault: A limit of None is taken for 0 seconds.
def armed(deadlines, marks):
    clocks = []
    if marks.admitted_at is None:
        clocks.append((marks.queued_at, deadlines.queue_s, 0, FinishReason.QUEUE_DEADLINE))
    if marks.first_token_at is None:
        clocks.append((marks.received_at, deadlines.ttft_s, 1, FinishReason.TTFT_DEADLINE))
    elif not marks.paused:
        clocks.append((marks.last_token_at, deadlines.inter_token_s, 2, FinishReason.INTER_TOKEN_DEADLINE))
    clocks.append((marks.received_at, deadlines.overall_s, 3, FinishReason.OVERALL_DEADLINE))
    return [
        (start + (limit or 0), rank, reason) for start, limit, rank, reason in clocks if start is not None
    ]


def first_expired(deadlines, marks, now):
    first = min(armed(deadlines, marks), default=None)
    if first is None or now < first[0]:
        return None
    return first[2], first[0]


def moved_on(started_at, paused_at, resumed_at):
    return started_at + (resumed_at - max(paused_at, started_at))


# %% without limits it raises
# fails: no_limits
# fault: min of an empty list raises when nothing else is asked.
def armed(deadlines, marks):
    clocks = []
    if marks.admitted_at is None:
        clocks.append((marks.queued_at, deadlines.queue_s, 0, FinishReason.QUEUE_DEADLINE))
    if marks.first_token_at is None:
        clocks.append((marks.received_at, deadlines.ttft_s, 1, FinishReason.TTFT_DEADLINE))
    elif not marks.paused:
        clocks.append((marks.last_token_at, deadlines.inter_token_s, 2, FinishReason.INTER_TOKEN_DEADLINE))
    clocks.append((marks.received_at, deadlines.overall_s, 3, FinishReason.OVERALL_DEADLINE))
    return [
        (start + limit, rank, reason)
        for start, limit, rank, reason in clocks
        if start is not None and limit is not None
    ]


def first_expired(deadlines, marks, now):
    if not any(deadlines.values()):
        first = min(armed(deadlines, marks))
    first = min(armed(deadlines, marks), default=None)
    if first is None or now < first[0]:
        return None
    return first[2], first[0]


def moved_on(started_at, paused_at, resumed_at):
    return started_at + (resumed_at - max(paused_at, started_at))


# %% time zero has not happened
# fails: time_zero
# fault: It asks whether a time is true, and 0.0 is not.
def armed(deadlines, marks):
    clocks = []
    if marks.admitted_at is None:
        clocks.append((marks.queued_at, deadlines.queue_s, 0, FinishReason.QUEUE_DEADLINE))
    if marks.first_token_at is None:
        clocks.append((marks.received_at, deadlines.ttft_s, 1, FinishReason.TTFT_DEADLINE))
    elif not marks.paused:
        clocks.append((marks.last_token_at, deadlines.inter_token_s, 2, FinishReason.INTER_TOKEN_DEADLINE))
    clocks.append((marks.received_at, deadlines.overall_s, 3, FinishReason.OVERALL_DEADLINE))
    return [(start + limit, rank, reason) for start, limit, rank, reason in clocks if start and limit]


def first_expired(deadlines, marks, now):
    first = min(armed(deadlines, marks), default=None)
    if first is None or now < first[0]:
        return None
    return first[2], first[0]


def moved_on(started_at, paused_at, resumed_at):
    return started_at + (resumed_at - max(paused_at, started_at))


# %% not queued yet is queued at once
# fails: not_started_yet
# fault: A queue clock whose start has not happened runs from the arrival.
def armed(deadlines, marks):
    clocks = []
    if marks.admitted_at is None:
        clocks.append(
            (
                marks.queued_at if marks.queued_at is not None else marks.received_at,
                deadlines.queue_s,
                0,
                FinishReason.QUEUE_DEADLINE,
            )
        )
    if marks.first_token_at is None:
        clocks.append((marks.received_at, deadlines.ttft_s, 1, FinishReason.TTFT_DEADLINE))
    elif not marks.paused:
        clocks.append((marks.last_token_at, deadlines.inter_token_s, 2, FinishReason.INTER_TOKEN_DEADLINE))
    clocks.append((marks.received_at, deadlines.overall_s, 3, FinishReason.OVERALL_DEADLINE))
    return [
        (start + limit, rank, reason)
        for start, limit, rank, reason in clocks
        if start is not None and limit is not None
    ]


def first_expired(deadlines, marks, now):
    first = min(armed(deadlines, marks), default=None)
    if first is None or now < first[0]:
        return None
    return first[2], first[0]


def moved_on(started_at, paused_at, resumed_at):
    return started_at + (resumed_at - max(paused_at, started_at))


# %% a start of None raises
# fails: not_started_yet
# fault: It adds the limit to a start that has not happened.
def armed(deadlines, marks):
    clocks = []
    if marks.admitted_at is None:
        clocks.append((marks.queued_at, deadlines.queue_s, 0, FinishReason.QUEUE_DEADLINE))
    if marks.first_token_at is None:
        clocks.append((marks.received_at, deadlines.ttft_s, 1, FinishReason.TTFT_DEADLINE))
    elif not marks.paused:
        clocks.append((marks.last_token_at, deadlines.inter_token_s, 2, FinishReason.INTER_TOKEN_DEADLINE))
    clocks.append((marks.received_at, deadlines.overall_s, 3, FinishReason.OVERALL_DEADLINE))
    return [
        (start + limit, rank, reason)
        for start, limit, rank, reason in clocks
        if limit is not None and (start is not None or reason == FinishReason.QUEUE_DEADLINE)
    ]


def first_expired(deadlines, marks, now):
    first = min(armed(deadlines, marks), default=None)
    if first is None or now < first[0]:
        return None
    return first[2], first[0]


def moved_on(started_at, paused_at, resumed_at):
    return started_at + (resumed_at - max(paused_at, started_at))


# %% the clock starts anew after a wait
# fails: a_wait_does_not_count
# fault: What had gone before the wait is forgotten.
def armed(deadlines, marks):
    clocks = []
    if marks.admitted_at is None:
        clocks.append((marks.queued_at, deadlines.queue_s, 0, FinishReason.QUEUE_DEADLINE))
    if marks.first_token_at is None:
        clocks.append((marks.received_at, deadlines.ttft_s, 1, FinishReason.TTFT_DEADLINE))
    elif not marks.paused:
        clocks.append((marks.last_token_at, deadlines.inter_token_s, 2, FinishReason.INTER_TOKEN_DEADLINE))
    clocks.append((marks.received_at, deadlines.overall_s, 3, FinishReason.OVERALL_DEADLINE))
    return [
        (start + limit, rank, reason)
        for start, limit, rank, reason in clocks
        if start is not None and limit is not None
    ]


def first_expired(deadlines, marks, now):
    first = min(armed(deadlines, marks), default=None)
    if first is None or now < first[0]:
        return None
    return first[2], first[0]


def moved_on(started_at, paused_at, resumed_at):
    return resumed_at


# %% the wait counts
# fails: a_wait_does_not_count, a_token_during_the_wait
# fault: The start does not move, so the first look after a long wait ends the request.
def armed(deadlines, marks):
    clocks = []
    if marks.admitted_at is None:
        clocks.append((marks.queued_at, deadlines.queue_s, 0, FinishReason.QUEUE_DEADLINE))
    if marks.first_token_at is None:
        clocks.append((marks.received_at, deadlines.ttft_s, 1, FinishReason.TTFT_DEADLINE))
    elif not marks.paused:
        clocks.append((marks.last_token_at, deadlines.inter_token_s, 2, FinishReason.INTER_TOKEN_DEADLINE))
    clocks.append((marks.received_at, deadlines.overall_s, 3, FinishReason.OVERALL_DEADLINE))
    return [
        (start + limit, rank, reason)
        for start, limit, rank, reason in clocks
        if start is not None and limit is not None
    ]


def first_expired(deadlines, marks, now):
    first = min(armed(deadlines, marks), default=None)
    if first is None or now < first[0]:
        return None
    return first[2], first[0]


def moved_on(started_at, paused_at, resumed_at):
    return started_at


# %% the wait is left out twice
# fails: a_token_during_the_wait
# fault: It leaves out the whole wait, also the part before the token, so a stalled device has too much time.
def armed(deadlines, marks):
    clocks = []
    if marks.admitted_at is None:
        clocks.append((marks.queued_at, deadlines.queue_s, 0, FinishReason.QUEUE_DEADLINE))
    if marks.first_token_at is None:
        clocks.append((marks.received_at, deadlines.ttft_s, 1, FinishReason.TTFT_DEADLINE))
    elif not marks.paused:
        clocks.append((marks.last_token_at, deadlines.inter_token_s, 2, FinishReason.INTER_TOKEN_DEADLINE))
    clocks.append((marks.received_at, deadlines.overall_s, 3, FinishReason.OVERALL_DEADLINE))
    return [
        (start + limit, rank, reason)
        for start, limit, rank, reason in clocks
        if start is not None and limit is not None
    ]


def first_expired(deadlines, marks, now):
    first = min(armed(deadlines, marks), default=None)
    if first is None or now < first[0]:
        return None
    return first[2], first[0]


def moved_on(started_at, paused_at, resumed_at):
    return started_at + (resumed_at - paused_at)


# %% the clock stands at the pause
# fails: a_wait_does_not_count, a_token_during_the_wait
# fault: It goes on from the moment in which the wait began.
def armed(deadlines, marks):
    clocks = []
    if marks.admitted_at is None:
        clocks.append((marks.queued_at, deadlines.queue_s, 0, FinishReason.QUEUE_DEADLINE))
    if marks.first_token_at is None:
        clocks.append((marks.received_at, deadlines.ttft_s, 1, FinishReason.TTFT_DEADLINE))
    elif not marks.paused:
        clocks.append((marks.last_token_at, deadlines.inter_token_s, 2, FinishReason.INTER_TOKEN_DEADLINE))
    clocks.append((marks.received_at, deadlines.overall_s, 3, FinishReason.OVERALL_DEADLINE))
    return [
        (start + limit, rank, reason)
        for start, limit, rank, reason in clocks
        if start is not None and limit is not None
    ]


def first_expired(deadlines, marks, now):
    first = min(armed(deadlines, marks), default=None)
    if first is None or now < first[0]:
        return None
    return first[2], first[0]


def moved_on(started_at, paused_at, resumed_at):
    return max(paused_at, started_at)


# %% the queue clock runs until the first token
# fails: the_queue_clock
# fault: An admitted request that is still prefilling is ended by the queue.
def armed(deadlines, marks):
    out = []
    if deadlines.queue_s is not None and marks.queued_at is not None and marks.first_token_at is None:
        out.append((marks.queued_at + deadlines.queue_s, "queue_deadline"))
    if deadlines.ttft_s is not None and marks.first_token_at is None:
        out.append((marks.received_at + deadlines.ttft_s, "ttft_deadline"))
    if deadlines.inter_token_s is not None and marks.last_token_at is not None and not marks.paused:
        out.append((marks.last_token_at + deadlines.inter_token_s, "inter_token_deadline"))
    if deadlines.overall_s is not None:
        out.append((marks.received_at + deadlines.overall_s, "overall_deadline"))
    return out


def first_expired(deadlines, marks, now):
    best = None
    for at, why in armed(deadlines, marks):
        if at <= now and (best is None or at < best[1]):
            best = (why, at)
    return best


def moved_on(started_at, paused_at, resumed_at):
    return started_at + resumed_at - paused_at if paused_at > started_at else resumed_at
