"""How much work the streamer does and how much it keeps: counted, not timed (case S21, W6)."""

from __future__ import annotations

import random
import tracemalloc
from typing import Any

import pytest

from inference_kit.errors import KitError
from inference_kit.streaming import StopMatcher, StreamingText


class Counted(dict[str, int]):
    """Edges of one node that count how often they are asked."""

    asked = 0

    def __contains__(self, char: object) -> bool:
        Counted.asked += 1
        return super().__contains__(char)

    def get(self, char: str, default: Any = None) -> Any:
        Counted.asked += 1
        return super().get(char, default)


def look_ups(stops: list[str], text: str, step: int) -> int:
    """How often the automaton asks for an edge while it reads `text` in pieces of `step` characters."""
    matcher = StopMatcher(stops)
    matcher._next = [Counted(edges) for edges in matcher._next]
    Counted.asked = 0
    for begin in range(0, len(text), step):
        assert matcher.push(text[begin : begin + step]) is None
    return Counted.asked


@pytest.mark.parametrize("step", [1, 7, 5000])
@pytest.mark.parametrize("num_stops", [1, 16, 256])
def test_look_ups_are_linear_in_the_text_whatever_the_number_of_stops(num_stops: int, step: int) -> None:
    stops = ["a" * 20 + chr(0x100 + index) for index in range(num_stops)]
    assert look_ups(stops, "a" * 5000, step) <= 3 * 5000
    # Each run of 19 falls back through all of its nodes at its end.
    assert look_ups(stops, ("a" * 19 + "b") * 250, step) <= 3 * 5000


def test_text_without_a_beginning_of_a_stop_is_not_walked_through() -> None:
    assert look_ups(["END", "\nUser:"], "a quick brown fox " * 100, 5) == 0


def mixed_pieces(count: int) -> list[bytes]:
    rng = random.Random(5)
    return [rng.choice(["a", " fox", "\nUs", "你", "🙂", "EN", "</"]).encode() for _ in range(count)]


def peak_bytes(stops: list[str], count: int) -> int:
    pieces = mixed_pieces(count)
    tracemalloc.start()
    try:
        streaming = StreamingText(stops, keep_text=False)
        for piece in pieces:
            streaming.push(piece)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("stops", [[], ["END", "\nUser:", "</s>"], [f"<{n}>" for n in range(64)]], ids=len)
def test_memory_does_not_grow_with_the_text_that_is_not_kept(stops: list[str]) -> None:
    peak_bytes(stops, 100)
    assert peak_bytes(stops, 20_000) <= peak_bytes(stops, 1000) + 2000


def test_text_that_was_not_kept_cannot_be_asked_for() -> None:
    streaming = StreamingText(["END"], keep_text=False)
    assert streaming.push(b"xEN") + streaming.finish() == "xEN"
    with pytest.raises(KitError, match="keep_text"):
        _ = streaming.text
