"""The checksum model with samples that differ: sample i adds a number of its own to each choice."""

from __future__ import annotations

from collections.abc import Sequence

from inference_kit.scheduler import StepOutput, StepPlan
from tests.checksum import ChecksumRunner, next_token, stored


def shifted(token: int, sample_index: int, position: int) -> int:
    return (token - 1 + sample_index * (position + 1)) % 63 + 1


def sample_reference(prompt: Sequence[int], count: int, sample_index: int) -> list[int]:
    """The first `count` tokens of one sample, without any paging."""
    tokens = list(prompt)
    for _ in range(count):
        honest = next_token([stored(token, position) for position, token in enumerate(tokens)])
        tokens.append(shifted(honest, sample_index, len(tokens) - 1))
    return tokens[len(prompt) :]


class SampledRunner(ChecksumRunner):
    """Gives each sample its own continuation, so that one that reads another's block is found out."""

    def run(self, plan: StepPlan) -> StepOutput:
        honest = super().run(plan).token_ids
        by_id = {chunk.request_id: chunk for chunk in plan.chunks}
        return StepOutput(
            {
                name: shifted(token, by_id[name].sample_index, by_id[name].position)
                for name, token in honest.items()
            }
        )
