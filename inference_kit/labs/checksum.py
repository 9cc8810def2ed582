"""A model without weights, whose answer changes when one number in the paged memory is misplaced.

Owns the checksum and a small paged memory for it. Token t at position p is stored as
(t·2654435761 + p·40503 + 97) mod 2³²; the next token is a checksum over all positions, read back through
the block table. It teaches and tests memory, not language: a lost, stale or foreign entry shows at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ..kv.table import slot_mapping
from ..scheduler.plan import StepOutput, StepPlan

SlotMapping = Callable[[Sequence[int], int, int, int], Sequence[int]]
NEVER_WRITTEN = -1


def stored(token_id: int, position: int) -> int:
    """What the memory keeps of a token."""
    return (token_id * 2654435761 + position * 40503 + 97) % 2**32


def next_token(values: Sequence[int]) -> int:
    """The token that follows, from what is stored at positions 0, 1, 2, …; never 0."""
    total = sum(value * (position + 1) for position, value in enumerate(values)) % 2**32
    return (total >> 7) % 63 + 1


def continuation(token_ids: Sequence[int], count: int) -> list[int]:
    """The `count` tokens after `token_ids`, computed without any paging: what must come out."""
    known = list(token_ids)
    for _ in range(count):
        known.append(next_token([stored(token, position) for position, token in enumerate(known)]))
    return known[len(token_ids) :]


class ChecksumMemory:
    """`num_blocks` blocks of `block_size` slots; a slot holds one number.

    Args:
        slot_mapping: where the positions of a table are; lab 06 puts its answer here.
    """

    def __init__(self, num_blocks: int, block_size: int, slot_mapping: SlotMapping = slot_mapping) -> None:
        self.block_size = block_size
        self.slots = [NEVER_WRITTEN] * (num_blocks * block_size)
        self._slot_mapping = slot_mapping

    def copy(self, copies: Iterable[tuple[int, int]]) -> None:
        """Copy whole blocks, (source, destination). All are read before any is written."""
        read = [(destination, self.slots[self._span(source)]) for source, destination in copies]
        for destination, values in read:
            self.slots[self._span(destination)] = values

    def step(self, block_table: Sequence[int], start: int, token_ids: Sequence[int]) -> int:
        """Write `token_ids` at positions `start`, `start` + 1, …; return the token that follows them.

        Raises what `slot_mapping` raises, and `IndexError` for a slot that does not exist.
        """
        end = start + len(token_ids)
        slots = self._slot_mapping(block_table, start, end, self.block_size)
        for position, slot in enumerate(slots, start):
            self.slots[slot] = stored(token_ids[position - start], position)
        return next_token(
            [self.slots[slot] for slot in self._slot_mapping(block_table, 0, end, self.block_size)]
        )

    def _span(self, block_id: int) -> slice:
        return slice(block_id * self.block_size, (block_id + 1) * self.block_size)


class ChecksumRunner:
    """Implements the engine's `Runner` over a `ChecksumMemory`: `Components(runner=ChecksumRunner)`."""

    def __init__(self, num_blocks: int, block_size: int, slot_mapping: SlotMapping = slot_mapping) -> None:
        self.memory = ChecksumMemory(num_blocks, block_size, slot_mapping)

    def run(self, plan: StepPlan) -> StepOutput:
        """Copy blocks, write each chunk, and answer with the token that follows it."""
        self.memory.copy(plan.block_copies)
        sampled: dict[str, int] = {}
        for chunk in plan.chunks:
            token_id = self.memory.step(chunk.block_table, chunk.start, chunk.token_ids)
            if chunk.samples:
                sampled[chunk.request_id] = token_id
        return StepOutput(sampled)
