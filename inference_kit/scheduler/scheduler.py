"""Who runs next, under a token budget, in the order of a policy (A1, A15, convention 9).

Owns the waiting queue and the set of running requests. It runs no model and ends no request.
One rule covers prefill, chunks and decode: compute known − computed tokens, clipped by what is left
of the budget. Invariants: decodes come first; nothing is admitted in a step that preempted, and nothing
whose deadline has passed; a preempted request keeps its place in the order.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Protocol

from ..errors import InvalidField, QueueFull
from ..kv.manager import KVManager
from ..lifecycle.deadlines import ClockMarks, Deadlines, first_expired
from ..lifecycle.request import Request
from ..lifecycle.states import Event, FinishReason, State
from ..sampling import strict
from .decodes import DecodeBatch, DecodeTable
from .plan import PlannedChunks, ScheduledChunk, StepPlan
from .policy import MAX_BLOCKED, POLICIES

by_arrival = attrgetter("arrival")


@strict
@dataclass(frozen=True)
class SchedulerConfig:
    """Limits of one step and of the queue. Fields as in `EngineConfig`."""

    max_step_tokens: int = 256
    max_running: int = 32
    max_waiting: int = 1024
    max_waiting_tokens: int = 1_000_000
    max_prefill_chunk: int | None = None
    watermark: float = 0.04
    policy: str = "fcfs"
    priority_ageing_s: float = 30.0
    max_passes: int = 64


class Scheduling(Protocol):
    """What the engine asks of a scheduler; lab 08's answer plugs in here."""

    @property
    def waiting(self) -> Iterable[Request]: ...

    @property
    def running(self) -> Iterable[Request]: ...

    def check_room(self, num_prompt_tokens: int, num_requests: int = 1) -> None: ...

    def add(self, request: Request, now: float) -> None: ...

    def schedule(self, now: float) -> StepPlan: ...

    def drop(self, request: Request) -> None: ...


class PrefillBudget:
    """Collects the prefill chunks of one step and counts down its tokens."""

    def __init__(self, config: SchedulerConfig, tokens: int, step: int) -> None:
        self.tokens = tokens
        self._step = step
        self._max_chunk = config.max_prefill_chunk or config.max_step_tokens
        self.chunks: list[ScheduledChunk] = []

    def try_add(self, request: Request) -> bool:
        """Give the request its share. False when the budget is used up."""
        # Without stream credit the last token is left out, so that nothing is sampled.
        wanted = request.num_uncomputed_tokens - (not request.has_credit)
        count = min(wanted, self._max_chunk, self.tokens)
        if count < 1:
            return False
        self.chunks.append(_chunk(request, count))
        self.tokens -= count
        request.last_planned_step = self._step
        return True


def _chunk(request: Request, count: int) -> ScheduledChunk:
    start = request.num_computed_tokens
    return ScheduledChunk(
        request_id=request.request_id,
        token_ids=tuple(request.token_ids[start : start + count]),
        start=start,
        block_table=tuple(request.block_table),
        samples=start + count == len(request.token_ids),
        sampling=request.sampling,
        seed=request.seed,
        sample_index=request.sample_index,
        num_generated=request.num_output_tokens,
        num_left=request.max_new_tokens - request.num_output_tokens,
    )


class Scheduler:
    """Chunked prefill, and preemption by recomputation. Whom it admits is the policy's choice.

    Raises `InvalidField` for a policy that does not exist.
    """

    def __init__(self, config: SchedulerConfig, kv: KVManager) -> None:
        self.config = config
        if config.policy not in POLICIES:
            raise InvalidField("policy", config.policy, ", ".join(POLICIES))
        self.kv = kv
        self.policy = POLICIES[config.policy](config, kv)
        self.endings: Callable[[Deadlines, ClockMarks, float], object | None] = first_expired
        """Not None for a request whose deadline has passed; the engine's own rule when that is replaced."""
        self.on_fault: Callable[[Request, Exception], None] = _raise
        """Told when a part (a prefix cache, say) raises for one request; the others are planned as usual."""
        self.waiting: list[Request] = []
        """In the policy's order."""
        self.decodes = DecodeTable(kv.pool.block_size, self._left_table)
        self._running: dict[str, Request] = {}
        self._single: dict[str, Request] = {}
        """The running requests that are not in the table: prefilling, or waiting for credit."""
        self._step = 0
        self._arrivals = 0
        self._waiting_tokens = 0

    @property
    def running(self) -> list[Request]:
        """The requests that hold KV, in order of arrival."""
        return sorted(self._running.values(), key=by_arrival)

    def check_room(self, num_prompt_tokens: int, num_requests: int = 1) -> None:
        """Raise `QueueFull` when the queue cannot take `num_requests` such requests (convention 8). O(1)."""
        if len(self.waiting) + num_requests > self.config.max_waiting:
            raise QueueFull("waiting requests", self.config.max_waiting)
        if self._waiting_tokens + num_requests * num_prompt_tokens > self.config.max_waiting_tokens:
            raise QueueFull("waiting prompt tokens", self.config.max_waiting_tokens)

    def add(self, request: Request, now: float) -> None:
        """Put a tokenized request at the end of the queue."""
        request.move(Event.ENQUEUE, now)
        request.arrival = self._arrivals
        self._arrivals += 1
        self._enqueue(request)

    def schedule(self, now: float) -> StepPlan:
        """Plan one step: decodes, then started prefills, then admissions.

        O(1) Python for a decode that goes on as before; O(1) for each running request that does not.
        """
        self._step += 1
        preempted: list[Request] = []
        decodes = self._plan_decodes(preempted, now)
        budget = PrefillBudget(self.config, self.config.max_step_tokens - len(decodes), self._step)
        if self._single:
            self._plan_prefills(budget)
        admitted = self._admit(budget, now) if self.waiting and not preempted else ()
        return StepPlan(
            step=self._step,
            chunks=PlannedChunks(decodes, tuple(budget.chunks)),
            preempted=tuple(request.request_id for request in preempted),
            admitted=tuple(request.request_id for request in admitted),
            block_copies=self.kv.take_copies(),
            offloads=self.kv.take_offloads(),
            restores=self.kv.take_restores(),
        )

    def drop(self, request: Request) -> None:
        """Forget an ended request and give its blocks back. A second call changes nothing."""
        if request.request_id in self._running:
            self._stop(request)
        elif request in self.waiting:
            self._dequeue(request)
        # What it computed may serve others, unless something in it went wrong.
        if request.finish_reason is not FinishReason.ERROR:
            self._publish(request)
        self.kv.release(request)
        self.kv.forget_offloaded(request)

    def _publish(self, request: Request) -> None:
        try:
            self.kv.publish(request)
        except Exception as error:
            self.on_fault(request, error)

    def _left_table(self, request: Request) -> None:
        if request.request_id in self._running:
            self._single[request.request_id] = request

    def _enqueue(self, request: Request) -> None:
        insort(self.waiting, request, key=self.policy.key)
        self._waiting_tokens += len(request.prompt_token_ids)

    def _dequeue(self, request: Request) -> None:
        self.waiting.remove(request)
        self._waiting_tokens -= len(request.prompt_token_ids)

    def _plan_decodes(self, preempted: list[Request], now: float) -> DecodeBatch:
        """Plan the decodes, growing their tables. Who loses its blocks for that is in `preempted`."""
        ready = [one for one in self._single.values() if one.state is State.DECODE] if self._single else ()
        for request in ready:
            del self._single[request.request_id]
            self.decodes.join(request)
        while True:
            rows = self.decodes.choose(self.config.max_step_tokens)
            short = self.decodes.without_room(rows)
            for request in short if self.kv.cache is not None else ():
                # The last block of its table has just been filled, by a step that is over.
                self._publish(request)
            enough = not short or self._grow_each(short)
            self.decodes.grown(short if enough else self._grow_by_preemption(short, preempted, now))
            if enough:
                return self.decodes.plan(rows, self._step)

    def _grow_each(self, short: list[Request]) -> bool:
        try:
            return self.kv.grow_each(short)
        except Exception:
            # A replaced pool raised: growing them one by one shows for whom.
            return False

    def _grow_by_preemption(
        self, short: list[Request], preempted: list[Request], now: float
    ) -> list[Request]:
        """Give each of `short` a block, in order, at the cost of victims. Returns those that got one."""
        grown: list[Request] = []
        for request in short:
            # A row may have been the victim of one before it.
            if request.table is None:
                continue
            try:
                if self._make_room(request, preempted, now):
                    self.kv.grow(request, len(request.token_ids))
                    grown.append(request)
            except Exception as error:
                if request.request_id in self._running:
                    self._stop(request)
                self.on_fault(request, error)
        return [request for request in grown if request.table is not None]

    def _make_room(self, request: Request, preempted: list[Request], now: float) -> bool:
        """Preempt until `request` can store its tokens. False when it was itself the victim."""
        while not self.kv.can_grow(request, len(request.token_ids)):
            victim = max(self._running.values(), key=lambda other: (other.priority, other.arrival))
            self._preempt(victim, now)
            preempted.append(victim)
            if victim is request:
                return False
        return True

    def _stop(self, request: Request) -> None:
        """Take a request out of the running ones; its blocks are still there."""
        del self._running[request.request_id]
        request.leave_table()
        self._single.pop(request.request_id, None)
        self.policy.stopped(request)

    def _preempt(self, request: Request, now: float) -> None:
        self._stop(request)
        self._publish(request)
        self.kv.offload(request)
        self.kv.release(request)
        try:
            request.move(Event.PREEMPT, now)
            request.move(Event.REQUEUE, now)
        except Exception as error:
            # It holds nothing and stands in no queue; the engine ends it at the boundary.
            self.on_fault(request, error)
        else:
            self._enqueue(request)

    def _plan_prefills(self, budget: PrefillBudget) -> None:
        started = [request for request in self._single.values() if request.state is State.PREFILL]
        for request in sorted(started, key=by_arrival):
            budget.try_add(request)

    def _admit(self, budget: PrefillBudget, now: float) -> Sequence[Request]:
        """Start waiting requests in the policy's order while tokens, slots and blocks last."""
        admitted: list[Request] = []
        passed: list[Request] = []
        for request in tuple(self.waiting):
            if budget.tokens < 1 or len(self._running) >= self.config.max_running:
                break
            if self.endings(request.deadlines, request.marks, now) is not None:
                continue
            try:
                started = self._try_start(request, now)
            except Exception as error:
                self.on_fault(request, error)
                continue
            if started:
                budget.try_add(request)
                admitted.append(request)
                for blocked in passed:
                    blocked.times_passed += 1
            else:
                passed.append(request)
            if len(passed) == MAX_BLOCKED or not all(map(self.policy.may_be_passed, passed)):
                break
        return admitted

    def _try_start(self, request: Request, now: float) -> bool:
        """Start a waiting request if the policy finds that it fits."""
        if not self.policy.fits(request, len(self._running)):
            return False
        self.kv.admit(request)
        self._dequeue(request)
        request.move(Event.ADMIT, now)
        request.move(Event.START_PREFILL, now)
        self._running[request.request_id] = self._single[request.request_id] = request
        self.policy.admitted(request)
        return True


def _raise(request: Request, error: Exception) -> None:
    raise error
