"""The asynchronous front door: the step loop on its own thread, answers as async streams.

Owns the thread and the wake-ups. What a step does is `EngineCore`'s. Invariants: the event loops get
one wake-up per step; a stream that nobody holds any more cancels its request; closing ends all.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import weakref
from collections.abc import Sequence
from typing import Any

from ..clock import Clock, MonotonicClock
from ..config import Deadlines, EngineConfig
from ..errors import EngineClosed, EngineFailed
from ..lifecycle.states import FinishReason
from ..sampling import SamplingParams
from ..streaming.channel import Chunk
from .build import build_core, chat_prompt, encode_prompt, load_model
from .components import Components
from .core import EngineCore
from .output import RequestOutput, output_of
from .samples import LiveRequest

log = logging.getLogger(__name__)

IDLE_WAIT_S = 0.02
"""How long the loop waits when nothing can run. Deadlines that pass meanwhile are late by this much."""


class Stream:
    """The answer to one request, as it comes. Iterate it once, or await `result()`."""

    def __init__(self, engine: Engine, live: LiveRequest, loop: asyncio.AbstractEventLoop) -> None:
        self._engine = engine
        self._live = live
        self._loop = loop
        self._news = asyncio.Event()
        self._failed = False
        self._open_samples = len(live.members)

    @property
    def request_id(self) -> str:
        return self._live.caller_id

    def cancel(self) -> bool:
        """Ask for the end at the next step boundary (A8). False when it has already ended."""
        return self._engine.cancel(self.request_id)

    def __aiter__(self) -> Stream:
        return self

    async def __anext__(self) -> Chunk:
        """The next chunk: everything committed since the last one. The last has a finish_reason.

        Raises `EngineFailed` after the last tokens when the request ended with `error`.
        """
        while True:
            if self._failed:
                self._failed = False
                raise EngineFailed(f"request {self.request_id} failed") from self._live.error
            if self._open_samples == 0:
                raise StopAsyncIteration
            chunk = self._live.take()
            if chunk is None:
                await self._news.wait()
                self._news.clear()
                continue
            self._open_samples -= chunk.finish_reason is not None
            if chunk.finish_reason != FinishReason.ERROR:
                return chunk
            self._failed = True
            if chunk.text or chunk.token_ids:
                return Chunk(chunk.text, chunk.token_ids, index=chunk.index)

    async def result(self) -> RequestOutput:
        """Take what is left and return the whole answer. Raises as iteration does."""
        async for _ in self:
            pass
        return output_of(self._live)

    def wake(self) -> None:
        """Something new is in the channel. Called on the stream's event loop."""
        self._news.set()

    def __del__(self) -> None:
        # Also the way out for a reader that broke off, was cancelled or never started (A12).
        if not self._live.all_ended:
            self._engine.cancel(self.request_id)


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
        self._closing = False
        self._fault: BaseException | None = None
        self._streams: weakref.WeakValueDictionary[str, Stream] = weakref.WeakValueDictionary()

    async def __aenter__(self) -> Engine:
        await asyncio.to_thread(self.start)
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.to_thread(self.close)

    def start(self) -> None:
        """Load the model and start the step loop."""
        if self._core is not None:
            raise EngineClosed("this engine was started before; make a new one")
        self._model = load_model(self.config, self._progress)
        self._core = build_core(self.config, self._model, self._components, self._clock)
        self._wakeup = threading.Condition(self._core.lock)
        self._core.wake = self._notify
        self._thread = threading.Thread(target=self._loop, name="inference-kit-step", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Refuse new requests, end the live ones with `shutdown`, stop the loop. Safe to call twice."""
        if self._core is None or self._thread is None:
            return
        with self._wakeup:
            self._closing = True
            for request_id in self._core.live:
                self._core.cancel(request_id, FinishReason.SHUTDOWN)
            self._wakeup.notify_all()
        self._thread.join()

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
        with self._wakeup:
            if self._closing or self._fault is not None:
                raise EngineClosed("the engine does not take requests any more") from self._fault
            live = core.submit(token_ids, params, deadlines, request_id, priority, received_at, cache_salt)
            stream = Stream(self, live, loop)
            self._streams[stream.request_id] = stream
            self._wakeup.notify_all()
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
        with self._wakeup:
            self._wakeup.notify_all()
            return self._core.cancel(request_id)

    def snapshot(self) -> dict[str, Any]:
        """Counts of states, blocks, slots and queues, as plain data."""
        return self.core.snapshot()

    def _notify(self) -> None:
        with self._wakeup:
            self._wakeup.notify_all()

    def _loop(self) -> None:
        core = self.core
        try:
            while self._wait_for_work(core):
                plan = core.step()
                self._wake_streams(core.take_touched())
                if not plan.chunks:
                    with self._wakeup:
                        self._wakeup.wait(IDLE_WAIT_S)
        except Exception as error:
            log.exception("the step loop failed; all live requests end with `error`")
            self._fail_all(core, error)

    def _wait_for_work(self, core: EngineCore) -> bool:
        with self._wakeup:
            while not core.has_work:
                if self._closing:
                    return False
                self._wakeup.wait()
            return True

    def _wake_streams(self, touched: list[LiveRequest]) -> None:
        by_loop: dict[asyncio.AbstractEventLoop, list[Stream]] = {}
        for live in touched:
            stream = self._streams.get(live.caller_id)
            if stream is not None:
                by_loop.setdefault(stream._loop, []).append(stream)
        for loop, streams in by_loop.items():
            try:
                loop.call_soon_threadsafe(_wake_all, streams)
            except RuntimeError:
                # The caller's loop is closed: nobody can read these answers any more.
                for stream in streams:
                    self.core.cancel(stream.request_id)

    def _fail_all(self, core: EngineCore, error: BaseException) -> None:
        with self._wakeup:
            self._fault = error
            for live in list(core.live.values()):
                live.request.error = live.request.error or error
                try:
                    live.request.finalize(FinishReason.ERROR, self._clock.now())
                except Exception:
                    log.exception("request %s could not be ended cleanly", live.request.request_id)
                    live.channel.close(str(FinishReason.ERROR))
                    core.touched[live.request.request_id] = live
        self._wake_streams(core.take_touched())


def _wake_all(streams: list[Stream]) -> None:
    for stream in streams:
        stream.wake()
