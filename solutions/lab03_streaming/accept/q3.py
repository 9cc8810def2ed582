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


# %% a named tuple for a tuple
from typing import NamedTuple


class Match(NamedTuple):
    stop: str
    end: int


def find_stop(text, stops, after=0):
    best = None
    for stop in stops:
        at = text.find(stop, max(0, after - len(stop) + 1))
        if at < 0:
            continue
        match = Match(stop, at + len(stop))
        if best is None or (match.end, -len(stop)) < (best.end, -len(best.stop)):
            best = match
    return best


# %% a tree of the reversed stops
def find_stop(text, stops, after=0):
    """A trie of the reversed stops, walked backwards from each end."""
    root = {}
    for stop in stops:
        node = root
        for c in reversed(stop):
            node = node.setdefault(c, {})
        node[""] = stop
    for end in range(after + 1, len(text) + 1):
        node, best = root, None
        for at in range(end - 1, -1, -1):
            node = node.get(text[at])
            if node is None:
                break
            best = node.get("", best)
        if best is not None:
            return best, end
    return None


# %% a pattern that looks back
import re


def find_stop(text, stops, after=0):
    if not stops or after >= len(text):
        return None
    by_length = sorted(stops, key=len, reverse=True)
    ends = re.compile("|".join(f"(?<={re.escape(s)})" for s in by_length))
    match = ends.search(text, after + 1)
    if match is None:
        return None
    end = match.start()
    return next(s for s in by_length if text[:end].endswith(s)), end
