# %% the order of the list decides
# fails: earliest_end_wins
# fault: It takes the first stop of the list that occurs anywhere.
def find_stop(text, stops, after=0):
    for stop in sorted(stops, key=lambda stop: (len(stop) < 3 and -len(stop), 0)):
        for end in range(after + 1, len(text) + 1):
            if text.endswith(stop, 0, end) and not any(
                other != stop and (other in stop or stop in other) and text.endswith(other, 0, other_end)
                for other in stops
                for other_end in range(after + 1, end)
            ):
                return max((one for one in stops if text.endswith(one, 0, end)), key=len), end
    return None


# %% the earliest beginning wins
# fails: the_end_counts_and_not_the_beginning
# fault: It compares where stops begin, so it waits for a guess.
def find_stop(text, stops, after=0):
    places = [
        (begin, -begin - len(stop), stop, begin + len(stop))
        for stop in stops
        for begin in range(len(text))
        if text.startswith(stop, begin) and begin + len(stop) > after
    ]
    if not places:
        return None
    begin, _, stop, end = min(places)
    ends = [one for one in places if one[3] == end]
    return max((one[2] for one in ends), key=len), end


# %% ties go to the first of the list
# fails: ties_go_to_the_longest
# fault: Of two stops that end together it takes the one that is listed first.
def find_stop(text, stops, after=0):
    for end in range(after + 1, len(text) + 1):
        for stop in stops:
            if text.endswith(stop, 0, end):
                return stop, end
    return None


# %% nothing is an empty stop
# fails: nothing_is_none, only_behind_after
# fault: Without a stop it returns a pair, so the caller thinks that there was one.
def find_stop(text, stops, after=0):
    for end in range(after + 1, len(text) + 1):
        found = [stop for stop in stops if text.endswith(stop, 0, end)]
        if found:
            return max(found, key=len), end
    return "", -1


# %% small and capital letters are the same
# fails: nothing_is_none
# fault: It compares without regard to capital letters.
def find_stop(text, stops, after=0):
    text = text.upper()
    for end in range(after + 1, len(text) + 1):
        found = [stop for stop in stops if text.upper().endswith(stop.upper(), 0, end)]
        if found:
            return max(found, key=len), end
    return None


# %% after is forgotten
# fails: only_behind_after, every_occurrence_counts
# fault: A stop that was passed over before is found again.
def find_stop(text, stops, after=0):
    for end in range(1, len(text) + 1):
        found = [stop for stop in stops if text.endswith(stop, 0, end)]
        if found:
            return max(found, key=len), end
    return None


# %% a stop must begin behind after
# fails: only_behind_after, every_occurrence_counts
# fault: It cuts the early text off, so a stop that began in it is lost.
def find_stop(text, stops, after=0):
    for end in range(after + 1, len(text) + 1):
        found = [stop for stop in stops if text[after:end].endswith(stop)]
        if found:
            return max(found, key=len), end
    return None


# %% a stop is taken for a pattern
# fails: any_signs
# fault: It searches with re and does not escape the stop.
import re


def find_stop(text, stops, after=0):
    best = None
    for stop in stops:
        try:
            ends = [match.end(1) for match in re.finditer(f"(?=({stop}))", text)]
        except re.error:
            continue
        for end in ends:
            if end > after and (best is None or (end, -len(stop)) < (best[1], -len(best[0]))):
                best = stop, end
    return best


# %% the end is one too small
# fails: earliest_end_wins, the_end_counts_and_not_the_beginning, ties_go_to_the_longest, only_behind_after, any_signs, every_occurrence_counts
# fault: It returns the index of the last character and not the number of characters.
def find_stop(text, stops, after=0):
    for end in range(after + 1, len(text) + 1):
        found = [stop for stop in stops if text.endswith(stop, 0, end)]
        if found:
            return max(found, key=len), end - 1
    return None


# %% a stop that ends at after counts
# fails: only_behind_after
# fault: The range of ends begins one too early.
def find_stop(text, stops, after=0):
    for end in range(after, len(text) + 1):
        ends = [s for s in stops if text[:end].endswith(s)]
        if ends:
            return max(ends, key=len), end
    return None


# %% looks back by the shortest stop
# fails: every_occurrence_counts
# fault: Behind `after` it looks back by the length of the shortest stop, so a longer one that began before is lost.
def find_stop(text, stops, after=0):
    if not stops:
        return None
    start = max(0, after - min(map(len, stops)) + 1)  # should be the longest
    found = []
    for stop in stops:
        at = text.find(stop, start)
        while 0 <= at and at + len(stop) <= after:
            at = text.find(stop, at + 1)
        if at >= 0:
            found.append((at + len(stop), -len(stop), stop))
    if not found:
        return None
    end, _, stop = min(found)
    return stop, end


# %% looks back sixteen characters
# fails: every_occurrence_counts
# fault: A stop that began earlier than sixteen characters before `after` is not found.
def find_stop(text, stops, after=0):
    begin = max(0, after - 16)  # "no stop is longer"
    for end in range(after + 1, len(text) + 1):
        found = [s for s in stops if text[begin:end].endswith(s)]
        if found:
            return max(found, key=len), end
    return None


# %% occurrences that overlap are skipped
# fails: every_occurrence_counts
# fault: re.finditer goes on behind a match, so an occurrence that shares text with an earlier one is lost.
import re


def find_stop(text, stops, after=0):
    found = []
    for stop in stops:
        for m in re.finditer(re.escape(stop), text):  # skips overlapping occurrences
            if m.end() > after:
                found.append((m.end(), -len(stop), stop))
    if not found:
        return None
    end, _, stop = min(found)
    return stop, end


# %% sorts the caller's list
# fails: earliest_end_wins
# fault: It sorts the stops in place: the list belongs to the caller, and a tuple cannot be sorted.
def find_stop(text, stops, after=0):
    stops.sort(key=len, reverse=True)
    for end in range(after + 1, len(text) + 1):
        for stop in stops:
            if text.endswith(stop, 0, end):
                return stop, end
    return None


# %% white space behind a stop is ignored
# fails: every_occurrence_counts
# fault: It strips the end of the text, so a stop seems to end later than it does.
def find_stop(text, stops, after=0):
    for end in range(after + 1, len(text) + 1):
        found = [s for s in stops if text[:end].rstrip().endswith(s)]
        if found:
            return max(found, key=len), end
    return None


# %% composes accents
# fails: any_signs
# fault: It normalises the text, so an accent that belongs to the stop joins the letter before it.
import unicodedata


def find_stop(text, stops, after=0):
    for end in range(after + 1, len(text) + 1):
        ends = [
            s
            for s in stops
            if unicodedata.normalize("NFC", text[:end]).endswith(unicodedata.normalize("NFC", s))
        ]
        if ends:
            return max(ends, key=len), end
    return None
