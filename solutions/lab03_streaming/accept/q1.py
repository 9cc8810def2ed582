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
