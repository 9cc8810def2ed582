"""Every fact of the source texts that concerns the control plane has a test; this file cites its id.

Facts with a worked trace are in `test_sources.py`, smaller ones are proved here, and `ELSEWHERE` names the
test or the chapter that carries each of the others. The last tests check that nothing is left out.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest

from inference_kit import LLM, Components, Deadlines, SamplingParams
from inference_kit.errors import RequestRefused
from inference_kit.lifecycle import (
    TRANSITIONS,
    Event,
    FinishReason,
    Request,
    State,
    TableLifecycle,
    classify_outcome,
    replay,
    request_metrics,
)
from inference_kit.lifecycle.trace import trace_of
from inference_kit.scheduler import StepOutput, StepPlan
from inference_kit.streaming import TokenChannel
from tests.checksum import ChecksumRunner, reference
from tests.cores import CoreFactory, check_all_given_back
from tests.engine.run import drain, ends

ROOT = Path(__file__).parent.parent
FACTS = {
    *(f"A{number}" for number in range(1, 17)),
    *(f"B{number}" for number in range(1, 12)),
    *(f"C{number}" for number in range(1, 7)),
    *(f"D{number}" for number in range(1, 10)),
}
"""A (without ranks and sockets), B, C1-C6 and D."""
ELSEWHERE = {
    "A2": "tests/engine/test_machine.py::test_every_run_of_the_machine_keeps_every_promise",
    "A6": "tests/streaming/test_text.py::test_exactly_what_may_still_match_is_held_back",
    "A9": "tests/engine/test_endings.py"
    "::test_committed_tokens_are_billed_and_can_still_be_read_after_a_cancel",
    "A10": "tests/engine/test_endings.py::test_finalize_through_many_threads_has_one_winner",
    "A11": "tests/engine/test_endings.py::test_each_deadline_fires_at_equality_and_reports_its_own_time",
    "A12": "tests/engine/test_async_engine.py::test_a_stream_that_was_never_started_and_one_in_a_cycle_end",
    "A13": "tests/engine/test_endings.py::test_a_reader_that_stops_pauses_only_its_own_request",
    "A16": "tests/engine/test_concurrency.py::test_two_hundred_tasks_on_the_loops_of_eight_threads",
    "B5": "course/src/ch01_lifecycle.py::O(1) for each move",
    "B6": "course/src/ch01_lifecycle.py::a timeout around the caller's wait",
    "B8": "tests/kv/test_engine_samples.py::test_each_sample_has_its_own_continuation",
    "B9": "course/src/ch01_lifecycle.py::Streaming adds one state",
    "B11": "course/src/ch01_lifecycle.py::SequenceGroup",
    "C1": "tests/engine/test_machine.py::test_every_run_of_the_machine_keeps_every_promise",
    "D1": "tests/lifecycle/test_states.py::test_a_refused_event_changes_nothing",
    "D6": "tests/scheduler/test_control_plane_bench.py"
    "::test_the_record_names_its_origin_and_has_a_row_for_each_size",
    "D7": "tests/labs/test_notebook_calls.py::test_an_untouched_stub_is_not_done_yet",
    "D8": "tests/labs/test_build.py::test_in_colab_the_set_up_cell_installs_the_wheel_and_nothing_else",
}
"""Fact to `file::test name`, or to `chapter::words that stand there`."""


def test_a1_the_causal_order_of_the_states() -> None:
    way = [Event.TOKENIZE, Event.ENQUEUE, Event.ADMIT, Event.START_PREFILL, Event.START_DECODE]
    state, seen = State.RECEIVED, [State.RECEIVED]
    for event in way:
        state = TRANSITIONS[state][event]
        seen.append(state)
    assert seen == [
        State.RECEIVED, State.TOKENIZED, State.QUEUED, State.ADMITTED, State.PREFILL, State.DECODE,
    ]  # fmt: skip
    assert TRANSITIONS[State.DECODE][Event.PAUSE] is State.STREAMING
    assert TRANSITIONS[State.STREAMING][Event.RESUME] is State.DECODE


def six_steps(core: Any) -> None:
    for _ in range(6):
        core.step()


def test_a3_pauses_preemption_and_neighbours_change_no_token(make_core: CoreFactory) -> None:
    core = make_core(num_kv_blocks=8, block_size=2, watermark=0.0, channel_high=2, channel_low=0)
    lives = [core.submit([first, 2, 3], SamplingParams(max_tokens=9)) for first in (1, 2)]
    while core.has_work:
        # Readers come late, so that every answer pauses.
        six_steps(core)
        for live in lives:
            live.take()
    seen = {line.event for live in lives for line in live.request.events}
    assert {"pause", "resume", "preempt"} <= seen
    assert [ends(live)[0] for live in lives] == [reference([first, 2, 3], 9) for first in (1, 2)]


def test_a4_one_request_decodes_while_another_reads_its_prompt(make_core: CoreFactory) -> None:
    core = make_core(max_step_tokens=4)
    first = core.submit([1], SamplingParams(max_tokens=6))
    core.step()
    second = core.submit([2] * 9, SamplingParams(max_tokens=1))
    plan = core.step()
    assert [(chunk.request_id, chunk.samples) for chunk in plan.chunks] == [
        (first.request.request_id, True),
        (second.request.request_id, False),
    ]
    assert {str(first.request.state), str(second.request.state)} == {"decode", "prefill"}


def test_a5_identity_is_the_list_of_ids() -> None:
    llm = LLM("tiny", progress=False, prefix_caching=True)
    text = "the same ids, however they were given"
    ids = llm.model.tokenizer.encode(text)  # type: ignore[union-attr]
    params = SamplingParams(max_tokens=4)
    by_text, by_ids = llm.generate([text], params)[0], llm.generate([ids], params)[0]
    assert by_text.token_ids == by_ids.token_ids
    assert by_ids.num_cached_tokens == (len(ids) - 1) // 16 * 16


def test_a8_a_cancel_waits_for_the_step_and_the_neighbours_get_their_tokens(make_core: CoreFactory) -> None:
    class CancelsInside(ChecksumRunner):
        def run(self, plan: StepPlan) -> StepOutput:
            assert core.cancel("leaves") is (not self.plans)
            return super().run(plan)

    core = make_core(runner=CancelsInside)
    leaves = core.submit([1], SamplingParams(max_tokens=6), request_id="leaves")
    stays = core.submit([2], SamplingParams(max_tokens=6))
    plan = core.step()
    assert len(plan.chunks) == 2
    assert ends(leaves) == ([], "client_cancel")
    assert leaves.token_counts.proposed == 1
    drain(core)
    assert ends(stays) == (reference([2], 6), "length")


def test_a14_is_a_worked_trace() -> None:
    assert "a14" in (ROOT / "tests" / "test_sources.py").read_text("utf-8")


def test_a15_chunks_and_preemption_are_pauses_and_a_cancel_breaks_no_shared_prefix(
    make_core: CoreFactory,
) -> None:
    core = make_core(prefix_caching=True, block_size=2, max_prefill_chunk=2)
    params = SamplingParams(max_tokens=8)
    first = core.submit([5, 6, 7, 8, 9], params, request_id="first")
    for _ in range(4):
        core.step()
    second = core.submit([5, 6, 7, 8, 1], params)
    core.step()
    assert second.request.num_cached_tokens == 4
    core.cancel("first")
    drain(core)
    assert first.request.finish_reason == "client_cancel"
    assert ends(second) == (reference([5, 6, 7, 8, 1], 8), "length")
    assert State.PREEMPTED not in {State(line.state) for line in first.request.events}


def test_b1_three_groups_of_fields() -> None:
    request = Request("r", [1, 2], received_at=3.0)
    assert (request.prompt_token_ids, request.received_at) == ((1, 2), 3.0)
    assert (request.block_table, request.num_computed_tokens, request.token_ids) == ([], 0, [1, 2])
    assert (request.finish_reason, request.finished_at, request.stop_reason) == (None, None, None)


def test_b2_each_chunk_moves_the_progress_and_the_last_one_stamps_ttft(make_core: CoreFactory) -> None:
    core = make_core(max_prefill_chunk=3)
    live = core.submit([1] * 7, SamplingParams(max_tokens=2))
    progress = []
    while live.request.first_token_at is None:
        core.clock.advance(1.0)  # type: ignore[attr-defined]
        core.step()
        progress.append((live.request.num_computed_tokens, live.request.first_token_at))
    assert progress == [(3, None), (6, None), (7, 3.0)]


def test_b3_queue_wait_and_ttft_and_service_time_from_the_engines_own_log() -> None:
    output = LLM("tiny", progress=False).generate([[1, 2, 3]], SamplingParams(max_tokens=4))[0]
    metrics = output.metrics
    parts = [metrics.tokenize, metrics.queue_wait, metrics.preprocessing, metrics.prefill]
    assert metrics.ttft == pytest.approx(sum(parts))
    assert metrics.e2e >= metrics.ttft >= metrics.queue_wait >= 0.0


def test_b4_each_way_to_fail_is_counted_under_its_own_name(make_core: CoreFactory) -> None:
    class FailsOnce(ChecksumRunner):
        def run(self, plan: StepPlan) -> StepOutput:
            output = super().run(plan)
            good = {name: token for name, token in output.token_ids.items() if name != "bad"}
            return StepOutput(good, {"bad": "out of memory"} if len(good) < len(output.token_ids) else {})

    core = make_core(runner=FailsOnce)
    core.submit([1], request_id="bad")
    late = core.submit([2], deadlines=Deadlines(overall_s=1.0))
    core.step()
    core.clock.advance(1.0)  # type: ignore[attr-defined]
    core.submit([3], request_id="stopped")
    core.cancel("stopped", FinishReason.SHUTDOWN)
    core.step()
    assert core.snapshot()["finished"] == {"error": 1, "overall_deadline": 1, "shutdown": 1}
    # A completion that comes after the timeout settles nothing.
    assert late.request.finalize(FinishReason.LENGTH, 2.0) is False


@pytest.mark.parametrize(
    ("times", "stage"),
    [
        ((0, 9, 10, 11, 12, 13), "queued"),
        ((0, 1, 2, 11, 12, 13), "prefill"),
        ((0, 1, 2, 3, 12, 21), "decode"),
    ],
)
def test_b7_the_largest_part_says_where_to_look(times: tuple[float, ...], stage: str) -> None:
    names = ["arrive", "admit", "input_ready", "first_token", "token", "complete"]
    report = replay(list(zip(names, times, strict=True)))
    assert classify_outcome(report, request_metrics(report)).stage == stage


def test_b10a_a_late_arrival_does_not_wait_for_running_work(make_core: CoreFactory) -> None:
    core = make_core()
    first = core.submit([1], SamplingParams(max_tokens=50))
    core.step()
    late = core.submit([2], SamplingParams(max_tokens=1))
    core.step()
    assert (late.request.is_terminal, first.request.is_terminal) == (True, False)


def test_b10b_a_short_timeout_ends_a_long_job(make_core: CoreFactory) -> None:
    class TenMilliseconds(ChecksumRunner):
        def run(self, plan: StepPlan) -> StepOutput:
            core.clock.advance(0.01)  # type: ignore[attr-defined]
            return super().run(plan)

    core = make_core(runner=TenMilliseconds)
    live = core.submit([1], SamplingParams(max_tokens=100), Deadlines(overall_s=0.2))
    drain(core)
    assert str(live.request.finish_reason) == "overall_deadline"
    assert live.request.finished_at == pytest.approx(0.2)
    assert 15 < live.request.num_output_tokens < 21


def test_b10c_a_prompt_larger_than_the_pool_is_refused_at_once(make_core: CoreFactory) -> None:
    core = make_core(num_kv_blocks=2, block_size=4)
    with pytest.raises(RequestRefused, match="fewer than 9 tokens"):
        core.submit([1] * 9)


def test_b10d_one_new_token_is_one_token(make_core: CoreFactory) -> None:
    core = make_core()
    live = core.submit([1, 2], SamplingParams(max_tokens=1))
    drain(core)
    assert ends(live) == (reference([1, 2], 1), "length")


def test_b10e_one_bad_request_fails_alone_and_the_engine_goes_on(make_core: CoreFactory) -> None:
    class OneBadRow(ChecksumRunner):
        def run(self, plan: StepPlan) -> StepOutput:
            ids = dict(super().run(plan).token_ids)
            return StepOutput(ids, {"bad": "NaN"}) if ids.pop("bad", None) else StepOutput(ids)

    core = make_core(runner=OneBadRow)
    bad, good = core.submit([1], request_id="bad"), core.submit([2], SamplingParams(max_tokens=3))
    drain(core)
    after = core.submit([3], SamplingParams(max_tokens=3))
    drain(core)
    assert [str(live.request.finish_reason) for live in (bad, good, after)] == ["error", "length", "length"]


def test_b10f_running_is_read_after_the_step_that_started_it(make_core: CoreFactory) -> None:
    core = make_core()
    core.submit([1], SamplingParams(max_tokens=2))
    core.step()
    assert core.snapshot()["running"] == 1


@pytest.mark.parametrize("capacity", [1, 3, 1000])
def test_c2_the_queue_law(capacity: int) -> None:
    channel = TokenChannel(capacity, capacity - 1)
    level = 0
    for tick, drained in enumerate([1, 0, 0, 0, 1, 0, 1, 0, 0, 3, 0, 0]):
        consumed = min(drained, level)
        for _ in range(consumed):
            channel.take(1)
        produced = 0 if channel.paused else 1
        if produced:
            channel.put(chr(65 + tick), (tick,))
        level = level - consumed + produced
        assert channel.unsent == level
        assert 0 <= level <= capacity


def test_c3_a_full_channel_stops_the_scheduler_for_this_request_only(make_core: CoreFactory) -> None:
    core = make_core(channel_high=2, channel_low=0, slow_consumer_s=5.0)
    slow, fast = (core.submit([n], SamplingParams(max_tokens=20)) for n in (1, 2))
    planned = []
    for _ in range(8):
        plan = core.step()
        fast.take()
        planned.append([chunk.request_id == fast.request.request_id for chunk in plan.chunks])
    assert planned[-1] == [True]
    assert str(slow.request.state) == "streaming"
    core.clock.advance(5.0)  # type: ignore[attr-defined]
    drain(core)
    assert str(slow.request.finish_reason) == "slow_consumer"
    check_all_given_back(core)


def test_c4_four_counts_that_are_never_merged(make_core: CoreFactory) -> None:
    core = make_core(decode_rounds=4, block_size=16)
    whole = reference([1, 2], 8)
    live = core.submit([1, 2], SamplingParams(max_tokens=8, stop_token_ids=(whole[5],)))
    core.step()
    live.take(3)
    core.step()
    assert dict(live.token_counts) == {"proposed": 8, "committed": 6, "unsent": 3, "sent": 3}
    snapshot = core.snapshot()
    assert [snapshot[name] for name in ("proposed_tokens", "committed_tokens", "sent_tokens")] == [8, 6, 3]


def test_d2_a_missing_boundary_is_none(make_core: CoreFactory) -> None:
    core = make_core()
    live = core.submit([1], deadlines=Deadlines(queue_s=1.0))
    core.clock.advance(1.0)  # type: ignore[attr-defined]
    core.step()
    events = dict.fromkeys(name for name, _ in trace_of(live.request.events))
    assert list(events) == ["arrive", "timeout"]


def test_d9_a_real_log_has_the_same_names_ids_and_reasons(make_core: CoreFactory) -> None:
    core = make_core(components=Components(lifecycle=TableLifecycle()))
    live = core.submit([1], SamplingParams(max_tokens=3), request_id="r")
    drain(core)
    assert [name for name, _ in trace_of(live.request.events)] == [
        "arrive", "admit", "input_ready", "first_token", "token", "token", "complete",
    ]  # fmt: skip
    assert {line.request_id for line in live.request.events} == {"r"}
    assert live.request.events[-1].data["reason"] == "length"


# --- nothing is left out ------------------------------------------------------------------------------


def proved(path: Path) -> set[str]:
    """Facts in the names of a file's tests: `test_b10a_…` proves B10."""
    names = [
        node.name for node in ast.parse(path.read_text("utf-8")).body if isinstance(node, ast.FunctionDef)
    ]
    found = (re.match(r"test_([abcd])(\d+)", name) for name in names)
    return {f"{match[1].upper()}{match[2]}" for match in found if match}


def test_every_fact_is_proved_here_in_the_traces_or_where_the_table_says() -> None:
    here = proved(Path(__file__)) | proved(ROOT / "tests" / "test_sources.py")
    assert FACTS - here - set(ELSEWHERE) == set()
    assert set(ELSEWHERE) <= FACTS


@pytest.mark.parametrize("fact", sorted(ELSEWHERE))
def test_what_the_table_names_is_there(fact: str) -> None:
    file, _, wanted = ELSEWHERE[fact].partition("::")
    text = (ROOT / file).read_text("utf-8")
    assert (f"def {wanted}(" if wanted.startswith("test_") else wanted) in text


def test_the_chapter_of_every_lab_cites_sources_that_exist() -> None:
    pattern: Any = re.compile(r"\(([ABCD])(\d+)[,)]")
    limits = {"A": 16, "B": 11, "C": 12, "D": 9}
    for path in sorted(ROOT.glob("course/src/*.py")) + sorted(ROOT.glob("inference_kit/**/*.py")):
        for letter, number in pattern.findall(path.read_text("utf-8")):
            assert 1 <= int(number) <= limits[letter], f"{path.name} cites {letter}{number}"
