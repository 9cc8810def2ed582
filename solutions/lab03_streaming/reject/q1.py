# %% no bytes are no case
# fails: whole_characters_do_not_wait
# fault: It looks at the last byte of nothing.
def tail_length(data):
    length = 1
    while data[-length] in CONTINUATION and length < len(data):
        length += 1
    start = data[-length:]
    if not 0xC2 <= start[0] <= 0xF4:
        return 0
    needed = 2 if start[0] < 0xE0 else 3 if start[0] < 0xF0 else 4
    allowed = SECOND_BYTE.get(start[0], CONTINUATION)
    return length if (length == 1 or start[1] in allowed) and length < needed else 0


# %% c3 begins nothing
# fails: open_characters_wait
# fault: Characters of two bytes are said to begin at c4.
def tail_length(data):
    for length in range(1, len(data) + 1):
        start = data[-length:]
        first = start[0]
        if first in CONTINUATION:
            continue
        if not 0xC4 <= first <= 0xF4:
            return 0
        needed = 2 if first < 0xE0 else 3 if first < 0xF0 else 4
        allowed = SECOND_BYTE.get(first, CONTINUATION)
        return length if (length == 1 or start[1] in allowed) and length < needed else 0
    return 0


# %% c0 and c1 begin a character
# fails: ill_formed_ends_do_not_wait
# fault: The two first bytes that only overlong forms have are taken for good ones.
def tail_length(data):
    for length in range(1, len(data) + 1):
        start = data[-length:]
        first = start[0]
        if first in CONTINUATION:
            continue
        if not 0xC0 <= first <= 0xF4:
            return 0
        needed = 2 if first < 0xE0 else 3 if first < 0xF0 else 4
        allowed = SECOND_BYTE.get(first, CONTINUATION)
        return length if (length == 1 or start[1] in allowed) and length < needed else 0
    return 0


# %% forgets e0
# fails: narrow_second_bytes
# fault: The narrow second byte of e0 is forgotten, so an overlong form waits.
def tail_length(data):
    for length in range(1, len(data) + 1):
        start = data[-length:]
        first = start[0]
        if first in CONTINUATION:
            continue
        if not 0xC2 <= first <= 0xF4:
            return 0
        needed = 2 if first < 0xE0 else 3 if first < 0xF0 else 4
        allowed = CONTINUATION if first == 0xE0 else SECOND_BYTE.get(first, CONTINUATION)
        return length if (length == 1 or start[1] in allowed) and length < needed else 0
    return 0


# %% f1 to f3 begin nothing
# fails: any_bytes
# fault: Only the first and the last of the first bytes of four are known.
def tail_length(data):
    for length in range(1, len(data) + 1):
        start = data[-length:]
        first = start[0]
        if first in CONTINUATION:
            continue
        if not 0xC2 <= first <= 0xF0 and first != 0xF4:
            return 0
        needed = 2 if first < 0xE0 else 3 if first < 0xF0 else 4
        allowed = SECOND_BYTE.get(first, CONTINUATION)
        return length if (length == 1 or start[1] in allowed) and length < needed else 0
    return 0


# %% forgets all narrow second bytes
# fails: narrow_second_bytes, any_bytes
# fault: ed a0 waits, though nothing can finish it.
def tail_length(data):
    for length in range(1, len(data) + 1):
        start = data[-length:]
        first = start[0]
        if first in CONTINUATION:
            continue
        if not 0xC2 <= first <= 0xF4:
            return 0
        needed = 2 if first < 0xE0 else 3 if first < 0xF0 else 4
        allowed = CONTINUATION
        return length if (length == 1 or start[1] in allowed) and length < needed else 0
    return 0


# %% every first byte waits
# fails: whole_characters_do_not_wait, any_bytes
# fault: It does not ask whether the character is complete.
def tail_length(data):
    for length in range(1, min(3, len(data)) + 1):
        first = data[-length]
        if first in CONTINUATION:
            continue
        if not 0xC2 <= first <= 0xF4:
            return 0
        allowed = SECOND_BYTE.get(first, CONTINUATION)
        return length if length == 1 or data[-length + 1] in allowed else 0
    return 0


# %% at most two bytes wait
# fails: open_characters_wait, any_bytes
# fault: A character of four bytes can have three of them here.
def tail_length(data):
    for length in range(1, min(2, len(data)) + 1):
        start = data[-length:]
        first = start[0]
        if first in CONTINUATION:
            continue
        if not 0xC2 <= first <= 0xF4:
            return 0
        needed = 2 if first < 0xE0 else 3 if first < 0xF0 else 4
        allowed = SECOND_BYTE.get(first, CONTINUATION)
        return length if (length == 1 or start[1] in allowed) and length < needed else 0
    return 0


# %% looks at the last byte only
# fails: open_characters_wait, narrow_second_bytes, any_bytes
# fault: An open character of which two bytes are here is not seen.
def tail_length(data):
    return int(bool(data) and 0xC2 <= data[-1] <= 0xF4)


# %% asks the codec
# fails: narrow_second_bytes
# fault: The codec leaves ed a0 alone, though no character begins so.
import codecs


def tail_length(data):
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    decoder.decode(data)
    return len(decoder.getstate()[0])


# %% a pattern that ends with a dollar sign
# fails: any_bytes
# fault: In Python `$` also matches in front of a newline at the end, so a newline does not end the character.
import re

_TAIL = re.compile(
    rb"(?:[\xc2-\xdf]|[\xe1-\xec\xee\xef][\x80-\xbf]?|\xe0[\xa0-\xbf]?|\xed[\x80-\x9f]?"
    rb"|[\xf1-\xf3](?:[\x80-\xbf]{1,2})?|\xf0(?:[\x90-\xbf][\x80-\xbf]?)?|\xf4(?:[\x80-\x8f][\x80-\xbf]?)?)$"
)


def tail_length(data):
    match = _TAIL.search(data)
    return len(match.group(0)) if match else 0


# %% the second byte is counted from the front
# fails: open_characters_wait, any_bytes
# fault: It looks at the second byte of all data and not at the one behind the first byte.
def tail_length(data: bytes) -> int:
    for n in range(1, min(3, len(data)) + 1):
        first = data[-n]
        if first in CONTINUATION:
            continue
        if first < 0xC2 or first > 0xF4:
            return 0
        need = 2 if first < 0xE0 else 3 if first < 0xF0 else 4
        if n >= need:
            return 0
        if n > 1 and data[1] not in SECOND_BYTE.get(first, CONTINUATION):
            return 0
        return n
    return 0


# %% False for 0
# fails: whole_characters_do_not_wait, ill_formed_ends_do_not_wait, narrow_second_bytes, any_bytes
# fault: It returns False where a number of bytes is asked for.
def tail_length(data: bytes) -> int:
    for n in range(1, min(3, len(data)) + 1):
        first = data[-n]
        if first in CONTINUATION:
            continue
        if first < 0xC2 or first > 0xF4:
            return False
        need = 2 if first < 0xE0 else 3 if first < 0xF0 else 4
        if n >= need:
            return False
        if n > 1 and data[-n + 1] not in SECOND_BYTE.get(first, CONTINUATION):
            return False
        return n > 0 and n
    return 0
