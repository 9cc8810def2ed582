"""What the scheduler tells the runner, and what the runner answers. Plain data only.

A step computes some tokens for some requests. One `ScheduledChunk` is one request's share:
its tokens `token_ids` stand at positions `start .. start + len(token_ids) - 1`, and the keys
and values of all positions below that end live in the slots of `block_table`:
position p is slot `block_table[p // block_size] * block_size + p % block_size`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, overload

from ..sampling import SamplingParams

if TYPE_CHECKING:
    from .decodes import DecodeBatch


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
    num_left: int = 1
    """Tokens that the request may still get, the next one included."""

    @property
    def position(self) -> int:
        """Position of the last token of the chunk."""
        return self.start + len(self.token_ids) - 1


class PlannedChunks(Sequence[ScheduledChunk]):
    """The chunks of a step: a batch of decodes, then single chunks.

    The decodes become objects when somebody looks at them, and only then; `len` does not look.
    """

    def __init__(self, batch: DecodeBatch, singles: tuple[ScheduledChunk, ...] = ()) -> None:
        self.batch = batch
        self.singles = singles
        self._built: tuple[ScheduledChunk, ...] | None = None

    def _all(self) -> tuple[ScheduledChunk, ...]:
        if self._built is None:
            self._built = self.batch.chunks() + self.singles
        return self._built

    def __len__(self) -> int:
        return len(self.batch) + len(self.singles)

    @overload
    def __getitem__(self, index: int) -> ScheduledChunk: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[ScheduledChunk, ...]: ...

    def __getitem__(self, index: int | slice) -> ScheduledChunk | tuple[ScheduledChunk, ...]:
        return self._all()[index]


@dataclass(frozen=True)
class StepPlan:
    """All the work of one step. Decodes come first, then prefill chunks (convention 9)."""

    step: int
    chunks: Sequence[ScheduledChunk]
    preempted: tuple[str, ...] = ()
    admitted: tuple[str, ...] = ()
    block_copies: tuple[tuple[int, int], ...] = ()
    """(source, destination) blocks to copy whole before anything is computed (copy-on-write).
    All sources are read before any destination is written."""
    offloads: tuple[tuple[int, int], ...] = ()
    """(device block, host block) to copy before all else: the contents of preempted requests."""
    restores: tuple[tuple[int, int], ...] = ()
    """(host block, device block) to copy next, before `block_copies`."""

    @property
    def batch(self) -> DecodeBatch | None:
        """The decodes at the front of `chunks` as columns; None in a plan of single chunks."""
        return self.chunks.batch if isinstance(self.chunks, PlannedChunks) else None

    @property
    def singles(self) -> Sequence[ScheduledChunk]:
        """The chunks behind `batch`."""
        return self.chunks.singles if isinstance(self.chunks, PlannedChunks) else self.chunks

    @property
    def request_ids(self) -> list[str]:
        """Who is in the step, in the order of `chunks`."""
        decodes = () if self.batch is None else self.batch.request_ids
        return [*decodes, *(chunk.request_id for chunk in self.singles)]

    @property
    def is_empty(self) -> bool:
        """True when a runner has nothing to do."""
        return not (self.chunks or self.block_copies or self.offloads or self.restores)

    @property
    def involved_ids(self) -> list[str]:
        """Whom a failure of the step concerns: its chunks, and those whose blocks were just set up."""
        return list(dict.fromkeys([*self.request_ids, *self.admitted]))

    @property
    def num_tokens(self) -> int:
        decodes = 0 if self.batch is None else len(self.batch)
        return decodes + sum(len(chunk.token_ids) for chunk in self.singles)


@dataclass(frozen=True)
class TokenLogprob:
    """How likely the model found one committed token, and what else it found likely."""

    token_id: int
    logprob: float
    """Natural logarithm, of the model's own distribution: before temperature, penalties and filters.
    Minus infinity is written as -9999.0 (convention 12)."""
    top: tuple[tuple[int, float], ...] = ()
    """(id, logprob) of the likeliest ids, best first, ties to the lowest id."""


@dataclass(frozen=True)
class StepOutput:
    """Sampled token ids by request id, one for each chunk with `samples`.

    A request in `errors` produced nothing usable (a NaN row, say); only it fails.
    """

    token_ids: Mapping[str, int]
    errors: Mapping[str, str] = field(default_factory=dict)
    later: Sequence[Mapping[str, int]] = ()
    """Ids of further rounds of the same step, in order: each request's next token, then its next but one."""
    logprobs: Sequence[Mapping[str, TokenLogprob]] = ()
    """For requests that ask for them, one mapping for each round; empty when none does."""


class Runner(Protocol):
    """Runs a step. `ModelRunner` runs a network; the tests have one without weights."""

    def run(self, plan: StepPlan) -> StepOutput:
        """Move and copy blocks, compute every chunk of `plan`, write KV; one id for each sampling chunk.

        There are `offloads` and `restores` only with `EngineConfig.offload_blocks`.
        """
        ...
