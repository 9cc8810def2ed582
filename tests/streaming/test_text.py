"""Bytes to text: equal to one-shot decoding, held back as little as possible (A6, A7, conventions 1–5)."""

from __future__ import annotations

import codecs
import itertools

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


def cut_by_hand(
    tokens: list[tuple[bytes, bool]], stops: list[str], include: bool, min_tokens: int
) -> tuple[str, str | None, int]:
    """(text, stop reason, tokens that belong to it) from the whole list of tokens, by brute force."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    match_text, shown, seen = "", "", b""
    steps = [*enumerate(tokens, 1), (len(tokens), None)]
    for number, token in steps:
        special = token is not None and token[1]
        if token is None:
            new = decoder.decode(b"", final=True)
        elif special:
            new = token[0].decode("utf-8", "replace")
        else:
            new = decoder.decode(token[0])
            seen += token[0]
        hit = first_stop_after(match_text, new, stops) if number > min_tokens else None
        if hit is not None:
            end, stop = hit
            begin = end if include else end - len(stop)
            if begin < 0:
                return visible(shown, match_text, len(match_text) + begin), stop, number
            # Convention 1: what precedes a stop is the text of the visible bytes before it.
            rest = seen.decode("utf-8", "replace") if special else visible(shown, match_text) + new[:begin]
            return rest, stop, number
        match_text += new
        shown += ("0" if special else "1") * len(new)
    return seen.decode("utf-8", "replace"), None, len(tokens)


def visible(marks: str, text: str, end: int | None = None) -> str:
    return "".join(char for char, mark in zip(text[:end], marks, strict=False) if mark == "1")


def first_stop_after(before: str, new: str, stops: list[str]) -> tuple[int, str] | None:
    """(characters of `new` up to the end, stop) of the earliest end within `new`, ties to the longest."""
    for end in range(1, len(new) + 1):
        found = [stop for stop in stops if (before + new[:end]).endswith(stop)]
        if found:
            return end, max(found, key=len)
    return None


YOU = "你".encode()
TOKENS = st.lists(
    st.tuples(
        st.sampled_from([b"a", b"b", b"ab", b"<", b"<a>", b"", YOU, YOU[:1], YOU[1:], YOU[2:]]), st.booleans()
    ),
    max_size=10,
)
MIXED_STOPS = st.lists(st.text("ab你<>\ufffd", min_size=1, max_size=4), max_size=5)


@settings(max_examples=3000)
@given(tokens=TOKENS, stops=MIXED_STOPS, include=st.booleans(), min_tokens=st.integers(0, 4))
def test_stops_specials_and_min_tokens_cut_as_by_hand(
    tokens: list[tuple[bytes, bool]], stops: list[str], include: bool, min_tokens: int
) -> None:
    streaming = StreamingText(stops, include, min_tokens)
    shown = "".join(streaming.push(*token) for token in tokens) + streaming.finish()
    expected = cut_by_hand(tokens, stops, include, min_tokens)
    assert (shown, streaming.stop_reason, streaming.num_tokens) == expected
    assert streaming.text == shown


@settings(max_examples=1000)
@given(data=st.data(), tokens=TOKENS, stops=MIXED_STOPS, min_tokens=st.integers(0, 4))
def test_steps_of_many_tokens_cut_ids_and_text_where_single_ones_do(
    data: st.DataObject, tokens: list[tuple[bytes, bool]], stops: list[str], min_tokens: int
) -> None:
    one_by_one = StreamingText(stops, min_tokens=min_tokens)
    deltas = [one_by_one.push(*token) for token in tokens]
    streaming = StreamingText(stops, min_tokens=min_tokens)
    marks = sorted(data.draw(st.lists(st.integers(0, len(tokens)), max_size=4)))
    ids: list[int] = []
    text = ""
    for begin, end in itertools.pairwise([0, *marks, len(tokens)]):
        piece, kept = streaming.push_many(tokens[begin:end])
        text += piece
        ids += range(begin, end)[:kept]
        assert kept == end - begin or streaming.stopped
    assert text == "".join(deltas)
    assert ids == list(range(one_by_one.num_tokens))
    assert (streaming.stop_reason, streaming.num_tokens) == (one_by_one.stop_reason, len(ids))
    assert streaming.finish() == one_by_one.finish()


def test_tokens_after_the_stop_vanish_from_the_same_step() -> None:
    streaming = StreamingText(["END"])
    step = [(b"a", False), (b"EN", False), (b"D tail", False), (b"more", False)]
    assert streaming.push_many(step) == ("a", 3)
    assert streaming.push_many([(b"x", False)]) == ("", 0)


def test_a_stop_in_a_special_token_ends_the_text_of_the_bytes_before_it() -> None:
    streaming = StreamingText(["<end>"])
    streaming.push(YOU[:2])
    assert streaming.push(b"<end>", special=True) == "\ufffd"
    assert (streaming.finish(), streaming.text) == ("", "\ufffd")


def test_bytes_after_a_stop_in_the_same_token_vanish() -> None:
    assert StreamingText(["END"]).push(b"xEND" + YOU[:2]) == "x"
