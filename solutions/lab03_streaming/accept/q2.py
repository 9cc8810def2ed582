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


# %% a state machine without the codec
class Utf8Stream:
    """A state machine, byte by byte; no codec."""

    def __init__(self):
        self._reset()

    def _reset(self):
        self._need, self._code, self._low, self._high = 0, 0, 0x80, 0xBF

    def _byte(self, b):
        out = ""
        if self._need:
            if self._low <= b <= self._high:
                self._code = self._code << 6 | b & 0x3F
                self._need -= 1
                self._low, self._high = 0x80, 0xBF
                if not self._need:
                    out = chr(self._code)
                    self._reset()
                return out
            out = "\ufffd"
            self._reset()
        if b < 0x80:
            return out + chr(b)
        if 0xC2 <= b <= 0xDF:
            self._need, self._code = 1, b & 0x1F
        elif 0xE0 <= b <= 0xEF:
            self._need, self._code = 2, b & 0x0F
            self._low = 0xA0 if b == 0xE0 else 0x80
            self._high = 0x9F if b == 0xED else 0xBF
        elif 0xF0 <= b <= 0xF4:
            self._need, self._code = 3, b & 0x07
            self._low = 0x90 if b == 0xF0 else 0x80
            self._high = 0x8F if b == 0xF4 else 0xBF
        else:
            return out + "\ufffd"
        return out

    def push(self, data):
        return "".join(map(self._byte, data))

    def finish(self):
        waiting = self._need > 0
        self._reset()
        return "\ufffd" if waiting else ""


# %% a generator that keeps the bytes
class Utf8Stream:
    def __init__(self):
        self._machine = self._run()
        next(self._machine)

    def push(self, data):
        return self._machine.send((data, False))

    def finish(self):
        return self._machine.send((b"", True))

    def _run(self):
        rest, out = b"", ""
        while True:
            data, final = yield out
            rest += data
            out, used = utf_8_decode(rest, "replace", final)
            rest = rest[used:]
            if rest[:1] == b"\xed" and len(rest) == 2 and rest[1] > 0x9F:
                out, rest = out + "\ufffd" * 2, b""


# %% a data class over all bytes
from dataclasses import dataclass


@dataclass
class Utf8Stream:
    """Keeps everything; sends the part of the whole text that can no longer change."""

    seen: bytes = b""
    sent: int = 0

    def _ready(self):
        for n in range(1, min(3, len(self.seen)) + 1):
            end = self.seen[-n:]
            if any(
                self._one(end + more)
                for more in (
                    b"\x80",
                    b"\x90",
                    b"\xa0",
                    b"\x80\x80",
                    b"\x80\x80\x80",
                    b"\x90\x80",
                    b"\xa0\x80",
                    b"\x90\x80\x80",
                )
            ):
                return self.seen[:-n]
        return self.seen

    @staticmethod
    def _one(data):
        try:
            return len(data.decode()) == 1
        except UnicodeDecodeError:
            return False

    def _take(self, data):
        text = data.decode("utf-8", "replace")
        piece, self.sent = text[self.sent :], len(text)
        return piece

    def push(self, data):
        self.seen += data
        return self._take(self._ready())

    def finish(self):
        return self._take(self.seen)
