"""Which rotary position embedding a model uses: the plain numbers, read from `config.json`.

It reads both forms: the new `rope_parameters` and the older `rope_theta` with `rope_scaling`.
It computes no angles (`rope.py` does) and needs no torch. A `RopeConfig` is complete: every field
that its type needs has a checked value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import InvalidField
from ..sampling import check_int, check_number

DEFAULT_THETA = 10_000.0
NEEDED: dict[str, tuple[str, ...]] = {
    "default": (),
    "linear": ("factor",),
    "dynamic": ("factor",),
    "llama3": ("factor", "low_freq_factor", "high_freq_factor"),
    "yarn": ("factor",),
    "longrope": ("short_factor", "long_factor"),
}
"""Supported types, and the fields that each of them cannot do without."""
LONGEST = 1e12
NULLABLE_FACTOR = ("yarn", "longrope")
"""Types that take a null factor as `max_position_embeddings / original_max_position_embeddings`."""


@dataclass(frozen=True)
class RopeConfig:
    """Type and numbers of the rotary embedding; fields that the type does not use keep their default."""

    type: str = "default"
    theta: float = DEFAULT_THETA
    factor: float = 1.0
    max_position_embeddings: int = 2048
    original_max_position_embeddings: int = 2048
    attention_factor: float | None = None
    """Multiplies cos and sin (yarn, longrope). None: the type's own rule."""
    low_freq_factor: float = 1.0
    high_freq_factor: float = 4.0
    beta_fast: float = 32.0
    beta_slow: float = 1.0
    mscale: float | None = None
    mscale_all_dim: float | None = None
    truncate: bool = True
    short_factor: tuple[float, ...] = ()
    long_factor: tuple[float, ...] = ()

    @classmethod
    def from_hf(cls, hf: Mapping[str, Any], head_dim: int, max_position_embeddings: int) -> RopeConfig:
        """Read it from the mapping in a model's `config.json`.

        Raises `InvalidField` naming the field for an unsupported type, a missing or a wrong value.
        """
        owner, raw = _raw_parameters(hf)
        kind = raw.get("rope_type", raw.get("type")) or "default"
        if kind not in NEEDED:
            raise InvalidField(f"{owner}.rope_type", kind, f"one of {', '.join(NEEDED)}")
        for name in NEEDED[kind]:
            if name not in raw:
                raise InvalidField(f"{owner}.{name}", None, f"a value, because rope_type is {kind!r}")
        _check_rotates_whole_head(owner, raw, hf)

        def number(name: str, default: float | None, low: float = 0.0) -> float | None:
            value = raw.get(name)
            if value is None:
                value = default
            if value is not None:
                check_number(f"{owner}.{name}", value, low, LONGEST, low_open=True)
                value = float(value)
            return value

        original = raw.get("original_max_position_embeddings")
        original = hf.get("original_max_position_embeddings", original) or max_position_embeddings
        check_int(f"{owner}.original_max_position_embeddings", original, 1)
        if kind in NULLABLE_FACTOR and raw.get("factor") is None:
            factor = max_position_embeddings / original
        else:
            factor = _needed(f"{owner}.factor", number("factor", None if "factor" in NEEDED[kind] else 1.0))
        truncate = raw.get("truncate")
        if kind == "dynamic" and head_dim < 4:
            raise InvalidField("head_dim", head_dim, "at least 4 where rope_type is 'dynamic'")
        if kind == "llama3" and not raw["low_freq_factor"] < raw["high_freq_factor"]:
            raise InvalidField(
                f"{owner}.low_freq_factor", raw["low_freq_factor"], "less than high_freq_factor"
            )
        return cls(
            type=kind,
            theta=_needed(f"{owner}.rope_theta", number("rope_theta", hf.get("rope_theta") or DEFAULT_THETA)),
            factor=factor,
            max_position_embeddings=max_position_embeddings,
            original_max_position_embeddings=original,
            attention_factor=number("attention_factor", None),
            low_freq_factor=_needed(f"{owner}.low_freq_factor", number("low_freq_factor", 1.0)),
            high_freq_factor=_needed(f"{owner}.high_freq_factor", number("high_freq_factor", 4.0)),
            beta_fast=_needed(f"{owner}.beta_fast", number("beta_fast", 32.0)),
            beta_slow=_needed(f"{owner}.beta_slow", number("beta_slow", 1.0)),
            mscale=_optional_scale(raw.get("mscale")),
            mscale_all_dim=_optional_scale(raw.get("mscale_all_dim")),
            truncate=True if truncate is None else bool(truncate),
            short_factor=_factors(f"{owner}.short_factor", raw.get("short_factor"), kind, head_dim),
            long_factor=_factors(f"{owner}.long_factor", raw.get("long_factor"), kind, head_dim),
        )


def _raw_parameters(hf: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """The mapping with the numbers and the name it stands under; `rope_scaling` wins when both are given."""
    for owner in ("rope_scaling", "rope_parameters"):
        raw = hf.get(owner)
        if raw:
            if not isinstance(raw, Mapping) or any(isinstance(value, Mapping) for value in raw.values()):
                raise InvalidField(owner, raw, "one mapping of names to numbers for all layers")
            return owner, raw
    return "rope_parameters", {}


def _check_rotates_whole_head(owner: str, raw: Mapping[str, Any], hf: Mapping[str, Any]) -> None:
    for name, value in (
        (f"{owner}.partial_rotary_factor", raw.get("partial_rotary_factor")),
        ("partial_rotary_factor", hf.get("partial_rotary_factor")),
    ):
        if value is not None and value != 1:
            raise InvalidField(name, value, "1.0: the models here rotate the whole head")


def _needed(field: str, value: float | None) -> float:
    if value is None:
        raise InvalidField(field, None, "a positive number")
    return value


def _optional_scale(value: Any) -> float | None:
    """yarn's mscale pair: a zero or a missing value means that the pair is not used."""
    return float(value) if value else None


def _factors(field: str, value: Any, kind: str, head_dim: int) -> tuple[float, ...]:
    if kind != "longrope":
        return ()
    allowed = f"a list of {head_dim // 2} positive numbers, one for each pair of the head"
    if not isinstance(value, (list, tuple)) or len(value) != head_dim // 2:
        raise InvalidField(field, value, allowed)
    for item in value:
        check_number(field, item, 0.0, LONGEST, low_open=True)
    return tuple(float(item) for item in value)
