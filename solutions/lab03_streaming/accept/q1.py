# %% tries to finish the end
def tail_length(data):
    for length in (3, 2, 1):
        end = data[-length:]
        if len(end) < length:
            continue
        for rest in (
            b"\x80",
            b"\x90",
            b"\xa0",
            b"\x80\x80",
            b"\x90\x80",
            b"\xa0\x80",
            b"\x80\x80\x80",
            b"\x90\x80\x80",
        ):
            try:
                text = (end + rest).decode("utf-8")
            except UnicodeDecodeError:
                continue
            if len(text) == 1:
                return length
    return 0


# %% asks the codec, and knows the surrogates
import codecs


def tail_length(data):
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    decoder.decode(data)
    waiting = decoder.getstate()[0]
    if len(waiting) == 2 and waiting[0] == 0xED and waiting[1] >= 0xA0:
        return 0
    return len(waiting)


# %% goes back to the first byte, then checks
def tail_length(data):
    at = len(data) - 1
    while at >= 0 and len(data) - at < 4 and 0x80 <= data[at] < 0xC0:
        at -= 1
    if at < 0 or len(data) - at > 3:
        return 0
    end = data[at:]
    size = [0] * 0xC2 + [2] * 30 + [3] * 16 + [4] * 5 + [0] * 11
    if size[end[0]] <= len(end):
        return 0
    if len(end) > 1:
        low, high = {0xE0: (0xA0, 0xBF), 0xED: (0x80, 0x9F), 0xF0: (0x90, 0xBF), 0xF4: (0x80, 0x8F)}.get(
            end[0], (0x80, 0xBF)
        )
        if end[1] < low or end[1] > high:
            return 0
    return len(end)


# %% the error of the strict codec says it
def tail_length(data):
    for length in range(min(3, len(data)), 0, -1):
        end = data[len(data) - length :]
        try:
            end.decode("utf-8", "strict")
        except UnicodeDecodeError as error:
            if error.start == 0 and error.reason == "unexpected end of data":
                if not (length == 2 and end[0] == 0xED and end[1] > 0x9F):
                    return length
    return 0


# %% one pattern of bytes
import re

_TAIL = re.compile(
    rb"(?:[\xc2-\xdf]|[\xe1-\xec\xee\xef][\x80-\xbf]?|\xe0[\xa0-\xbf]?|\xed[\x80-\x9f]?"
    rb"|[\xf1-\xf3](?:[\x80-\xbf]{1,2})?|\xf0(?:[\x90-\xbf][\x80-\xbf]?)?|\xf4(?:[\x80-\x8f][\x80-\xbf]?)?)\Z"
)


def tail_length(data):
    match = _TAIL.search(data)
    return len(match.group()) if match else 0


# %% goes back by recursion
def tail_length(data, n=1):
    if n > 3 or n > len(data):
        return 0
    first = data[-n]
    if 0x80 <= first < 0xC0:
        return tail_length(data, n + 1)
    size = {0xC: 2, 0xD: 2, 0xE: 3, 0xF: 4}.get(first >> 4, 1)
    if first in (0xC0, 0xC1) or first > 0xF4 or n >= size:
        return 0
    if n >= 2:
        second = data[len(data) - n + 1]
        low, high = {0xE0: (0xA0, 0xBF), 0xED: (0x80, 0x9F), 0xF0: (0x90, 0xBF), 0xF4: (0x80, 0x8F)}.get(
            first, (0x80, 0xBF)
        )
        if not low <= second <= high:
            return 0
    return n
