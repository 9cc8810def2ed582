"""Brute-force oracles for lab 03, written apart from the kit: sets of prefixes and searches over all cuts.

They share no function with `inference_kit.streaming`. A test compares them with the kit on random cases;
the hidden checks use the kit.
"""

from __future__ import annotations

from functools import cache


@cache
def open_starts() -> frozenset[bytes]:
    """Every proper beginning of the UTF-8 bytes of a character."""
    starts = set()
    for code_point in range(0x80, 0x110000):
        if not 0xD800 <= code_point < 0xE000:
            data = chr(code_point).encode()
            starts.update(data[:length] for length in range(1, len(data)))
    return frozenset(starts)


def tail(data: bytes) -> int:
    """The longest end of `data` that some character begins with."""
    return max(
        (length for length in (1, 2, 3) if data[-length:] in open_starts() and length <= len(data)), default=0
    )


def pieces_of(pushes: list[bytes]) -> list[str]:
    """What each push may send: the text of all bytes so far without the open end, less what was sent."""
    sent, out, data = 0, [], b""
    for push in pushes:
        data += push
        ready = data[: len(data) - tail(data)].decode("utf-8", "replace")
        out.append(ready[sent:])
        sent = len(ready)
    return out


def first_stop(text: str, stops: list[str], after: int) -> tuple[str, int] | None:
    """All places of all stops, sorted: by end, then longest first."""
    places = [
        (begin + len(stop), -len(stop), stop)
        for stop in stops
        for begin in range(len(text))
        if text[begin : begin + len(stop)] == stop and begin + len(stop) > after
    ]
    return (min(places)[2], min(places)[0]) if places else None


def waits(text: str, stops: list[str]) -> int:
    """The longest end of `text` that is in the set of all proper prefixes."""
    prefixes = {stop[:length] for stop in stops for length in range(1, len(stop))}
    return max((len(text) - begin for begin in range(len(text)) if text[begin:] in prefixes), default=0)


def stream(pieces: list[str], stops: list[str], include_stop: bool) -> tuple[list[str], str, str | None]:
    """(what each push sends, what finish sends, the stop), from the whole text so far each time."""
    out: list[str] = []
    text = sent = ""
    for piece in pieces:
        text += piece
        found = first_stop(text, stops, 0)
        if found is not None:
            stop, end = found
            whole = text[:end] if include_stop else text[: end - len(stop)]
            out.append(whole[len(sent) :])
            return out + [""] * (len(pieces) - len(out)), "", stop
        ready = text[: len(text) - waits(text, stops)]
        out.append(ready[len(sent) :])
        sent = ready
    return out, text[len(sent) :], None


def answer(pieces: list[str], stops: list[str], min_tokens: int) -> int:
    """The first token, behind `min_tokens`, within which some stop ends."""
    for count in range(min_tokens + 1, len(pieces) + 1):
        before, text = "".join(pieces[: count - 1]), "".join(pieces[:count])
        if any(text[:end].endswith(stop) for stop in stops for end in range(len(before) + 1, len(text) + 1)):
            return count
    return len(pieces)
