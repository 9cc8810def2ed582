"""The model in ticks and the plain twins: laws, and the same as what the engine uses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inference_kit import SamplingParams
from inference_kit.scheduler.decodes import longest_unserved
from inference_kit.streaming import PlainChannel, TokenChannel, run_client, tick, token_counts, watch
from tests.cores import checksum_core

C5 = json.loads((Path(__file__).parent.parent / "cases" / "sources.json").read_text("utf-8"))["C5"]


@pytest.mark.parametrize(("name", "capacity"), [("unbounded", None), ("capacity_3", 3)])
def test_the_slow_client_of_the_source(name: str, capacity: int | None) -> None:
    got = run_client("".join(C5["tokens"]), C5["drain_per_tick"], capacity, C5["deadline_tick"])
    assert (got["generated"], got["sent"]) == (C5[name]["generated"], C5[name]["sent"])
    assert got["dropped"] == "".join(C5[name]["dropped"])
    assert got["paused_ticks"] == C5[name]["paused_ticks"]


@given(
    drains=st.lists(st.integers(0, 3), max_size=30),
    capacity=st.integers(1, 5) | st.none(),
    total=st.integers(0, 20),
)
def test_the_queue_law_holds_in_every_tick(drains: list[int], capacity: int | None, total: int) -> None:
    level = made = 0
    for drain in drains:
        consumed, produced = tick(level, drain, capacity, made < total)
        assert consumed == min(drain, level)
        made += produced
        level += produced - consumed
        assert 0 <= level <= (total if capacity is None else capacity)


@settings(max_examples=300)
@given(data=st.data(), high=st.integers(1, 6))
def test_the_plain_channel_does_what_the_engines_does(data: Any, high: int) -> None:
    low = data.draw(st.integers(0, high - 1))
    plain, fast = PlainChannel(high, low), TokenChannel(high, low)
    for _ in range(data.draw(st.integers(0, 25))):
        move = data.draw(st.sampled_from(["put", "put", "take", "close"]))
        if move == "put":
            ids = tuple(data.draw(st.lists(st.integers(0, 9), max_size=3)))
            # Without ids it is text that was held back before.
            plain.put("x" * max(len(ids), 1), ids)
            fast.put("x" * max(len(ids), 1), ids)
        elif move == "close":
            plain.close("length")
            fast.close("length")
        else:
            most = data.draw(st.integers(1, 5))
            got, chunk = plain.take(most), fast.take(most)
            wanted = None if chunk is None else (chunk.text, list(chunk.token_ids), chunk.finish_reason)
            assert got == wanted
        assert (plain.unsent, plain.sent, plain.paused) == (fast.unsent, fast.sent, fast.paused)


def test_the_watch_pauses_resumes_and_ends_at_equality() -> None:
    assert watch(2, None, 5.0, 3, 1, 10.0) == (None, False)
    assert watch(3, None, 5.0, 3, 1, 10.0) == (5.0, False)
    assert watch(2, 5.0, 6.0, 3, 1, 10.0) == (5.0, False)
    assert watch(1, 5.0, 6.0, 3, 1, 10.0) == (None, False)
    assert watch(3, 5.0, 15.0, 3, 1, 10.0) == (5.0, True)
    assert watch(0, 5.0, 15.0, 3, 1, 10.0) == (5.0, True)
    assert watch(3, 5.0, 1e6, 3, 1, None) == (5.0, False)


@pytest.mark.parametrize("high", [2, 5])
def test_the_watch_is_what_the_engine_does_to_a_stalled_reader(high: int) -> None:
    core = checksum_core(channel_high=high, channel_low=0, slow_consumer_s=4.0)
    live = core.submit([1], SamplingParams(max_tokens=50))
    paused_since, ended = None, False
    while not ended:
        core.clock.advance(1.0)  # type: ignore[attr-defined]
        core.step()
        paused_since, ended = watch(live.channel.unsent, paused_since, core.clock.now(), high, 0, 4.0)
        assert (live.request.finish_reason == "slow_consumer") is ended
        assert live.request.paused_at == paused_since


@given(served=st.lists(st.tuples(st.integers(0, 3), st.booleans()), max_size=8), budget=st.integers(0, 5))
def test_who_is_served_has_credit_and_waited_longest(served: list[tuple[int, bool]], budget: int) -> None:
    rows = [(f"r{index}", paused, step, index) for index, (step, paused) in enumerate(served)]
    chosen = longest_unserved(rows, budget)
    by_name = {row[0]: row for row in rows}
    ready = [row for row in rows if not row[1]]
    assert len(chosen) == min(budget, len(ready))
    left = [row for row in ready if row[0] not in chosen]
    assert all(by_name[name][2:] < row[2:] for name in chosen for row in left)


def test_a_short_budget_is_shared_as_the_plain_rule_says() -> None:
    core = checksum_core(max_step_tokens=2, max_running=8)
    lives = [core.submit([n + 1], SamplingParams(max_tokens=12)) for n in range(5)]
    while any(live.request.num_output_tokens == 0 for live in lives):
        core.step()
    served = {live.request.request_id: live.request.num_output_tokens for live in lives}
    for _ in range(20):
        for live in core.step().chunks:
            served[live.request_id] += 1
    counts = sorted(live.request.num_output_tokens for live in lives)
    assert counts[-1] - counts[0] <= 2


def test_the_four_counts_and_their_order() -> None:
    log = [("propose", 4), ("commit", 3), ("send", 1), ("propose", 1), ("commit", 1), ("send", 2)]
    assert token_counts(log) == {"proposed": 5, "committed": 4, "unsent": 1, "sent": 3}
    for bad in ([("commit", 1)], [("propose", 2), ("commit", 1), ("send", 2)], [("drop", 1)]):
        with pytest.raises(ValueError):
            token_counts(bad)
