"""A hand-written stepping loop: requests in, step plans for a runner, sampled ids out.

It is no scheduler: it runs all requests side by side, cuts prompts into chunks of a given size, and gives
each request blocks of its own in a shuffled order, so that a test never passes by lucky placement.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from inference_kit.sampling import SamplingParams
from inference_kit.scheduler.plan import Runner, ScheduledChunk, StepPlan


@dataclass
class Sequencer:
    """One request on its way."""

    request_id: str
    prompt: list[int]
    block_table: tuple[int, ...]
    params: SamplingParams = field(default_factory=SamplingParams)
    seed: int = 0
    sample_index: int = 0
    output: list[int] = field(default_factory=list)
    num_computed_tokens: int = 0
    error: str | None = None

    def next_chunk(self, most: int) -> ScheduledChunk:
        """The next tokens to compute, at most `most`."""
        known = self.prompt + self.output
        end = min(len(known), self.num_computed_tokens + most)
        return ScheduledChunk(
            request_id=self.request_id,
            token_ids=tuple(known[self.num_computed_tokens : end]),
            start=self.num_computed_tokens,
            block_table=self.block_table,
            samples=end == len(known),
            sampling=self.params,
            seed=self.seed,
            sample_index=self.sample_index,
            num_generated=len(self.output),
        )


def make_sequencers(
    prompts: Sequence[Sequence[int]], num_new: int, block_size: int, shuffle_seed: int = 0
) -> tuple[list[Sequencer], int]:
    """One sequencer for each prompt, with room for `num_new` tokens, and the number of blocks used."""
    sizes = [-(-(len(prompt) + num_new) // block_size) for prompt in prompts]
    blocks = list(range(sum(sizes)))
    random.Random(shuffle_seed).shuffle(blocks)
    made = []
    for index, (prompt, size) in enumerate(zip(prompts, sizes, strict=True)):
        table, blocks = tuple(blocks[:size]), blocks[size:]
        made.append(Sequencer(f"r{index}", list(prompt), table))
    return made, sum(sizes)


def run_all(runner: Runner, sequencers: Sequence[Sequencer], num_new: int, chunk: int = 10_000) -> None:
    """Step until every sequencer has `num_new` ids or an error. Decodes come first (convention 9)."""
    step = 0
    while live := [s for s in sequencers if s.error is None and len(s.output) < num_new]:
        chunks = sorted((s.next_chunk(chunk) for s in live), key=lambda c: len(c.token_ids) > 1)
        output = runner.run(StepPlan(step, tuple(chunks)))
        for sequencer, planned in ((s, c) for s in live for c in chunks if c.request_id == s.request_id):
            sequencer.num_computed_tokens += len(planned.token_ids)
            sequencer.error = output.errors.get(sequencer.request_id)
            if sequencer.request_id in output.token_ids:
                sequencer.output.append(output.token_ids[sequencer.request_id])
        step += 1


def greedy(
    model: object,
    prompts: Sequence[Sequence[int]],
    num_new: int,
    *,
    chunk: int = 10_000,
    block_size: int = 16,
) -> list[list[int]]:
    """Greedy ids of all prompts in one batch, on a runner of their own."""
    sequencers, num_blocks = make_sequencers(prompts, num_new, block_size)
    runner = model.make_runner(num_blocks, block_size)  # type: ignore[attr-defined]
    run_all(runner, sequencers, num_new, chunk)
    errors = [s.error for s in sequencers if s.error]
    if errors:
        raise AssertionError(errors)
    return [s.output for s in sequencers]
