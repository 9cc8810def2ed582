# %% all places, sorted
def find_stop(text, stops, after=0):
    places = []
    for stop in stops:
        begin = text.find(stop)
        while begin >= 0:
            end = begin + len(stop)
            if end > after:
                places.append((end, -len(stop), stop))
            begin = text.find(stop, begin + 1)
    if not places:
        return None
    end, _, stop = min(places)
    return stop, end


# %% the nearest end of each stop
def find_stop(text, stops, after=0):
    best = None
    for stop in stops:
        begin = text.find(stop, max(0, after + 1 - len(stop)))
        if begin < 0:
            continue
        found = (begin + len(stop), -len(stop))
        if best is None or found < best[:2]:
            best = (*found, stop)
    return None if best is None else (best[2], best[0])


# %% grows the text and asks the longest first; a list for a tuple
def find_stop(text, stops, after=0):
    by_length = sorted(stops, key=len, reverse=True)
    for end, _ in enumerate(text, 1):
        if end <= after:
            continue
        for stop in by_length:
            if text[:end][-len(stop) :] == stop:
                return [stop, end]
    return None
