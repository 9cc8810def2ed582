# %% keeps the whole text and counts what was sent
class TextStream:
    def __init__(self, stops, include_stop, find, hold):
        self.stops = stops
        self.include_stop = include_stop
        self.find = find
        self.hold = hold
        self.held = ""
        self.stop_reason = None

    def push(self, text):
        if self.stop_reason:
            return ""
        self.held += text
        found = self.find(self.held, list(self.stops), 0)
        if found:
            stop, end = found
            cut = end if self.include_stop else end - len(stop)
            out, self.held, self.stop_reason = self.held[:cut], "", stop
            return out
        waits = self.hold(self.held, list(self.stops))
        cut = len(self.held) - waits
        out, self.held = self.held[:cut], self.held[cut:]
        return out

    def finish(self):
        out = self.held
        self.held = ""
        return out


# %% sends from the text so far
class TextStream:
    def __init__(self, stops, include_stop, find, hold):
        self.rules = stops, include_stop, find, hold
        self.text = ""
        self.sent = 0
        self.stop_reason = None

    def push(self, text):
        stops, include_stop, find, hold = self.rules
        if self.stop_reason is not None:
            return ""
        self.text += text
        found = find(self.text, stops, 0)
        if found is None:
            return self._upto(len(self.text) - hold(self.text, stops))
        self.stop_reason = found[0]
        shown = self._upto(found[1] if include_stop else found[1] - len(found[0]))
        self.text = self.text[: self.sent]
        return shown

    def finish(self):
        return self._upto(len(self.text))

    def _upto(self, end):
        begin, self.sent = self.sent, end
        return self.text[begin:end]


# %% character by character
class TextStream:
    def __init__(self, stops, include_stop, find, hold):
        self.stops = stops
        self.include_stop = include_stop
        self.find = find
        self.hold = hold
        self.held = ""
        self.stop_reason = None

    def push(self, text):
        out = ""
        for char in text:
            if self.stop_reason is not None:
                break
            self.held += char
            found = self.find(self.held, self.stops, 0)
            if found is not None:
                self.stop_reason = found[0]
                out += self.held if self.include_stop else self.held[: -len(found[0])]
                self.held = ""
            else:
                keep = self.hold(self.held, self.stops)
                out += self.held[: len(self.held) - keep]
                self.held = self.held[len(self.held) - keep :]
        return out

    def finish(self):
        try:
            return self.held
        finally:
            self.held = ""


# %% held is computed
class TextStream:
    """Keeps the whole text and how much of it has been sent."""

    def __init__(self, stops, include_stop, find, hold):
        self.stops, self.include_stop, self.find, self.hold = stops, include_stop, find, hold
        self._text, self._sent = "", 0
        self.stop_reason = None

    @property
    def held(self):
        return "" if self.stop_reason else self._text[self._sent :]

    def _send(self, upto):
        piece, self._sent = self._text[self._sent : upto], upto
        return piece

    def push(self, text):
        if self.stop_reason is not None:
            return ""
        after = len(self._text)
        self._text += text
        match = self.find(self._text, self.stops, after)
        if match is None:
            return self._send(len(self._text) - self.hold(self._text, self.stops))
        self.stop_reason, end = match
        return self._send(end if self.include_stop else end - len(self.stop_reason))

    def finish(self):
        return "" if self.stop_reason is not None else self._send(len(self._text))


# %% cuts where the stop occurs first
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
            return text[:end] if self.include_stop else text[: text.index(stop)]
        cut = len(text) - self.hold(text, self.stops)
        self.held = text[cut:]
        return text[:cut]

    def finish(self) -> str:
        rest, self.held = self.held, ""
        return rest
