# %% a whole answer loses its last letter
# fails: the_unbounded_client
# fault: Without a bound the last letter of a whole answer is cut off.
def run_client(tokens, drains, capacity, deadline_tick, tick):
    generated = sent = 0
    paused_ticks = []
    for now, drain in enumerate(drains):
        if now >= deadline_tick:
            break
        has_more = generated < len(tokens)
        consumed, produced = tick(generated - sent, drain, capacity, has_more)
        sent += consumed
        generated += produced
        if has_more and not produced:
            paused_ticks.append(now)
    return {
        "generated": tokens[: generated - (capacity is None and generated == len(tokens))],
        "sent": tokens[:sent],
        "dropped": tokens[sent:generated],
        "paused_ticks": paused_ticks,
    }


# %% a bound for everybody
# fails: the_unbounded_client, what_was_made_for_nobody, when_it_was_paused
# fault: It uses a capacity of 2 where there is none.
def run_client(tokens, drains, capacity, deadline_tick, tick):
    generated = sent = 0
    paused_ticks = []
    for now, drain in enumerate(drains):
        if now >= deadline_tick:
            break
        has_more = generated < len(tokens)
        consumed, produced = tick(generated - sent, drain, 2 if capacity is None else capacity, has_more)
        sent += consumed
        generated += produced
        if has_more and not produced:
            paused_ticks.append(now)
    return {
        "generated": tokens[:generated],
        "sent": tokens[:sent],
        "dropped": tokens[sent:generated],
        "paused_ticks": paused_ticks,
    }


# %% the last letter of a bounded client
# fails: the_bounded_client
# fault: It reports one letter too few when there is a bound that was reached.
def run_client(tokens, drains, capacity, deadline_tick, tick):
    generated = sent = 0
    paused_ticks = []
    for now, drain in enumerate(drains):
        if now >= deadline_tick:
            break
        has_more = generated < len(tokens)
        consumed, produced = tick(generated - sent, drain, capacity, has_more)
        sent += consumed
        generated += produced
        if has_more and not produced:
            paused_ticks.append(now)
    return {
        "generated": tokens[: generated - bool(capacity and paused_ticks)],
        "sent": tokens[:sent],
        "dropped": tokens[sent:generated],
        "paused_ticks": paused_ticks,
    }


# %% the capacity is ignored
# fails: the_bounded_client, what_was_made_for_nobody, when_it_was_paused
# fault: It asks tick without the bound.
def run_client(tokens, drains, capacity, deadline_tick, tick):
    generated = sent = 0
    paused_ticks = []
    for now, drain in enumerate(drains):
        if now >= deadline_tick:
            break
        has_more = generated < len(tokens)
        consumed, produced = tick(generated - sent, drain, None, has_more)
        sent += consumed
        generated += produced
        if has_more and not produced:
            paused_ticks.append(now)
    return {
        "generated": tokens[:generated],
        "sent": tokens[:sent],
        "dropped": tokens[sent:generated],
        "paused_ticks": paused_ticks,
    }


# %% dropped is what was never made
# fails: what_was_made_for_nobody
# fault: It counts the rest of the answer as dropped.
def run_client(tokens, drains, capacity, deadline_tick, tick):
    generated = sent = 0
    paused_ticks = []
    for now, drain in enumerate(drains):
        if now >= deadline_tick:
            break
        has_more = generated < len(tokens)
        consumed, produced = tick(generated - sent, drain, capacity, has_more)
        sent += consumed
        generated += produced
        if has_more and not produced:
            paused_ticks.append(now)
    return {
        "generated": tokens[:generated],
        "sent": tokens[:sent],
        "dropped": tokens[generated:],
        "paused_ticks": paused_ticks,
    }


# %% every tick without a token is a pause
# fails: when_it_was_paused
# fault: It also counts the ticks after the answer was complete.
def run_client(tokens, drains, capacity, deadline_tick, tick):
    generated = sent = 0
    paused_ticks = []
    for now, drain in enumerate(drains):
        if now >= deadline_tick:
            break
        has_more = generated < len(tokens)
        consumed, produced = tick(generated - sent, drain, capacity, has_more)
        sent += consumed
        generated += produced
        if not produced:
            paused_ticks.append(now)
    return {
        "generated": tokens[:generated],
        "sent": tokens[:sent],
        "dropped": tokens[sent:generated],
        "paused_ticks": paused_ticks,
    }


# %% the deadline tick still runs
# fails: the_deadline_ends_it, when_it_was_paused
# fault: It ends after the deadline tick and not before it.
def run_client(tokens, drains, capacity, deadline_tick, tick):
    generated = sent = 0
    paused_ticks = []
    for now, drain in enumerate(drains):
        if now > deadline_tick:
            break
        has_more = generated < len(tokens)
        consumed, produced = tick(generated - sent, drain, capacity, has_more)
        sent += consumed
        generated += produced
        if has_more and not produced:
            paused_ticks.append(now)
    return {
        "generated": tokens[:generated],
        "sent": tokens[:sent],
        "dropped": tokens[sent:generated],
        "paused_ticks": paused_ticks,
    }


# %% the deadline is forgotten
# fails: the_deadline_ends_it, when_it_was_paused
# fault: It runs through all ticks.
def run_client(tokens, drains, capacity, deadline_tick, tick):
    generated = sent = 0
    paused_ticks = []
    for now, drain in enumerate(drains):
        if now > max(deadline_tick, 8):
            break
        has_more = generated < len(tokens)
        consumed, produced = tick(generated - sent, drain, capacity, has_more)
        sent += consumed
        generated += produced
        if has_more and not produced:
            paused_ticks.append(now)
    return {
        "generated": tokens[:generated],
        "sent": tokens[:sent],
        "dropped": tokens[sent:generated],
        "paused_ticks": paused_ticks,
    }


# %% stops when the answer is complete
# fails: an_answer_that_is_read_to_the_end, what_was_made_for_nobody
# fault: After the last token nothing is sent any more.
def run_client(tokens, drains, capacity, deadline_tick, tick):
    generated = sent = 0
    paused_ticks = []
    for now, drain in enumerate(drains):
        if now >= deadline_tick:
            break
        has_more = generated < len(tokens)
        if not has_more:
            break
        consumed, produced = tick(generated - sent, drain, capacity, has_more)
        sent += consumed
        generated += produced
        if has_more and not produced:
            paused_ticks.append(now)
    return {
        "generated": tokens[:generated],
        "sent": tokens[:sent],
        "dropped": tokens[sent:generated],
        "paused_ticks": paused_ticks,
    }


# %% takes one at most in the end
# fails: an_answer_that_is_read_to_the_end
# fault: Once the answer is complete it forgets the last token.
def run_client(tokens, drains, capacity, deadline_tick, tick):
    generated = sent = 0
    paused_ticks = []
    for now, drain in enumerate(drains):
        if now >= deadline_tick:
            break
        has_more = generated < len(tokens)
        consumed, produced = tick(generated - sent, drain, capacity, has_more)
        sent += consumed
        generated += produced
        if has_more and not produced:
            paused_ticks.append(now)
    return {
        "generated": tokens[:generated],
        "sent": tokens[: sent - (sent == len(tokens) and len(drains) > 12)],
        "dropped": tokens[sent:generated],
        "paused_ticks": paused_ticks,
    }


# %% a deadline of zero is none
# fails: the_deadline_ends_it
# fault: 0 is false in Python, so a deadline at tick 0 is taken for no deadline.
def run_client(tokens, drains, capacity, deadline_tick, tick):
    generated = sent = 0
    paused_ticks = []
    for now, drain in enumerate(drains):
        if deadline_tick and now >= deadline_tick:
            break
        has_more = generated < len(tokens)
        consumed, produced = tick(generated - sent, drain, capacity, has_more)
        sent += consumed
        generated += produced
        if has_more and not produced:
            paused_ticks.append(now)
    return {
        "generated": tokens[:generated],
        "sent": tokens[:sent],
        "dropped": tokens[sent:generated],
        "paused_ticks": paused_ticks,
    }


# %% ticks are counted from 1
# fails: when_it_was_paused
# fault: The numbers of the paused ticks are one too large.
def run_client(tokens, drains, capacity, deadline_tick, tick):
    made = out = 0
    paused = []
    for now, drain in enumerate(drains):
        if now >= deadline_tick:
            break
        more = made < len(tokens)
        consumed, produced = tick(made - out, drain, capacity, more)
        out, made = out + consumed, made + produced
        if more and not produced:
            paused.append(now + 1)
    return {
        "generated": tokens[:made],
        "sent": tokens[:out],
        "dropped": tokens[out:made],
        "paused_ticks": paused,
    }


# %% more to make is asked after the tick
# fails: when_it_was_paused
# fault: A tick that makes the last token, or is full before it, is judged by what is left afterwards.
def run_client(tokens, drains, capacity, deadline_tick, tick):
    made = out = 0
    paused = []
    for now, drain in enumerate(drains[:deadline_tick]):
        consumed, produced = tick(made - out, drain, capacity, made < len(tokens))
        out, made = out + consumed, made + produced
        if not produced:
            paused.append(now)
    return {
        "generated": tokens[:made],
        "sent": tokens[:out],
        "dropped": tokens[out:made],
        "paused_ticks": paused,
    }


# %% the law is written in once more and forgets the bound
# fails: the_bounded_client, what_was_made_for_nobody, when_it_was_paused
# fault: The given tick is not asked; every tick makes a token.
def run_client(tokens, drains, capacity, deadline_tick, tick):
    made = out = 0
    for drain in drains[:deadline_tick]:
        out += min(drain, made - out)
        made += made < len(tokens)
    return {"generated": tokens[:made], "sent": tokens[:out], "dropped": tokens[out:made], "paused_ticks": []}


# %% what waits is measured against the whole answer
# fails: the_bounded_client, what_was_made_for_nobody, when_it_was_paused
# fault: The level handed to tick is what was made, not what waits.
def run_client(tokens, drains, capacity, deadline_tick, tick):
    made = out = 0
    paused = []
    for now, drain in enumerate(drains[:deadline_tick]):
        more = made < len(tokens)
        consumed, produced = tick(made, drain, capacity, more)
        out, made = min(out + consumed, made), made + produced
        if more and not produced:
            paused.append(now)
    return {
        "generated": tokens[:made],
        "sent": tokens[:out],
        "dropped": tokens[out:made],
        "paused_ticks": paused,
    }


# %% what was taken in a tick can be made again
# fails: when_it_was_paused
# fault: The tokens that were sent are subtracted from what was made.
def run_client(tokens, drains, capacity, deadline_tick, tick):
    made = out = 0
    paused = []
    for now, drain in enumerate(drains[:deadline_tick]):
        more = made - out < len(tokens)
        consumed, produced = tick(made - out, drain, capacity, more)
        out, made = out + consumed, min(made + produced, len(tokens))
        if more and not produced:
            paused.append(now)
    return {
        "generated": tokens[:made],
        "sent": tokens[:out],
        "dropped": tokens[out:made],
        "paused_ticks": paused,
    }


# %% the first tick is lost
# fails: what_was_made_for_nobody, when_it_was_paused, the_deadline_ends_it
# fault: The run begins at tick 1.
def run_client(tokens, drains, capacity, deadline_tick, tick):
    made = out = 0
    paused = []
    for now in range(1, min(len(drains), deadline_tick)):
        more = made < len(tokens)
        consumed, produced = tick(made - out, drains[now], capacity, more)
        out, made = out + consumed, made + produced
        if more and not produced:
            paused.append(now)
    return {
        "generated": tokens[:made],
        "sent": tokens[:out],
        "dropped": tokens[out:made],
        "paused_ticks": paused,
    }


# %% the level that tick sees is one tick old
# fails: what_was_made_for_nobody, when_it_was_paused
# fault: The reader is given what waited a tick before.
def run_client(tokens, drains, capacity, deadline_tick, tick):
    made = out = level = 0
    paused = []
    for now, drain in enumerate(drains[:deadline_tick]):
        more = made < len(tokens)
        consumed, produced = tick(level, drain, capacity, more)
        level = made - out
        out, made = min(out + consumed, made), made + produced
        if more and not produced:
            paused.append(now)
    return {
        "generated": tokens[:made],
        "sent": tokens[:out],
        "dropped": tokens[out:made],
        "paused_ticks": paused,
    }
