"""What the watermark of admission costs and saves: steps, preemptions and recomputed tokens, without time.

The default of `EngineConfig.watermark` comes from this table. Requests of W1 arrive all at once at a pool
that holds only a part of them, so that admission is limited by blocks at every step.
"""

from __future__ import annotations

import random
from typing import Any

from ..clock import VirtualClock
from ..config import EngineConfig
from ..engine.core import EngineCore
from ..engine.vocabulary import Vocabulary
from ..sampling import SamplingParams
from ..scheduler.plan import StepOutput, StepPlan

WATERMARKS = (0.0, 0.01, 0.02, 0.03, 0.04, 0.05, 0.1)
POOLS = (64, 128, 256, 512)
"""Blocks of 16 tokens; one request of W1 needs up to 16 of them."""
REQUESTS = 300


class Constant:
    """A runner that gives every request the same id."""

    def run(self, plan: StepPlan) -> StepOutput:
        return StepOutput(dict.fromkeys(plan.request_ids, 1))


def lengths(seed: int = 0) -> list[tuple[int, int]]:
    """(prompt, output) tokens of W1."""
    draw = random.Random(seed)
    return [(draw.randint(16, 160), draw.randint(16, 96)) for _ in range(REQUESTS)]


def run(pool: int, watermark: float, policy: str = "fcfs") -> dict[str, Any]:
    """Counts of one run to the end."""
    config = EngineConfig(
        num_kv_blocks=pool, max_running=256, max_waiting=REQUESTS, watermark=watermark, policy=policy
    )
    core = EngineCore(config, Constant(), Vocabulary(2, 4096), VirtualClock())
    for prompt, output in lengths():
        core.submit([1] * prompt, SamplingParams(max_tokens=output))
    steps = tokens = 0
    while core.has_work:
        tokens += core.step().num_tokens
        steps += 1
        for live in core.take_touched():
            live.take()
    needed = sum(prompt + output - 1 for prompt, output in lengths())
    return {
        "pool_blocks": pool,
        "watermark": watermark,
        "policy": policy,
        "steps": steps,
        "preemptions": core.metrics.preempted,
        "recomputed_tokens": tokens - needed,
    }


def table() -> list[dict[str, Any]]:
    """All pools by all watermarks, and the policy that needs none."""
    rows = [run(pool, watermark) for pool in POOLS for watermark in WATERMARKS]
    return rows + [run(pool, 0.0, "reserve") for pool in POOLS]
