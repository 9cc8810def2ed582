# %% sorts twice
def in_order(signals):
    unknown = {kind for _, kind in signals} - set(ORDER)
    if unknown:
        raise ValueError(f"no such signal: {unknown}")
    by_kind = sorted(signals, key=lambda signal: ORDER[signal[1]])
    return sorted(by_kind, key=lambda signal: signal[0])


def settle(signals):
    winner, late = None, []
    for time, kind in in_order(signals):
        if kind not in ("expire", "finish", "cancel"):
            continue
        if winner is None:
            winner = (time, kind)
        else:
            late.append((time, kind))
    return winner, late


# %% a heap
import heapq


def in_order(signals):
    heap = []
    for number, (time, kind) in enumerate(signals):
        try:
            heap.append((time, ORDER[kind], number, kind))
        except KeyError:
            raise ValueError(f"{kind} is no signal") from None
    heapq.heapify(heap)
    return [(time, kind) for time, _, _, kind in (heapq.heappop(heap) for _ in range(len(heap)))]


def settle(signals):
    first, *late = [*(one for one in in_order(signals) if ORDER[one[1]] < 3), None]
    return first, [one for one in late if one is not None]


# %% picks the smallest again and again
def in_order(signals):
    left = [tuple(signal) for signal in signals]
    if not all(kind in ORDER for _, kind in left):
        raise ValueError("a signal that is none")
    out = []
    while left:
        best = min(left, key=lambda signal: [signal[0], ORDER[signal[1]]])
        left.remove(best)
        out.append(best)
    return out


def settle(signals):
    ends = [one for one in in_order(signals) if one[1] in ENDS]
    if not ends:
        return None, ends
    return ends.pop(0), ends


# %% one bag for each kind
def in_order(signals):
    signals = list(signals)
    if any(kind not in ORDER for _, kind in signals):
        raise ValueError("unknown signal")
    bags = [[signal for signal in signals if signal[1] == kind] for kind in ORDER]
    times = sorted({time for time, _ in signals})
    return [signal for now in times for bag in bags for signal in bag if signal[0] == now]


def settle(signals):
    queue = in_order(signals)
    late = [signal for signal in queue if signal[1] not in {"arrive", "step"}]
    winner = late.pop(0) if late else None
    return [winner, late]


# %% inserts each at its place
def in_order(signals):
    out, words = [], list(ORDER)
    for time, kind in signals:
        if kind not in words:
            raise ValueError(kind)
    for time, kind in signals:
        place = 0
        while place < len(out):
            other_time, other = out[place]
            if other_time > time or (other_time == time and words.index(other) > words.index(kind)):
                break
            place += 1
        out.insert(place, (time, kind))
    return out


def settle(signals):
    ends = iter([one for one in in_order(signals) if one[1] in ENDS])
    return next(ends, None), list(ends)
