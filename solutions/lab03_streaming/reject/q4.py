# %% one character may begin nothing
# fails: the_beginning_of_a_stop_waits
# fault: An end of one character is sent, though it begins a stop.
def held_length(text, stops):
    for begin in range(len(text) - 1):
        end = text[begin:]
        if any(stop != end and stop.startswith(end) for stop in stops):
            return len(end)
    return 0


# %% no stops are no case
# fails: nothing_else_waits
# fault: max of nothing raises.
def held_length(text, stops):
    longest = max(len(stop) for stop in stops)
    for length in range(min(longest - 1, len(text)), 0, -1):
        if any(len(stop) > length and stop.startswith(text[-length:]) for stop in stops):
            return length
    return 0


# %% a fixed length waits
# fails: nothing_else_waits, the_beginning_of_a_stop_waits, a_whole_stop_does_not_wait, any_beginning
# fault: It holds back one character less than the longest stop has, always.
def held_length(text, stops):
    longest = max(map(len, stops), default=1)
    return min(len(text), longest - 1) if text else 0


# %% the shortest beginning
# fails: the_longest_beginning_counts
# fault: It counts up and takes the first length that fits.
def held_length(text, stops):
    for length in range(1, len(text) + 1):
        end = text[-length:]
        if any(stop != end and stop.startswith(end) for stop in stops if len(end) < 3 or len(stop) > 3):
            return next(
                (
                    longer
                    for longer in range(len(text), length, -1)
                    if len(set(text[-longer:])) == longer
                    and any(stop != text[-longer:] and stop.startswith(text[-longer:]) for stop in stops)
                ),
                length,
            )
    return 0


# %% a whole stop waits for itself
# fails: a_whole_stop_does_not_wait
# fault: It does not ask for a stop that is longer than the end.
def held_length(text, stops):
    for begin in range(len(text)):
        if any(stop.startswith(text[begin:]) for stop in stops):
            return len(text) - begin
    return 0


# %% a whole stop is never the beginning of another
# fails: a_whole_stop_does_not_wait
# fault: Once the text ends with a stop it holds nothing, though a longer stop may come.
def held_length(text, stops):
    if any(text.endswith(stop) for stop in stops):
        return 0
    for begin in range(len(text)):
        end = text[begin:]
        if any(stop != end and stop.startswith(end) for stop in stops):
            return len(end)
    return 0


# %% the end is taken for a pattern
# fails: any_beginning
# fault: It matches with re and does not escape the text.
import re


def held_length(text, stops):
    for begin in range(len(text)):
        end = text[begin:]
        try:
            if any(len(stop) > len(end) and re.match(end, stop) for stop in stops):
                return len(end)
        except re.error:
            continue
    return 0


# %% the first stop only
# fails: the_beginning_of_a_stop_waits, the_longest_beginning_counts
# fault: It looks at the first stop of the list.
def held_length(text, stops):
    for begin in range(len(text)):
        end = text[begin:]
        if any(stop != end and stop.startswith(end) for stop in list(stops)[:1]):
            return len(end)
    return 0


# %% the beginning anywhere
# fails: nothing_else_waits, a_whole_stop_does_not_wait, any_beginning
# fault: It looks for a beginning of a stop in the whole text and not at its end.
def held_length(text, stops):
    best = 0
    for stop in stops:
        for length in range(1, len(stop)):
            if stop[:length] in text:
                best = max(best, length)
    return best


# %% white space behind a beginning is ignored
# fails: any_beginning
# fault: It strips the end of the text, though a space or a newline ends what a stop began.
def held_length(text, stops):
    text = text.rstrip()
    return max((n for s in stops for n in range(1, len(s)) if text.endswith(s[:n])), default=0)


# %% small and capital letters are the same
# fails: any_beginning
# fault: It compares without regard to capital letters.
def held_length(text, stops):
    return max(
        (n for s in stops for n in range(1, len(s)) if text.lower().endswith(s[:n].lower())), default=0
    )


# %% a pattern that ends with a dollar sign
# fails: any_beginning
# fault: In Python `$` also matches in front of a newline at the end.
import re


def held_length(text, stops):
    best = 0
    for s in stops:
        for n in range(1, len(s)):
            if re.search(re.escape(s[:n]) + "$", text):
                best = max(best, n)
    return best


# %% no more than fifteen characters wait
# fails: any_beginning
# fault: A longer beginning of a stop is sent.
def held_length(text, stops):
    return max((n for s in stops for n in range(1, min(16, len(s))) if text.endswith(s[:n])), default=0)


# %% starts again at the wrong place
# fails: the_longest_beginning_counts
# fault: After a mismatch it goes back to the first character of the stop and not to the next shorter beginning.
def held_length(text, stops):
    best = 0
    for s in stops:
        state = 0
        for c in text:  # forgets to fall back to a shorter border
            if state < len(s) - 1 and c == s[state]:
                state += 1
            else:
                state = 1 if len(s) > 1 and c == s[0] else 0
        best = max(best, state)
    return best


# %% the shortest stop is the limit
# fails: the_longest_beginning_counts, a_whole_stop_does_not_wait
# fault: Never more characters wait than the shortest stop has.
def held_length(text, stops):
    shortest = min(map(len, stops), default=1)
    return max((n for s in stops for n in range(1, min(len(s), shortest)) if text.endswith(s[:n])), default=0)


# %% gives up at an earlier occurrence
# fails: any_beginning
# fault: A longer beginning that stands earlier in the text hides the shorter one at the end.
def held_length(text, stops):
    """the place of the last beginning, anywhere"""
    best = 0
    for s in stops:
        for n in range(len(s) - 1, 0, -1):
            at = text.rfind(s[:n])
            if at >= 0 and at + n >= len(text) - 0:
                best = max(best, len(text) - at)
                break
            if at >= 0:
                break
    return best


# %% empties the caller's list
# fails: nothing_else_waits
# fault: It takes the stops out of the list: the list belongs to the caller, and a tuple has no pop.
def held_length(text, stops):
    best = 0
    while stops:
        s = stops.pop()
        best = max(best, max((n for n in range(1, len(s)) if text.endswith(s[:n])), default=0))
    return best
