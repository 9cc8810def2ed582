"""One engine, one step at a time, on the caller's thread. No asyncio, no sockets, no waiting.

Owns the live requests and the boundary at which they end. It plans nothing (scheduler) and computes
nothing (runner). Invariants: every accepted request ends exactly once; what ends gives back all it
held; expired, cancelled and slow requests are handled at the boundary and nowhere else. A step looks only
at requests where something may happen: a timer, a cancel, a change of credit, a marked token, a limit.
"""

from __future__ import annotations

import math
import secrets
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..clock import Clock
from ..config import Deadlines, EngineConfig
from ..errors import InvalidField, RequestRefused
from ..kv.manager import KVManager
from ..lifecycle.request import Request
from ..lifecycle.states import Event, FinishReason, State
from ..sampling import SamplingParams, is_int
from ..scheduler.decodes import DecodeBatch
from ..scheduler.plan import Runner, ScheduledChunk, StepOutput, StepPlan
from ..scheduler.scheduler import Scheduler, SchedulerConfig
from ..streaming.text import StreamingText
from ..telemetry.events import TokenLines
from ..telemetry.metrics import Metrics
from .components import Components
from .delivery import LiveRequest, PulledChannel
from .marks import TokenMarks
from .timers import Timers
from .vocabulary import Vocabulary

__all__ = ["EngineCore", "LiveRequest"]


class EngineCore:
    """The engine without threads.

    Args:
        config: limits; `num_kv_blocks` must be set.
        runner: computes steps.
        vocabulary: bytes of token ids, EOS ids, size, context length.
        clock: the engine's time.
        components: replaced parts.
    """

    def __init__(
        self,
        config: EngineConfig,
        runner: Runner,
        vocabulary: Vocabulary,
        clock: Clock,
        components: Components | None = None,
    ) -> None:
        if config.num_kv_blocks is None:
            raise InvalidField("num_kv_blocks", None, "a whole number >= 1 for an EngineCore")
        self.config = config
        self.components = components or Components()
        self.runner = runner
        self.vocabulary = vocabulary
        self.clock = clock
        self.kv = KVManager(self.components.block_pool(config.num_kv_blocks, config.block_size))
        self.scheduler = self.components.scheduler(_scheduler_config(config), self.kv)
        if isinstance(self.scheduler, Scheduler):
            self.scheduler.endings = self.components.endings
        self.context = min(vocabulary.context, config.max_model_len or vocabulary.context)
        self.max_total_tokens = min(self.context, config.num_kv_blocks * config.block_size + 1)
        self.events = self.components.telemetry()
        self.metrics = Metrics()
        self._look_at_all = self.components.any_sees_tokens
        if self._look_at_all:
            self.events.subscribe(self.metrics.observe)
        else:
            self.events.subscribe(self.metrics.observe, self.metrics.observe_tokens)
        self.lock = threading.RLock()
        self.live: dict[str, LiveRequest] = {}
        self.touched: dict[str, LiveRequest] = {}
        self._news: list[Sequence[str]] = []
        self._attention: dict[str, LiveRequest] = {}
        self._timers = Timers()
        self._marks = TokenMarks(vocabulary)
        self.wake: Callable[[], None] = lambda: None
        """Called when a paused request may go on; the threaded engine sets it."""

    @property
    def has_work(self) -> bool:
        """True while a request is live."""
        return bool(self.live)

    def submit(
        self,
        prompt_token_ids: Sequence[int],
        params: SamplingParams | None = None,
        deadlines: Deadlines | dict[str, Any] | None = None,
        request_id: str | None = None,
        priority: int = 0,
        received_at: float | None = None,
    ) -> LiveRequest:
        """Accept a request into the queue. Any thread.

        `received_at`: engine time at which the caller's text came in; None: now.

        Raises `InvalidField` for bad input, `RequestRefused` when it can never fit (convention 10)
        and `QueueFull` when the queue is at its bound (convention 8). A refused request leaves no trace
        but the rejected counter.
        """
        params = params or SamplingParams()
        limits = self.config.deadlines if deadlines is None else Deadlines.make(deadlines)
        if not is_int(priority):
            raise InvalidField("priority", priority, "a whole number")
        with self.lock:
            try:
                max_new_tokens = self._check(prompt_token_ids, params, request_id)
                self.scheduler.check_room(len(prompt_token_ids))
            except Exception:
                self.metrics.rejected += 1
                raise
            now = self.clock.now()
            request = Request(
                request_id or f"req-{secrets.token_hex(8)}",
                prompt_token_ids,
                params,
                limits,
                received_at=now if received_at is None else received_at,
                priority=priority,
                lifecycle=self.components.lifecycle,
                observer=self.events.append,
            )
            request.max_new_tokens = max_new_tokens
            request.seed = _first_given(params.seed, self.config.seed)
            return self._accept(request, now)

    def cancel(self, request_id: str, reason: FinishReason = FinishReason.CLIENT_CANCEL) -> bool:
        """Ask for an end at the next boundary (A8). False for an unknown or ended request. Any thread."""
        with self.lock:
            live = self.live.get(request_id)
            if live is None:
                return False
            live.request.cancel_reason = live.request.cancel_reason or reason
            self._attention[request_id] = live
            return True

    def step(self) -> StepPlan:
        """One step: plan, run, commit."""
        with self.lock:
            plan = self.scheduler.schedule(self.boundary())
        output = self.run(plan)
        with self.lock:
            self.commit(plan, output)
        return plan

    def boundary(self) -> float:
        """End what is cancelled, expired or too slow; pause and resume by credit. Returns the time."""
        now = self.clock.now()
        for live in self._take_attention(now):
            self._end_if_due(live.request, now)
            if not live.request.is_terminal:
                self._apply_credit(live, now)
                self._arm(live)
        return now

    def run(self, plan: StepPlan) -> StepOutput:
        """Run the plan. A step that raises fails the requests of that step and nothing else."""
        if not plan.chunks:
            return StepOutput({})
        try:
            return self.runner.run(plan)
        except Exception as error:
            with self.lock:
                for request_id in plan.request_ids:
                    self.live[request_id].request.error = error
            return StepOutput({}, dict.fromkeys(plan.request_ids, str(error)))

    def commit(self, plan: StepPlan, output: StepOutput) -> None:
        """Take the results of a step into the requests. What ended at this boundary takes nothing."""
        now = self.boundary()
        if output.errors:
            self._end_failed(plan, output, now)
        if plan.batch is not None:
            self._commit_batch(plan.batch, output, now)
        for chunk in plan.singles:
            self._commit_chunk(chunk, output, now)

    def take_touched(self) -> list[LiveRequest]:
        """Requests with something new for their callers since the last call."""
        with self.lock:
            self._fold_news()
            touched, self.touched = list(self.touched.values()), {}
            return touched

    def snapshot(self) -> dict[str, Any]:
        """Counts of states, blocks, queues and tokens, as plain data."""
        with self.lock:
            requests = [live.request for live in self.live.values()]
            pool = self.kv.pool
            return {
                "states": dict(Counter(str(request.state) for request in requests)),
                "waiting": len(list(self.scheduler.waiting)),
                "running": len(list(self.scheduler.running)),
                "kv_blocks": pool.num_blocks,
                "kv_blocks_free": pool.num_free,
                "unsent_tokens": sum(live.channel.unsent for live in self.live.values()),
                **self.metrics.snapshot(),
            }

    def check_integrity(self) -> None:
        """Raise `IntegrityError` unless the block references are just those of the live requests."""
        with self.lock:
            self.kv.check_integrity(live.request for live in self.live.values())

    def _check(self, prompt: Sequence[int], params: SamplingParams, request_id: str | None) -> int:
        """Refuse what cannot be served; return the most tokens to generate (convention 10)."""
        size = self.vocabulary.size
        if len(prompt) == 0:
            raise InvalidField("prompt", list(prompt), "at least one token")
        for name, ids in (("prompt_token_ids", prompt), ("stop_token_ids", params.stop_token_ids)):
            for token_id in ids:
                if not is_int(token_id) or not 0 <= token_id < size:
                    raise InvalidField(name, token_id, f"token ids in 0..{size - 1}")
        if request_id is not None and (not isinstance(request_id, str) or not request_id):
            raise InvalidField("request_id", request_id, "a non-empty string")
        if request_id in self.live:
            raise InvalidField("request_id", request_id, "an id that no live request has")
        if len(prompt) >= self.max_total_tokens:
            raise RequestRefused(
                "prompt", f"{len(prompt)} tokens", f"fewer than {self.max_total_tokens} tokens"
            )
        if params.max_tokens is not None and len(prompt) + params.max_tokens > self.context:
            room = self.context - len(prompt)
            raise RequestRefused("max_tokens", params.max_tokens, f"at most {room} after this prompt")
        room = self.max_total_tokens - len(prompt)
        return room if params.max_tokens is None else min(room, params.max_tokens)

    def _accept(self, request: Request, now: float) -> LiveRequest:
        parts, params = self.components, request.sampling
        matcher = parts.stop_matcher(params.stop)
        text = StreamingText(
            params.stop, params.include_stop, params.min_tokens, parts.utf8_decoder, lambda _: matcher
        )
        live = LiveRequest(request, text, matcher, self.vocabulary, self._marks.add(params), self.lock)
        high, low = self.config.channel_high, self.config.channel_low
        if self._look_at_all:
            live.channel = parts.channel(high, low, lambda: self._resumed(live))
        else:
            live.channel = PulledChannel(live, high, low, lambda: self._resumed(live))
        request.hold("registry", lambda: self._forget(live))
        request.hold("stream", lambda: self._close(live))
        request.hold("kv and slot", lambda: self.scheduler.drop(request))
        request.move(Event.TOKENIZE, now)
        self.scheduler.add(request, now)
        self.live[request.request_id] = live
        self._arm(live)
        return live

    def _take_attention(self, now: float) -> Iterable[LiveRequest]:
        """The live requests that this boundary must look at."""
        if self._look_at_all:
            return list(self.live.values())
        taken, self._attention = self._attention, {}
        for request_id in self._timers.pop_due(now):
            taken[request_id] = self.live[request_id]
        return [live for live in taken.values() if not live.request.is_terminal]

    def _arm(self, live: LiveRequest) -> None:
        """Have a boundary look at the request when its next limit passes."""
        if self._look_at_all:
            return
        end = self._limit_passed(live.request, math.inf)
        if end is not None:
            self._timers.arm(live.request.request_id, end[1])

    def _resumed(self, live: LiveRequest) -> None:
        with self.lock:
            self._attention[live.request.request_id] = live
        self.wake()

    def _limit_passed(self, request: Request, now: float) -> tuple[FinishReason, float] | None:
        """The limit of time that passed first, with its time."""
        expired = self.components.endings(request.deadlines, request.marks, now)
        slow = _slow_since(request, self.config.slow_consumer_s, now)
        return min((end for end in (expired, slow) if end is not None), key=lambda end: end[1], default=None)

    def _end_if_due(self, request: Request, now: float) -> None:
        due = self._limit_passed(request, now)
        if due is not None:
            request.finalize(*due)
        elif request.cancel_reason is not None:
            request.finalize(request.cancel_reason, now)

    def _apply_credit(self, live: LiveRequest, now: float) -> None:
        request = live.request
        request.has_credit = not live.channel.paused
        if request.state is State.DECODE and not request.has_credit:
            request.move(Event.PAUSE, now)
        elif request.state is State.STREAMING and request.has_credit:
            request.move(Event.RESUME, now)

    def _end_failed(self, plan: StepPlan, output: StepOutput, now: float) -> None:
        for request_id in plan.request_ids:
            live = self.live.get(request_id)
            if live is not None and request_id in output.errors:
                live.request.error = live.request.error or RuntimeError(output.errors[request_id])
                live.request.finalize(FinishReason.ERROR, now)

    def _commit_batch(self, batch: DecodeBatch, output: StepOutput, now: float) -> None:
        """Commit one token for each decode, and look at those where it may matter."""
        batch = batch.table.members(batch)
        ids = [output.token_ids[request_id] for request_id in batch.request_ids]
        looked = batch.table.commit(batch, ids, self._marks.of(ids), now)
        lines = TokenLines(batch.request_ids, ids, now, str(State.DECODE))
        if self._look_at_all:
            for line in lines:
                self.events.append(line)
        else:
            self.events.append_tokens(lines)
        self._note_news(batch.request_ids)
        for request in looked:
            self._look(self.live[request.request_id], now)

    def _commit_chunk(self, chunk: ScheduledChunk, output: StepOutput, now: float) -> None:
        live = self.live.get(chunk.request_id)
        if live is None:
            return
        request = live.request
        request.num_computed_tokens += len(chunk.token_ids)
        if not chunk.samples:
            return
        request.commit_token(output.token_ids[chunk.request_id], now)
        self.touched[request.request_id] = live
        if request.num_output_tokens == 1:
            self._arm(live)
        self._look(live, now)

    def _note_news(self, request_ids: Sequence[str]) -> None:
        # As long as the same requests decode, the sequence is the same object.
        if not self._news or self._news[-1] is not request_ids:
            self._news.append(request_ids)
        if len(self._news) > MOST_NEWS:
            self._fold_news()

    def _fold_news(self) -> None:
        for request_ids in self._news:
            for request_id in request_ids:
                if request_id in self.live:
                    self.touched[request_id] = self.live[request_id]
        self._news.clear()

    def _look(self, live: LiveRequest, now: float) -> None:
        """Let the newest token end the request, or say which of the next ones to look at."""
        request = live.request
        token_id = request.token_ids[-1]
        reason = self._stop_by_token(request, token_id)
        live.deliver(
            hide_last=reason is not None
            and not (reason is FinishReason.STOP_TOKEN and request.sampling.include_stop)
        )
        if live.text.stopped:
            request.stop_reason = live.text.stop_reason
            reason = FinishReason.STOP_STRING
        if reason is None and request.num_output_tokens >= request.max_new_tokens:
            reason = FinishReason.LENGTH
        if reason is not None:
            request.finalize(reason, now)
            return
        if live.channel.paused:
            self._attention[request.request_id] = live
        if request.table is not None:
            request.table.look_again(request, self._tokens_until_look(live), live.looks)

    def _tokens_until_look(self, live: LiveRequest) -> int:
        """The next of these many tokens that needs a look whatever its id is; >= 1."""
        request = live.request
        if self._look_at_all:
            return 1
        if request.sampling.stop:
            whole = self._marks.is_whole(request.token_ids[-1])
            if live.matcher.held or not whole:
                return 1
        credit = self.config.channel_high - live.channel.unsent
        return max(1, min(request.max_new_tokens - request.num_output_tokens, credit))

    def _stop_by_token(self, request: Request, token_id: int) -> FinishReason | None:
        params = request.sampling
        if request.num_output_tokens <= params.min_tokens:
            return None
        if token_id in params.stop_token_ids:
            request.stop_reason = token_id
            return FinishReason.STOP_TOKEN
        if token_id in self.vocabulary.eos_token_ids and not params.ignore_eos:
            return FinishReason.STOP_EOS
        return None

    def _close(self, live: LiveRequest) -> None:
        reason = str(live.request.finish_reason)
        live.deliver()
        if live.request.state is not State.CANCELLED:
            live.channel.put(live.text.finish(), ())
        live.channel.close(reason)
        self.touched[live.request.request_id] = live

    def _forget(self, live: LiveRequest) -> None:
        self.live.pop(live.request.request_id, None)
        self._attention.pop(live.request.request_id, None)
        self._timers.drop(live.request.request_id)


MOST_NEWS = 8
"""Steps whose news are kept as they are before they are merged."""


def _scheduler_config(config: EngineConfig) -> SchedulerConfig:
    return SchedulerConfig(
        max_step_tokens=config.max_step_tokens,
        max_running=config.max_running,
        max_waiting=config.max_waiting,
        max_waiting_tokens=config.max_waiting_tokens,
        max_prefill_chunk=config.max_prefill_chunk,
        watermark=config.watermark,
        policy=config.policy,
        priority_ageing_s=config.priority_ageing_s,
        max_passes=config.max_passes,
    )


def _first_given(*seeds: int | None) -> int:
    """The first seed that was given; fresh entropy when none was. A seed of 0 counts as given."""
    for seed in seeds:
        if seed is not None:
            return seed
    return secrets.randbits(64)


def _slow_since(request: Request, limit_s: float | None, now: float) -> tuple[FinishReason, float] | None:
    if limit_s is None or request.paused_at is None or now < request.paused_at + limit_s:
        return None
    return FinishReason.SLOW_CONSUMER, request.paused_at + limit_s
