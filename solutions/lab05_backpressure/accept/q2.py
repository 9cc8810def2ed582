# %% strings grow
def run_client(tokens, drains, capacity, deadline_tick, tick):
    made, out, paused = "", "", []
    for now in range(min(deadline_tick, len(drains))):
        rest = tokens[len(made) :]
        consumed, produced = tick(len(made) - len(out), drains[now], capacity, bool(rest))
        out += made[len(out) : len(out) + consumed]
        made += rest[:produced]
        if rest and produced == 0:
            paused = [*paused, now]
    return dict(generated=made, sent=out, dropped=made[len(out) :], paused_ticks=paused)


# %% a queue of letters
from collections import deque


def run_client(tokens, drains, capacity, deadline_tick, tick):
    left, queue, sent, paused = deque(tokens), deque(), [], []
    for now, drain in enumerate(drains[:deadline_tick]):
        more = len(left) > 0
        consumed, produced = tick(len(queue), drain, capacity, more)
        sent += [queue.popleft() for _ in range(consumed)]
        queue += [left.popleft() for _ in range(produced)]
        if more > produced:
            paused.append(now)
    return {
        "paused_ticks": tuple(paused),
        "sent": "".join(sent),
        "dropped": "".join(queue),
        "generated": "".join([*sent, *queue]),
    }


# %% a generator of states
def run_client(tokens, drains, capacity, deadline_tick, tick):
    def states():
        generated = sent = 0
        for now, drain in enumerate(drains):
            if now == deadline_tick:
                return
            more = generated != len(tokens)
            took, made = tick(generated - sent, drain, capacity, more)
            generated, sent = generated + made, sent + took
            yield now, generated, sent, more and not made

    history = [(-1, 0, 0, False), *states()]
    _, generated, sent, _ = history[-1]
    return {
        "generated": tokens[:generated],
        "sent": tokens[:sent],
        "dropped": tokens[sent:generated],
        "paused_ticks": [now for now, _, _, paused in history if paused],
    }


# %% strings instead of numbers
def run_client(tokens, drains, capacity, deadline_tick, tick):
    to_come, waiting, sent, paused = tokens, "", "", []
    for now in range(min(len(drains), deadline_tick)):
        more = to_come != ""
        consumed, produced = tick(len(waiting), drains[now], capacity, more)
        sent, waiting = sent + waiting[:consumed], waiting[consumed:]
        if more and produced == 0:
            paused.append(now)
        waiting, to_come = waiting + to_come[:produced], to_come[produced:]
    return {"sent": sent, "paused_ticks": paused, "dropped": waiting, "generated": sent + waiting}


# %% a helper that is called again for each tick
def _step(state, now, drain, total, capacity, tick):
    made, out, paused = state
    more = made < total
    consumed, produced = tick(made - out, drain, capacity, more)
    return made + produced, out + consumed, paused + ([now] if more and not produced else [])


def run_client(tokens, drains, capacity, deadline_tick, tick):
    state = (0, 0, [])
    for now, drain in list(enumerate(drains))[:deadline_tick]:
        state = _step(state, now, drain, len(tokens), capacity, tick)
    made, out, paused = state
    return dict(generated=tokens[:made], sent=tokens[:out], dropped=tokens[out:made], paused_ticks=paused)
