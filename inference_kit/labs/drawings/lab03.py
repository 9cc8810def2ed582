"""The pictures of lab 03: incomplete ends, decoded pushes, stops, and the end of an answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import viz
from ...streaming import (
    PlainTextStream,
    Utf8Decoder,
    answer_length,
    find_stop,
    held_length,
    tail_length,
)
from ...viz import Picture
from ..checking import Callback, Handle, Subject

ENDS = ("4162", "e4bda0", "41e4bd", "f09f98", "e441", "ff", "eda0", "ed9f")
TOKENS = ("e4bd", "a0", "e5", "a5bd")
SEARCHES: tuple[tuple[str, list[str], int], ...] = (
    ("oneENDtwoSTOP", ["STOP", "END"], 0),
    ("abcd", ["abcd", "bc"], 0),
    ("abc", ["c", "bc"], 0),
    ("EN", ["END"], 0),
    ("ENDxEND", ["END"], 3),
    ("xEND", ["END"], 3),
)
HELD: tuple[tuple[str, list[str]], ...] = (
    ("hello EN", ["END"]),
    ("hello", ["a very long stop"]),
    ("xaab", ["b?", "ab!", "aabb"]),
    ("END", ["END"]),
    ("END", ["ENDING", "END"]),
)
PIECES = ("Hi ", "EN", "x ", "E", "ND", " more")
ANSWERS: tuple[tuple[list[str], int], ...] = (
    (["He", "llo"], 0),
    (["Hi", " E", "ND!", "x"], 0),
    (["END", "a", "END", "b"], 1),
    (["E", "N", "D", "x"], 2),
)


class _Answer:
    """A learner's stream behind `push`, `finish` and `stop_reason`."""

    def __init__(self, s: Subject, handle: Handle, has_reason: bool) -> None:
        self._s, self._handle, self._has_reason = s, handle, has_reason

    def push(self, data: Any) -> str:
        return str(self._s.method(self._handle, "push", data))

    def finish(self) -> str:
        return str(self._s.method(self._handle, "finish"))

    @property
    def stop_reason(self) -> Any:
        return self._s.attr(self._handle, "stop_reason") if self._has_reason else None


def draw_tails(s: Subject) -> Picture:
    rows: list[list[Any]] = [["bytes", "waits", "bytes that wait"]]
    marked = []
    for text in ENDS:
        data = bytes.fromhex(text)
        count = s.call("tail_length", data)
        if count:
            marked.append((len(rows), 2))
        rows.append([data.hex(" "), count, data[len(data) - count :].hex(" ") or "–"])
    return viz.grid(rows, "What waits at the end", marked, "a framed end waits for the rest of a character")


def draw_decoder(s: Subject) -> Picture:
    pieces = [bytes.fromhex(token) for token in TOKENS]
    return viz.hold_back(
        pieces, stream=_Answer(s, s.new("Utf8Stream"), False), title="Bytes in, characters out"
    )


def draw_searches(s: Subject) -> Picture:
    rows: list[list[Any]] = [["text", "stops", "after", "found", "ends at"]]
    for text, stops, after in SEARCHES:
        found = s.call("find_stop", text, stops, after)
        stop, end = (None, None) if found is None else found
        rows.append([text, ", ".join(stops), after, stop, end])
    return viz.grid(rows, "Which stop comes first", [(row, 3) for row in range(1, len(rows))], "– means none")


def draw_held(s: Subject) -> Picture:
    rows: list[list[Any]] = [["text", "stops", "sent", "waits"]]
    for text, stops in HELD:
        cut = len(text) - s.call("held_length", text, stops)
        rows.append([text, ", ".join(stops), text[:cut] or "–", text[cut:] or "–"])
    return viz.grid(rows, "What waits", [(row, 3) for row in range(1, len(rows)) if rows[row][3] != "–"])


def draw_stream(s: Subject) -> Picture:
    stream = s.new("TextStream", ["END"], False, Callback(find_stop), Callback(held_length))
    return viz.hold_back(PIECES, stream=_Answer(s, stream, True), title="A stream with the stop END")


def draw_lengths(s: Subject) -> Picture:
    rows: list[list[Any]] = [["min_tokens", "in the answer", "never existed"]]
    for pieces, min_tokens in ANSWERS:
        count = s.call("answer_length", pieces, ["END"], min_tokens, Callback(find_stop))
        rows.append([min_tokens, " | ".join(pieces[:count]), " | ".join(pieces[count:]) or "–"])
    return viz.grid(
        rows, "Where the answer ends", [(row, 1) for row in range(1, len(rows))], "the stop is END"
    )


def _kit_stream(stops: Any, include_stop: bool, find: Any, hold: Any) -> PlainTextStream:
    return PlainTextStream(stops, include_stop, find, hold)


REFERENCE: dict[str, Any] = {
    "tail_length": tail_length,
    "Utf8Stream": Utf8Decoder,
    "find_stop": find_stop,
    "held_length": held_length,
    "TextStream": _kit_stream,
    "answer_length": answer_length,
}
DRAWINGS: dict[str, Callable[[Subject], Picture]] = {
    "q1": draw_tails,
    "q2": draw_decoder,
    "q3": draw_searches,
    "q4": draw_held,
    "q5": draw_stream,
    "q6": draw_lengths,
}
