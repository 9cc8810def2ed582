"""The asynchronous front door: the step loop on its own thread, answers as async streams.

Owns the thread, the wake-ups, the health of the loop and the way it shuts down. What a step does is
`EngineCore`'s. Invariants: the event loops get one wake-up per step; a stream that nobody reads any
more cancels its request; the status only moves forward; when the loop ends, every request has ended.
"""

from __future__ import annotations

import asyncio
import dataclasses
import logging
import queue
import threading
import weakref
from collections.abc import Sequence
from enum import IntEnum
from typing import Any

from ..clock import Clock, MonotonicClock, VirtualClock
from ..config import Deadlines, EngineConfig
from ..errors import EngineClosed, EngineFailed, WrongLoop
from ..lifecycle.deadlines import next_due
from ..lifecycle.states import FinishReason
from ..sampling import SamplingParams, check_number
from ..streaming.channel import Chunk
from .build import build_core, chat_prompt, encode_prompt, load_model
from .components import Components
from .core import EngineCore, LiveRequest
from .output import RequestOutput, output_of

log = logging.getLogger(__name__)

HEARTBEAT_S = 1.0
"""Longest wait while requests are live: a replaced `endings` or a closed event loop sends no signal."""


JOIN_S = 0.05
"""How often a close looks whether the last step hangs."""


class EngineStatus(IntEnum):
    """Where an engine stands. It only moves forward."""

    NEW = 0
    RUNNING = 1
    DRAINING = 2
    """Refuses new requests; live ones go on until the drain limit."""
    CLOSED = 3


class Stream:
    """The answer to one request, as it comes. Iterate it once, or await `result()`.

    Read it on the event loop it was submitted on. The request is cancelled at the next step boundary when
    its reader goes away (A12): a pending read is cancelled (also by a timeout) or closed, `aclose` is
    called, nothing refers to the stream any more, or its event loop is closed. A stream that is kept and
    not read is a slow consumer.
    """

    def __init__(self, engine: Engine, live: LiveRequest, loop: asyncio.AbstractEventLoop) -> None:
        self._engine = engine
        self._live = live
        self._loop = loop
        self._news = asyncio.Event()
        self._failed = False
        self._open = list(live.members)

    @property
    def request_id(self) -> str:
        return self._live.caller_id

    def cancel(self) -> bool:
        """Ask for the end at the next step boundary (A8). False when it has already ended."""
        return self._engine._cancel(self._live)

    async def aclose(self) -> None:
        """Leave the stream: cancel what still runs. For `contextlib.aclosing`."""
        self.cancel()

    def __aiter__(self) -> Stream:
        return self

    async def __anext__(self) -> Chunk:
        """The next chunk: everything committed since the last one. The last has a finish_reason.

        Raises `EngineFailed` after the last tokens when the request ended with `error`, and `WrongLoop`
        on another event loop.
        """
        if asyncio.get_running_loop() is not self._loop:
            self._engine._abandon(self._live)
            raise WrongLoop(f"stream {self.request_id} belongs to the event loop it was submitted on")
        try:
            while self._open:
                chunk = self._take()
                if chunk is None:
                    await self._news.wait()
                    continue
                if chunk.finish_reason != FinishReason.ERROR:
                    return chunk
                self._failed = True
                self._open.clear()
                if chunk.text or chunk.token_ids:
                    return dataclasses.replace(chunk, finish_reason=None)
        except BaseException:
            # Cancelled, closed, or a channel that raises: nobody will read the rest.
            self._engine._abandon(self._live)
            raise
        if self._failed:
            self._failed = False
            self._engine._abandon(self._live)
            raise EngineFailed(f"request {self.request_id} failed") from self._live.error
        raise StopAsyncIteration

    def _take(self) -> Chunk | None:
        """What waits for one sample. Clears the news first, so that what comes meanwhile is not missed."""
        self._news.clear()
        for live in self._open:
            closed = live.closed
            chunk = live.take()
            if chunk is None and closed:
                # The channel could not carry the end; the request knows it.
                chunk = Chunk(finish_reason=str(live.request.finish_reason or FinishReason.ERROR))
            if chunk is not None:
                if chunk.finish_reason is not None:
                    self._open.remove(live)
                return dataclasses.replace(chunk, index=live.request.sample_index)
        return None

    async def result(self) -> RequestOutput:
        """Take what is left and return the whole answer. Raises as iteration does."""
        async for _ in self:
            pass
        return output_of(self._live)

    def __del__(self) -> None:
        # Runs at any moment on any thread, also inside a lock: it may not take one.
        if not self._live.all_ended:
            self._engine._abandon(self._live)


class Engine:
    """An engine for asyncio programs; use it as `async with Engine(config) as engine`.

    Args:
        config: an `EngineConfig`; None takes the defaults.
        components: replaced parts.
        clock: the engine's time.
        progress: show progress bars while the model loads.
    """

    def __init__(
        self,
        config: EngineConfig | None = None,
        components: Components | None = None,
        clock: Clock | None = None,
        progress: bool = True,
    ) -> None:
        self.config = config or EngineConfig()
        self._components = components
        self._clock = clock or MonotonicClock()
        self._progress = progress
        self._core: EngineCore | None = None
        self._thread: threading.Thread | None = None
        self._status = EngineStatus.NEW
        self._status_lock = threading.Lock()
        self._drain_until: float | None = None
        self._fault: BaseException | None = None
        self._step_started_at: float | None = None
        self._stepped_at = 0.0
        self._overruns = 0
        # A SimpleQueue, because its `put` is safe inside `__del__`: a lock there could wait for itself.
        self._signals: queue.SimpleQueue[LiveRequest | None] = queue.SimpleQueue()
        self._streams: weakref.WeakValueDictionary[LiveRequest, Stream] = weakref.WeakValueDictionary()
        self._loops: set[asyncio.AbstractEventLoop] = set()

    async def __aenter__(self) -> Engine:
        await asyncio.to_thread(self.start)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.shutdown()

    def start(self) -> None:
        """Load the model and start the step loop. Raises `EngineClosed` when it was started before."""
        if self._core is not None or self._status is not EngineStatus.NEW:
            raise EngineClosed("this engine was started before; make a new one")
        self._model = load_model(self.config, self._progress)
        self._core = build_core(self.config, self._model, self._components, self._clock)
        self._core.wake = self._wake
        if isinstance(self._clock, VirtualClock):
            self._clock.on_move(self._wake)
        self._thread = threading.Thread(target=self._loop, name="inference-kit-step", daemon=True)
        self._advance(EngineStatus.RUNNING)
        self._thread.start()

    async def shutdown(self, drain_s: float | None = None) -> None:
        """Close the engine without blocking the event loop; see `close`."""
        await asyncio.to_thread(self.close, drain_s)

    def close(self, drain_s: float | None = None) -> None:
        """Refuse new requests at once, let live ones finish, end the rest with `shutdown`, stop the loop.

        Args:
            drain_s: seconds on the engine's clock that live requests get; None: `config.drain_s`. A second
                call can shorten a drain that runs, never lengthen it.

        Returns when the loop has stopped and every request has ended. Raises `InvalidField`, and
        `EngineFailed` when the drain is over and a step still runs after `step_limit_s`: all requests have
        ended then, with `error`, and the thread of that step is left behind.
        """
        limit = self.config.drain_s if drain_s is None else drain_s
        check_number("drain_s", limit, 0.0, 3600.0)
        until = self._clock.now() + limit
        if self._core is None or self._thread is None:
            self._advance(EngineStatus.CLOSED)
            return
        with self._core.lock:
            self._advance(EngineStatus.DRAINING)
            self._drain_until = until if self._drain_until is None else min(until, self._drain_until)
        self._wake()
        self._join(self._core, self._thread)

    def _join(self, core: EngineCore, thread: threading.Thread) -> None:
        while thread.is_alive():
            thread.join(JOIN_S)
            over = self._drain_until is not None and self._clock.now() >= self._drain_until
            if thread.is_alive() and over and not self.healthy:
                hung = EngineFailed(f"a step did not come back within {self.config.step_limit_s} s")
                self._fail_all(core, hung)
                raise hung

    @property
    def status(self) -> EngineStatus:
        """NEW, RUNNING, DRAINING or CLOSED."""
        return self._status

    @property
    def healthy(self) -> bool:
        """False while a step runs for `step_limit_s` or longer, and for good after a fault of the loop.

        The watchdog: it reads the injected clock and takes no lock, so it answers also while a step hangs.
        """
        started, limit = self._step_started_at, self.config.step_limit_s
        overrun = started is not None and limit is not None and self._clock.now() >= started + limit
        return self._fault is None and not overrun

    @property
    def core(self) -> EngineCore:
        """The running core. Raises `EngineClosed` before the start."""
        if self._core is None:
            raise EngineClosed("the engine is not started; use `async with Engine(...)`")
        return self._core

    def submit(
        self,
        prompt: str | Sequence[int],
        params: SamplingParams | None = None,
        *,
        deadlines: Deadlines | dict[str, Any] | None = None,
        request_id: str | None = None,
        priority: int = 0,
        cache_salt: str = "",
    ) -> Stream:
        """Accept a request and return its stream. Call it on a running event loop.

        For n > 1 the stream carries the chunks of all samples; `chunk.index` says whose a chunk is.

        Raises `InvalidField`, `RequestRefused`, `QueueFull` (see `EngineCore.submit`) or `EngineClosed`.
        """
        received_at = self._clock.now()
        core = self.core
        loop = asyncio.get_running_loop()
        token_ids = encode_prompt(self._model, prompt)
        with core.lock:
            if self._status is not EngineStatus.RUNNING:
                raise EngineClosed("the engine does not take requests any more") from self._fault
            live = core.submit(token_ids, params, deadlines, request_id, priority, received_at, cache_salt)
            stream = Stream(self, live, loop)
            self._streams[live] = stream
            self._loops.add(loop)
        self._wake()
        return stream

    def chat(
        self, messages: Sequence[dict[str, str]], params: SamplingParams | None = None, **options: Any
    ) -> Stream:
        """Like `submit`, for a conversation in the model's chat template."""
        if self._core is None:
            raise EngineClosed("the engine is not started; use `async with Engine(...)`")
        return self.submit(chat_prompt(self._model, messages), params, **options)

    def cancel(self, request_id: str) -> bool:
        """Ask for the end of a request at the next boundary. False when it is unknown or has ended."""
        if self._core is None:
            return False
        cancelled = self._core.cancel(request_id)
        self._wake()
        return cancelled

    def snapshot(self) -> dict[str, Any]:
        """Counts of states, blocks, slots and queues, and the loop's health, as plain data."""
        return {
            **self.core.snapshot(),
            "status": self._status.name.lower(),
            "healthy": self.healthy,
            "step_overruns": self._overruns,
        }

    def _advance(self, status: EngineStatus) -> None:
        with self._status_lock:
            self._status = max(self._status, status)

    def _wake(self) -> None:
        self._signals.put(None)

    def _abandon(self, live: LiveRequest) -> None:
        """Nobody reads this request any more. Any thread, any moment; takes no lock."""
        self._signals.put(live)

    def _cancel(self, live: LiveRequest, reason: FinishReason = FinishReason.CLIENT_CANCEL) -> bool:
        """Cancel this request and no other one that got the same id later."""
        core = self.core
        with core.lock:
            known = core.families.get(live.caller_id) or core.live.get(live.caller_id)
            if known is not live.members[0]:
                return False
            cancelled = core.cancel(live.caller_id, reason)
        self._wake()
        return cancelled

    def _loop(self) -> None:
        core = self.core
        try:
            idle = False
            while self._wait_for_work(core, idle):
                idle = not self._step(core)
        except BaseException as error:
            log.exception("the step loop failed; all live requests end with `error`")
            self._fail_all(core, error)
        finally:
            self._advance(EngineStatus.CLOSED)

    def _step(self, core: EngineCore) -> bool:
        """One step under the watchdog. False when there was nothing to compute."""
        self._stepped_at = self._step_started_at = self._clock.now()
        plan = core.step()
        if not self.healthy:
            self._overruns += 1
            log.warning("a step overran its limit of %s s", self.config.step_limit_s)
        self._step_started_at = None
        self._wake_streams(core.take_touched())
        return bool(plan.chunks)

    def _wait_for_work(self, core: EngineCore, idle: bool) -> bool:
        """Wait for something that a step can act on. False when the engine is closed and all have ended."""
        while True:
            self._take_signals(self._patience(core, idle))
            self._leave_closed_loops()
            with core.lock:
                if self._drain_until is not None and self._clock.now() >= self._drain_until:
                    for request_id in list(core.live):
                        core.cancel(request_id, FinishReason.SHUTDOWN)
                if core.has_work:
                    return True
                if self._drain_until is not None:
                    return False

    def _patience(self, core: EngineCore, idle: bool) -> float | None:
        """Seconds to wait for a signal; None: as long as it takes."""
        with core.lock:
            if not core.has_work:
                return None if self._drain_until is None else 0.0
            if not idle:
                return 0.0
            due = [at for live in core.live.values() for at in self._due_times(live)]
        if self._drain_until is not None:
            due.append(self._drain_until)
        # What was due at the last step and lives on is due by no rule of the running `endings`.
        first = min((at for at in due if at > self._stepped_at), default=float("inf"))
        return min(max(first - self._clock.now(), 0.0), HEARTBEAT_S)

    def _due_times(self, live: LiveRequest) -> list[float]:
        request, slow_s = live.request, self.config.slow_consumer_s
        deadline = next_due(request.deadlines, request.marks)
        slow = None if slow_s is None or request.paused_at is None else request.paused_at + slow_s
        return [at for at in (deadline, slow) if at is not None]

    def _take_signals(self, timeout_s: float | None) -> None:
        try:
            signal = self._signals.get(timeout_s != 0.0, timeout_s)
            while True:
                if signal is not None:
                    self._cancel(signal)
                signal = self._signals.get_nowait()
        except queue.Empty:
            return

    def _leave_closed_loops(self) -> None:
        """Nobody can read on a closed event loop: end what was submitted there."""
        with self.core.lock:
            closed = {loop for loop in self._loops if loop.is_closed()}
            self._loops -= closed
            left = [stream for stream in self._streams.values() if stream._loop in closed] if closed else []
        for stream in left:
            self._cancel(stream._live)

    def _wake_streams(self, touched: list[LiveRequest]) -> None:
        by_loop: dict[asyncio.AbstractEventLoop, list[asyncio.Event]] = {}
        for live in touched:
            stream = self._streams.get(live.members[0])
            if stream is not None:
                # The event and not the stream: a callback that waits must keep no stream alive.
                by_loop.setdefault(stream._loop, []).append(stream._news)
        for loop, events in by_loop.items():
            try:
                loop.call_soon_threadsafe(_set_all, events)
            except RuntimeError:
                # The loop is closed; `_leave_closed_loops` ends its requests before the next step.
                continue

    def _fail_all(self, core: EngineCore, error: BaseException) -> None:
        with core.lock:
            self._fault = error
            self._advance(EngineStatus.CLOSED)
            for live in list(core.live.values()):
                live.request.error = live.request.error or error
                try:
                    live.request.finalize(FinishReason.ERROR, self._clock.now())
                except Exception:
                    log.exception("request %s could not be ended cleanly", live.request.request_id)
                    live.closed = True
                    core.touched.add(live)
        self._wake_streams(core.take_touched())


def _set_all(events: list[asyncio.Event]) -> None:
    for event in events:
        event.set()
