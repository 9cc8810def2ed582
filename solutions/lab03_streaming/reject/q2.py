# %% decodes each token alone
# fails: characters_wait_for_their_bytes, whole_text_is_sent_at_once, the_incomplete_end, ill_formed_bytes_are_replaced, surrogates_do_not_wait, any_cut_of_any_bytes, narrow_second_bytes_do_not_wait
# fault: The obvious way: a character in two tokens becomes replacement characters.
class Utf8Stream:
    def push(self, data):
        return data.decode("utf-8", "replace")

    def finish(self):
        return ""


# %% leaves out what is incomplete
# fails: characters_wait_for_their_bytes, whole_text_is_sent_at_once, the_incomplete_end, ill_formed_bytes_are_replaced, surrogates_do_not_wait, any_cut_of_any_bytes, narrow_second_bytes_do_not_wait
# fault: errors="ignore" drops bytes, so characters are lost.
class Utf8Stream:
    def push(self, data):
        return data.decode("utf-8", "ignore")

    def finish(self):
        return ""


# %% waits until everything is whole
# fails: whole_text_is_sent_at_once, ill_formed_bytes_are_replaced, surrogates_do_not_wait, any_cut_of_any_bytes, narrow_second_bytes_do_not_wait
# fault: One incomplete character, or one bad byte, holds all the text in front of it.
class Utf8Stream:
    def __init__(self):
        self._pending = b""

    def push(self, data):
        self._pending += data
        try:
            text = self._pending.decode("utf-8")
        except UnicodeDecodeError:
            return ""
        self._pending = b""
        return text

    def finish(self):
        rest, self._pending = self._pending, b""
        return rest.decode("utf-8", "replace")


# %% finish twice
# fails: the_incomplete_end
# fault: finish() does not forget what it has sent.
class Utf8Stream:
    def __init__(self):
        self._pending = b""

    def push(self, data):
        data = self._pending + data
        text, used = utf_8_decode(data, "replace", False)
        self._pending = data[used:]
        if self._pending in SURROGATE_STARTS:
            self._pending = b""
            text += 2 * REPLACEMENT
        return text

    def finish(self):
        return self._pending.decode("utf-8", "replace")


# %% the end is forgotten
# fails: the_incomplete_end, any_cut_of_any_bytes
# fault: An incomplete character at the end of the answer vanishes.
class Utf8Stream:
    def __init__(self):
        self._pending = b""

    def push(self, data):
        data = self._pending + data
        text, used = utf_8_decode(data, "replace", False)
        self._pending = data[used:]
        if self._pending in SURROGATE_STARTS:
            self._pending = b""
            text += 2 * REPLACEMENT
        return text

    def finish(self):
        return ""


# %% raises on a bad byte
# fails: ill_formed_bytes_are_replaced, surrogates_do_not_wait, any_cut_of_any_bytes, narrow_second_bytes_do_not_wait
# fault: It decodes strictly, so one bad byte ends the answer with an exception.
class Utf8Stream:
    def __init__(self):
        self._pending = b""

    def push(self, data):
        data = self._pending + data
        text, used = utf_8_decode(data, "strict", False)
        self._pending = data[used:]
        return text

    def finish(self):
        rest, self._pending = self._pending, b""
        return rest.decode("utf-8", "replace")


# %% the mark at the beginning is eaten
# fails: any_cut_of_any_bytes
# fault: A leading U+FEFF is taken for a byte order mark and dropped.
class Utf8Stream:
    def __init__(self):
        self._pending = b""
        self._first = True

    def push(self, data):
        data = self._pending + data
        text, used = utf_8_decode(data, "replace", False)
        self._pending = data[used:]
        if self._pending in SURROGATE_STARTS:
            self._pending = b""
            text += 2 * REPLACEMENT
        if text and self._first:
            self._first = False
            text = text.removeprefix("\ufeff")
        return text

    def finish(self):
        rest, self._pending = self._pending, b""
        return rest.decode("utf-8", "replace")


# %% surrogates wait in vain
# fails: surrogates_do_not_wait
# fault: It trusts the codec, which leaves ed a0 alone.
class Utf8Stream:
    def __init__(self):
        self._pending = b""

    def push(self, data):
        data = self._pending + data
        text, used = utf_8_decode(data, "replace", False)
        self._pending = data[used:]
        return text

    def finish(self):
        rest, self._pending = self._pending, b""
        return rest.decode("utf-8", "replace")


# %% a character of four bytes is cut after three
# fails: characters_wait_for_their_bytes
# fault: It keeps at most two bytes back.
class Utf8Stream:
    def __init__(self):
        self._pending = b""

    def push(self, data):
        data = self._pending + data
        text, used = utf_8_decode(data, "replace", False)
        self._pending = data[used:]
        if self._pending in SURROGATE_STARTS:
            self._pending = b""
            text += 2 * REPLACEMENT
        if len(self._pending) > 2:
            text += self._pending.decode("utf-8", "replace")
            self._pending = b""
        return text

    def finish(self):
        rest, self._pending = self._pending, b""
        return rest.decode("utf-8", "replace")


# %% letters in front of an open character wait too
# fails: whole_text_is_sent_at_once
# fault: A push of letters that ends in an open character sends nothing at all.
class Utf8Stream:
    def __init__(self):
        self._pending = b""

    def push(self, data):
        data = self._pending + data
        text, used = utf_8_decode(data, "replace", False)
        self._pending = data[used:]
        if self._pending in SURROGATE_STARTS:
            self._pending = b""
            text += 2 * REPLACEMENT
        if self._pending and text and text.isascii():
            self._pending = data
            return ""
        return text

    def finish(self):
        rest, self._pending = self._pending, b""
        return rest.decode("utf-8", "replace")


# %% a letter eats the open character
# fails: ill_formed_bytes_are_replaced
# fault: What a letter cuts off is thrown away and not replaced.
class Utf8Stream:
    def __init__(self):
        self._pending = b""

    def push(self, data):
        if self._pending and data[:1].isascii() and data:
            self._pending = b""
        data = self._pending + data
        text, used = utf_8_decode(data, "replace", False)
        self._pending = data[used:]
        if self._pending in SURROGATE_STARTS:
            self._pending = b""
            text += 2 * REPLACEMENT
        return text

    def finish(self):
        rest, self._pending = self._pending, b""
        return rest.decode("utf-8", "replace")


# %% one character late
# fails: characters_wait_for_their_bytes, whole_text_is_sent_at_once, ill_formed_bytes_are_replaced, surrogates_do_not_wait, any_cut_of_any_bytes, narrow_second_bytes_do_not_wait
# fault: The last character always waits, whole or not.
class Utf8Stream:
    def __init__(self):
        self._pending = b""
        self._last = ""

    def push(self, data):
        data = self._pending + data
        text, used = utf_8_decode(data, "replace", False)
        self._pending = data[used:]
        text = self._last + text
        self._last = text[-1:]
        return text[:-1]

    def finish(self):
        rest, self._pending = self._pending, b""
        last, self._last = self._last, ""
        return last + rest.decode("utf-8", "replace")


# %% forgets the narrow second byte of e0
# fails: narrow_second_bytes_do_not_wait
# fault: An overlong character of three bytes waits for its third byte.
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
                    out = (
                        chr(self._code)
                        if self._code < 0x110000
                        and not 0xD800 <= self._code < 0xE000
                        and not (self._code < 0x800 and False)
                        else "\ufffd"
                    )
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
            self._low = 0x80
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


# %% forgets the narrow second byte of f0
# fails: narrow_second_bytes_do_not_wait
# fault: An overlong character of four bytes waits for more bytes.
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
                    out = (
                        chr(self._code)
                        if self._code < 0x110000
                        and not 0xD800 <= self._code < 0xE000
                        and not (self._code < 0x800 and False)
                        else "\ufffd"
                    )
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
            self._low = 0x80
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


# %% forgets the narrow second byte of f4
# fails: narrow_second_bytes_do_not_wait
# fault: A character behind U+10FFFF waits for more bytes.
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
                    out = (
                        chr(self._code)
                        if self._code < 0x110000
                        and not 0xD800 <= self._code < 0xE000
                        and not (self._code < 0x800 and False)
                        else "\ufffd"
                    )
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
            self._high = 0xBF
        else:
            return out + "\ufffd"
        return out

    def push(self, data):
        return "".join(map(self._byte, data))

    def finish(self):
        waiting = self._need > 0
        self._reset()
        return "\ufffd" if waiting else ""


# %% the byte that breaks a character is swallowed
# fails: ill_formed_bytes_are_replaced, surrogates_do_not_wait, any_cut_of_any_bytes, narrow_second_bytes_do_not_wait
# fault: What breaks a character may begin the next one; here it is lost.
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
            self._reset()
            return "\ufffd"
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


# %% f4 begins nothing
# fails: narrow_second_bytes_do_not_wait
# fault: The first byte f4 alone is replaced at once, though a character can still come.
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


# %% zero bytes are left out
# fails: whole_text_is_sent_at_once
# fault: U+0000 is a character like any other, and it is dropped.
class Utf8Stream:
    def __init__(self):
        self._pending = b""

    def push(self, data: bytes) -> str:
        data = self._pending + data
        text, used = utf_8_decode(data, "replace", False)
        self._pending = data[used:]
        if self._pending in SURROGATE_STARTS:
            self._pending = b""
            text += REPLACEMENT * 2
        return text.replace("\x00", "")

    def finish(self) -> str:
        rest, self._pending = self._pending, b""
        return rest.decode("utf-8", "replace")


# %% composes accents
# fails: whole_text_is_sent_at_once
# fault: It normalises the text, so that the client gets other characters than the model wrote.
import unicodedata


class Utf8Stream:
    def __init__(self):
        self._pending = b""

    def push(self, data):
        data = self._pending + data
        text, used = utf_8_decode(data, "replace", False)
        self._pending = data[used:]
        if self._pending in SURROGATE_STARTS:
            self._pending = b""
            text += 2 * REPLACEMENT
        return unicodedata.normalize("NFC", text)

    def finish(self):
        rest, self._pending = self._pending, b""
        return rest.decode("utf-8", "replace")


# %% an empty push forgets what waits
# fails: any_cut_of_any_bytes
# fault: A token without bytes clears the pending bytes.
class Utf8Stream:
    def __init__(self):
        self._pending = b""

    def push(self, data: bytes) -> str:
        if not data:
            self._pending = b""
            return ""
        data = self._pending + data
        text, used = utf_8_decode(data, "replace", False)
        self._pending = data[used:]
        if self._pending in SURROGATE_STARTS:
            self._pending = b""
            text += REPLACEMENT * 2
        return text

    def finish(self) -> str:
        rest, self._pending = self._pending, b""
        return rest.decode("utf-8", "replace")


# %% waits while the text ends with U+FFFD
# fails: whole_text_is_sent_at_once, ill_formed_bytes_are_replaced, surrogates_do_not_wait, any_cut_of_any_bytes, narrow_second_bytes_do_not_wait
# fault: Ill-formed bytes that nothing can finish hold all the text back.
class Utf8Stream:
    """decodes everything, waits while it ends with U+FFFD (as most engines do)."""

    def __init__(self):
        self._all = b""
        self._sent = 0
        self._pending = b""

    def push(self, data):
        self._all += data
        text = self._all.decode("utf-8", "replace")
        if text.endswith(REPLACEMENT):
            return ""
        piece = text[self._sent :]
        self._sent = len(text)
        return piece

    def finish(self):
        text = self._all.decode("utf-8", "replace")
        piece = text[self._sent :]
        self._sent = len(text)
        return piece
