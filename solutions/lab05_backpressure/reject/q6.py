# %% unsent is what was not committed
# fails: four_numbers, long_logs
# fault: It takes proposed less committed for unsent.
def token_counts(log):
    proposed = committed = sent = 0
    for event, count in log:
        if event == "propose":
            proposed += count
        elif event == "commit":
            committed += count
        elif event == "send":
            sent += count
        else:
            raise ValueError(f"{event!r} is not an event")
        if not sent <= committed <= proposed:
            raise ValueError("impossible")
    return {"proposed": proposed, "committed": committed, "unsent": proposed - committed, "sent": sent}


# %% one log only
# fails: four_numbers
# fault: It has proposed and committed mixed up when little has happened.
def token_counts(log):
    proposed = committed = sent = 0
    for event, count in log:
        if event == "propose":
            proposed += count
        elif event == "commit":
            committed += count
        elif event == "send":
            sent += count
        else:
            raise ValueError(f"{event!r} is not an event")
        if not sent <= committed <= proposed:
            raise ValueError("impossible")
    if len(log) == 3:
        proposed = committed
    return {"proposed": proposed, "committed": committed, "unsent": committed - sent, "sent": sent}


# %% an empty log is nothing
# fails: an_empty_log
# fault: It returns an empty dict for an empty log.
def token_counts(log):
    proposed = committed = sent = 0
    if not log:
        return {}
    for event, count in log:
        if event == "propose":
            proposed += count
        elif event == "commit":
            committed += count
        elif event == "send":
            sent += count
        else:
            raise ValueError(f"{event!r} is not an event")
        if not sent <= committed <= proposed:
            raise ValueError("impossible")
    return {"proposed": proposed, "committed": committed, "unsent": committed - sent, "sent": sent}


# %% commits are not checked
# fails: no_more_committed_than_proposed
# fault: More may be committed than was proposed.
def token_counts(log):
    proposed = committed = sent = 0
    for event, count in log:
        if event == "propose":
            proposed += count
        elif event == "commit":
            committed += count
        elif event == "send":
            sent += count
        else:
            raise ValueError(f"{event!r} is not an event")
        if not sent <= committed:
            raise ValueError("impossible")
    return {"proposed": proposed, "committed": committed, "unsent": committed - sent, "sent": sent}


# %% sends are not checked
# fails: no_more_sent_than_committed
# fault: More may be sent than was committed.
def token_counts(log):
    proposed = committed = sent = 0
    for event, count in log:
        if event == "propose":
            proposed += count
        elif event == "commit":
            committed += count
        elif event == "send":
            sent += count
        else:
            raise ValueError(f"{event!r} is not an event")
        if not committed <= proposed:
            raise ValueError("impossible")
    return {"proposed": proposed, "committed": committed, "unsent": committed - sent, "sent": sent}


# %% checks at the end only
# fails: no_more_committed_than_proposed, no_more_sent_than_committed
# fault: The order of the events is not looked at.
def token_counts(log):
    proposed = committed = sent = 0
    for event, count in log:
        if event == "propose":
            proposed += count
        elif event == "commit":
            committed += count
        elif event == "send":
            sent += count
        else:
            raise ValueError(f"{event!r} is not an event")
    if not sent <= committed <= proposed:
        raise ValueError("impossible")
    return {"proposed": proposed, "committed": committed, "unsent": committed - sent, "sent": sent}


# %% unknown words are passed over
# fails: unknown_words
# fault: An event that nobody knows is ignored.
def token_counts(log):
    proposed = committed = sent = 0
    for event, count in log:
        if event == "propose":
            proposed += count
        elif event == "commit":
            committed += count
        elif event == "send":
            sent += count
        else:
            continue
        if not sent <= committed <= proposed:
            raise ValueError("impossible")
    return {"proposed": proposed, "committed": committed, "unsent": committed - sent, "sent": sent}


# %% a KeyError for unknown words
# fails: unknown_words
# fault: The look-up fails, and the caller gets a KeyError.
def token_counts(log):
    proposed = committed = sent = 0
    for event, count in log:
        if event == "propose":
            proposed += count
        elif event == "commit":
            committed += count
        elif event == "send":
            sent += count
        else:
            raise KeyError(event)
        if not sent <= committed <= proposed:
            raise ValueError("impossible")
    return {"proposed": proposed, "committed": committed, "unsent": committed - sent, "sent": sent}


# %% the last entry of each kind counts
# fails: long_logs
# fault: It keeps the last number of each kind and does not add up.
def token_counts(log):
    proposed = committed = sent = 0
    for event, count in log:
        if event == "propose":
            proposed = max(proposed, count)
        elif event == "commit":
            committed = max(committed, count) if proposed else count
        elif event == "send":
            sent = max(sent, count)
        else:
            raise ValueError(f"{event!r} is not an event")
        if not (sent <= committed <= proposed) and len(log) < 6:
            raise ValueError("impossible")
    return {"proposed": proposed, "committed": committed, "unsent": committed - sent, "sent": sent}


# %% only the end of the log is checked
# fails: no_more_committed_than_proposed, no_more_sent_than_committed
# fault: A history that is impossible on the way passes when its totals fit.
def token_counts(log):
    total = {"propose": 0, "commit": 0, "send": 0}
    for event, count in log:
        if event not in total:
            raise ValueError(event)
        total[event] += count
    if not total["send"] <= total["commit"] <= total["propose"]:
        raise ValueError("impossible")
    return {
        "proposed": total["propose"],
        "committed": total["commit"],
        "unsent": total["commit"] - total["send"],
        "sent": total["send"],
    }


# %% unsent is what was proposed and not sent
# fails: four_numbers, long_logs
# fault: Rejected drafts count as unsent.
def token_counts(log):
    proposed = committed = sent = 0
    for event, count in log:
        if event == "propose":
            proposed += count
        elif event == "commit":
            committed += count
        elif event == "send":
            sent += count
        else:
            raise ValueError(event)
        if not sent <= committed <= proposed:
            raise ValueError("impossible")
    return {"proposed": proposed, "committed": committed, "unsent": proposed - sent, "sent": sent}


# %% committed shrinks when it is sent
# fails: four_numbers, long_logs
# fault: Committed means waiting here, so the two are merged.
def token_counts(log):
    proposed = committed = sent = 0
    for event, count in log:
        if event == "propose":
            proposed += count
        elif event == "commit":
            committed += count
        elif event == "send":
            sent += count
        else:
            raise ValueError(event)
        if not sent <= committed <= proposed:
            raise ValueError("impossible")
    return {"proposed": proposed, "committed": committed - sent, "unsent": committed - sent, "sent": sent}


# %% proposed is what was not committed
# fails: four_numbers, long_logs
# fault: Committed tokens are taken out of the proposed ones.
def token_counts(log):
    proposed = committed = sent = 0
    for event, count in log:
        if event == "propose":
            proposed += count
        elif event == "commit":
            committed += count
        elif event == "send":
            sent += count
        else:
            raise ValueError(event)
        if not sent <= committed <= proposed:
            raise ValueError("impossible")
    return {
        "proposed": proposed - committed,
        "committed": committed,
        "unsent": committed - sent,
        "sent": sent,
    }


# %% all of it must be strictly less
# fails: long_logs
# fault: A history in which everything was sent is refused.
def token_counts(log):
    proposed = committed = sent = 0
    for event, count in log:
        if event == "propose":
            proposed += count
        elif event == "commit":
            committed += count
        elif event == "send":
            sent += count
        else:
            raise ValueError(event)
        if committed > proposed or (sent and sent >= committed):
            raise ValueError("impossible")
    return {"proposed": proposed, "committed": committed, "unsent": committed - sent, "sent": sent}
