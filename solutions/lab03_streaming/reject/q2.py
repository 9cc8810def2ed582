# %% decodes each token alone
# fails: characters_wait_for_their_bytes, whole_text_is_sent_at_once, the_incomplete_end, ill_formed_bytes_are_replaced, surrogates_do_not_wait, any_cut_of_any_bytes
# fault: The obvious way: a character in two tokens becomes replacement characters.
class Utf8Stream:
    def push(self, data):
        return data.decode("utf-8", "replace")

    def finish(self):
        return ""


# %% leaves out what is incomplete
# fails: characters_wait_for_their_bytes, whole_text_is_sent_at_once, the_incomplete_end, ill_formed_bytes_are_replaced, surrogates_do_not_wait, any_cut_of_any_bytes
# fault: errors="ignore" drops bytes, so characters are lost.
class Utf8Stream:
    def push(self, data):
        return data.decode("utf-8", "ignore")

    def finish(self):
        return ""


# %% waits until everything is whole
# fails: whole_text_is_sent_at_once, ill_formed_bytes_are_replaced, surrogates_do_not_wait, any_cut_of_any_bytes
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
# fails: ill_formed_bytes_are_replaced, surrogates_do_not_wait, any_cut_of_any_bytes
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
# fails: characters_wait_for_their_bytes, whole_text_is_sent_at_once, ill_formed_bytes_are_replaced, surrogates_do_not_wait, any_cut_of_any_bytes
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
