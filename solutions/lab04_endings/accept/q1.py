# %% a table of rules
def armed(deadlines, marks):
    has_token = marks.first_token_at is not None
    rules = [
        ("queue_deadline", marks.queued_at, deadlines.queue_s, marks.admitted_at is None),
        ("ttft_deadline", marks.received_at, deadlines.ttft_s, not has_token),
        (
            "inter_token_deadline",
            marks.last_token_at,
            deadlines.inter_token_s,
            has_token and not marks.paused,
        ),
        ("overall_deadline", marks.received_at, deadlines.overall_s, True),
    ]
    running = []
    for rank, (reason, start, limit, runs) in enumerate(rules):
        if runs and None not in (start, limit):
            running.append((start + limit, rank, reason))
    return running


def first_expired(deadlines, marks, now):
    for due, _, reason in sorted(armed(deadlines, marks)):
        return (reason, due) if due <= now else None
    return None


def moved_on(started_at, paused_at, resumed_at):
    if started_at > paused_at:
        return resumed_at
    return resumed_at - (paused_at - started_at)


# %% a generator, and a loop that keeps the best
def armed(deadlines, marks):
    return list(clocks_of(deadlines, marks))


def clocks_of(deadlines, marks):
    if marks.admitted_at is None and marks.queued_at is not None and deadlines.queue_s is not None:
        yield marks.queued_at + deadlines.queue_s, 0, FinishReason.QUEUE_DEADLINE
    if marks.first_token_at is None:
        if deadlines.ttft_s is not None:
            yield marks.received_at + deadlines.ttft_s, 1, FinishReason.TTFT_DEADLINE
    elif not marks.paused and deadlines.inter_token_s is not None and marks.last_token_at is not None:
        yield marks.last_token_at + deadlines.inter_token_s, 2, FinishReason.INTER_TOKEN_DEADLINE
    if deadlines.overall_s is not None:
        yield marks.received_at + deadlines.overall_s, 3, FinishReason.OVERALL_DEADLINE


def first_expired(deadlines, marks, now):
    best = None
    for clock in armed(deadlines, marks):
        if clock[0] <= now and (best is None or clock[:2] < best[:2]):
            best = clock
    return best and (best[2], best[0])


def moved_on(started_at, paused_at, resumed_at):
    return started_at + (resumed_at - max(paused_at, started_at))


# %% everything in one function, a list for a tuple
def armed(deadlines, marks):
    return []


def first_expired(deadlines, marks, now):
    late = {}

    def look(rank, reason, start, limit):
        if start is not None and limit is not None and now - start >= limit:
            late[(start + limit, rank)] = reason

    if marks.admitted_at is None:
        look(0, "queue_deadline", marks.queued_at, deadlines.queue_s)
    if marks.first_token_at is None:
        look(1, "ttft_deadline", marks.received_at, deadlines.ttft_s)
    if marks.first_token_at is not None and not marks.paused:
        look(2, "inter_token_deadline", marks.last_token_at, deadlines.inter_token_s)
    look(3, "overall_deadline", marks.received_at, deadlines.overall_s)
    if not late:
        return None
    first = min(late)
    return [late[first], first[0]]


def moved_on(started_at, paused_at, resumed_at):
    gone_before = max(0.0, paused_at - started_at)
    return resumed_at - gone_before


# %% a dict of due times
def armed(deadlines, marks):
    due = {}
    for name, start in {
        "queue_s": marks.queued_at if marks.admitted_at is None else None,
        "ttft_s": marks.received_at if marks.first_token_at is None else None,
        "inter_token_s": None if marks.first_token_at is None or marks.paused else marks.last_token_at,
        "overall_s": marks.received_at,
    }.items():
        if start is not None and getattr(deadlines, name) is not None:
            due[CLOCKS[name]] = start + getattr(deadlines, name)
    return due


def first_expired(deadlines, marks, now):
    passed = {reason: at for reason, at in armed(deadlines, marks).items() if at <= now}
    if not passed:
        return None
    cause = min(passed, key=passed.get)
    return cause, passed[cause]


def moved_on(started_at, paused_at, resumed_at):
    ran = paused_at - started_at
    return resumed_at if ran < 0 else resumed_at - ran


# %% one look at each clock, no min
def armed(deadlines, marks):
    out = []
    if deadlines.queue_s is not None and marks.queued_at is not None and marks.admitted_at is None:
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
