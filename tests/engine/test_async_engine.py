"""The asynchronous front door over the real `tiny` model: streams, cancels, abandoned readers, faults."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import aclosing, asynccontextmanager
from typing import Any

import pytest

from inference_kit import Components, Deadlines, Engine, EngineConfig, SamplingParams
from inference_kit.clock import VirtualClock
from inference_kit.engine.core import EngineCore
from inference_kit.engine.engine import EngineStatus, Stream
from inference_kit.errors import EngineClosed, EngineFailed, InvalidField, QueueFull, WrongLoop
from inference_kit.lifecycle import FinishReason
from inference_kit.scheduler import Scheduler, StepOutput, StepPlan
from inference_kit.streaming import TokenChannel
from tests.checksum import ChecksumRunner, reference
from tests.cores import check_all_given_back

pytest.importorskip("torch")

SHORT = SamplingParams(max_tokens=6, ignore_eos=True)
LONG = SamplingParams(max_tokens=1500, ignore_eos=True)


@asynccontextmanager
async def running(components: Components | None = None, **options: object) -> AsyncIterator[Engine]:
    """A started engine without weights; afterwards everything must have been given back."""
    config = EngineConfig(**{"model": "tiny", "num_kv_blocks": 600, "block_size": 4, **options})
    parts = components or Components(runner=ChecksumRunner)
    async with Engine(config, parts, VirtualClock(), progress=False) as engine:
        core = engine.core
        yield engine
    check_all_given_back(core)


def run(test: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(asyncio.wait_for(test(), timeout=60))


async def until(condition: Callable[[], bool]) -> None:
    """Let the other tasks and the step thread run until the condition holds."""
    while not condition():
        await asyncio.sleep(0)


async def quiet(core: EngineCore) -> None:
    await until(lambda: not core.has_work)


def test_a_stream_carries_all_tokens_and_one_finish_reason() -> None:
    async def test() -> None:
        async with running() as engine:
            chunks = [chunk async for chunk in engine.submit([1, 2, 3], SHORT)]
            assert [token for chunk in chunks for token in chunk.token_ids] == reference([1, 2, 3], 6)
            assert [chunk.finish_reason for chunk in chunks if chunk.finish_reason] == ["length"]

    run(test)


def test_many_streams_at_once() -> None:
    async def test() -> None:
        async with running(max_running=8) as engine:
            prompts = [[1 + n % 60, 2, 3] for n in range(40)]
            outputs = await asyncio.gather(*(engine.submit(prompt, SHORT).result() for prompt in prompts))
            assert [list(out.token_ids) for out in outputs] == [reference(prompt, 6) for prompt in prompts]

    run(test)


def test_cancel_ends_the_stream() -> None:
    async def test() -> None:
        async with running() as engine:
            stream = engine.submit([1], LONG)
            async for chunk in stream:
                if chunk.finish_reason is None:
                    stream.cancel()
                else:
                    assert chunk.finish_reason == "client_cancel"
            assert stream.cancel() is False

    run(test)


@pytest.mark.parametrize("how", ["break", "never started", "task cancelled", "aclose on a wrapper"])
def test_a_reader_that_goes_away_ends_its_request(how: str) -> None:
    async def test() -> None:
        async with running(slow_consumer_s=None) as engine:
            await leave(engine, how)
            gc.collect()
            await quiet(engine.core)
            assert engine.snapshot()["finished"] == {"client_cancel": 1}

    async def leave(engine: Engine, how: str) -> None:
        stream = engine.submit([1], LONG)
        if how == "break":
            async for _ in stream:
                break
        elif how == "task cancelled":
            task = asyncio.create_task(stream.result())
            await until(lambda: engine.snapshot()["committed_tokens"] > 0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        elif how == "aclose on a wrapper":
            generator = (chunk async for chunk in stream)
            await anext(generator)
            await generator.aclose()

    run(test)


def test_closing_ends_live_requests_with_shutdown_and_refuses_new_ones() -> None:
    async def test() -> None:
        async with running() as engine:
            stream = engine.submit([1], LONG)
            await anext(stream)
            await asyncio.to_thread(engine.close)
            assert (await stream.result()).finish_reason == "shutdown"
            with pytest.raises(EngineClosed):
                engine.submit([1], SHORT)

    run(test)


def test_a_refused_request_disturbs_nobody() -> None:
    async def test() -> None:
        async with running(max_waiting=1, max_running=1, channel_high=2, channel_low=0) as engine:
            good = engine.submit([1], SHORT)
            await until(lambda: engine.snapshot()["waiting"] == 0)
            waiter = engine.submit([2], SHORT)
            with pytest.raises(QueueFull):
                engine.submit([3], SHORT)
            with pytest.raises(InvalidField, match="prompt"):
                engine.submit("", SHORT)
            assert list((await good.result()).token_ids) == reference([1], 6)
            assert list((await waiter.result()).token_ids) == reference([2], 6)

    run(test)


def test_a_failed_request_delivers_its_tokens_then_raises_with_the_cause() -> None:
    class FailsAtThree(ChecksumRunner):
        def run(self, plan: StepPlan) -> StepOutput:
            if any(chunk.num_generated == 2 for chunk in plan.chunks):
                raise RuntimeError("device lost")
            return super().run(plan)

    async def test() -> None:
        async with running(Components(runner=FailsAtThree)) as engine:
            stream = engine.submit([1], SHORT)
            tokens: list[int] = []
            with pytest.raises(EngineFailed) as failed:
                async for chunk in stream:
                    tokens.extend(chunk.token_ids)
            assert tokens == reference([1], 2)
            assert str(failed.value.__cause__) == "device lost"

    run(test)


def test_a_fault_in_the_control_plane_fails_the_live_requests_not_the_callers() -> None:
    class BrokenScheduler(Scheduler):
        def schedule(self, now: float) -> StepPlan:
            raise ZeroDivisionError("a component is wrong")

    async def test() -> None:
        parts = Components(runner=ChecksumRunner, scheduler=BrokenScheduler)
        config = EngineConfig(model="tiny", num_kv_blocks=600, block_size=4)
        async with Engine(config, parts, progress=False) as engine:
            with pytest.raises(EngineFailed) as failed:
                await engine.submit([1], SHORT).result()
            assert isinstance(failed.value.__cause__, ZeroDivisionError)
            with pytest.raises(EngineClosed):
                engine.submit([1], SHORT)
            engine.core.check_integrity()

    run(test)


def test_a_deadline_fires_while_nothing_moves() -> None:
    async def test() -> None:
        async with running(channel_high=2, channel_low=0, slow_consumer_s=None) as engine:
            stream = engine.submit([1], LONG, deadlines=Deadlines(overall_s=5.0))
            await until(lambda: engine.snapshot()["states"].get("streaming") == 1)
            engine._clock.advance(5.0)  # type: ignore[attr-defined]
            assert (await stream.result()).finish_reason == "overall_deadline"

    run(test)


def test_the_real_model_gives_the_same_answer_online_and_offline() -> None:
    from inference_kit import LLM

    params = SamplingParams(max_tokens=12)
    offline = LLM("tiny", dtype="float32", progress=False).generate("Hello", params)[0]

    async def test() -> None:
        async with Engine(EngineConfig(model="tiny", dtype="float32"), progress=False) as engine:
            online = await engine.submit("Hello", params).result()
            assert (online.text, online.token_ids) == (offline.text, offline.token_ids)

    run(test)


def test_an_engine_that_is_not_started_says_so() -> None:
    async def test() -> None:
        with pytest.raises(EngineClosed, match="async with"):
            Engine().submit([1])

    run(test)


# Every way in which a reader can go away.


async def is_ended(engine: Engine, reason: str = "client_cancel") -> None:
    gc.collect()
    await quiet(engine.core)
    assert engine.snapshot()["finished"] == {reason: 1}


async def read_all(stream: Stream) -> None:
    async for _ in stream:
        pass


async def leave_by_timeout(stream: Stream) -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await read_all(stream)


async def leave_by_wait_for(stream: Stream) -> None:
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(stream.result(), 0.01)


async def leave_by_cancelling_the_task(stream: Stream) -> None:
    task = asyncio.create_task(read_all(stream))
    await anext(stream)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def leave_a_pending_read_that_is_closed(stream: Stream) -> None:
    read = read_all(stream)
    read.send(None)
    read.close()


async def leave_by_aclosing(stream: Stream) -> None:
    async with aclosing(stream):
        await anext(stream)


async def leave_by_an_error_in_the_body(stream: Stream) -> None:
    with pytest.raises(ZeroDivisionError):
        async with aclosing(stream):
            async for _ in stream:
                raise ZeroDivisionError


@pytest.mark.parametrize(
    "leave",
    [
        leave_by_timeout,
        leave_by_wait_for,
        leave_by_cancelling_the_task,
        leave_a_pending_read_that_is_closed,
        leave_by_aclosing,
        leave_by_an_error_in_the_body,
    ],
)
def test_leaving_ends_the_request_although_the_stream_is_kept(
    leave: Callable[[Stream], Coroutine[Any, Any, None]],
) -> None:
    async def test() -> None:
        # The third step is held, so that each of these readers waits for a token when it leaves.
        gate = threading.Event()
        async with running(Components(runner=gated(gate)), slow_consumer_s=None) as engine:
            stream = engine.submit([1], LONG)
            await leave(stream)
            committed = engine.snapshot()["committed_tokens"]
            gate.set()
            await is_ended(engine)
            assert engine.snapshot()["committed_tokens"] <= committed + 1
            assert stream.cancel() is False

    run(test)


def gated(gate: threading.Event) -> type[ChecksumRunner]:
    """A runner whose third step and later ones wait for the gate, for a bounded time."""

    class Gated(ChecksumRunner):
        def run(self, plan: StepPlan) -> StepOutput:
            if len(self.plans) >= 2:
                gate.wait(10.0)
            return super().run(plan)

    return Gated


def test_a_stream_that_was_never_started_and_one_in_a_cycle_end() -> None:
    async def test() -> None:
        async with running(slow_consumer_s=None) as engine:
            engine.submit([1], LONG)
            cycle: list[Any] = [engine.submit([2], LONG)]
            cycle.append(cycle)
            del cycle
            gc.collect()
            await quiet(engine.core)
            assert engine.snapshot()["finished"] == {"client_cancel": 2}

    run(test)


def test_a_stream_collected_inside_a_lock_of_the_engine_waits_for_nothing() -> None:
    async def test() -> None:
        async with running(slow_consumer_s=None) as engine:
            streams = [engine.submit([1], LONG)]

            def collect() -> None:
                streams.clear()
                gc.collect()

            with engine.core.lock:
                # Another thread drops the stream while this one has the lock: it must not have to wait.
                thread = threading.Thread(target=collect)
                thread.start()
                thread.join(10.0)
                assert not thread.is_alive()
            await quiet(engine.core)

    run(test)


def test_an_event_loop_that_closes_takes_its_requests_along() -> None:
    async def test() -> None:
        async with running(slow_consumer_s=None, channel_high=4, channel_low=1) as engine:
            kept: list[Stream] = []

            async def submit() -> None:
                kept.append(engine.submit([1], LONG))
                kept.append(engine.submit([2], LONG))
                await anext(kept[0])

            await asyncio.to_thread(asyncio.run, submit())
            await quiet(engine.core)
            assert engine.snapshot()["finished"] == {"client_cancel": 2}
            assert [stream._live.request.is_terminal for stream in kept] == [True, True]

    run(test)


def test_a_stream_read_on_another_event_loop_is_refused_and_ends() -> None:
    async def test() -> None:
        async with running(slow_consumer_s=None) as engine:
            stream = engine.submit([1], LONG)

            async def read() -> None:
                await anext(stream)

            with pytest.raises(WrongLoop, match=stream.request_id):
                await asyncio.to_thread(asyncio.run, read())
            await is_ended(engine)

    run(test)


def test_an_id_that_is_used_again_is_another_request() -> None:
    async def test() -> None:
        async with running() as engine:
            old = engine.submit([1], SHORT, request_id="r")
            await quiet(engine.core)
            new = engine.submit([2], SHORT, request_id="r")
            assert old.cancel() is False
            assert list((await new.result()).token_ids) == reference([2], 6)
            assert list((await old.result()).token_ids) == reference([1], 6)

    run(test)


def test_two_tasks_on_one_stream_share_its_chunks_and_both_end() -> None:
    async def test() -> None:
        async with running() as engine:
            stream = engine.submit([1], SamplingParams(max_tokens=40, ignore_eos=True))
            got: list[int] = []

            async def read() -> None:
                async for chunk in stream:
                    got.extend(chunk.token_ids)

            await asyncio.gather(read(), read())
            assert got == reference([1], 40)

    run(test)


# Parts that raise in the running engine.


@pytest.mark.parametrize("methods", [("put",), ("put", "close"), ("take",)])
def test_a_broken_channel_fails_its_request_and_its_reader_does_not_wait(methods: tuple[str, ...]) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("a channel is wrong")

    broken = type("Broken", (TokenChannel,), dict.fromkeys(methods, fail))
    made: list[TokenChannel] = []

    def channel(*arguments: Any) -> TokenChannel:
        made.append((TokenChannel if made else broken)(*arguments))
        return made[-1]

    async def test() -> None:
        async with running(Components(runner=ChecksumRunner, channel=channel)) as engine:
            with pytest.raises((EngineFailed, ZeroDivisionError)):
                await engine.submit([1], LONG).result()
            assert list((await engine.submit([2], SHORT).result()).token_ids) == reference([2], 6)

    run(test)


# Health, shutdown and waiting.


def test_the_watchdog_sees_a_step_that_hangs_and_recovers_when_it_ends() -> None:
    async def test() -> None:
        gate = threading.Event()
        async with running(Components(runner=gated(gate)), step_limit_s=30.0) as engine:
            stream = engine.submit([1], SHORT)
            await until(lambda: engine.snapshot()["committed_tokens"] == 2)
            await until(lambda: engine._step_started_at is not None)
            assert engine.healthy
            engine._clock.advance(30.0)  # type: ignore[attr-defined]
            assert not engine.healthy
            assert engine.snapshot()["healthy"] is False
            gate.set()
            await stream.result()
            await until(lambda: engine.healthy)
            assert engine.snapshot()["step_overruns"] == 1

    run(test)


def test_a_drain_refuses_new_requests_and_lets_live_ones_finish() -> None:
    async def test() -> None:
        gate = threading.Event()
        async with running(Components(runner=gated(gate))) as engine:
            streams = [engine.submit([n], SHORT) for n in (1, 2, 3)]
            closing = asyncio.create_task(engine.shutdown(drain_s=60.0))
            await until(lambda: engine.status is EngineStatus.DRAINING)
            with pytest.raises(EngineClosed):
                engine.submit([4], SHORT)
            gate.set()
            outputs = await asyncio.gather(*(stream.result() for stream in streams))
            assert [list(out.token_ids) for out in outputs] == [reference([n], 6) for n in (1, 2, 3)]
            await closing
            assert engine.status is EngineStatus.CLOSED

    run(test)


def test_what_is_left_at_the_drain_limit_ends_with_shutdown() -> None:
    async def test() -> None:
        async with running(channel_high=2, channel_low=0, slow_consumer_s=None) as engine:
            stalled = engine.submit([1], LONG)
            closing = asyncio.create_task(engine.shutdown(drain_s=60.0))
            await until(lambda: engine.status is EngineStatus.DRAINING)
            await until(lambda: engine.snapshot()["states"].get("streaming") == 1)
            assert not closing.done()
            engine._clock.advance(60.0)  # type: ignore[attr-defined]
            await closing
            assert (await stalled.result()).finish_reason == FinishReason.SHUTDOWN

    run(test)


def test_a_close_does_not_wait_for_a_step_that_hangs() -> None:
    async def test() -> None:
        gate = threading.Event()
        engine = Engine(
            EngineConfig(model="tiny", num_kv_blocks=600, step_limit_s=30.0),
            Components(runner=gated(gate)),
            VirtualClock(),
            progress=False,
        )
        engine.start()
        stream = engine.submit([1], SHORT)
        await until(lambda: engine.snapshot()["committed_tokens"] == 2)
        await until(lambda: engine._step_started_at is not None)
        closing = asyncio.create_task(engine.shutdown())
        await until(lambda: engine.status is EngineStatus.DRAINING)
        assert not closing.done()
        engine._clock.advance(30.0)  # type: ignore[attr-defined]
        with pytest.raises(EngineFailed, match=r"did not come back within 30\.0 s"):
            await closing
        assert engine.status is EngineStatus.CLOSED
        assert not engine.core.has_work
        with pytest.raises(EngineFailed):
            await stream.result()
        gate.set()
        assert engine._thread is not None
        engine._thread.join(10.0)
        assert not engine._thread.is_alive()
        check_all_given_back(engine.core)

    run(test)


def test_a_second_shutdown_shortens_the_drain_and_the_status_never_goes_back() -> None:
    async def test() -> None:
        async with running(channel_high=2, channel_low=0, slow_consumer_s=None) as engine:
            stalled = engine.submit([1], LONG)
            patient = asyncio.create_task(engine.shutdown(drain_s=3600.0))
            await until(lambda: engine.status is EngineStatus.DRAINING)
            await engine.shutdown(drain_s=0.0)
            await patient
            await engine.shutdown(drain_s=60.0)
            assert engine.status is EngineStatus.CLOSED
            assert (await stalled.result()).finish_reason == "shutdown"

    run(test)


def test_leaving_the_engine_drains_for_as_long_as_the_configuration_says() -> None:
    async def test() -> None:
        async with running(drain_s=60.0) as engine:
            stream = engine.submit([1], SHORT)
        assert (await stream.result()).finish_reason == "length"

    run(test)


def test_an_engine_that_was_closed_before_its_start_does_not_start() -> None:
    engine = Engine(EngineConfig(model="tiny"))
    engine.close()
    with pytest.raises(EngineClosed):
        engine.start()


def test_an_idle_engine_takes_no_steps() -> None:
    class Counted(Scheduler):
        calls = 0

        def schedule(self, now: float) -> StepPlan:
            Counted.calls += 1
            return super().schedule(now)

    async def test() -> None:
        parts = Components(runner=ChecksumRunner, scheduler=Counted)
        async with running(parts, channel_high=2, channel_low=0, slow_consumer_s=None) as engine:
            stream = engine.submit([1], LONG, deadlines=Deadlines(overall_s=50.0))
            await until(lambda: engine.snapshot()["states"].get("streaming") == 1)
            await until(lambda: engine._patience(engine.core, idle=True) == 1.0)
            engine._clock.advance(49.0)  # type: ignore[attr-defined]
            await until(lambda: engine._stepped_at == 49.0)
            # Due in one second, at 50; the heartbeat is one second as well.
            assert engine._patience(engine.core, idle=True) == 1.0
            engine._clock.advance(0.75)  # type: ignore[attr-defined]
            await until(lambda: engine._stepped_at == 49.75)
            assert engine._patience(engine.core, idle=True) == 0.25
            assert Counted.calls < 20
            engine._clock.advance(0.25)  # type: ignore[attr-defined]
            assert (await stream.result()).finish_reason == "overall_deadline"

    run(test)
