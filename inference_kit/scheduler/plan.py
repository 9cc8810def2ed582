"""What the scheduler tells the runner, and what the runner answers. Plain data only.

A step computes some tokens for some requests. One `ScheduledChunk` is one request's share:
its tokens `token_ids` stand at positions `start .. start + len(token_ids) - 1`, and the keys
and values of all positions below that end live in the slots of `block_table`:
position p is slot `block_table[p // block_size] * block_size + p % block_size`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from ..sampling import SamplingParams


@dataclass(frozen=True)
class ScheduledChunk:
    """The share of one request in one step."""

    request_id: str
    token_ids: tuple[int, ...]
    """Ids to compute now, at least one. Those of a prompt part, or the one last sampled."""
    start: int
    """Position of the first of them: the number of tokens already computed."""
    block_table: tuple[int, ...]
    """Block ids that hold positions 0 .. start + len(token_ids) - 1, in order."""
    samples: bool
    """True when the chunk reaches the last known token: the runner samples one token."""
    sampling: SamplingParams
    seed: int
    """Base of the request's random draws (convention 12): key (seed, sample_index, position)."""
    sample_index: int = 0
    num_generated: int = 0
    """Tokens generated before this step; `min_tokens` needs it."""

    @property
    def position(self) -> int:
        """Position of the last token of the chunk."""
        return self.start + len(self.token_ids) - 1


@dataclass(frozen=True)
class StepPlan:
    """All the work of one step. Decodes come first, then prefill chunks (convention 9)."""

    step: int
    chunks: tuple[ScheduledChunk, ...]
    preempted: tuple[str, ...] = ()
    admitted: tuple[str, ...] = ()
    block_copies: tuple[tuple[int, int], ...] = ()
    """(source, destination) blocks to copy whole before anything is computed (copy-on-write).
    All sources are read before any destination is written."""

    @property
    def num_tokens(self) -> int:
        return sum(len(chunk.token_ids) for chunk in self.chunks)


@dataclass(frozen=True)
class StepOutput:
    """Sampled token ids by request id, one for each chunk with `samples`.

    A request in `errors` produced nothing usable (a NaN row, say); only it fails.
    """

    token_ids: Mapping[str, int]
    errors: Mapping[str, str] = field(default_factory=dict)


class Runner(Protocol):
    """Runs a step. `ModelRunner` runs a network; the tests have one without weights."""

    def run(self, plan: StepPlan) -> StepOutput:
        """Copy blocks, compute every chunk of `plan`, write KV; return one id per sampling chunk."""
        ...
