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
