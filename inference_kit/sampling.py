"""What a caller may ask of one request: sampling, stops and limits.

This module checks values. It does not sample: `inference_kit.model.sampler` does.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from dataclasses import dataclass
from typing import Any, TypeVar

from .errors import InvalidField, UnknownOption

MAX_SEED = 2**64 - 1
MAX_SAMPLES = 128
MAX_LOGPROBS = 20

T = TypeVar("T")


def is_int(value: Any) -> bool:
    """True for a whole number that is not a bool (`True` is an int in Python)."""
    return isinstance(value, int) and not isinstance(value, bool)


def check_int(field: str, value: Any, low: int, high: int | None = None) -> None:
    """Refuse `value` unless it is a whole number in `low..high` (both included)."""
    allowed = f"a whole number >= {low}" if high is None else f"a whole number in {low}..{high}"
    if not is_int(value) or value < low or (high is not None and value > high):
        raise InvalidField(field, value, allowed)


def is_finite(value: Any) -> bool:
    """True for an int or float that is finite as a float. A bool is no number here."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def check_number(field: str, value: Any, low: float, high: float, *, low_open: bool = False) -> None:
    """Refuse `value` unless it is a finite number in the range. NaN fails every range."""
    interval = f"{'(' if low_open else '['}{low:g}, {high:g}]"
    inside = is_finite(value) and low <= value <= high
    if not inside or (low_open and value <= low):
        raise InvalidField(field, value, f"a finite number in {interval}")


def strict(owner: type[T]) -> type[T]:
    """Class decorator for a dataclass: an unknown keyword raises `UnknownOption` with the known ones."""
    build = owner.__init__
    known = [field.name for field in dataclasses.fields(owner)]  # type: ignore[arg-type]

    @functools.wraps(build)
    def checked(self: T, *args: Any, **options: Any) -> None:
        for name in options:
            if name not in known:
                raise UnknownOption(owner.__name__, name, known)
        build(self, *args, **options)

    owner.__init__ = checked  # type: ignore[method-assign, assignment]
    return owner


@strict
@dataclass(frozen=True)
class SamplingParams:
    """How the tokens of one request are chosen and when the answer ends.

    Raises `InvalidField` with the field, the value and what is allowed. A field that this
    version cannot honour yet is refused unless it holds its neutral value: never ignored.
    """

    max_tokens: int | None = None
    """Most tokens to generate, >= 1. None: up to the longest total length (convention 10)."""
    temperature: float = 0.0
    """0 is greedy: the highest logit, ties to the lowest id. Range [0, 2]."""
    top_p: float = 1.0
    """Keep the smallest set of tokens whose probability reaches this. Range (0, 1]."""
    top_k: int = 0
    """Keep the k most likely tokens; 0 keeps all."""
    min_p: float = 0.0
    """Drop tokens less likely than this share of the most likely one. Range [0, 1]."""
    seed: int | None = None
    """Fixes the random draws (convention 12). None takes fresh entropy for each request."""
    n: int = 1
    """Number of samples for one prompt, 1..128. Sample i draws with seed + i (convention 12)."""
    stop: tuple[str, ...] = ()
    """Strings that end the answer. They match generated text only (convention 2)."""
    stop_token_ids: tuple[int, ...] = ()
    """Token ids that end the answer, besides the model's own EOS."""
    include_stop: bool = False
    """Keep the matched stop string, or the text of the stop token, in the text."""
    ignore_eos: bool = False
    """Treat the model's EOS as an ordinary token."""
    min_tokens: int = 0
    """EOS, stop ids and stop strings count only after this many tokens (convention 5)."""
    logprobs: int | None = None
    """Report the log-probability of each token, and of so many of the likeliest ids, 0..20. None: no report.
    They are the model's own: before temperature and filters."""
    prompt_logprobs: int | None = None
    """Log-probabilities of the prompt to report. This version: None."""
    repetition_penalty: float = 1.0
    """This version: 1.0, which changes nothing."""
    frequency_penalty: float = 0.0
    """This version: 0.0, which changes nothing."""
    presence_penalty: float = 0.0
    """This version: 0.0, which changes nothing."""
    logit_bias: dict[int, float] | None = None
    """This version: None."""

    def __post_init__(self) -> None:
        if isinstance(self.stop, str):
            object.__setattr__(self, "stop", (self.stop,))
        for name in ("stop", "stop_token_ids"):
            value = getattr(self, name)
            if value is None:
                value = ()
            if not isinstance(value, (list, tuple)):
                raise InvalidField(name, value, "a list")
            object.__setattr__(self, name, tuple(value))
        self._check()

    def _check(self) -> None:
        if self.max_tokens is not None:
            check_int("max_tokens", self.max_tokens, 1)
        check_number("temperature", self.temperature, 0.0, 2.0)
        check_number("top_p", self.top_p, 0.0, 1.0, low_open=True)
        check_int("top_k", self.top_k, 0)
        check_number("min_p", self.min_p, 0.0, 1.0)
        if self.seed is not None:
            check_int("seed", self.seed, 0, MAX_SEED)
        check_int("n", self.n, 1, MAX_SAMPLES)
        check_int("min_tokens", self.min_tokens, 0)
        if self.logprobs is not None:
            check_int("logprobs", self.logprobs, 0, MAX_LOGPROBS)
        if self.max_tokens is not None and self.min_tokens > self.max_tokens:
            raise InvalidField("min_tokens", self.min_tokens, f"at most max_tokens={self.max_tokens}")
        for text in self.stop:
            if not isinstance(text, str) or not text:
                raise InvalidField("stop", list(self.stop), "non-empty strings")
            if not text.isascii() and any("\ud800" <= ch <= "\udfff" for ch in text):
                raise InvalidField("stop", "<unpaired surrogate>", "valid Unicode text")
        for token_id in self.stop_token_ids:
            check_int("stop_token_ids", token_id, 0)
        for name in ("include_stop", "ignore_eos"):
            if not isinstance(getattr(self, name), bool):
                raise InvalidField(name, getattr(self, name), "True or False")
        self._check_ranges_of_later_fields()

    def _check_ranges_of_later_fields(self) -> None:
        for name in ("frequency_penalty", "presence_penalty"):
            check_number(name, getattr(self, name), -2.0, 2.0)
        check_number("repetition_penalty", self.repetition_penalty, 0.0, 2.0, low_open=True)
        neutral = {
            "prompt_logprobs": None,
            "repetition_penalty": 1.0,
            "frequency_penalty": 0.0,
            "presence_penalty": 0.0,
            "logit_bias": None,
        }
        for name, value in neutral.items():
            if getattr(self, name) != value:
                raise InvalidField(name, getattr(self, name), f"{value!r} in this version")
