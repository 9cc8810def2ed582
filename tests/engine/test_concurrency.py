"""Eight threads and two hundred asyncio tasks on one engine: the invariants still hold (A16, C10).

Each task submits, reads, and leaves in one of the ways Python allows. No sleeps; every wait is bounded.
"""

from __future__ import annotations

import asyncio
import gc
import random
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from typing import Any

import pytest

from inference_kit import LLM, Components, Deadlines, Engine, EngineConfig, SamplingParams
from inference_kit.clock import VirtualClock
from inference_kit.engine.core import LiveRequest
from inference_kit.engine.engine import Stream
from inference_kit.errors import QueueFull
from tests.checksum import ChecksumRunner, reference
from tests.cores import check_all_given_back
from tests.engine.machine import END_EVENTS, check_history

pytest.importorskip("torch")

THREADS = 8
TASKS = 200
BOUND_S = 90.0
ENDS_HERE = {"length", "client_cancel", "overall_deadline", "slow_consumer", "shutdown"}


@pytest.fixture(autouse=True)
def many_switches() -> Iterator[None]:
    """Threads change places a thousand times more often than usual."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(5e-6)
    yield
    sys.setswitchinterval(before)


class Crowd:
    """What all tasks of a test share: the engine, and every request that was accepted."""

    def __init__(self, **options: Any) -> None:
        config = EngineConfig(
            model="tiny",
            num_kv_blocks=40,
            block_size=4,
            max_running=8,
            max_step_tokens=16,
            max_waiting=30,
            channel_high=4,
            channel_low=1,
            **options,
        )
        self.clock = VirtualClock()
        self.engine = Engine(config, Components(runner=ChecksumRunner), self.clock, progress=False)
        self.accepted: list[LiveRequest] = []
        self.kept: list[Stream] = []

    async def submit(self, rng: random.Random, **options: Any) -> Stream:
        """Submit, and again while the queue is full."""
        prompt = rng.choices(range(1, 64), k=rng.randint(1, 12))
        params = SamplingParams(max_tokens=rng.choice([1, 3, 9, 30]), ignore_eos=True)
        while True:
            try:
                stream = self.engine.submit(prompt, params, priority=rng.randint(0, 2), **options)
            except QueueFull:
                await asyncio.sleep(0)
                continue
            self.accepted.append(stream._live)
            return stream

    def check(self) -> None:
        """One end for each request, legal histories, right tokens, nothing held."""
        core = self.engine.core
        for live in self.accepted:
            request = live.request
            assert request.is_terminal
            assert request.finish_reason in ENDS_HERE
            output = request.output_token_ids
            assert output == reference(request.prompt_token_ids, len(output))
            assert len(output) == request.max_new_tokens or request.finish_reason != "length"
            assert sum(line.event in END_EVENTS for line in request.events) == 1
            assert request.block_table == [] and request.release_errors == []
            check_history(request.events)
        snapshot = core.snapshot()
        assert snapshot["received"] == len(self.accepted) == sum(snapshot["finished"].values())
        ends = Counter(str(live.request.finish_reason) for live in self.accepted)
        assert snapshot["finished"] == dict(ends)
        check_all_given_back(core)


async def read(stream: Stream) -> None:
    """Read all; what was read is what was committed, each token once, with one end."""
    got: list[int] = []
    ends: list[str] = []
    async for chunk in stream:
        assert not ends
        got.extend(chunk.token_ids)
        ends.extend([chunk.finish_reason] if chunk.finish_reason else [])
    assert got == stream._live.request.output_token_ids
    assert ends == [stream._live.request.finish_reason]


async def one_task(crowd: Crowd, rng: random.Random) -> None:
    """Submit one request and leave it in one of many ways."""
    how = rng.randrange(9)
    options: dict[str, Any] = {"deadlines": Deadlines(overall_s=rng.choice([2.0, 50.0]))} if how == 0 else {}
    stream = await crowd.submit(rng, **options)
    if how in (0, 1):
        await read(stream)
    elif how == 2:
        stream.cancel()
        await read(stream)
    elif how == 3:
        async for _ in stream:
            break
    elif how == 4:
        reader = asyncio.create_task(stream.result())
        await asyncio.sleep(0)
        reader.cancel()
        await asyncio.gather(reader, return_exceptions=True)
    elif how == 5:
        async with aclosing(stream):
            await anext(stream)
    elif how == 6:
        generator = (chunk async for chunk in stream)
        await anext(generator)
        await generator.aclose()
    elif how == 7:
        cycle: list[Any] = [stream]
        cycle.append(cycle)
    else:
        crowd.kept.append(stream)


async def many_tasks(crowd: Crowd, seed: int, count: int) -> None:
    rngs = [random.Random(seed * 1_000 + index) for index in range(count)]
    await asyncio.wait_for(asyncio.gather(*(one_task(crowd, rng) for rng in rngs)), BOUND_S)


def let_time_pass(crowd: Crowd, stop: threading.Event) -> None:
    """The only hand on the clock, until `stop`. Time passes also while nothing moves: all may be stalled."""
    while not stop.is_set():
        crowd.clock.advance(0.02)
        stop.wait(0.0005)


def run_crowd(seed: int, threads: int, tasks: int) -> None:
    """Run the tasks on `threads` event loops, then require that all requests end by themselves."""
    crowd = Crowd(slow_consumer_s=5.0)
    crowd.engine.start()
    stop = threading.Event()
    ticker = threading.Thread(target=let_time_pass, args=(crowd, stop), daemon=True)
    ticker.start()
    try:
        with ThreadPoolExecutor(threads) as pool:
            jobs = [
                pool.submit(asyncio.run, many_tasks(crowd, seed * threads + index, tasks // threads))
                for index in range(threads)
            ]
            for job in jobs:
                job.result(BOUND_S)
    finally:
        stop.set()
        ticker.join(BOUND_S)
        gc.collect()
        # The loops are closed: nobody is left to read, so the drain ends although its limit never comes.
        closing = threading.Thread(target=crowd.engine.close, args=(3600.0,), daemon=True)
        closing.start()
        closing.join(BOUND_S)
    assert not closing.is_alive(), crowd.engine.snapshot()
    crowd.check()


@pytest.mark.parametrize("seed", range(3))
def test_two_hundred_tasks_on_one_event_loop(seed: int) -> None:
    run_crowd(seed, threads=1, tasks=TASKS)


@pytest.mark.parametrize("seed", range(3))
def test_two_hundred_tasks_on_the_loops_of_eight_threads(seed: int) -> None:
    run_crowd(seed, threads=THREADS, tasks=TASKS)


def test_eight_threads_cancel_each_others_requests_while_the_engine_shuts_down() -> None:
    async def body(crowd: Crowd, seed: int) -> None:
        rng = random.Random(seed)
        streams = [await crowd.submit(rng) for _ in range(3)]
        for live in list(crowd.accepted):
            crowd.engine.cancel(live.request.request_id)
        barrier.wait(BOUND_S)
        await crowd.engine.shutdown()
        await asyncio.wait_for(asyncio.gather(*(read(stream) for stream in streams)), BOUND_S)

    crowd = Crowd(slow_consumer_s=None)
    crowd.engine.start()
    barrier = threading.Barrier(THREADS)
    with ThreadPoolExecutor(THREADS) as pool:
        jobs = [pool.submit(asyncio.run, body(crowd, seed)) for seed in range(THREADS)]
        for job in jobs:
            job.result(BOUND_S)
    crowd.check()


def test_eight_threads_share_one_offline_model() -> None:
    llm = LLM(
        "tiny",
        components=Components(runner=ChecksumRunner),
        num_kv_blocks=60,
        block_size=4,
        max_running=4,
        max_waiting=6,
        progress=False,
    )
    params = SamplingParams(max_tokens=9, ignore_eos=True)

    def batch(n: int) -> None:
        prompts = [[n + 1, k + 1] for k in range(10)]
        outputs = llm.generate(prompts, params)
        assert [list(out.token_ids) for out in outputs] == [reference(prompt, 9) for prompt in prompts]

    def one_stream(n: int) -> None:
        chunks = list(llm.stream([n + 1, 60], params))
        assert [token for chunk in chunks for token in chunk.token_ids] == reference([n + 1, 60], 9)
        for _ in llm.stream([n + 1, 61], params):
            break

    with ThreadPoolExecutor(THREADS) as pool:
        jobs = [pool.submit(batch if n % 2 else one_stream, n) for n in range(THREADS * 2)]
        for job in jobs:
            job.result(BOUND_S)
    gc.collect()
    llm.core.boundary()
    check_all_given_back(llm.core)


def test_a_batch_inside_a_stream_loop_takes_nothing_from_the_stream() -> None:
    llm = LLM("tiny", components=Components(runner=ChecksumRunner), num_kv_blocks=60, progress=False)
    got: list[int] = []
    for chunk in llm.stream([1], SamplingParams(max_tokens=12, ignore_eos=True)):
        got.extend(chunk.token_ids)
        output = llm.generate([[2]], SamplingParams(max_tokens=3, ignore_eos=True))[0]
        assert list(output.token_ids) == reference([2], 3)
    assert got == reference([1], 12)
    check_all_given_back(llm.core)
