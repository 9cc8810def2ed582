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
from inference_kit.engine.engine import Stream
from inference_kit.errors import EngineClosed, EngineFailed, InvalidField, QueueFull
from inference_kit.scheduler import Scheduler, StepOutput, StepPlan
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
    async with aclosing(stream):
        async for _ in stream:
            break


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
        # The step thread is held, so that every one of these readers waits for its next token.
        gate = threading.Event()
        async with running(Components(runner=gated(gate)), slow_consumer_s=None) as engine:
            stream = engine.submit([1], LONG)
            task = asyncio.create_task(leave(stream))
            await asyncio.sleep(0)
            gate.set()
            await task
            await is_ended(engine)
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
