"""Every way a request can end, at the boundary, exactly once (A2, A8, A10, A11, C1, conventions 3–7)."""

from __future__ import annotations

import pytest

from inference_kit import Components, Deadlines, SamplingParams
from inference_kit.engine.core import EngineCore
from inference_kit.lifecycle import FinishReason, IllegalTransition, TableLifecycle
from inference_kit.scheduler import StepOutput, StepPlan
from tests.checksum import ChecksumRunner, reference
from tests.cores import CoreFactory, check_all_given_back
from tests.engine.run import drain, ends

LONG = SamplingParams(max_tokens=100)


def terminal_events(core: EngineCore, request_id: str) -> list[str]:
    ends = {"finish", "cancel", "time_out", "fail"}
    return [line.event for line in core.events.events(request_id) if line.event in ends]


def test_cancel_takes_effect_at_the_next_boundary(make_core: CoreFactory) -> None:
    core = make_core()
    live = core.submit([1, 2, 3], LONG)
    core.step()
    assert core.cancel(live.request.request_id) is True
    assert not live.request.is_terminal
    core.step()
    assert live.request.finish_reason == "client_cancel"
    assert live.request.block_table == []


def test_a_late_a_second_and_an_unknown_cancel_change_nothing(make_core: CoreFactory) -> None:
    # Case L02.
    core = make_core()
    live = core.submit([1], SamplingParams(max_tokens=1), request_id="r")
    drain(core)
    assert [core.cancel("r"), core.cancel("r"), core.cancel("never-seen")] == [False, False, False]
    assert live.request.finish_reason == "length"
    assert terminal_events(core, "r") == ["finish"]


@pytest.mark.parametrize("steps", [0, 1, 2, 3, 5])
def test_cancel_in_every_phase_gives_all_back(make_core: CoreFactory, steps: int) -> None:
    core = make_core(max_step_tokens=4)
    live = core.submit([5] * 10, LONG)
    for _ in range(steps):
        core.step()
    core.cancel(live.request.request_id)
    core.step()
    check_all_given_back(core)
    assert live.request.finish_reason == "client_cancel"


def test_three_hundred_cancels_leak_nothing(make_core: CoreFactory) -> None:
    # Case X02.
    core = make_core()
    for _ in range(300):
        live = core.submit([1] * 19, SamplingParams(max_tokens=200))
        while live.request.num_output_tokens < 3:
            core.step()
        core.cancel(live.request.request_id)
        core.step()
        assert core.snapshot()["kv_blocks_free"] == 64
    last = core.submit([1] * 19, SamplingParams(max_tokens=4))
    drain(core)
    assert ends(last) == (reference([1] * 19, 4), "length")


@pytest.mark.parametrize(
    ("limit", "steps_first", "advance", "reason", "at"),
    [
        (Deadlines(queue_s=1.0), 0, 1.0, "queue_deadline", 1.0),
        (Deadlines(ttft_s=1.0), 1, 3.0, "ttft_deadline", 1.0),
        (Deadlines(inter_token_s=2.0), 3, 2.5, "inter_token_deadline", 2.0),
        (Deadlines(overall_s=0.5), 3, 0.5, "overall_deadline", 0.5),
    ],
)
def test_each_deadline_fires_at_equality_and_reports_its_own_time(
    make_core: CoreFactory, limit: Deadlines, steps_first: int, advance: float, reason: str, at: float
) -> None:
    core = make_core(max_step_tokens=4)
    live = core.submit([1] * 9, LONG, limit)
    for _ in range(steps_first):
        core.step()
    core.clock.advance(advance)
    core.step()
    assert live.request.finish_reason == reason
    assert live.request.finished_at == at
    check_all_given_back(core)


def test_a_token_that_lands_on_the_ttft_limit_is_late(make_core: CoreFactory) -> None:
    class SlowRunner(ChecksumRunner):
        def run(self, plan: StepPlan) -> StepOutput:
            core.clock.advance(1.0)
            return super().run(plan)

    core = make_core(runner=SlowRunner)
    live = core.submit([1], LONG, Deadlines(ttft_s=1.0))
    core.step()
    assert live.request.finish_reason == "ttft_deadline"
    assert live.request.num_output_tokens == 0


def test_a_deadline_beats_a_cancel_of_the_same_boundary(make_core: CoreFactory) -> None:
    core = make_core()
    live = core.submit([1], LONG, Deadlines(overall_s=1.0))
    core.step()
    core.cancel(live.request.request_id)
    core.clock.advance(1.0)
    core.step()
    assert live.request.finish_reason == "overall_deadline"
    assert terminal_events(core, live.request.request_id) == ["time_out"]


def test_a_reader_that_stops_pauses_only_its_own_request(make_core: CoreFactory) -> None:
    core = make_core(channel_high=4, channel_low=1)
    slow = core.submit([1], SamplingParams(max_tokens=20))
    fast = core.submit([2], SamplingParams(max_tokens=20))
    for _ in range(30):
        core.step()
        fast.channel.take()
    assert ends(fast) == (reference([2], 20), "length")
    assert slow.channel.unsent == 4
    assert slow.request.state == "streaming"
    while core.has_work:
        core.step()
        slow.channel.take(1)
    assert ends(slow) == (reference([1], 20), "length")


def test_a_reader_that_never_comes_back_ends_with_slow_consumer(make_core: CoreFactory) -> None:
    core = make_core(channel_high=2, channel_low=0, slow_consumer_s=5.0)
    live = core.submit([1], LONG, Deadlines(inter_token_s=1.0))
    for _ in range(4):
        core.step()
    core.clock.advance(4.9)
    core.step()
    assert not live.request.is_terminal
    core.clock.advance(0.1)
    core.step()
    assert live.request.finish_reason == "slow_consumer"


def test_a_failing_row_ends_only_its_own_request(make_core: CoreFactory) -> None:
    class BadRow(ChecksumRunner):
        def run(self, plan: StepPlan) -> StepOutput:
            output = super().run(plan)
            bad = {chunk.request_id for chunk in plan.chunks if chunk.request_id == "bad"}
            good = {key: value for key, value in output.token_ids.items() if key not in bad}
            return StepOutput(good, dict.fromkeys(bad, "NaN in the logits"))

    core = make_core(runner=BadRow)
    bad = core.submit([1], LONG, request_id="bad")
    good = core.submit([2], SamplingParams(max_tokens=5))
    drain(core)
    assert (bad.request.finish_reason, str(bad.request.error)) == ("error", "NaN in the logits")
    assert ends(good) == (reference([2], 5), "length")


def test_a_step_that_raises_fails_its_requests_and_the_engine_goes_on(make_core: CoreFactory) -> None:
    class FailsOnce(ChecksumRunner):
        failed = False

        def run(self, plan: StepPlan) -> StepOutput:
            if not self.failed:
                self.failed = True
                raise MemoryError("no room for activations")
            return super().run(plan)

    core = make_core(runner=FailsOnce)
    first = core.submit([1], LONG)
    core.step()
    later = core.submit([2], SamplingParams(max_tokens=3))
    drain(core)
    assert first.request.finish_reason == "error"
    assert isinstance(first.request.error, MemoryError)
    assert ends(later) == (reference([2], 3), "length")


def test_the_client_sees_the_end_only_after_the_blocks_are_free(make_core: CoreFactory) -> None:
    core = make_core()
    live = core.submit([1], SamplingParams(max_tokens=1))
    free_at_close: list[int] = []
    close = live.channel.close
    live.channel.close = lambda reason: (free_at_close.append(core.kv.pool.num_free), close(reason))  # type: ignore[method-assign,assignment]
    drain(core, take=False)
    assert free_at_close == [64]


def test_metrics_count_every_request_once_by_outcome(make_core: CoreFactory) -> None:
    core = make_core()
    core.submit([1], SamplingParams(max_tokens=1))
    cancelled = core.submit([2], LONG)
    core.submit([3], LONG, Deadlines(overall_s=1.0))
    core.cancel(cancelled.request.request_id)
    core.step()
    core.clock.advance(1.0)
    drain(core)
    finished = core.snapshot()["finished"]
    assert finished == {"length": 1, "client_cancel": 1, "overall_deadline": 1}
    assert core.snapshot()["received"] == sum(finished.values())


def test_a_replaced_lifecycle_is_the_one_that_is_asked(make_core: CoreFactory) -> None:
    class NoPrefill(TableLifecycle):
        def next_state(self, state, event):  # type: ignore[no-untyped-def]
            if event == "start_prefill":
                raise IllegalTransition(state, event, [])
            return super().next_state(state, event)

    core = make_core(components=Components(lifecycle=NoPrefill()))
    core.submit([1], LONG)
    with pytest.raises(IllegalTransition):
        core.step()


def test_finalize_through_many_threads_has_one_winner(make_core: CoreFactory) -> None:
    from concurrent.futures import ThreadPoolExecutor
    from threading import Barrier

    reasons = list(FinishReason)[4:12]
    for _ in range(50):
        core = make_core()
        request = core.submit([1], LONG).request
        barrier = Barrier(len(reasons))

        def end(reason: FinishReason, request=request, barrier=barrier) -> bool:  # type: ignore[no-untyped-def]
            barrier.wait()
            return request.finalize(reason, 1.0)

        with ThreadPoolExecutor(len(reasons)) as pool:
            assert sum(pool.map(end, reasons)) == 1
        assert len(terminal_events(core, request.request_id)) == 1
