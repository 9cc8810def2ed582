# %% the codec's own incremental decoder, and the surrogates by hand
import codecs


class Utf8Stream:
    def __init__(self):
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def push(self, data):
        text = self._decoder.decode(data)
        waiting, flags = self._decoder.getstate()
        if waiting in SURROGATE_STARTS:
            self._decoder.setstate((b"", flags))
            text += "\ufffd\ufffd"
        return text

    def finish(self):
        return self._decoder.decode(b"", True)


# %% one byte at a time, through the whole text
class Utf8Stream:
    def __init__(self):
        self.data = b""
        self.sent = 0
        self.over = False

    def push(self, data):
        self.data += data
        cut = len(self.data)
        for length in (3, 2, 1):
            end = self.data[len(self.data) - length :] if length <= len(self.data) else b""
            if end and self._is_open(end):
                cut -= length
                break
        return self._send(self.data[:cut])

    def finish(self):
        return self._send(self.data)

    def _send(self, data):
        text = data.decode("utf-8", "replace")
        new, self.sent = text[self.sent :], len(text)
        return new

    def _is_open(self, end):
        try:
            end.decode()
        except UnicodeDecodeError as error:
            return error.start == 0 and "unexpected end" in error.reason and end not in SURROGATE_STARTS
        return False


# %% keeps the bytes in a list and cuts where the strict codec complains
class Utf8Stream:
    def __init__(self):
        self.waiting = []

    def push(self, data):
        self.waiting.extend(data)
        whole, out = bytes(self.waiting), []
        while whole:
            try:
                out.append(whole.decode())
                whole = b""
            except UnicodeDecodeError as error:
                out.append(whole[: error.start].decode())
                rest = whole[error.start :]
                if error.reason == "unexpected end of data" and not (rest[0] == 0xED and rest[1:2] > b"\x9f"):
                    whole = rest
                    break
                length = 1 if error.reason == "unexpected end of data" else error.end - error.start
                out.append("\ufffd")
                whole = rest[length:]
        self.waiting = list(whole)
        return "".join(out)

    def finish(self):
        rest = "\ufffd" if self.waiting else ""
        self.waiting = []
        return rest
