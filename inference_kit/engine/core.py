"""One engine, one step at a time, on the caller's thread. No asyncio, no sockets, no waiting.

Owns the live requests and the boundary at which they end. It plans nothing (scheduler) and computes
nothing (runner). Invariants: every accepted request ends exactly once; what ends gives back all it
held; expired, cancelled and slow requests are handled at the boundary and nowhere else.
"""

from __future__ import annotations

import secrets
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from ..clock import Clock
from ..config import Deadlines, EngineConfig
from ..errors import InvalidField, RequestRefused
from ..kv.manager import KVManager
from ..lifecycle.request import Request
from ..lifecycle.states import Event, FinishReason, State
from ..sampling import SamplingParams, is_int
from ..scheduler.plan import Runner, StepOutput, StepPlan
from ..scheduler.scheduler import SchedulerConfig
from ..streaming.text import StreamingText
from ..telemetry.metrics import Metrics
from .components import Components
from .samples import LiveRequest, sample_ids
from .vocabulary import Vocabulary


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
        pool = self.components.block_pool(config.num_kv_blocks, config.block_size)
        cache = self.components.prefix_cache(pool) if config.prefix_caching else None
        self.kv = KVManager(pool, cache)
        self.scheduler = self.components.scheduler(_scheduler_config(config), self.kv)
        self.context = min(vocabulary.context, config.max_model_len or vocabulary.context)
        self.max_total_tokens = min(self.context, config.num_kv_blocks * config.block_size + 1)
        self.events = self.components.telemetry()
        self.metrics = Metrics()
        self.events.subscribe(self.metrics.observe)
        self.lock = threading.RLock()
        self.live: dict[str, LiveRequest] = {}
        self.families: dict[str, LiveRequest] = {}
        """Sample 0 of each request with n > 1, by id, while any of its samples is live."""
        self.touched: dict[str, LiveRequest] = {}
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
        cache_salt: str = "",
    ) -> LiveRequest:
        """Accept a request into the queue; for n > 1 all its samples, and return sample 0. Any thread.

        `received_at`: engine time at which the caller's text came in; None: now.
        `cache_salt`: only requests with the same salt share cached blocks (one salt for each tenant).

        Raises `InvalidField` for bad input, `RequestRefused` when it can never fit (convention 10)
        and `QueueFull` when the queue is at its bound (convention 8). A refused request leaves no trace
        but the rejected counter.
        """
        params = params or SamplingParams()
        limits = self.config.deadlines if deadlines is None else Deadlines.make(deadlines)
        if not is_int(priority):
            raise InvalidField("priority", priority, "a whole number")
        if not isinstance(cache_salt, str):
            raise InvalidField("cache_salt", cache_salt, "a string")
        with self.lock:
            try:
                max_new_tokens = self._check(prompt_token_ids, params, request_id)
                self.scheduler.check_room(len(prompt_token_ids), params.n)
            except Exception:
                self.metrics.rejected += 1
                raise
            now = self.clock.now()
            seed = _first_given(params.seed, self.config.seed)
            samples: list[LiveRequest] = []
            for name in sample_ids(request_id or f"req-{secrets.token_hex(8)}", params.n):
                request = Request(
                    name,
                    prompt_token_ids,
                    params,
                    limits,
                    received_at=now if received_at is None else received_at,
                    priority=priority,
                    lifecycle=self.components.lifecycle,
                    observer=self.events.append,
                )
                request.max_new_tokens = max_new_tokens
                request.seed, request.sample_index = seed, len(samples)
                request.cache_salt = cache_salt
                samples.append(self._accept(request, now))
            return self._join(samples)

    def cancel(self, request_id: str, reason: FinishReason = FinishReason.CLIENT_CANCEL) -> bool:
        """Ask for an end at the next boundary (A8). False for an unknown or ended request. Any thread.

        The id of a request with n > 1 ends all its samples, also those not started (case X03).
        """
        with self.lock:
            family = self.families.get(request_id)
            members = family.members if family else [self.live[request_id]] if request_id in self.live else []
            for live in members:
                live.request.cancel_reason = live.request.cancel_reason or reason
            return bool(members)

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
        for live in list(self.live.values()):
            self._end_if_due(live.request, now)
            if not live.request.is_terminal:
                self._apply_credit(live, now)
        return now

    def run(self, plan: StepPlan) -> StepOutput:
        """Run the plan. A step that raises fails the requests of that step and nothing else."""
        if not plan.chunks:
            return StepOutput({})
        try:
            return self.runner.run(plan)
        except Exception as error:
            with self.lock:
                for chunk in plan.chunks:
                    self.live[chunk.request_id].request.error = error
            return StepOutput({}, {chunk.request_id: str(error) for chunk in plan.chunks})

    def commit(self, plan: StepPlan, output: StepOutput) -> None:
        """Take the results of a step into the requests. What ended at this boundary takes nothing."""
        now = self.boundary()
        for chunk in plan.chunks:
            live = self.live.get(chunk.request_id)
            if live is None:
                continue
            if chunk.request_id in output.errors:
                live.request.error = live.request.error or RuntimeError(output.errors[chunk.request_id])
                live.request.finalize(FinishReason.ERROR, now)
                continue
            live.request.num_computed_tokens += len(chunk.token_ids)
            self.kv.publish(live.request)
            if chunk.samples:
                self._commit_token(live, output.token_ids[chunk.request_id], now)

    def take_touched(self) -> list[LiveRequest]:
        """Requests with something new for their callers since the last call."""
        with self.lock:
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
        names = [] if request_id is None else sample_ids(request_id, params.n)
        if any(name in self.live or name in self.families for name in names):
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
        text = StreamingText(
            params.stop, params.include_stop, params.min_tokens, parts.utf8_decoder, parts.stop_matcher
        )
        channel = parts.channel(self.config.channel_high, self.config.channel_low, self.wake)
        live = LiveRequest(request, text, channel)
        request.hold("registry", lambda: self._forget(live))
        request.hold("stream", lambda: self._close(live))
        request.hold("kv and slot", lambda: self.scheduler.drop(request))
        request.move(Event.TOKENIZE, now)
        self.scheduler.add(request, now)
        self.live[request.request_id] = live
        return live

    def _join(self, samples: list[LiveRequest]) -> LiveRequest:
        """Tie the samples of one prompt together; a single one stays as it is."""
        first = samples[0]
        if len(samples) > 1:
            self.families[first.caller_id] = first
            for live in samples:
                live.samples = tuple(samples)
                live.request.family = first.caller_id
        return first

    def _end_if_due(self, request: Request, now: float) -> None:
        expired = self.components.endings(request.deadlines, request.marks, now)
        slow = _slow_since(request, self.config.slow_consumer_s, now)
        due = min((end for end in (expired, slow) if end is not None), key=lambda end: end[1], default=None)
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

    def _commit_token(self, live: LiveRequest, token_id: int, now: float) -> None:
        request = live.request
        request.commit_token(token_id, now)
        reason = self._stop_by_token(request, token_id)
        hidden = reason is not None and not (
            reason is FinishReason.STOP_TOKEN and request.sampling.include_stop
        )
        text = "" if hidden else live.text.push(*self.vocabulary.token(token_id))
        live.channel.put(text, (token_id,))
        self.touched[request.request_id] = live
        if live.text.stopped:
            request.stop_reason = live.text.stop_reason
            reason = FinishReason.STOP_STRING
        if reason is None and request.num_output_tokens >= request.max_new_tokens:
            reason = FinishReason.LENGTH
        if reason is not None:
            request.finalize(reason, now)

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
        if live.request.state is not State.CANCELLED:
            live.channel.put(live.text.finish(), ())
        live.channel.close(reason)
        self.touched[live.request.request_id] = live

    def _forget(self, live: LiveRequest) -> None:
        self.live.pop(live.request.request_id, None)
        if live.samples and live.all_ended:
            self.families.pop(live.caller_id, None)


def _scheduler_config(config: EngineConfig) -> SchedulerConfig:
    return SchedulerConfig(
        max_step_tokens=config.max_step_tokens,
        max_running=config.max_running,
        max_waiting=config.max_waiting,
        max_waiting_tokens=config.max_waiting_tokens,
        max_prefill_chunk=config.max_prefill_chunk,
        watermark=config.watermark,
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
