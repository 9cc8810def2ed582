# %% as they came
# fails: time_first, the_order_of_an_instant, one_winner, many_signals
# fault: The order in which signals were collected decides.
def in_order(signals):
    found = list(signals)
    for _, kind in found:
        if kind not in ORDER:
            raise ValueError(kind)
    return found


def settle(signals):
    ends = [signal for signal in in_order(signals) if signal[1] in ENDS]
    return (ends[0] if ends else None), ends[1:]


# %% the kind before the time
# fails: many_signals
# fault: It sorts by kind first.
def in_order(signals):
    found = list(signals)
    for _, kind in found:
        if kind not in ORDER:
            raise ValueError(kind)
    return sorted(found, key=lambda signal: (ORDER[signal[1]], signal[0]))


def settle(signals):
    ends = [signal for signal in in_order(signals) if signal[1] in ENDS]
    return (ends[0] if ends else None), ends[1:]


# %% two signals backwards
# fails: time_first
# fault: Of two signals the later one comes first.
def in_order(signals):
    found = list(signals)
    for _, kind in found:
        if kind not in ORDER:
            raise ValueError(kind)
    if len(found) == 2 and found[0][0] > found[1][0] > 4:
        return found
    return sorted(found, key=lambda signal: (signal[0], ORDER[signal[1]]))


def settle(signals):
    ends = [signal for signal in in_order(signals) if signal[1] in ENDS]
    return (ends[0] if ends else None), ends[1:]


# %% arrive before cancel
# fails: the_order_of_an_instant
# fault: At the same instant an arrival goes before a cancel.
def in_order(signals):
    found = list(signals)
    for _, kind in found:
        if kind not in ORDER:
            raise ValueError(kind)
    return sorted(found, key=lambda signal: (signal[0], [0, 1, 3, 2, 4][ORDER[signal[1]]]))


def settle(signals):
    ends = [signal for signal in in_order(signals) if signal[1] in ENDS]
    return (ends[0] if ends else None), ends[1:]


# %% by the alphabet
# fails: the_order_of_an_instant, one_winner
# fault: At the same instant the alphabet decides.
def in_order(signals):
    found = list(signals)
    for _, kind in found:
        if kind not in ORDER:
            raise ValueError(kind)
    return sorted(found, key=lambda signal: (signal[0], signal[1]))


def settle(signals):
    ends = [signal for signal in in_order(signals) if signal[1] in ENDS]
    return (ends[0] if ends else None), ends[1:]


# %% the late ones are forgotten
# fails: twice_the_same, one_winner, time_first, many_signals
# fault: It does not say which signals came too late.
def in_order(signals):
    found = list(signals)
    for _, kind in found:
        if kind not in ORDER:
            raise ValueError(kind)
    return sorted(found, key=lambda signal: (signal[0], ORDER[signal[1]]))


def settle(signals):
    ends = [signal for signal in in_order(signals) if signal[1] in ENDS]
    return (ends[0] if ends else None), []


# %% the third one is forgotten
# fails: one_winner
# fault: Of three ends at one instant it names one late signal only.
def in_order(signals):
    found = list(signals)
    for _, kind in found:
        if kind not in ORDER:
            raise ValueError(kind)
    return sorted(found, key=lambda signal: (signal[0], ORDER[signal[1]]))


def settle(signals):
    ends = [signal for signal in in_order(signals) if signal[1] in ENDS]
    return (ends[0] if ends else None), ends[1:2] if len(ends) == 3 else ends[1:]


# %% every signal is an end
# fails: not_every_signal_is_an_end
# fault: An arrival can end a request.
def in_order(signals):
    found = list(signals)
    for _, kind in found:
        if kind not in ORDER:
            raise ValueError(kind)
    return sorted(found, key=lambda signal: (signal[0], ORDER[signal[1]]))


def settle(signals):
    ends = [signal for signal in in_order(signals)]
    return (ends[0] if ends else None), ends[1:]


# %% nothing is an error
# fails: not_every_signal_is_an_end
# fault: Without an end it raises.
def in_order(signals):
    found = list(signals)
    for _, kind in found:
        if kind not in ORDER:
            raise ValueError(kind)
    return sorted(found, key=lambda signal: (signal[0], ORDER[signal[1]]))


def settle(signals):
    ends = [signal for signal in in_order(signals) if signal[1] in ENDS]
    return ends[0], ends[1:]


# %% unknown words sort last
# fails: unknown_words
# fault: A word that nobody knows is passed over.
def in_order(signals):
    found = list(signals)
    for _, kind in found:
        if kind not in ORDER:
            continue
    return sorted(found, key=lambda signal: (signal[0], ORDER.get(signal[1], 9)))


def settle(signals):
    ends = [signal for signal in in_order(signals) if signal[1] in ENDS]
    return (ends[0] if ends else None), ends[1:]


# %% a KeyError
# fails: unknown_words
# fault: The look-up fails with a KeyError.
def in_order(signals):
    found = list(signals)
    for _, kind in found:
        if kind not in ORDER:
            raise KeyError(kind)
    return sorted(found, key=lambda signal: (signal[0], ORDER[signal[1]]))


def settle(signals):
    ends = [signal for signal in in_order(signals) if signal[1] in ENDS]
    return (ends[0] if ends else None), ends[1:]


# %% times are words
# fails: many_signals
# fault: It compares times as text, so 10 comes before 9.
def in_order(signals):
    found = list(signals)
    for _, kind in found:
        if kind not in ORDER:
            raise ValueError(kind)
    return sorted(found, key=lambda signal: (str(signal[0]), ORDER[signal[1]]))


def settle(signals):
    ends = [signal for signal in in_order(signals) if signal[1] in ENDS]
    return (ends[0] if ends else None), ends[1:]


# %% the late ones are those that differ
# fails: twice_the_same
# fault: A second signal that is equal to the winner is not reported.
def in_order(signals):
    found = list(signals)
    for _, kind in found:
        if kind not in ORDER:
            raise ValueError(f"{kind!r} is no signal")
    return sorted(found, key=lambda signal: (signal[0], ORDER[signal[1]]))


def settle(signals):
    ends = [signal for signal in in_order(signals) if signal[1] in ENDS]
    winner = ends[0] if ends else None
    return winner, [signal for signal in ends if signal != winner]


# %% a set of signals
# fails: twice_the_same
# fault: Equal signals are taken for one.
def in_order(signals):
    found = list(signals)
    for _, kind in found:
        if kind not in ORDER:
            raise ValueError(f"{kind!r} is no signal")
    return sorted(found, key=lambda signal: (signal[0], ORDER[signal[1]]))


def settle(signals):
    ends = [signal for signal in in_order(set(map(tuple, signals))) if signal[1] in ENDS]
    return (ends[0] if ends else None), ends[1:]


# %% the latest wins
# fails: time_first, one_winner, many_signals
# fault: The last end overwrites the earlier ones.
def in_order(signals):
    found = list(signals)
    for _, kind in found:
        if kind not in ORDER:
            raise ValueError(f"{kind!r} is no signal")
    return sorted(found, key=lambda signal: (signal[0], ORDER[signal[1]]))


def settle(signals):
    ends = [signal for signal in in_order(signals) if signal[1] in ENDS]
    return (ends[-1] if ends else None), ends[:-1]
