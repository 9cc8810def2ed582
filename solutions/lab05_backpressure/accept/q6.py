# %% a dict of totals
def token_counts(log):
    totals = {"propose": 0, "commit": 0, "send": 0}
    for event, count in log:
        if event not in totals:
            raise ValueError(event)
        totals[event] += count
        if totals["commit"] > totals["propose"] or totals["send"] > totals["commit"]:
            raise ValueError(str(totals))
    waits = totals["commit"] - totals["send"]
    return {
        "sent": totals["send"],
        "unsent": waits,
        "committed": totals["commit"],
        "proposed": totals["propose"],
    }


# %% two queues
def token_counts(log):
    proposed = drafts = unsent = sent = 0
    for event, count in log:
        match event:
            case "propose":
                proposed, drafts = proposed + count, drafts + count
            case "commit":
                drafts, unsent = drafts - count, unsent + count
            case "send":
                unsent, sent = unsent - count, sent + count
            case _:
                raise ValueError(f"no such event: {event}")
        if drafts < 0 or unsent < 0:
            raise ValueError("there is not that much")
    return {"proposed": proposed, "committed": unsent + sent, "unsent": unsent, "sent": sent}


# %% running sums
from itertools import accumulate


def token_counts(log):
    if {event for event, _ in log} - {"propose", "commit", "send"}:
        raise ValueError("an event that is none")
    sums = []
    for wanted in ("propose", "commit", "send"):
        sums.append([0, *accumulate(count if event == wanted else 0 for event, count in log)])
    for made, kept, out in zip(*sums):
        if made < kept or kept < out:
            raise ValueError("the order is impossible")
    proposed, committed, sent = (one[-1] for one in sums)
    return {"proposed": proposed, "committed": committed, "unsent": committed - sent, "sent": sent}


# %% a dict of numbers
def token_counts(log):
    total = dict.fromkeys(("propose", "commit", "send"), 0)
    for event, count in log:
        if event not in total:
            raise ValueError(f"what is {event!r}?")
        total[event] += count
        if total["send"] > total["commit"] or total["commit"] > total["propose"]:
            raise ValueError(f"after {event}: {total}")
    proposed, committed, sent = total.values()
    return {"sent": sent, "unsent": committed - sent, "committed": committed, "proposed": proposed}
