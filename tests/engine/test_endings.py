"""Every way a request can end, at the boundary, exactly once (A2, A8, A10, A11, C1, conventions 3–7)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from inference_kit import Components, Deadlines, SamplingParams
from inference_kit.engine.core import EngineCore
from inference_kit.engine.output import output_of
from inference_kit.errors import InvalidField, LifecycleBroken
from inference_kit.lifecycle import FinishReason, IllegalTransition, TableLifecycle, first_expired, next_due
from inference_kit.scheduler import Scheduler, StepOutput, StepPlan
from inference_kit.streaming import StopMatcher, TokenChannel, Utf8Decoder
from inference_kit.telemetry import EventLog
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


def test_a_deadline_beats_a_cancel_of_the_same_instant(make_core: CoreFactory) -> None:
    core = make_core()
    live = core.submit([1], LONG, Deadlines(overall_s=1.0))
    core.step()
    core.clock.advance(1.0)
    core.cancel(live.request.request_id)
    core.step()
    assert live.request.finish_reason == "overall_deadline"
    assert terminal_events(core, live.request.request_id) == ["time_out"]


def test_a_reader_that_stops_pauses_only_its_own_request(make_core: CoreFactory) -> None:
    core = make_core(channel_high=4, channel_low=1)
    slow = core.submit([1], SamplingParams(max_tokens=20))
    fast = core.submit([2], SamplingParams(max_tokens=20))
    for _ in range(30):
        core.step()
        fast.take()
    assert ends(fast) == (reference([2], 20), "length")
    assert slow.channel.unsent == 4
    assert slow.request.state == "streaming"
    while core.has_work:
        core.step()
        slow.take(1)
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
    live = core.submit([1], LONG)
    drain(core)
    assert live.request.finish_reason == "error"
    assert isinstance(live.request.error, IllegalTransition)


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


# A replaced part that raises: its request fails, the others do not notice.


class Broken(Exception):
    """What the faulty parts of these tests raise."""


def broken(base: type, *names: str) -> type:
    """`base` with methods that raise."""

    def fail(self: object, *_: object, **__: object) -> None:
        raise Broken("a part is wrong")

    return type("Faulty", (base,), {name: fail for name in names})


def first_is(bad: Callable[..., Any], good: Callable[..., Any]) -> Callable[..., Any]:
    """A factory whose first product is made by `bad`, all later ones by `good`."""
    makers = iter([bad])

    def make(*arguments: Any) -> Any:
        return next(makers, good)(*arguments)

    return make


class Letters:
    """Token bytes for the checksum model: one letter each."""

    def token_bytes(self, token_id: int) -> bytes:
        return chr(48 + token_id).encode()

    def is_special(self, token_id: int) -> bool:
        return False


def endings_of(victim: float) -> Callable[..., Any]:
    def decide(deadlines: Deadlines, marks: Any, now: float) -> Any:
        if deadlines.overall_s == victim and marks.first_token_at is not None:
            raise Broken("a part is wrong")
        return first_expired(deadlines, marks, now)

    return decide


class NoTokenLines(EventLog):
    """Telemetry that raises on the first token of one request."""

    def append(self, entry: Any) -> None:
        if entry.request_id == "first" and entry.event == "token":
            raise Broken("a part is wrong")
        super().append(entry)


def paused_raises() -> type:
    class Faulty(TokenChannel):
        @property
        def paused(self) -> bool:
            raise Broken("a part is wrong")

    return Faulty


FAULTY_PARTS: dict[str, Callable[[], Components]] = {
    "decoder": lambda: Components(utf8_decoder=first_is(broken(Utf8Decoder, "push"), Utf8Decoder)),
    "decoder, end": lambda: Components(utf8_decoder=first_is(broken(Utf8Decoder, "finish"), Utf8Decoder)),
    "matcher": lambda: Components(stop_matcher=first_is(broken(StopMatcher, "push"), StopMatcher)),
    "channel put": lambda: Components(channel=first_is(broken(TokenChannel, "put"), TokenChannel)),
    "channel close": lambda: Components(channel=first_is(broken(TokenChannel, "put", "close"), TokenChannel)),
    "channel paused": lambda: Components(channel=first_is(paused_raises(), TokenChannel)),
    "endings": lambda: Components(endings=endings_of(77.0)),
    "telemetry": lambda: Components(telemetry=NoTokenLines),
}


@pytest.mark.parametrize("part", FAULTY_PARTS)
def test_a_part_that_raises_fails_its_request_alone(make_core: CoreFactory, part: str) -> None:
    core = make_core(components=FAULTY_PARTS[part](), tokenizer=Letters())
    # No letter of the answers starts this stop string, so it changes no text.
    params = SamplingParams(max_tokens=4, stop=("\n",))
    first = core.submit([1], params, Deadlines(overall_s=77.0), request_id="first")
    second = core.submit([2], params)
    drain(core, take=False)
    assert first.request.finish_reason == "error"
    assert isinstance(first.request.error, Broken)
    assert first.closed
    assert first.request.output_token_ids == reference([1], 4)[: first.request.num_output_tokens]
    assert terminal_events(core, "first") == ["fail"]
    assert ends(second) == (reference([2], 4), "length")
    assert second.text.text == "".join(chr(48 + token) for token in reference([2], 4))


@pytest.mark.parametrize("part", ["utf8_decoder", "stop_matcher", "channel"])
def test_a_part_that_cannot_be_made_refuses_the_request(make_core: CoreFactory, part: str) -> None:
    good = {"utf8_decoder": Utf8Decoder, "stop_matcher": StopMatcher, "channel": TokenChannel}[part]
    core = make_core(components=Components(**{part: first_is(broken(object, "__init__"), good)}))
    with pytest.raises(Broken):
        core.submit([1], SamplingParams(stop=("\n",)))
    second = core.submit([2], SamplingParams(max_tokens=3))
    drain(core)
    assert ends(second) == (reference([2], 3), "length")
    assert (core.snapshot()["received"], core.snapshot()["rejected"]) == (1, 1)


def test_a_request_that_the_scheduler_cannot_take_ends_before_submit_raises(make_core: CoreFactory) -> None:
    core = make_core(components=Components(scheduler=broken(Scheduler, "add")))
    with pytest.raises(Broken):
        core.submit([1], request_id="r")
    assert terminal_events(core, "r") == ["fail"]
    assert core.snapshot()["finished"] == {"error": 1}


def test_a_scheduler_that_raises_is_a_fault_of_the_engine_and_nothing_leaks(make_core: CoreFactory) -> None:
    core = make_core(components=Components(scheduler=broken(Scheduler, "schedule")))
    core.submit([1])
    with pytest.raises(Broken):
        core.step()


@pytest.mark.parametrize("fault", ["raises", "forgets a row", "returns nothing"])
def test_a_faulty_step_fails_what_it_touched_and_what_waits_goes_on(
    make_core: CoreFactory, fault: str
) -> None:
    class FailsOnce(ChecksumRunner):
        failed = False

        def run(self, plan: StepPlan) -> StepOutput:
            output = super().run(plan)
            if self.failed:
                return output
            self.failed = True
            if fault == "raises":
                raise Broken("after it had computed")
            return StepOutput({}) if fault == "forgets a row" else None  # type: ignore[return-value]

    core = make_core(runner=FailsOnce, max_running=2)
    lives = [core.submit([n], SamplingParams(max_tokens=3)) for n in (1, 2, 3)]
    core.step()
    assert core.snapshot()["kv_blocks_free"] == 64
    drain(core)
    assert [str(live.request.finish_reason) for live in lives] == ["error", "error", "length"]
    assert lives[2].request.output_token_ids == reference([3], 3)


def test_a_deadline_that_passed_during_a_failing_step_is_the_earlier_cause(make_core: CoreFactory) -> None:
    class SlowAndBroken(ChecksumRunner):
        def run(self, plan: StepPlan) -> StepOutput:
            core.clock.advance(2.0)
            raise Broken("late")

    core = make_core(runner=SlowAndBroken)
    live = core.submit([1], LONG, Deadlines(ttft_s=1.0))
    core.step()
    assert (live.request.finish_reason, live.request.finished_at) == ("ttft_deadline", 1.0)


# The clocks and the stream's credit (convention 6).


def test_the_inter_token_clock_stands_still_while_the_request_waits_for_credit(
    make_core: CoreFactory,
) -> None:
    core = make_core(channel_high=2, channel_low=0, slow_consumer_s=None)
    live = core.submit([1], LONG, Deadlines(inter_token_s=1.0))
    for _ in range(3):
        core.step()
    core.clock.advance(50.0)
    core.step()
    live.take()
    core.step()
    assert live.request.num_output_tokens == 3
    core.clock.advance(1.0)
    core.step()
    assert (live.request.finish_reason, live.request.finished_at) == ("inter_token_deadline", 51.0)


def test_credit_is_lost_with_the_token_that_fills_the_channel(make_core: CoreFactory) -> None:
    core = make_core(channel_high=1, channel_low=0, slow_consumer_s=5.0)
    live = core.submit([1], LONG, Deadlines(inter_token_s=1.0))
    core.step()
    assert live.request.state == "streaming"
    core.clock.advance(4.0)
    core.step()
    assert not live.request.is_terminal


def preempted_without_credit(make_core: CoreFactory, **options: Any) -> tuple[EngineCore, Any]:
    """A core in which the second request lost its blocks while its reader had stalled."""
    core = make_core(num_kv_blocks=3, block_size=4, watermark=0.0, channel_high=3, channel_low=0, **options)
    first = core.submit([1, 1, 1], SamplingParams(max_tokens=9))
    stalled = core.submit([2, 2], SamplingParams(max_tokens=8))
    while stalled.request.num_preemptions == 0:
        core.step()
        first.take()
    drain_one(core, first)
    return core, stalled


def drain_one(core: EngineCore, live: Any) -> None:
    while not live.request.is_terminal:
        core.step()
        live.take()


def test_a_stalled_reader_is_a_slow_consumer_also_after_a_preemption(make_core: CoreFactory) -> None:
    core, stalled = preempted_without_credit(make_core, slow_consumer_s=5.0)
    for _ in range(5):
        core.step()
    assert stalled.channel.unsent == 3
    core.clock.advance(5.0)
    core.step()
    assert stalled.request.finish_reason == "slow_consumer"


def test_a_reader_that_comes_back_after_a_preemption_gets_every_token_once(make_core: CoreFactory) -> None:
    core, stalled = preempted_without_credit(make_core)
    got: list[int] = []
    while core.has_work:
        chunk = stalled.take()
        got.extend(chunk.token_ids if chunk else ())
        core.step()
    chunk = stalled.take()
    assert got + list(chunk.token_ids) == reference([2, 2], 8)


def test_a_limit_that_passed_while_the_prompt_was_tokenized_keeps_the_log_in_order(
    make_core: CoreFactory,
) -> None:
    core = make_core()
    core.clock.advance(3.0)
    live = core.submit([1], LONG, Deadlines(ttft_s=1.0), received_at=1.0)
    core.step()
    assert (live.request.finish_reason, live.request.finished_at) == ("ttft_deadline", 2.0)
    times = [line.timestamp for line in live.request.events]
    assert times == sorted(times)
    assert core.snapshot()["admitted"] == 0


def test_deadlines_in_the_queue_fire_before_any_forward_pass(make_core: CoreFactory) -> None:
    core = make_core()
    live = core.submit([1], LONG, Deadlines(queue_s=1.0))
    core.clock.advance(1.0)
    core.step()
    assert live.request.finish_reason == "queue_deadline"
    assert [line.event for line in live.request.events] == ["receive", "tokenize", "enqueue", "time_out"]
    assert core.runner.plans == []  # type: ignore[attr-defined]


@pytest.mark.parametrize("steps", range(4))
def test_the_next_due_time_is_the_first_time_at_which_something_expires(
    make_core: CoreFactory, steps: int
) -> None:
    core = make_core()
    limits = Deadlines(queue_s=4.0, ttft_s=3.0, inter_token_s=2.0, overall_s=5.0)
    request = core.submit([1], LONG, limits).request
    for _ in range(steps):
        core.clock.advance(0.25)
        core.step()
    due = next_due(request.deadlines, request.marks)
    assert due is not None
    assert first_expired(request.deadlines, request.marks, due - 0.001) is None
    assert first_expired(request.deadlines, request.marks, due) is not None


def test_without_deadlines_nothing_is_ever_due(make_core: CoreFactory) -> None:
    request = make_core().submit([1], LONG).request
    assert next_due(request.deadlines, request.marks) is None


# The policy for what was cut short (A9); it stands in `engine/output.py`.


def cut_short(core: EngineCore) -> Any:
    live = core.submit([1, 2, 3], LONG)
    for _ in range(4):
        core.step()
    core.cancel(live.request.request_id)
    core.step()
    return live


def test_committed_tokens_are_billed_and_can_still_be_read_after_a_cancel(make_core: CoreFactory) -> None:
    live = cut_short(make_core())
    output = output_of(live)
    assert output.usage == {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}
    chunk = live.take()
    assert (list(chunk.token_ids), chunk.finish_reason) == (reference([1, 2, 3], 4), "client_cancel")


def test_a_cancel_is_recorded_once_under_its_own_name(make_core: CoreFactory) -> None:
    core = make_core()
    live = cut_short(core)
    assert core.snapshot()["finished"] == {"client_cancel": 1}
    assert terminal_events(core, live.request.request_id) == ["cancel"]


def test_held_back_text_is_dropped_on_a_cancel_and_released_on_a_deadline(make_core: CoreFactory) -> None:
    stop = "".join(chr(48 + token) for token in reference([1, 2, 3], 3)) + "never"
    shown = {}
    for end in ("cancel", "deadline"):
        core = make_core(tokenizer=Letters())
        params = SamplingParams(max_tokens=100, stop=stop)
        live = core.submit([1, 2, 3], params, Deadlines(overall_s=1.0), request_id="r")
        for _ in range(3):
            core.step()
        if end == "cancel":
            core.cancel("r")
        else:
            core.clock.advance(1.0)
        core.step()
        shown[end] = live.text.text
    assert shown == {"cancel": "", "deadline": stop.removesuffix("never")}


def test_a_cancel_drops_one_reference_and_leaves_the_other_holder_its_blocks(make_core: CoreFactory) -> None:
    core = make_core()
    live = core.submit([1] * 9, LONG)
    core.step()
    shared = live.request.block_table[:2]
    core.kv.pool.retain(shared)
    core.cancel(live.request.request_id)
    core.step()
    assert [core.kv.pool.references(block) for block in shared] == [1, 1]
    assert core.snapshot()["kv_blocks_free"] == 62
    core.kv.pool.free(shared)


@pytest.mark.parametrize("field", ["step_limit_s", "drain_s"])
def test_bad_limits_of_the_engine_are_named(make_core: CoreFactory, field: str) -> None:
    with pytest.raises(InvalidField, match=field):
        make_core(**{field: -1.0})


@pytest.mark.parametrize("answer", [True, False, None])
def test_a_lifecycle_that_ends_nothing_is_a_clear_error_not_a_hang(
    make_core: CoreFactory, answer: object
) -> None:
    class Lazy(TableLifecycle):
        def finalize(self, request, reason, at):  # type: ignore[no-untyped-def]
            return answer

    core = make_core(components=Components(lifecycle=Lazy()))
    live = core.submit([1], SamplingParams(max_tokens=2))
    drain(core)
    assert live.request.finish_reason == "error"
    assert isinstance(live.request.error, LifecycleBroken)
    assert "terminal" in str(live.request.error)


@pytest.mark.parametrize("token_id", [64, -1, 1.0, None, True])
def test_an_id_that_no_token_has_fails_its_request_alone(make_core: CoreFactory, token_id: Any) -> None:
    class OddRunner(ChecksumRunner):
        def run(self, plan: StepPlan) -> StepOutput:
            output = dict(super().run(plan).token_ids)
            return StepOutput({**output, **({"odd": token_id} if "odd" in output else {})})

    core = make_core(runner=OddRunner)
    odd = core.submit([1], LONG, request_id="odd")
    good = core.submit([2], SamplingParams(max_tokens=3))
    drain(core)
    assert (odd.request.finish_reason, odd.request.num_output_tokens) == ("error", 0)
    assert ends(good) == (reference([2], 3), "length")


def test_a_runner_that_forgets_a_request_fails_that_one_alone(make_core: CoreFactory) -> None:
    class Forgetful(ChecksumRunner):
        def run(self, plan: StepPlan) -> StepOutput:
            ids = super().run(plan).token_ids
            return StepOutput({name: token for name, token in ids.items() if name != "odd"})

    core = make_core(runner=Forgetful)
    odd = core.submit([1], LONG, request_id="odd")
    good = core.submit([2], SamplingParams(max_tokens=3))
    drain(core)
    assert odd.request.finish_reason == "error"
    assert ends(good) == (reference([2], 3), "length")


@pytest.mark.parametrize(
    ("cancel_at", "reason"), [(1.0, "client_cancel"), (2.0, "overall_deadline"), (3.0, "overall_deadline")]
)
def test_of_a_cancel_and_a_deadline_the_earlier_is_the_cause(
    make_core: CoreFactory, cancel_at: float, reason: str
) -> None:
    core = make_core()
    live = core.submit([1], LONG, Deadlines(overall_s=2.0))
    core.step()
    core.clock.advance_to(cancel_at)
    core.cancel(live.request.request_id)
    core.clock.advance_to(6.0)
    core.step()
    assert live.request.finish_reason == reason
