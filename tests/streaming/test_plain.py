"""The plain decoder and matcher, as a learner would write them, and the fast ones: the same in everything."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inference_kit import SamplingParams
from inference_kit.engine.components import Components
from inference_kit.errors import InvalidField
from inference_kit.streaming import (
    Matcher,
    PlainStopMatcher,
    PlainTextStream,
    PlainUtf8Decoder,
    StopMatcher,
    StreamingText,
    Utf8Decoder,
    answer_length,
)
from tests.cores import CoreFactory
from tests.engine.run import drain

# Bytes at the edges of what UTF-8 allows, besides random ones.
EDGES = st.lists(
    st.sampled_from(
        [0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1]
    )
    | st.sampled_from([0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF]),
    max_size=12,
).map(bytes)
PIECES = st.lists(EDGES | st.binary(max_size=6) | st.text(max_size=3).map(str.encode), max_size=10)
LETTERS = st.text("ab你\n", max_size=6)
STOPS = st.lists(st.text("ab你\n", min_size=1, max_size=5), max_size=6)


@settings(max_examples=1000)
@given(pieces=PIECES)
def test_both_decoders_give_the_same_piece_after_every_push(pieces: list[bytes]) -> None:
    plain, fast = PlainUtf8Decoder(), Utf8Decoder()
    text = ""
    for piece in pieces:
        delta = fast.push(piece)
        assert plain.push(piece) == delta
        text += delta
    rest = fast.finish()
    assert plain.finish() == rest
    assert rest in ("", "\ufffd")
    assert text + rest == b"".join(pieces).decode("utf-8", "replace")


def test_both_decoders_agree_on_every_pair_of_bytes_and_what_may_follow() -> None:
    for first in range(0x80, 0x100):
        for second in range(0x100):
            for third in (0x41, 0x80, 0xBF, 0xE0):
                plain, fast = PlainUtf8Decoder(), Utf8Decoder()
                pieces = [bytes([byte]) for byte in (first, second, third)]
                deltas = [fast.push(piece) for piece in pieces]
                assert [plain.push(piece) for piece in pieces] == deltas
                text = "".join(deltas) + fast.finish()
                assert text == bytes([first, second, third]).decode("utf-8", "replace")


@settings(max_examples=1000)
@given(texts=st.lists(st.tuples(LETTERS, st.booleans()), max_size=10), stops=STOPS)
def test_both_matchers_agree_after_every_push(texts: list[tuple[str, bool]], stops: list[str]) -> None:
    plain, fast = PlainStopMatcher(stops), StopMatcher(stops)
    for text, armed in texts:
        match = fast.push(text, armed)
        assert plain.push(text, armed) == match
        assert plain.held == fast.held
        if match is not None:
            return


@pytest.mark.parametrize(
    "stops", [["."], [".", "]"], ["^a", "-", "\\"], ["[x", "]^-"], ["&&", "||", "~~"], [" #"]]
)
def test_stops_may_hold_the_signs_of_a_pattern(stops: list[str]) -> None:
    for stop in stops:
        text = f"plain {stop} rest"
        assert StopMatcher(stops).push(text) == PlainStopMatcher(stops).push(text)


@pytest.mark.parametrize("make", [PlainStopMatcher, StopMatcher])
def test_a_matcher_without_stops_finds_and_holds_nothing(make: Callable[[Iterable[str]], Matcher]) -> None:
    matcher = make(())
    assert (matcher.push("anything"), matcher.held) == (None, 0)


@pytest.mark.parametrize("make", [PlainStopMatcher, StopMatcher])
def test_both_refuse_an_empty_stop(make: Callable[[Iterable[str]], Matcher]) -> None:
    with pytest.raises(InvalidField, match="stop"):
        make(["a", ""])


@given(pieces=PIECES, stops=STOPS, keep=st.booleans())
def test_the_text_is_the_same_with_plain_parts(pieces: list[bytes], stops: list[str], keep: bool) -> None:
    results = []
    for decoder, matcher in ((PlainUtf8Decoder, PlainStopMatcher), (Utf8Decoder, StopMatcher)):
        streaming = StreamingText(stops, keep, 2, decoder, matcher)
        deltas = [streaming.push(piece) for piece in pieces]
        results.append((deltas, streaming.finish(), streaming.text, streaming.stop_reason))
    assert results[0] == results[1]


@settings(max_examples=500)
@given(pieces=st.lists(LETTERS, max_size=10), stops=STOPS, keep=st.booleans())
def test_the_plain_stream_is_the_text_of_the_fast_one(
    pieces: list[str], stops: list[str], keep: bool
) -> None:
    plain, fast = PlainTextStream(stops, keep), StreamingText(stops, keep)
    assert [plain.push(piece) for piece in pieces] == [fast.push(piece.encode()) for piece in pieces]
    assert plain.finish() == fast.finish()
    assert plain.stop_reason == fast.stop_reason


@settings(max_examples=500)
@given(pieces=st.lists(LETTERS, max_size=10), stops=STOPS, min_tokens=st.integers(0, 4))
def test_the_plain_length_of_an_answer_is_that_of_the_fast_stream(
    pieces: list[str], stops: list[str], min_tokens: int
) -> None:
    fast = StreamingText(stops, min_tokens=min_tokens)
    for piece in pieces:
        fast.push(piece.encode())
    assert answer_length(pieces, stops, min_tokens) == fast.num_tokens


def test_the_engine_calls_the_parts_it_was_given(make_core: CoreFactory) -> None:
    class Shouting(PlainUtf8Decoder):
        def push(self, data: bytes) -> str:
            return super().push(data).upper()

    class Deaf(PlainStopMatcher):
        def push(self, text: str, armed: bool = True) -> None:
            return None

    def answer(parts: Components) -> tuple[str, str]:
        core = make_core(tokenizer=Letters(), components=parts)
        live = core.submit([1, 2, 3], SamplingParams(max_tokens=12, stop=("!",)))
        drain(core)
        return live.text.text, str(live.request.finish_reason)

    text, reason = answer(Components(utf8_decoder=PlainUtf8Decoder, stop_matcher=PlainStopMatcher))
    assert answer(Components()) == (text, reason)
    assert reason == "stop_string" and text != text.upper()
    assert answer(Components(utf8_decoder=Shouting)) == (text.upper(), reason)
    assert answer(Components(stop_matcher=Deaf))[1] == "length"


class Letters:
    """A tokenizer of small letters, with "!" for the sixth token of the reference answer to [1, 2, 3]."""

    def token_bytes(self, token_id: int) -> bytes:
        return b"!" if token_id == 12 else bytes([97 + token_id % 26])

    def is_special(self, token_id: int) -> bool:
        return False
