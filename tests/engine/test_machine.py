"""The engine under random requests, readers, clocks and faults, with the checksum model (C1, C2, D1).

After each run: exactly one end for each request, all references gone, every answer equal to the reference
or a prefix of it, no token lost, repeated or sent after the end, and all bounds kept.
"""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from inference_kit import Deadlines, SamplingParams
from tests.checksum import reference
from tests.engine.machine import (
    SUPPORTED_CACHING,
    SUPPORTED_POLICIES,
    Answer,
    EngineMachine,
    answer,
    random_move,
    random_options,
    stops_in,
)
from tools.soak import soak

FEWEST_EXAMPLES = 2_000
LIMITS = st.sampled_from([None, None, 0.5, 2.0, 8.0])
INDEX = st.integers(0, 63)


@st.composite
def engine_options(draw: st.DrawFn) -> dict[str, Any]:
    """Sizes of one engine, from roomy to hardly able to run one request."""
    high, block_size = draw(st.integers(1, 8)), draw(st.integers(1, 8))
    return {
        "context": draw(st.sampled_from([8, 24, 64])),
        "block_size": block_size,
        "num_kv_blocks": max(2, draw(st.sampled_from([10, 20, 30, 45])) // block_size),
        "max_step_tokens": draw(st.sampled_from([1, 2, 3, 8, 16, 64])),
        "max_running": draw(st.sampled_from([1, 2, 4, 8])),
        "max_waiting": draw(st.sampled_from([1, 3, 16])),
        "max_waiting_tokens": draw(st.sampled_from([12, 40, 1_000])),
        "max_prefill_chunk": draw(st.sampled_from([None, 1, 3, 8])),
        "watermark": draw(st.sampled_from([0.0, 0.02, 0.25, 0.5])),
        "channel_high": high,
        "channel_low": draw(st.integers(0, high - 1)),
        "slow_consumer_s": draw(st.sampled_from([None, 1.0, 5.0])),
        "policy": draw(st.sampled_from(SUPPORTED_POLICIES)),
        "prefix_caching": draw(st.sampled_from(SUPPORTED_CACHING)),
        "decode_rounds": draw(st.sampled_from([1, 1, 2, 4])),
        "offload_blocks": draw(st.sampled_from([0, 0, 3, 30])),
    }


@st.composite
def requests(draw: st.DrawFn) -> dict[str, Any]:
    """The arguments of one submit. Few different tokens in front, so that prompts share prefixes."""
    shared = [draw(st.integers(1, 2))] * draw(st.sampled_from([0, 4]))
    most = draw(st.sampled_from([None, 1, 2, 5, 12, 30]))
    prompt = shared + draw(st.lists(st.integers(1, 63), min_size=1, max_size=12))
    places = draw(st.lists(st.tuples(st.integers(0, 20), st.integers(1, 3)), max_size=3))
    return {
        "prompt": prompt,
        "params": SamplingParams(
            max_tokens=most,
            stop_token_ids=tuple(draw(st.sets(st.integers(1, 63), max_size=8))),
            stop=stops_in(prompt, places),
            min_tokens=draw(st.integers(0, min(most or 4, 4))),
            n=draw(st.sampled_from([1, 1, 1, 2, 3])),
        ),
        "deadlines": Deadlines(draw(LIMITS), draw(LIMITS), draw(LIMITS), draw(LIMITS)),
        "priority": draw(st.sampled_from([0, 0, -1, 2])),
        "reads": draw(st.sampled_from([True, True, True, False])),
        "tokenize_s": draw(st.sampled_from([0.0, 0.0, 0.6])),
    }


class HypothesisMachine(RuleBasedStateMachine):
    """`EngineMachine` with moves chosen, and failures made small, by Hypothesis."""

    machine: EngineMachine
    examples = 0

    @initialize(options=engine_options())
    def build(self, options: dict[str, Any]) -> None:
        HypothesisMachine.examples += 1
        self.machine = EngineMachine(**options)

    @rule(arguments=requests())
    def submit(self, arguments: dict[str, Any]) -> None:
        self.machine.submit(**arguments)

    @rule(arguments=requests(), steps=st.integers(1, 4))
    def submit_and_step(self, arguments: dict[str, Any], steps: int) -> None:
        self.machine.submit(**arguments)
        self.steps(steps)

    @rule(count=st.integers(1, 12))
    def steps(self, count: int) -> None:
        for _ in range(count):
            self.machine.step()

    @rule(index=INDEX)
    def cancel(self, index: int) -> None:
        self.machine.cancel(index)

    @rule(index=INDEX)
    def stall_or_come_back(self, index: int) -> None:
        self.machine.toggle(index)

    @rule(index=INDEX, most=st.integers(1, 3))
    def take_a_few(self, index: int, most: int) -> None:
        self.machine.take(index, most)

    @rule(seconds=st.sampled_from([0.1, 0.5, 1.0, 5.0]))
    def jump(self, seconds: float) -> None:
        self.machine.advance(seconds)

    @rule(seconds=st.sampled_from([0.5, 2.0]))
    def slow_step(self, seconds: float) -> None:
        self.machine.slow_next(seconds)
        self.machine.step()

    @rule(how=st.sampled_from(["before", "after", "row", "lost"]))
    def failing_step(self, how: str) -> None:
        self.machine.fail_next(how)
        self.machine.step()

    def teardown(self) -> None:
        if hasattr(self, "machine"):
            self.machine.finish()


def test_every_run_of_the_machine_keeps_every_promise() -> None:
    run_state_machine_as_test(
        HypothesisMachine,
        settings=settings(
            max_examples=FEWEST_EXAMPLES,
            stateful_step_count=15,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
    assert HypothesisMachine.examples >= FEWEST_EXAMPLES


@pytest.mark.parametrize("block", range(8))
def test_long_random_runs(block: int) -> None:
    for seed in range(block * 20, block * 20 + 20):
        rng = random.Random(seed)
        machine = EngineMachine(**random_options(rng))
        for _ in range(200):
            random_move(machine, rng)
        machine.finish()


def test_the_machine_knows_the_answers() -> None:
    for prompt in ([1, 2, 3], [5] * 8, [7, 1, 4, 9, 9], list(range(1, 18))):
        assert answer(prompt, SamplingParams(), 12).token_ids == reference(prompt, 12)
    # [1, 2, 3] → 27 35 24 56 = "KSHh"; stops count only after min_tokens (convention 5).
    assert answer([1, 2, 3], SamplingParams(), 4) == Answer([27, 35, 24, 56], "length", "KSHh")
    assert answer([1, 2, 3], SamplingParams(stop_token_ids=(35,)), 4) == Answer([27, 35], "stop_token", "K")
    late = SamplingParams(stop_token_ids=(27, 24), min_tokens=1)
    assert answer([1, 2, 3], late, 4) == Answer([27, 35, 24], "stop_token", "KS")
    assert answer([1, 2, 3], SamplingParams(stop=("SH", "H")), 4) == Answer([27, 35, 24], "stop_string", "K")
    late = SamplingParams(stop=("K", "SH"), min_tokens=2)
    assert answer([1, 2, 3], late, 4) == Answer([27, 35, 24], "stop_string", "K")


def test_a_short_soak_keeps_memory_flat() -> None:
    report = soak(requests=1_500)
    assert report.requests >= 1_500
    assert report.growth_mib <= report.bound_mib
    assert report.left <= 0
