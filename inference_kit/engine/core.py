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
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ..clock import Clock
from ..config import Deadlines, EngineConfig
from ..errors import InvalidField, LifecycleBroken, RequestRefused
from ..kv.manager import KVManager
from ..kv.offload import HostStore
from ..kv.snapshot import block_snapshot
from ..kv.table import longest_total
from ..lifecycle.endings import which_end
from ..lifecycle.request import LoggedEvent, Request
from ..lifecycle.states import Event, FinishReason, State
from ..sampling import SamplingParams, is_int
from ..scheduler.decodes import DecodeBatch
from ..scheduler.plan import Runner, ScheduledChunk, StepOutput, StepPlan, TokenLogprob
from ..scheduler.rounds import RoundsRunner
from ..scheduler.scheduler import Scheduler, SchedulerConfig
from ..streaming.text import StreamingText
from ..telemetry.events import TokenLines
from ..telemetry.metrics import Metrics
from .components import Components
from .delivery import LiveRequest, PulledChannel
from .marks import NO_ID, TokenMarks
from .samples import sample_ids
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
        rounds = config.decode_rounds
        self._rounds = runner if rounds == 1 else RoundsRunner(runner, rounds, config.block_size)
        self.vocabulary = vocabulary
        self.clock = clock
        pool = self.components.block_pool(config.num_kv_blocks, config.block_size)
        cache = self.components.prefix_cache(pool) if config.prefix_caching else None
        host = HostStore(config.offload_blocks, config.block_size) if config.offload_blocks else None
        self.kv = KVManager(pool, cache, host)
        self.scheduler = self.components.scheduler(_scheduler_config(config), self.kv)
        if isinstance(self.scheduler, Scheduler):
            self.scheduler.endings = self.components.endings
            self.scheduler.on_fault = self._note_fault
        if config.max_model_len is not None and config.max_model_len > vocabulary.context:
            allowed = f"at most {vocabulary.context}, the model's context"
            raise InvalidField("max_model_len", config.max_model_len, allowed)
        self.context = config.max_model_len or vocabulary.context
        self.max_total_tokens = min(self.context, longest_total(config.num_kv_blocks, config.block_size))
        self.events = self.components.telemetry()
        self.metrics = Metrics()
        self._look_at_all = self.components.any_sees_tokens
        if self._look_at_all:
            self.events.subscribe(self.metrics.observe)
        else:
            self.events.subscribe(self.metrics.observe, self.metrics.observe_tokens)
        self.lock = threading.RLock()
        self.live: dict[str, LiveRequest] = {}
        self.touched: set[LiveRequest] = set()
        self._news: list[Sequence[str]] = []
        # Ids as the keys of a dict, for their order; an id that is not live any more is passed over.
        self._attention: dict[str, None] = {}
        self._timers = Timers()
        self._more_to_come = False
        """True while a later round of the same step is still to be committed: no credit is looked at."""
        self._ended: list[Request] | None = None
        """Collects those that end while it is a list."""
        self._marks = TokenMarks(vocabulary)
        self.families: dict[str, LiveRequest] = {}
        """Sample 0 of each request with n > 1, by id, while any of its samples is live."""
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
        with self.lock:
            try:
                params = SamplingParams() if params is None else params
                if not isinstance(params, SamplingParams):
                    raise InvalidField("params", params, "a SamplingParams or None")
                limits = self.config.deadlines if deadlines is None else Deadlines.make(deadlines)
                if not is_int(priority):
                    raise InvalidField("priority", priority, "a whole number")
                if not isinstance(cache_salt, str):
                    raise InvalidField("cache_salt", cache_salt, "a string")
                max_new_tokens = self._check(prompt_token_ids, params, request_id)
                self.scheduler.check_room(len(prompt_token_ids), params.n)
                ways_out = [self._way_out(params) for _ in range(params.n)]
            except Exception:
                self.metrics.rejected += 1
                raise
            now = self.clock.now()
            names = sample_ids(request_id or f"req-{secrets.token_hex(8)}", params.n)
            seed = _first_given(params.seed, self.config.seed)
            for index, (live, name) in enumerate(zip(ways_out, names, strict=True)):
                live.request = request = Request(
                    name,
                    prompt_token_ids,
                    params,
                    limits,
                    received_at=now if received_at is None else received_at,
                    priority=priority,
                    lifecycle=self.components.lifecycle,
                    observer=self._record,
                )
                request.max_new_tokens = max_new_tokens
                request.seed, request.sample_index = seed, index
                request.cache_salt = cache_salt
            return self._accept_all(ways_out, now)

    def cancel(self, request_id: str, reason: FinishReason = FinishReason.CLIENT_CANCEL) -> bool:
        """Ask for an end at the next boundary (A8). False for an unknown or ended request. Any thread.

        The id of a request with n > 1 ends all its samples, also those not started (case X03).
        """
        with self.lock:
            family = self.families.get(request_id)
            members = family.members if family else [self.live[request_id]] if request_id in self.live else []
            for live in members:
                if live.request.cancel_reason is None:
                    live.request.cancel_reason, live.request.cancelled_at = reason, self.clock.now()
                    self._attention[live.request.request_id] = None
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
        for live in self._take_attention(now):
            try:
                self._end_if_due(live.request, now)
                if not live.request.is_terminal:
                    self._apply_credit(live, now)
                    self._arm(live)
            except Exception as error:
                self._fail(live, error, now)
        return now

    def run(self, plan: StepPlan) -> StepOutput:
        """Run the plan. A step that raises fails the requests of that step and nothing else."""
        if plan.is_empty:
            return StepOutput({})
        try:
            return _checked_output(self._rounds.run(plan))
        except Exception as error:
            with self.lock:
                for request_id in plan.involved_ids:
                    if request_id in self.live:
                        self._note_fault(self.live[request_id].request, error)
                for request_id in plan.preempted if plan.offloads else ():
                    # Their contents may not have been moved: they are computed again.
                    if request_id in self.live:
                        self.kv.forget_offloaded(self.live[request_id].request)
            return StepOutput({}, dict.fromkeys(plan.involved_ids, str(error)))

    def commit(self, plan: StepPlan, output: StepOutput) -> None:
        """Take the results of a step into the requests. What ended at this boundary takes nothing."""
        now = self._boundary_of_commit(output)
        if output.errors:
            self._end_failed(plan, output, now)
        more = [self.live[name] for name in output.later[0] if name in self.live] if output.later else []
        self._more_to_come = bool(more)
        if output.logprobs:
            self._take_logprobs(output.logprobs[0])
        if plan.batch is not None:
            self._commit_batch(plan.batch, output, now)
        for chunk in plan.singles:
            live = self.live.get(chunk.request_id)
            if live is not None:
                try:
                    self._commit_chunk(live, chunk, output, now)
                except Exception as error:
                    self._fail(live, error, now)
        if more:
            self._commit_later(more, output, now)

    def _take_logprobs(self, entries: Mapping[str, TokenLogprob]) -> None:
        """Note the entries before their tokens: so a reader never sees a token that lacks its entry."""
        for request_id, entry in entries.items():
            if request_id in self.live:
                self.live[request_id].request.logprobs.append(entry)

    def _commit_later(self, lives: Sequence[LiveRequest], output: StepOutput, now: float) -> None:
        """Commit the tokens of the later rounds. What stands behind an end is discarded (convention 4)."""
        for number, ids in enumerate(output.later, 1):
            self._take_logprobs(output.logprobs[number] if number < len(output.logprobs) else {})
            for live in lives:
                request = live.request
                if request.request_id not in ids:
                    continue
                if request.is_terminal:
                    self._discard(request)
                    continue
                try:
                    request.num_computed_tokens += 1
                    self._commit_token(live, ids, now)
                except Exception as error:
                    self._fail(live, error, now)
        self._more_to_come = False
        for live in lives:
            if not live.request.is_terminal:
                self._look_ahead(live, now)

    def _boundary_of_commit(self, output: StepOutput) -> float:
        """The boundary before the results go in. What ends here has a result that never counts."""
        ended: list[Request] = []
        self._ended = ended
        now = self.boundary()
        self._ended = None
        for request in ended:
            self._discard_all(request, output)
        return now

    def take_touched(self) -> list[LiveRequest]:
        """Requests with something new for their callers since the last call."""
        with self.lock:
            self._fold_news()
            touched, self.touched = list(self.touched), set()
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
                "queried_prompt_tokens": self.kv.num_queried_tokens,
                "cached_prompt_tokens": self.kv.num_cached_tokens,
                **self.metrics.snapshot(),
            }

    def kv_snapshot(self) -> dict[str, Any]:
        """Who holds which KV block now, as plain data (`block_snapshot`)."""
        with self.lock:
            requests = [live.request for live in self.live.values() if live.request.block_table]
            tables = {request.request_id: request.block_table for request in requests}
            written = {request.request_id: request.num_computed_tokens for request in requests}
            return block_snapshot(self.kv.pool, tables, written)

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
        if params.n > self.config.max_waiting:
            allowed = f"at most {self.config.max_waiting}, the bound of the queue"
            raise RequestRefused("n", params.n, allowed)
        if params.n * len(prompt) > self.config.max_waiting_tokens:
            samples = "" if params.n == 1 else f" for each of {params.n} samples"
            allowed = f"at most {self.config.max_waiting_tokens} in all, the bound of the queue"
            raise RequestRefused("prompt", f"{len(prompt)} tokens{samples}", allowed)
        if params.max_tokens is not None and len(prompt) + params.max_tokens > self.context:
            room = self.context - len(prompt)
            raise RequestRefused("max_tokens", params.max_tokens, f"at most {room} after this prompt")
        room = self.max_total_tokens - len(prompt)
        return room if params.max_tokens is None else min(room, params.max_tokens)

    def _way_out(self, params: SamplingParams) -> LiveRequest:
        """The text and the channel of a request that is not made yet: a part may refuse to be made."""
        parts = self.components
        text = StreamingText(
            params.stop, params.include_stop, params.min_tokens, parts.utf8_decoder, parts.stop_matcher
        )
        live = LiveRequest(text, self.vocabulary, self.lock, self._ask_for_a_look, self._count_sent)
        high, low = self.config.channel_high, self.config.channel_low
        live.channel = (
            parts.channel(high, low, self.wake) if self._look_at_all else PulledChannel(live, high, low)
        )
        return live

    def _accept(self, live: LiveRequest, now: float) -> LiveRequest:
        request = live.request
        request.hold("registry", lambda: self._forget(live))
        request.hold("stream", lambda: self._close(live))
        request.hold("kv and slot", lambda: self.scheduler.drop(request))
        try:
            request.move(Event.TOKENIZE, now)
            self.scheduler.add(request, now)
        except Exception as error:
            self._fail(live, error, now)
            raise
        live.looks = self._marks.add(request.sampling)
        self.live[request.request_id] = live
        self._arm(live)
        return live

    def _accept_all(self, samples: list[LiveRequest], now: float) -> LiveRequest:
        """Put the samples of one prompt into the queue, tied together; return the first."""
        first = samples[0]
        if len(samples) > 1:
            for live in samples:
                live.samples = tuple(samples)
                live.request.family = first.caller_id
            self.families[first.caller_id] = first
        try:
            for live in samples:
                self._accept(live, now)
        except Exception as error:
            # The one that could not be taken has ended; those before it end too, those after never were.
            for live in samples:
                if live.request.request_id in self.live:
                    self._fail(live, error, now)
            self.families.pop(first.caller_id, None)
            raise
        return first

    def _record(self, entry: LoggedEvent) -> None:
        """Log a line. When that raises, the request ends at the next boundary (`Request.report`)."""
        try:
            self.events.append(entry)
        except Exception:
            self._attention[entry.request_id] = None
            raise

    def _take_attention(self, now: float) -> Iterable[LiveRequest]:
        """The live requests that this boundary must look at."""
        if self._look_at_all:
            return list(self.live.values())
        if not self._attention and not self._timers.is_due(now):
            return ()
        taken, self._attention = self._attention, {}
        taken.update(dict.fromkeys(self._timers.pop_due(now)))
        return [self.live[request_id] for request_id in taken if request_id in self.live]

    def _arm(self, live: LiveRequest) -> None:
        """Have a boundary look at the request when its next limit passes."""
        if self._look_at_all:
            return
        end = self._limit_passed(live.request, math.inf)
        if end is not None:
            self._timers.arm(live.request.request_id, end[1])

    def _ask_for_a_look(self, live: LiveRequest) -> None:
        """Have the next boundary look at the request: its credit is back, or its reader met a fault."""
        with self.lock:
            self._attention[live.request.request_id] = None
        self.wake()

    def _note_fault(self, request: Request, error: Exception) -> None:
        """A part raised for this request: it ends at the next boundary. An ended one keeps the fault."""
        if request.is_terminal:
            request.release_errors.append(error)
            return
        request.error = request.error or error
        self._attention[request.request_id] = None

    def _count_sent(self, num_tokens: int) -> None:
        with self.lock:
            self.metrics.sent_tokens += num_tokens

    def _discard(self, request: Request) -> None:
        """One more token was proposed for this request and does not count (C4)."""
        request.num_discarded_tokens += 1
        self.metrics.discarded_tokens += 1

    def _discard_all(self, request: Request, output: StepOutput) -> None:
        """The request has ended before its results came in."""
        for ids in (output.token_ids, *output.later):
            if request.request_id in ids:
                self._discard(request)

    def _fail(self, live: LiveRequest, error: Exception, now: float) -> None:
        """A part of one request raised, or its row is unusable: only this request ends."""
        live.request.error = live.request.error or error
        try:
            self._end(live.request, FinishReason.ERROR, now)
        except Exception:
            live.request.fall_back()
            live.request.finalize(FinishReason.ERROR, now)

    def _end(self, request: Request, reason: FinishReason, at: float) -> None:
        """`finalize`, and the check that a replaced lifecycle really ended the request."""
        request.finalize(reason, at)
        if not request.is_terminal:
            raise LifecycleBroken(
                f"finalize({str(reason)!r}) left {request.request_id} in state {str(request.state)!r}; "
                "it must move the request to a terminal state"
            )

    def _limit_passed(self, request: Request, now: float) -> tuple[FinishReason, float] | None:
        """The limit of time that passed first, with its time."""
        expired = self.components.endings(request.deadlines, request.marks, now)
        slow = _slow_since(request, self.config.slow_consumer_s, now)
        return min((end for end in (expired, slow) if end is not None), key=lambda end: end[1], default=None)

    def _end_if_due(self, request: Request, now: float) -> None:
        asked = request.cancel_reason
        cancelled = None if asked is None else (asked, request.cancelled_at)
        failed = request.error is not None
        end = which_end(self._limit_passed(request, now), failed, cancelled, now, FinishReason.ERROR)
        if end is None:
            return
        # A limit and a failure are dated by their cause; a cancel takes effect at this safe point (A8).
        self._end(request, end[0], now if end is cancelled else end[1])

    def _apply_credit(self, live: LiveRequest, now: float) -> None:
        request = live.request
        request.set_credit(not live.channel.paused, now)
        if request.state is State.DECODE and not request.has_credit:
            request.move(Event.PAUSE, now)
        elif request.state is State.STREAMING and request.has_credit:
            request.move(Event.RESUME, now)

    def _end_failed(self, plan: StepPlan, output: StepOutput, now: float) -> None:
        for request_id in plan.involved_ids:
            live = self.live.get(request_id)
            if live is not None and request_id in output.errors:
                self._fail(live, RuntimeError(output.errors[request_id]), now)
                self._discard_all(live.request, output)

    def _commit_batch(self, batch: DecodeBatch, output: StepOutput, now: float) -> None:
        """Commit one token for each decode, and look at those where it may matter."""
        batch = batch.table.members(batch)
        ids: list[Any] = list(map(output.token_ids.get, batch.request_ids))
        bits = self._marks.of(ids)
        looked = batch.table.to_look_at(batch, bits)
        if looked and (bits[looked] & NO_ID).any():
            batch = self._fail_without_id(batch, output, now)
            ids = list(map(output.token_ids.get, batch.request_ids))
            looked = batch.table.to_look_at(batch, self._marks.of(ids))
        batch.table.commit(batch, ids, now)
        self._record_tokens(batch, TokenLines(batch.request_ids, ids, now, str(State.DECODE)))
        self._note_news(batch.request_ids)
        for index in looked:
            live = self.live[batch.request_ids[index]]
            try:
                self._look(live, now)
            except Exception as error:
                self._fail(live, error, now)

    def _fail_without_id(self, batch: DecodeBatch, output: StepOutput, now: float) -> DecodeBatch:
        """Fail those of `batch` for which the runner gave no id of the vocabulary; return the others."""
        for request_id in batch.request_ids:
            try:
                self._checked_id(request_id, output.token_ids)
            except ValueError as error:
                self._fail(self.live[request_id], error, now)
        return batch.table.members(batch)

    def _checked_id(self, request_id: str, ids: Mapping[str, int]) -> int:
        token_id = ids.get(request_id)
        if token_id is None or not is_int(token_id) or not 0 <= token_id < self.vocabulary.size:
            raise ValueError(f"the runner gave id {token_id!r}; allowed: 0..{self.vocabulary.size - 1}")
        return token_id

    def _record_tokens(self, batch: DecodeBatch, lines: TokenLines) -> None:
        if self._look_at_all:
            for request, line in zip(batch.requests, lines, strict=True):
                request.report(line)
            return
        for request_id, error in self.events.append_tokens(lines):
            request = self.live[request_id].request
            request.error = request.error or error
            self._attention[request_id] = None

    def _commit_chunk(self, live: LiveRequest, chunk: ScheduledChunk, output: StepOutput, now: float) -> None:
        request = live.request
        request.num_computed_tokens += len(chunk.token_ids)
        self.kv.publish(request)
        if not chunk.samples:
            return
        self._commit_token(live, output.token_ids, now)

    def _commit_token(self, live: LiveRequest, ids: Mapping[str, int], now: float) -> None:
        request = live.request
        request.commit_token(self._checked_id(request.request_id, ids), now)
        self.touched.add(live)
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
            self.touched.update(self.live[name] for name in request_ids if name in self.live)
        self._news.clear()

    def _look(self, live: LiveRequest, now: float) -> None:
        """Let the newest token end the request, or say which of the next ones to look at."""
        request = live.request
        if request.sampling.logprobs is not None and len(request.logprobs) != request.num_output_tokens:
            raise ValueError("the runner gave no log-probability for a token of a request that asks for them")
        reason = self._stop_by_token(request, request.token_ids[-1])
        live.deliver(
            hide_last=reason is not None
            and not (reason is FinishReason.STOP_TOKEN and request.sampling.include_stop)
        )
        text = live.text
        if text.stopped:
            request.stop_reason = text.stop_reason
            reason = FinishReason.STOP_STRING
        if reason is None and request.num_output_tokens >= request.max_new_tokens:
            reason = FinishReason.LENGTH
        if reason is not None:
            # Before the end, so that a part that raises here still makes it an error.
            live.channel.put(text.finish(), ())
            self._end(request, reason, now)
        elif not self._more_to_come:
            self._look_ahead(live, now)

    def _look_ahead(self, live: LiveRequest, now: float) -> None:
        """Pause the request if its credit is used up; else say which of the next tokens to look at."""
        request = live.request
        self._apply_credit(live, now)
        if not request.has_credit:
            # The clock of the slow consumer has started.
            self._arm(live)
        elif request.table is not None:
            request.table.look_again(request, self._tokens_until_look(live), live.looks)

    def _tokens_until_look(self, live: LiveRequest) -> int:
        """The next of these many tokens that needs a look whatever its id is; >= 1."""
        request = live.request
        if self._look_at_all or request.sampling.logprobs is not None:
            return 1
        if request.sampling.stop:
            whole = self._marks.is_whole(request.token_ids[-1])
            if live.text.num_held or not whole:
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
        try:
            live.deliver()
            if live.request.state is not State.CANCELLED:
                live.channel.put(live.text.finish(), ())
        finally:
            try:
                live.channel.close(str(live.request.finish_reason))
            finally:
                live.closed = True
                self.touched.add(live)

    def _forget(self, live: LiveRequest) -> None:
        self.live.pop(live.request.request_id, None)
        if self._ended is not None:
            self._ended.append(live.request)
        self._attention.pop(live.request.request_id, None)
        self._timers.drop(live.request.request_id)
        if live.samples and live.all_ended:
            self.families.pop(live.caller_id, None)


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


def _checked_output(output: StepOutput) -> StepOutput:
    if not all(isinstance(one, Mapping) for one in (output.token_ids, output.errors, *output.later)):
        raise TypeError("the runner must return a StepOutput with mappings of request ids")
    return output


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
