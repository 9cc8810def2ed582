"""The checksum model of the specification: a runner without weights that catches every misplaced KV.

Token t at position p is stored as (t·2654435761 + p·40503 + 97) mod 2³² in the paged slot of p. The next
token is a checksum over all positions, read back through the block table. A lost, doubled, stale or
misplaced entry changes it.
"""

from __future__ import annotations

from collections.abc import Sequence

from inference_kit.scheduler import StepOutput, StepPlan

VOCABULARY = 64
EOS = 0


def stored(token: int, position: int) -> int:
    return (token * 2654435761 + position * 40503 + 97) % 2**32


def next_token(values: Sequence[int]) -> int:
    total = sum(value * (position + 1) for position, value in enumerate(values)) % 2**32
    return (total >> 7) % 63 + 1


def reference(prompt: Sequence[int], count: int) -> list[int]:
    """The first `count` tokens after `prompt`, without any paging."""
    tokens = list(prompt)
    for _ in range(count):
        tokens.append(next_token([stored(token, position) for position, token in enumerate(tokens)]))
    return tokens[len(prompt) :]


class ChecksumRunner:
    """Implements `Runner` over a paged store of whole numbers."""

    def __init__(self, num_blocks: int, block_size: int) -> None:
        self.block_size = block_size
        self.slots: list[int | None] = [None] * (num_blocks * block_size)
        self.host: dict[int, list[int | None]] = {}
        self.plans: list[StepPlan] = []

    def run(self, plan: StepPlan) -> StepOutput:
        self.plans.append(plan)
        sampled: dict[str, int] = {}
        for device, host in plan.offloads:
            self.host[host] = self.slots[self._span(device)]
        for host, device in plan.restores:
            self.slots[self._span(device)] = self.host[host]
        copied = [self.slots[self._span(source)] for source, _ in plan.block_copies]
        for (_, destination), values in zip(plan.block_copies, copied, strict=True):
            self.slots[self._span(destination)] = values
        for chunk in plan.chunks:
            for offset, token in enumerate(chunk.token_ids):
                position = chunk.start + offset
                self.slots[self._slot(chunk.block_table, position)] = stored(token, position)
            if chunk.samples:
                sampled[chunk.request_id] = self._read(chunk.block_table, chunk.position + 1)
        return StepOutput(sampled)

    def _span(self, block_id: int) -> slice:
        return slice(block_id * self.block_size, (block_id + 1) * self.block_size)

    def _slot(self, block_table: Sequence[int], position: int) -> int:
        return block_table[position // self.block_size] * self.block_size + position % self.block_size

    def _read(self, block_table: Sequence[int], length: int) -> int:
        values = [self.slots[self._slot(block_table, position)] for position in range(length)]
        return next_token([value if value is not None else -1 for value in values])
