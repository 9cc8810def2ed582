"""Who runs next: first come, first served, under a token budget (A1, A15, convention 9).

Owns the waiting queue and the set of running requests. It runs no model and ends no request.
One rule covers prefill, chunks and decode: compute known − computed tokens, clipped by what is left
of the budget. Invariants: decodes come first; requests are admitted in arrival order; nothing is
admitted in a step that preempted; a preempted request keeps its place in the order.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from ..errors import QueueFull
from ..kv.manager import KVManager
from ..lifecycle.request import Request
from ..lifecycle.states import Event, State
from ..sampling import strict
from .plan import ScheduledChunk, StepPlan


@strict
@dataclass(frozen=True)
class SchedulerConfig:
    """Limits of one step and of the queue. Fields as in `EngineConfig`."""

    max_step_tokens: int = 256
    max_running: int = 32
    max_waiting: int = 1024
    max_waiting_tokens: int = 1_000_000
    max_prefill_chunk: int | None = None
    watermark: float = 0.02


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


class StepBudget:
    """Collects the chunks of one step and counts down its tokens."""

    def __init__(self, config: SchedulerConfig) -> None:
        self.tokens = config.max_step_tokens
        self._max_chunk = config.max_prefill_chunk or config.max_step_tokens
        self._chosen: dict[str, tuple[Request, int]] = {}

    def try_add(self, request: Request) -> bool:
        """Give the request its share. False when the budget is used up."""
        # Without stream credit the last token is left out, so that nothing is sampled.
        wanted = request.num_uncomputed_tokens - (not request.has_credit)
        count = min(wanted, self._max_chunk, self.tokens)
        if count < 1:
            return False
        self._chosen[request.request_id] = (request, count)
        self.tokens -= count
        return True

    def remove(self, request: Request) -> None:
        """Take a share back; a preempted request computes nothing."""
        _, count = self._chosen.pop(request.request_id, (request, 0))
        self.tokens += count

    def chunks(self) -> tuple[ScheduledChunk, ...]:
        """The shares as plain data for the runner."""
        return tuple(_chunk(request, count) for request, count in self._chosen.values())


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
    )


class Scheduler:
    """First come, first served, with chunked prefill and preemption by recomputation."""

    def __init__(self, config: SchedulerConfig, kv: KVManager) -> None:
        self.config = config
        self.kv = kv
        self.waiting: list[Request] = []
        self.running: list[Request] = []
        self._step = 0
        self._arrivals = 0
        self._last_planned: dict[str, int] = {}
        self._watermark_blocks = int(config.watermark * kv.pool.num_blocks)

    def check_room(self, num_prompt_tokens: int, num_requests: int = 1) -> None:
        """Raise `QueueFull` when the queue cannot take `num_requests` such requests (convention 8)."""
        if len(self.waiting) + num_requests > self.config.max_waiting:
            raise QueueFull("waiting requests", self.config.max_waiting)
        prompts = sum(len(waiter.prompt_token_ids) for waiter in self.waiting)
        if prompts + num_requests * num_prompt_tokens > self.config.max_waiting_tokens:
            raise QueueFull("waiting prompt tokens", self.config.max_waiting_tokens)

    def add(self, request: Request, now: float) -> None:
        """Put a tokenized request at the end of the queue."""
        request.move(Event.ENQUEUE, now)
        request.arrival = self._arrivals
        self._arrivals += 1
        self.waiting.append(request)

    def schedule(self, now: float) -> StepPlan:
        """Plan one step: decodes, then started prefills, then admissions. O(running + admitted)."""
        self._step += 1
        budget = StepBudget(self.config)
        preempted = self._plan_decodes(budget, now)
        self._plan_prefills(budget)
        admitted = [] if preempted else self._admit(budget, now)
        chunks = budget.chunks()
        for chunk in chunks:
            self._last_planned[chunk.request_id] = self._step
        return StepPlan(
            step=self._step,
            chunks=chunks,
            preempted=tuple(request.request_id for request in preempted),
            admitted=tuple(request.request_id for request in admitted),
            block_copies=self.kv.take_copies(),
        )

    def drop(self, request: Request) -> None:
        """Forget an ended request and give its blocks back. A second call changes nothing."""
        for queue in (self.waiting, self.running):
            if request in queue:
                queue.remove(request)
        self._last_planned.pop(request.request_id, None)
        self.kv.release(request)

    def _plan_decodes(self, budget: StepBudget, now: float) -> list[Request]:
        # Longest unserved first, so that a budget below the number of decodes starves nobody.
        ready = [request for request in self.running if request.state is State.DECODE]
        ready.sort(key=lambda request: (self._last_planned.get(request.request_id, 0), request.arrival))
        preempted: list[Request] = []
        for request in ready:
            if request in preempted:
                continue
            if budget.tokens < 1:
                break
            if self._make_room(request, budget, preempted, now):
                self.kv.grow(request, len(request.token_ids))
                budget.try_add(request)
        return preempted

    def _make_room(self, request: Request, budget: StepBudget, preempted: list[Request], now: float) -> bool:
        """Preempt until `request` can store its tokens. False when it was itself the victim."""
        while not self.kv.can_grow(request, len(request.token_ids)):
            victim = max(self.running, key=lambda other: (other.priority, other.arrival))
            budget.remove(victim)
            self._preempt(victim, now)
            preempted.append(victim)
            if victim is request:
                return False
        return True

    def _preempt(self, request: Request, now: float) -> None:
        self.running.remove(request)
        self.kv.release(request)
        request.move(Event.PREEMPT, now)
        request.move(Event.REQUEUE, now)
        insort(self.waiting, request, key=lambda waiter: waiter.arrival)

    def _plan_prefills(self, budget: StepBudget) -> None:
        for request in self.running:
            if request.state is State.PREFILL:
                budget.try_add(request)

    def _admit(self, budget: StepBudget, now: float) -> list[Request]:
        admitted: list[Request] = []
        while self.waiting and budget.tokens > 0 and len(self.running) < self.config.max_running:
            request = self.waiting[0]
            if not self._fits(request):
                break
            self.waiting.pop(0)
            self.kv.admit(request)
            request.move(Event.ADMIT, now)
            request.move(Event.START_PREFILL, now)
            insort(self.running, request, key=lambda other: other.arrival)
            budget.try_add(request)
            admitted.append(request)
        return admitted

    def _fits(self, request: Request) -> bool:
        # The whole known sequence must fit, not its first chunk: else it would be preempted at once.
        keep_free = self._watermark_blocks if self.running else 0
        return self.kv.can_admit(request, keep_free)
