"""The worked traces of the source texts, through public names. Each test cites the id it proves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from inference_kit import Deadlines, SamplingParams
from inference_kit.engine.core import EngineCore
from inference_kit.kv import BlockPool
from inference_kit.lifecycle import (
    Event,
    FinishReason,
    Request,
    classify_outcome,
    goodput,
    mean_gap,
    replay,
    request_metrics,
    summarize_workload,
)
from inference_kit.scheduler import StepOutput, StepPlan
from inference_kit.streaming import StreamingText
from tests.cores import CoreFactory

SOURCES: dict[str, Any] = json.loads((Path(__file__).parent / "cases" / "sources.json").read_text("utf-8"))


def test_a7_the_client_sees_only_whole_characters_and_no_stop_text() -> None:
    case = SOURCES["A7"]
    streaming = StreamingText(case["stop"])
    assert [streaming.push(bytes.fromhex(token)) for token in case["token_bytes_hex"]] == case["chunks"]
    assert (streaming.text, streaming.stopped, streaming.stop_reason) == (case["text"], True, "END")


@pytest.mark.parametrize("case", SOURCES["A14"], ids=lambda case: case["reason"])
def test_a14_every_end_releases_what_was_held_once(case: dict[str, Any]) -> None:
    moves = {
        "tokenized": Event.TOKENIZE,
        "queued": Event.ENQUEUE,
        "admitted": Event.ADMIT,
        "prefill": Event.START_PREFILL,
        "decode": Event.START_DECODE,
        "streaming": Event.PAUSE,
    }
    pool = BlockPool(4, 16)
    request = Request("r")
    request.block_table = pool.allocate(case["kv_blocks"])
    released: list[int] = []

    def release() -> None:
        blocks, request.block_table = request.block_table, []
        pool.free(blocks)
        released.append(len(blocks))

    request.hold("kv", release)
    states = [str(request.state)] + [str(request.move(moves[name], 1.0)) for name in case["path"][1:]]
    assert states == case["path"]
    reason = {"stop": "stop_eos"}.get(case["reason"], case["reason"])
    assert [request.finalize(reason, 2.0), request.finalize("error", 3.0)] == [True, False]
    assert (str(request.state), released, request.block_table) == (case["end"], [case["released"]], [])
    pool.check_integrity([])


def test_d5_metrics_and_attribution() -> None:
    case = SOURCES["D5"]
    report = replay(case["events"])
    metrics = request_metrics(report)
    assert metrics == case["metrics"]
    assert metrics.ttft == metrics.queue_wait + metrics.preprocessing + metrics.prefill
    outcome = classify_outcome(report, metrics)
    assert (outcome.stage, outcome.dominant_share) == (case["stage"], pytest.approx(case["dominant_share"]))


def test_d5_reads_mappings_as_well_as_pairs() -> None:
    pairs = SOURCES["D5"]["events"]
    assert replay([{"event": event, "timestamp": at} for event, at in pairs]) == replay(pairs)


def test_d5_a_long_prefill_dominates() -> None:
    report = replay(SOURCES["D5_prefill"]["events"])
    assert classify_outcome(report, request_metrics(report)).stage == SOURCES["D5_prefill"]["stage"]


def test_d_partial_cancel_has_no_invented_zeros() -> None:
    case = SOURCES["D_partial_cancel"]
    report = replay(case["events"])
    metrics = request_metrics(report)
    assert (metrics.queue_wait, metrics.ttft, metrics.e2e) == (case["queue_wait"], case["ttft"], case["e2e"])
    assert classify_outcome(report, metrics) == case["outcome"]


def test_d_decode_timeout_keeps_its_stage_and_tokens() -> None:
    case = SOURCES["D_decode_timeout"]
    report = replay(case["events"])
    metrics = request_metrics(report)
    outcome = classify_outcome(report, metrics)
    assert metrics.streamed_tokens == case["streamed_tokens"]
    assert (outcome.outcome, outcome.stage) == (case["outcome"], case["stage"])


def test_d_workload_every_figure_has_its_own_denominator() -> None:
    case = SOURCES["D_workload"]
    summary = summarize_workload(replay(SOURCES[name]["events"]) for name in case["of"])
    expected = {key: value for key, value in case.items() if key != "of"}
    assert {key: summary[key] for key in expected} == expected


def test_d4_empty_denominators_give_none() -> None:
    summary = summarize_workload([])
    assert (summary.success_rate, summary.mean_ttft, summary.mean_tpot) == (None, None, None)


@pytest.mark.parametrize("events", SOURCES["D_invalid"], ids=str)
def test_d_invalid_histories_are_refused(events: list[Any]) -> None:
    with pytest.raises(ValueError):
        replay(events)


@pytest.mark.parametrize("threshold", [0.0, -0.1, 1.1, float("nan")])
def test_d3_the_threshold_has_a_range(threshold: float) -> None:
    report = replay(SOURCES["D5"]["events"])
    with pytest.raises(ValueError):
        classify_outcome(report, request_metrics(report), threshold)


def test_d3_a_total_of_zero_is_an_error() -> None:
    names = ["arrive", "admit", "input_ready", "first_token", "complete"]
    report = replay([(name, 1.0) for name in names])
    with pytest.raises(ValueError, match="no time"):
        classify_outcome(report, request_metrics(report))


def test_b3_the_two_tpot_formulas_differ() -> None:
    report = replay(SOURCES["D5"]["events"])
    metrics = request_metrics(report)
    by_finish = (report.end - report.first_token) / metrics.streamed_tokens
    assert (metrics.tpot, by_finish) == (2.0, pytest.approx(5 / 3))


def test_c6_goodput_counts_normal_ends_within_the_objectives() -> None:
    case = SOURCES["C6"]
    requests = []
    for one in case["requests"]:
        times = one["token_times"]
        ttft = times[0] - one["arrival"] if times else None
        requests.append({"reason": one["reason"], "ttft": ttft, "tpot": mean_gap(times)})
    assert [one["ttft"] for one in requests if one["ttft"] is not None] == case["ttft_samples"]
    assert [one["tpot"] for one in requests if one["tpot"] is not None] == case["tpot_samples"]
    result = goodput(
        requests, window_s=case["window_s"], ttft_slo_s=case["ttft_slo_s"], tpot_slo_s=case["tpot_slo_s"]
    )
    assert (result.goodput_rps, result.attempted) == (pytest.approx(case["goodput_rps"]), 3)


class Alphabet:
    """Token n is the n-th letter."""

    def token_bytes(self, token_id: int) -> bytes:
        return bytes([token_id])

    def is_special(self, token_id: int) -> bool:
        return False


class Letters:
    """A runner that answers A, B, C, …"""

    def __init__(self, num_blocks: int, block_size: int) -> None:
        pass

    def run(self, plan: StepPlan) -> StepOutput:
        return StepOutput({chunk.request_id: ord("A") + chunk.num_generated for chunk in plan.chunks})


@pytest.mark.parametrize(("name", "high"), [("unbounded", 1000), ("capacity_3", 3)])
def test_c5_a_slow_client_is_bounded_and_ends_once(make_core: CoreFactory, name: str, high: int) -> None:
    case, expected = SOURCES["C5"], SOURCES["C5"][name]
    core: EngineCore = make_core(
        runner=Letters, tokenizer=Alphabet(), size=128, channel_high=high, channel_low=high - 1,
        block_size=1, num_kv_blocks=16,
    )  # fmt: skip
    live = core.submit(
        [1], SamplingParams(max_tokens=len(case["tokens"])), Deadlines(overall_s=float(case["deadline_tick"]))
    )
    sent, trace, paused_ticks = "", [], []
    for tick, drain in enumerate(case["drain_per_tick"]):
        core.clock.advance_to(float(tick))  # type: ignore[attr-defined]
        if tick == case["deadline_tick"]:
            core.cancel(live.request.request_id)
        chunk = live.take(1) if drain else None
        sent += chunk.text if chunk else ""
        plan = core.step()
        if tick < case["deadline_tick"]:
            generated = "".join(map(chr, live.request.output_token_ids))
            trace.append([sent, generated[len(sent) :]])
            if not plan.chunks and not live.request.is_terminal:
                paused_ticks.append(tick)
    # An unbounded request has all its tokens at tick 6 and ends there: only its delivery goes on.
    winner = case["terminal"]["winner"] if name == "capacity_3" else FinishReason.LENGTH
    assert live.request.finish_reason == winner
    assert (trace, paused_ticks) == (expected["trace"], expected["paused_ticks"])
    assert "".join(map(chr, live.request.output_token_ids)) == expected["generated"]
    assert sent == expected["sent"]
    assert live.channel.unsent == len(expected["dropped"])
    ends = [
        entry for entry in core.events.events() if entry.event in ("finish", "cancel", "time_out", "fail")
    ]
    assert len(ends) == case["terminal"]["cleanups"]
    assert core.snapshot()["kv_blocks_free"] == 16
