"""Rotary position embedding: from absolute positions to cosines and sines, and their use on heads.

It keeps one rule that batching needs: the rotation of a token depends on its own position only, never
on its neighbours in the batch nor on how a prompt is cut into chunks. The types whose frequencies grow
with the length (`dynamic`, `longrope`) therefore take the length a token saw when it was the last one,
position + 1: what a token-by-token decode does. transformers takes the length of the whole forward pass,
so it differs for a prompt that is itself longer than the trained context.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from .rope_config import RopeConfig


class RotaryEmbedding:
    """Cosines and sines for positions. Holds at most two vectors of `head_dim / 2` floats."""

    def __init__(self, config: RopeConfig, head_dim: int, device: torch.device) -> None:
        self.config = config
        self.head_dim = head_dim
        self.scale = attention_scale(config)
        self.inv_freq = INV_FREQ[config.type](config, head_dim).to(device)
        self.long_inv_freq = _longrope(config, head_dim, config.long_factor).to(device)

    def __call__(self, positions: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
        """Positions `[T]` (int64) to cos and sin, each `[T, 1, head_dim]` of `dtype`."""
        angles = positions[:, None].float() * self._inv_freq_at(positions)
        both = torch.cat((angles, angles), dim=-1).unsqueeze(1)
        return (both.cos() * self.scale).to(dtype), (both.sin() * self.scale).to(dtype)

    def _inv_freq_at(self, positions: Tensor) -> Tensor:
        """Frequencies `[head_dim/2]`, or `[T, head_dim/2]` where they depend on the position."""
        config = self.config
        if config.type == "dynamic":
            return _dynamic_at(config, self.head_dim, positions)
        if config.type == "longrope":
            is_long = (positions + 1 > config.original_max_position_embeddings)[:, None]
            return torch.where(is_long, self.long_inv_freq, self.inv_freq)
        return self.inv_freq


def rotate(heads: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotate heads `[T, H, head_dim]` by cos and sin `[T, 1, head_dim]`; halves form the pairs."""
    first, second = heads.chunk(2, dim=-1)
    return heads * cos + torch.cat((-second, first), dim=-1) * sin


def attention_scale(config: RopeConfig) -> float:
    """The factor on cos and sin: 1, except where yarn and longrope sharpen the attention."""
    if config.type not in ("yarn", "longrope"):
        return 1.0
    if config.attention_factor is not None:
        return config.attention_factor
    if config.type == "yarn":
        if not (config.mscale and config.mscale_all_dim):
            return _yarn_scale(config.factor, 1.0)
        return _yarn_scale(config.factor, config.mscale) / _yarn_scale(config.factor, config.mscale_all_dim)
    if config.factor <= 1:
        return 1.0
    return math.sqrt(1 + math.log(config.factor) / math.log(config.original_max_position_embeddings))


def _yarn_scale(factor: float, mscale: float) -> float:
    return 1.0 if factor <= 1 else 0.1 * mscale * math.log(factor) + 1.0


def _exponents(head_dim: int) -> Tensor:
    return torch.arange(0, head_dim, 2, dtype=torch.int64).float() / head_dim


def _default(config: RopeConfig, head_dim: int) -> Tensor:
    return 1.0 / (config.theta ** _exponents(head_dim))


def _linear(config: RopeConfig, head_dim: int) -> Tensor:
    return _default(config, head_dim) / config.factor


def _dynamic_at(config: RopeConfig, head_dim: int, positions: Tensor) -> Tensor:
    """NTK scaling: beyond the trained context the base grows with the length. `[T, head_dim/2]`."""
    context = config.max_position_embeddings
    length = (positions + 1).clamp(min=context).double()
    growth = config.factor * length / context - (config.factor - 1)
    base = config.theta * growth ** (head_dim / (head_dim - 2))
    return 1.0 / base.float()[:, None] ** _exponents(head_dim).to(positions.device)


def _longrope(config: RopeConfig, head_dim: int, factors: tuple[float, ...]) -> Tensor:
    stretch = torch.tensor(factors or (1.0,), dtype=torch.float32)
    return 1.0 / (stretch * config.theta ** _exponents(head_dim))


def _longrope_short(config: RopeConfig, head_dim: int) -> Tensor:
    return _longrope(config, head_dim, config.short_factor)


def _llama3(config: RopeConfig, head_dim: int) -> Tensor:
    """Long waves are slowed by `factor`, short ones kept, those between are blended."""
    inv_freq = _default(config, head_dim)
    turns = config.original_max_position_embeddings * inv_freq / (2 * math.pi)
    blend = (turns - config.low_freq_factor) / (config.high_freq_factor - config.low_freq_factor)
    blend = blend.clamp(0, 1)
    return (1 - blend) * inv_freq / config.factor + blend * inv_freq


def _yarn(config: RopeConfig, head_dim: int) -> Tensor:
    """Pairs that turn often keep their speed, those that turn rarely are slowed, a ramp lies between."""

    def pair_with(turns: float) -> float:
        waves = config.original_max_position_embeddings / (turns * 2 * math.pi)
        return head_dim * math.log(waves) / (2 * math.log(config.theta))

    low, high = pair_with(config.beta_fast), pair_with(config.beta_slow)
    if config.truncate:
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, head_dim - 1)
    # Equal ends would divide by zero; the ramp becomes a step.
    width = (high - low) or 0.001
    slowed = ((torch.arange(head_dim // 2, dtype=torch.float32) - low) / width).clamp(0, 1)
    inv_freq = _default(config, head_dim)
    return inv_freq / config.factor * slowed + inv_freq * (1 - slowed)


INV_FREQ: dict[str, Callable[[RopeConfig, int], Tensor]] = {
    "default": _default,
    "linear": _linear,
    "dynamic": _default,
    "llama3": _llama3,
    "yarn": _yarn,
    "longrope": _longrope_short,
}
