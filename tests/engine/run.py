"""Small drivers that several test files share."""

from __future__ import annotations

from inference_kit.engine.core import EngineCore, LiveRequest
from inference_kit.scheduler import StepPlan

STEP_LIMIT = 20_000


def drain(core: EngineCore, take: bool = True) -> list[StepPlan]:
    """Step until nothing is live; a run that does not end fails."""
    plans: list[StepPlan] = []
    while core.has_work:
        plans.append(core.step())
        if take:
            for live in core.take_touched():
                live.take()
        if len(plans) > STEP_LIMIT:
            raise AssertionError(f"still live after {STEP_LIMIT} steps: {core.snapshot()}")
    return plans


def ends(live: LiveRequest) -> tuple[list[int], str]:
    """(output ids, finish reason) of an ended request."""
    return live.request.output_token_ids, str(live.request.finish_reason)
