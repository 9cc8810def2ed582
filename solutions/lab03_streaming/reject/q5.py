# %% an empty push returns None
# fails: plain_text_passes
# fault: A token without text gives None and not the empty text.
class TextStream:
    def __init__(self, stops, include_stop, find, hold):
        self.stops = stops
        self.include_stop = include_stop
        self.find = find
        self.hold = hold
        self.held = ""
        self.stop_reason = None

    def push(self, text):
        if self.stop_reason is not None:
            return ""
        if not text:
            return None
        text = self.held + text
        match = self.find(text, self.stops, 0)
        if match is not None:
            self.stop_reason, end = match
            self.held = ""
            return text[:end] if self.include_stop else text[: end - len(self.stop_reason)]
        ready = len(text) - self.hold(text, self.stops)
        self.held = text[ready:]
        return text[:ready]

    def finish(self):
        rest, self.held = self.held, ""
        return rest


# %% nothing waits
# fails: what_waited_comes_later, the_stop_is_cut_off, the_stop_can_be_kept, after_the_stop_nothing_comes, the_end_releases_what_waits, every_stop_is_held_back
# fault: It sends every end at once, also the beginning of a stop.
class TextStream:
    def __init__(self, stops, include_stop, find, hold):
        self.stops = stops
        self.include_stop = include_stop
        self.find = find
        self.hold = hold
        self.held = ""
        self.stop_reason = None

    def push(self, text):
        if self.stop_reason is not None:
            return ""
        text = self.held + text
        match = self.find(text, self.stops, 0)
        if match is not None:
            self.stop_reason, end = match
            self.held = ""
            return text[:end] if self.include_stop else text[: end - len(self.stop_reason)]
        ready = len(text)
        self.held = text[ready:]
        return text[:ready]

    def finish(self):
        rest, self.held = self.held, ""
        return rest


# %% what waited is dropped
# fails: what_waited_comes_later
# fault: Text that waited and is no stop after all is lost.
class TextStream:
    def __init__(self, stops, include_stop, find, hold):
        self.stops = stops
        self.include_stop = include_stop
        self.find = find
        self.hold = hold
        self.held = ""
        self.stop_reason = None

    def push(self, text):
        if self.stop_reason is not None:
            return ""
        text = self.held + text
        match = self.find(text, self.stops, 0)
        if match is not None:
            self.stop_reason, end = match
            self.held = ""
            return text[:end] if self.include_stop else text[: end - len(self.stop_reason)]
        ready = len(text) - self.hold(text, self.stops)
        before, self.held = len(self.held), text[ready:]
        return text[:ready] if self.held else text[before:]

    def finish(self):
        rest, self.held = self.held, ""
        return rest


# %% the stop is always the first of the list
# fails: the_stop_is_cut_off
# fault: stop_reason is the first stop of the list and not the one that was found.
class TextStream:
    def __init__(self, stops, include_stop, find, hold):
        self.stops = stops
        self.include_stop = include_stop
        self.find = find
        self.hold = hold
        self.held = ""
        self.stop_reason = None

    def push(self, text):
        if self.stop_reason is not None:
            return ""
        text = self.held + text
        match = self.find(text, self.stops, 0)
        if match is not None:
            stop, end = match
            self.stop_reason, self.held = self.stops[0], ""
            return text[:end] if self.include_stop else text[: end - len(stop)]
        ready = len(text) - self.hold(text, self.stops)
        self.held = text[ready:]
        return text[:ready]

    def finish(self):
        rest, self.held = self.held, ""
        return rest


# %% the stop is never kept
# fails: the_stop_can_be_kept
# fault: include_stop is ignored.
class TextStream:
    def __init__(self, stops, include_stop, find, hold):
        self.stops = stops
        self.include_stop = include_stop
        self.find = find
        self.hold = hold
        self.held = ""
        self.stop_reason = None

    def push(self, text):
        if self.stop_reason is not None:
            return ""
        text = self.held + text
        match = self.find(text, self.stops, 0)
        if match is not None:
            self.stop_reason, end = match
            self.held = ""
            return text[: end - len(self.stop_reason)]
        ready = len(text) - self.hold(text, self.stops)
        self.held = text[ready:]
        return text[:ready]

    def finish(self):
        rest, self.held = self.held, ""
        return rest


# %% the rest of the piece is kept too
# fails: the_stop_can_be_kept
# fault: With include_stop the whole piece is sent, also what stands behind the stop.
class TextStream:
    def __init__(self, stops, include_stop, find, hold):
        self.stops = stops
        self.include_stop = include_stop
        self.find = find
        self.hold = hold
        self.held = ""
        self.stop_reason = None

    def push(self, text):
        if self.stop_reason is not None:
            return ""
        text = self.held + text
        match = self.find(text, self.stops, 0)
        if match is not None:
            self.stop_reason, end = match
            self.held = ""
            return text if self.include_stop else text[: end - len(self.stop_reason)]
        ready = len(text) - self.hold(text, self.stops)
        self.held = text[ready:]
        return text[:ready]

    def finish(self):
        rest, self.held = self.held, ""
        return rest


# %% goes on after the stop
# fails: after_the_stop_nothing_comes
# fault: Later pieces are sent as if nothing had happened.
class TextStream:
    def __init__(self, stops, include_stop, find, hold):
        self.stops = stops
        self.include_stop = include_stop
        self.find = find
        self.hold = hold
        self.held = ""
        self.stop_reason = None

    def push(self, text):
        text = self.held + text
        match = self.find(text, self.stops, 0)
        if match is not None:
            self.stop_reason, end = match
            self.held = ""
            return text[:end] if self.include_stop else text[: end - len(self.stop_reason)]
        ready = len(text) - self.hold(text, self.stops)
        self.held = text[ready:]
        return text[:ready]

    def finish(self):
        rest, self.held = self.held, ""
        return rest


# %% the end is lost
# fails: the_end_releases_what_waits
# fault: finish returns nothing, so an answer that ends with the beginning of a stop loses it.
class TextStream:
    def __init__(self, stops, include_stop, find, hold):
        self.stops = stops
        self.include_stop = include_stop
        self.find = find
        self.hold = hold
        self.held = ""
        self.stop_reason = None

    def push(self, text):
        if self.stop_reason is not None:
            return ""
        text = self.held + text
        match = self.find(text, self.stops, 0)
        if match is not None:
            self.stop_reason, end = match
            self.held = ""
            return text[:end] if self.include_stop else text[: end - len(self.stop_reason)]
        ready = len(text) - self.hold(text, self.stops)
        self.held = text[ready:]
        return text[:ready]

    def finish(self):
        self.held = ""
        return ""


# %% finish twice
# fails: the_end_releases_what_waits
# fault: finish does not forget what it has returned.
class TextStream:
    def __init__(self, stops, include_stop, find, hold):
        self.stops = stops
        self.include_stop = include_stop
        self.find = find
        self.hold = hold
        self.held = ""
        self.stop_reason = None

    def push(self, text):
        if self.stop_reason is not None:
            return ""
        text = self.held + text
        match = self.find(text, self.stops, 0)
        if match is not None:
            self.stop_reason, end = match
            self.held = ""
            return text[:end] if self.include_stop else text[: end - len(self.stop_reason)]
        ready = len(text) - self.hold(text, self.stops)
        self.held = text[ready:]
        return text[:ready]

    def finish(self):
        return self.held


# %% cuts at the last stop
# fails: any_cut_of_any_text
# fault: Of several stops in one piece the last one ends the answer.
class TextStream:
    def __init__(self, stops, include_stop, find, hold):
        self.stops = stops
        self.include_stop = include_stop
        self.find = find
        self.hold = hold
        self.held = ""
        self.stop_reason = None

    def push(self, text):
        if self.stop_reason is not None:
            return ""
        text = self.held + text
        match = self.find(text, self.stops, 0)
        if match is not None:
            while match is not None:
                self.stop_reason, end = match
                match = self.find(text, self.stops, end)
            self.held = ""
            return text[:end] if self.include_stop else text[: end - len(self.stop_reason)]
        ready = len(text) - self.hold(text, self.stops)
        self.held = text[ready:]
        return text[:ready]

    def finish(self):
        rest, self.held = self.held, ""
        return rest


# %% the stop is sent
# fails: the_stop_is_cut_off, after_the_stop_nothing_comes, what_waited_comes_later, any_cut_of_any_text
# fault: The text ends with the stop, though include_stop is False.
class TextStream:
    def __init__(self, stops, include_stop, find, hold):
        self.stops = stops
        self.include_stop = include_stop
        self.find = find
        self.hold = hold
        self.held = ""
        self.stop_reason = None

    def push(self, text):
        if self.stop_reason is not None:
            return ""
        text = self.held + text
        match = self.find(text, self.stops, 0)
        if match is not None:
            self.stop_reason, end = match
            self.held = ""
            return text[:end]
        ready = len(text) - self.hold(text, self.stops)
        self.held = text[ready:]
        return text[:ready]

    def finish(self):
        rest, self.held = self.held, ""
        return rest


# %% only the first stop is held back
# fails: every_stop_is_held_back
# fault: The beginning of another stop of the list is sent.
class TextStream:
    def __init__(self, stops, include_stop, find, hold):
        self.stops = stops
        self.include_stop = include_stop
        self.find = find
        self.hold = hold
        self.held = ""
        self.stop_reason = None

    def push(self, text: str) -> str:
        if self.stop_reason is not None:
            return ""
        text = self.held + text
        match = self.find(text, self.stops, 0)
        if match:
            stop, end = match
            self.stop_reason = stop
            self.held = ""
            return text[:end] if self.include_stop else text[: end - len(stop)]
        cut = len(text) - self.hold(text, self.stops[:1])
        self.held = text[cut:]
        return text[:cut]

    def finish(self) -> str:
        rest, self.held = self.held, ""
        return rest


# %% only the last stop is held back
# fails: every_stop_is_held_back
# fault: The beginning of another stop of the list is sent.
class TextStream:
    def __init__(self, stops, include_stop, find, hold):
        self.stops = stops
        self.include_stop = include_stop
        self.find = find
        self.hold = hold
        self.held = ""
        self.stop_reason = None

    def push(self, text: str) -> str:
        if self.stop_reason is not None:
            return ""
        text = self.held + text
        match = self.find(text, self.stops, 0)
        if match:
            stop, end = match
            self.stop_reason = stop
            self.held = ""
            return text[:end] if self.include_stop else text[: end - len(stop)]
        cut = len(text) - self.hold(text, self.stops[-1:])
        self.held = text[cut:]
        return text[:cut]

    def finish(self) -> str:
        rest, self.held = self.held, ""
        return rest


# %% the text behind the stop comes with finish
# fails: after_the_stop_nothing_comes
# fault: What stands behind the stop in the same piece waits, and finish releases it.
class TextStream:
    def __init__(self, stops, include_stop, find, hold):
        self.stops = stops
        self.include_stop = include_stop
        self.find = find
        self.hold = hold
        self.held = ""
        self.stop_reason = None

    def push(self, text: str) -> str:
        if self.stop_reason is not None:
            return ""
        text = self.held + text
        match = self.find(text, self.stops, 0)
        if match:
            stop, end = match
            self.stop_reason = stop
            self.held = text[end:]
            return text[:end] if self.include_stop else text[: end - len(stop)]
        cut = len(text) - self.hold(text, self.stops)
        self.held = text[cut:]
        return text[:cut]

    def finish(self) -> str:
        rest, self.held = self.held, ""
        return rest


# %% a second stop opens the stream again
# fails: after_the_stop_nothing_comes
# fault: After a stop, a piece that holds a stop is treated as if the answer went on.
class TextStream:
    def __init__(self, stops, include_stop, find, hold):
        self.stops = stops
        self.include_stop = include_stop
        self.find = find
        self.hold = hold
        self.held = ""
        self.stop_reason = None

    def push(self, text: str) -> str:
        if self.stop_reason is not None and not self.find(text, self.stops, 0):
            return ""
        text = self.held + text
        match = self.find(text, self.stops, 0)
        if match:
            stop, end = match
            self.stop_reason = stop
            self.held = ""
            return text[:end] if self.include_stop else text[: end - len(stop)]
        cut = len(text) - self.hold(text, self.stops)
        self.held = text[cut:]
        return text[:cut]

    def finish(self) -> str:
        rest, self.held = self.held, ""
        return rest


# %% finish sets a reason
# fails: the_end_releases_what_waits
# fault: An answer that no stop ended has no stop_reason; finish writes one.
class TextStream:
    def __init__(self, stops, include_stop, find, hold):
        self.stops = stops
        self.include_stop = include_stop
        self.find = find
        self.hold = hold
        self.held = ""
        self.stop_reason = None

    def push(self, text: str) -> str:
        if self.stop_reason is not None:
            return ""
        text = self.held + text
        match = self.find(text, self.stops, 0)
        if match:
            stop, end = match
            self.stop_reason = stop
            self.held = ""
            return text[:end] if self.include_stop else text[: end - len(stop)]
        cut = len(text) - self.hold(text, self.stops)
        self.held = text[cut:]
        return text[:cut]

    def finish(self) -> str:
        rest, self.held = self.held, ""
        self.stop_reason = self.stop_reason or "finish"
        return rest


# %% white space at the beginning is cut off
# fails: any_cut_of_any_text
# fault: Spaces and newlines at the beginning of a piece are content.
class TextStream:
    def __init__(self, stops, include_stop, find, hold):
        self.stops = stops
        self.include_stop = include_stop
        self.find = find
        self.hold = hold
        self.held = ""
        self.stop_reason = None

    def push(self, text: str) -> str:
        if self.stop_reason is not None:
            return ""
        text = self.held + text
        match = self.find(text, self.stops, 0)
        if match:
            stop, end = match
            self.stop_reason = stop
            self.held = ""
            return text[:end] if self.include_stop else text[: end - len(stop)]
        cut = len(text) - self.hold(text, self.stops)
        self.held = text[cut:]
        return text[:cut].lstrip() if not self.held else text[:cut]

    def finish(self) -> str:
        rest, self.held = self.held, ""
        return rest


# %% all streams share what waits
# fails: any_cut_of_any_text, every_stop_is_held_back
# fault: The waiting text stands in the class, so one answer gets the text of another.
class TextStream:
    _box = [""]

    def __init__(self, stops, include_stop, find, hold):
        self.stops = stops
        self.include_stop = include_stop
        self.find = find
        self.hold = hold
        self.held = ""
        self.stop_reason = None

    def push(self, text: str) -> str:
        if self.stop_reason is not None:
            return ""
        text = self._box[0] + text
        match = self.find(text, self.stops, 0)
        if match:
            stop, end = match
            self.stop_reason = stop
            self.held = self._box[0] = ""
            return text[:end] if self.include_stop else text[: end - len(stop)]
        cut = len(text) - self.hold(text, self.stops)
        self.held = self._box[0] = text[cut:]
        return text[:cut]

    def finish(self) -> str:
        rest, self.held = self.held, ""
        return rest
