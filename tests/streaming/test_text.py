"""Bytes to text: equal to one-shot decoding, held back as little as possible (A6, A7, conventions 1–5)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inference_kit.errors import InvalidField
from inference_kit.streaming import StopMatcher, StreamingText, Utf8Decoder

# A small alphabet makes stop strings overlap themselves and each other.
LETTERS = st.text("ab你", max_size=12)
STOPS = st.lists(st.text("ab你", min_size=1, max_size=4), max_size=4)


def cut(data: st.DataObject, whole: bytes) -> list[bytes]:
    """`whole` in random pieces."""
    marks = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=6)))
    return [whole[a:b] for a, b in zip([0, *marks], [*marks, len(whole)], strict=True)]


def first_stop(text: str, stops: list[str]) -> tuple[int, str] | None:
    """By brute force: (end, stop) of the earliest end, ties to the longest."""
    hits = [(end, stop) for end in range(len(text) + 1) for stop in stops if text[:end].endswith(stop)]
    if not hits:
        return None
    end = min(hit[0] for hit in hits)
    return end, max((stop for at, stop in hits if at == end), key=len)


def may_still_match(text: str, stops: list[str]) -> int:
    """By brute force: length of the longest suffix that is a proper prefix of a stop."""
    lengths = [
        n for n in range(len(text) + 1) if any(len(s) > n and s[:n] == text[len(text) - n :] for s in stops)
    ]
    return max(lengths, default=0)


@given(data=st.data(), whole=st.binary(max_size=40) | st.text(max_size=20).map(str.encode))
def test_any_cut_of_any_bytes_decodes_like_the_whole(data: st.DataObject, whole: bytes) -> None:
    decoder = Utf8Decoder()
    text = "".join(decoder.push(piece) for piece in cut(data, whole)) + decoder.finish()
    assert text == whole.decode("utf-8", "replace")


@settings(max_examples=400)
@given(data=st.data(), text=LETTERS, stops=STOPS, keep=st.booleans())
def test_text_ends_at_the_first_stop_whatever_the_cut(
    data: st.DataObject, text: str, stops: list[str], keep: bool
) -> None:
    streaming = StreamingText(stops, include_stop=keep)
    shown = "".join(streaming.push(piece) for piece in cut(data, text.encode())) + streaming.finish()
    hit = first_stop(text, stops)
    if hit is None:
        assert (shown, streaming.stopped, streaming.stop_reason) == (text, False, None)
    else:
        end, stop = hit
        assert shown == text[: end if keep else end - len(stop)]
        assert (streaming.stopped, streaming.stop_reason) == (True, stop)
    assert shown == streaming.text


@settings(max_examples=400)
@given(text=LETTERS, stops=STOPS)
def test_exactly_what_may_still_match_is_held_back(text: str, stops: list[str]) -> None:
    streaming = StreamingText(stops)
    for position, char in enumerate(text):
        streaming.push(char.encode())
        if streaming.stopped:
            return
        seen = text[: position + 1]
        assert streaming.text == seen[: len(seen) - may_still_match(seen, stops)]


@given(data=st.data(), text=LETTERS, stops=STOPS)
def test_the_order_of_the_stops_does_not_matter(data: st.DataObject, text: str, stops: list[str]) -> None:
    results = set()
    for order in (stops, data.draw(st.permutations(stops))):
        streaming = StreamingText(order)
        results.add((streaming.push(text.encode()) + streaming.finish(), streaming.stop_reason))
    assert len(results) == 1


def test_after_a_stop_and_after_the_finish_nothing_comes() -> None:
    stopped = StreamingText(["END"])
    stopped.push(b"xEND")
    assert (stopped.push(b"more"), stopped.finish(), stopped.text) == ("", "", "x")
    done = StreamingText()
    done.push(b"x")
    assert (done.finish(), done.push(b"more"), done.finish(), done.text) == ("", "", "", "x")


def test_an_empty_stop_is_refused() -> None:
    with pytest.raises(InvalidField, match="stop"):
        StopMatcher(["a", ""])


def test_one_stop_may_be_given_as_a_plain_string() -> None:
    streaming = StreamingText("END")
    assert streaming.push(b"xEND") == "x"
