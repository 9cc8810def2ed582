"""Puts the parts of lab 03 into the engine: a decoder, and a stop matcher made of two functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from ... import viz
from ...sampling import SamplingParams
from ...streaming import (
    PlainTextStream,
    Utf8Decoder,
    answer_length,
    find_stop,
    held_length,
)
from ...streaming.stop import checked_stops
from ...viz import Picture
from . import Parts

if TYPE_CHECKING:
    from ...engine import LLM, Components


class LabMatcher:
    """The engine's `stop_matcher` slot over a learner's two functions. It keeps the end of the text."""

    def __init__(self, find: Callable[..., Any], hold: Callable[..., Any], stops: Iterable[str]) -> None:
        self.stops = list(checked_stops(stops))
        self.held = 0
        self._find = find
        self._hold = hold
        self._longest = max(map(len, self.stops), default=0)
        self._tail = ""

    def push(self, text: str, armed: bool = True) -> tuple[str, int] | None:
        """Read `text`; see `inference_kit.streaming.Matcher.push`."""
        before = len(self._tail)
        whole = self._tail + text
        found = self._find(whole, list(self.stops), before) if armed else None
        if found is not None:
            self._tail, self.held = "", 0
            stop, end = found
            return stop, end - before
        self.held = self._hold(whole, list(self.stops))
        self._tail = whole[max(0, len(whole) - self._longest) :]
        return None


class Lab03(Parts):
    """The parts of lab 03.

    Attributes:
        components: for `LLM(model, components=…)` or `Engine(…, components=…)`.
    """

    lab = "lab03"
    questions: ClassVar = {
        "q1": "tail_length",
        "q2": "Utf8Stream",
        "q3": "find_stop",
        "q4": "held_length",
        "q5": "TextStream",
        "q6": "answer_length",
    }

    def __init__(self, names: Mapping[str, Any]) -> None:
        super().__init__(names)
        self._find = self.part("q3", find_stop)
        self._hold = self.part("q4", held_length)

    @property
    def components(self) -> Components:
        """The learner's decoder and matcher in the engine's slots."""
        from ...engine import Components

        return Components(
            utf8_decoder=self.part("q2", Utf8Decoder),
            stop_matcher=partial(LabMatcher, self._find, self._hold),
        )

    def story(self, tokens: Sequence[bytes], stops: Sequence[str]) -> Picture:
        """The eight tokens of the story through the learner's decoder and stream."""
        decoder = self.part("q2", Utf8Decoder)()
        stream = self.part("q5", PlainTextStream)(list(stops), False, self._find, self._hold)
        return viz.hold_back(tokens, stream=_Both(decoder, stream), title="Your parts, token by token")

    def compare(self, llm: LLM, prompt: str = "Once upon a time") -> Picture:
        """Answer twice: freely, and with a stop out of the free answer. Count the tokens both ways."""
        ids = llm.model.tokenizer.encode(prompt) if llm.model.tokenizer else [1]
        free = llm.generate([ids], SamplingParams(max_tokens=24, ignore_eos=True))[0]
        pieces = _texts(llm, free.token_ids)
        text = "".join(pieces)
        stop = text[len(text) // 2 : len(text) // 2 + 3]
        cut = llm.generate([ids], SamplingParams(max_tokens=24, ignore_eos=True, stop=(stop,)))[0]
        rows: list[list[Any]] = [
            ["who counts", "tokens of the answer"],
            ["nobody: the free answer", len(free.token_ids)],
            ["the engine", len(cut.token_ids)],
            ["your answer_length", self.part("q6", answer_length)(pieces, [stop], 0, self._find)],
        ]
        note = f"the stop was {stop!r}; the engine ended with {cut.finish_reason}"
        return viz.grid(rows, "Where the answer ends", [(3, 1)], note)


class _Both:
    """A decoder and a text stream in a row."""

    def __init__(self, decoder: Any, stream: Any) -> None:
        self._decoder, self._stream = decoder, stream

    def push(self, data: bytes) -> str:
        return str(self._stream.push(self._decoder.push(data)))

    def finish(self) -> str:
        rest = str(self._stream.push(self._decoder.finish()))
        return rest + str(self._stream.finish())

    @property
    def stop_reason(self) -> Any:
        return self._stream.stop_reason


def _texts(llm: LLM, ids: Sequence[int]) -> list[str]:
    """What each token adds to the text, decoded as a stream."""
    decoder, vocabulary = Utf8Decoder(), llm.core.vocabulary
    return [decoder.push(vocabulary.token(token_id)[0]) for token_id in ids]


PLUG = Lab03
