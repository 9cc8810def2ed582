"""Several tokens for one request in one step: the runner is asked again before the scheduler is.

Owns the plans of the later rounds. It schedules nothing: a request goes on only inside the blocks it has, and
no further than its limit. Invariants: what a step commits is the same as in that many steps of one round; a
request with a fault in any round goes on in none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from .plan import Runner, ScheduledChunk, StepOutput, StepPlan


class RoundsRunner:
    """Decodes up to `rounds` tokens of each request in one step.

    Fewer where the last block is full or the request's limit is reached. EOS and stop strings are the
    engine's: it discards what a round made behind one (convention 4).

    Args:
        runner: computes one round.
        rounds: most tokens of one request in a step, >= 2.
        block_size: slots in a block.
    """

    def __init__(self, runner: Runner, rounds: int, block_size: int) -> None:
        self._runner = runner
        self._rounds = rounds
        self._block_size = block_size

    def run(self, plan: StepPlan) -> StepOutput:
        """The tokens of the first round as `token_ids`, those of the others in `later`."""
        first = self._runner.run(plan)
        errors = dict(first.errors)
        later: list[Mapping[str, int]] = []
        chunks: Iterable[ScheduledChunk] = plan.chunks
        made = first.token_ids
        logprobs = list(first.logprobs)
        while len(later) < self._rounds - 1:
            going_on = [chunk for chunk in chunks if self._goes_on(chunk, made)]
            chunks = [self._next(chunk, made[chunk.request_id]) for chunk in going_on]
            if not chunks:
                break
            output = self._runner.run(StepPlan(plan.step, tuple(chunks)))
            errors.update(output.errors)
            made = output.token_ids
            later.append(made)
            logprobs += output.logprobs or ({},) * bool(logprobs)
        return StepOutput(first.token_ids, errors, tuple(later), logprobs)

    def _goes_on(self, chunk: ScheduledChunk, made: Mapping[str, int]) -> bool:
        has_room = chunk.position + 1 < len(chunk.block_table) * self._block_size
        return chunk.samples and chunk.request_id in made and chunk.num_left > 1 and has_room

    def _next(self, chunk: ScheduledChunk, token_id: int) -> ScheduledChunk:
        return replace(
            chunk,
            token_ids=(token_id,),
            start=chunk.position + 1,
            num_generated=chunk.num_generated + 1,
            num_left=chunk.num_left - 1,
        )
