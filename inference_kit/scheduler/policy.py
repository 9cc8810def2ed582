"""Who is admitted: the order of the queue, what must fit, and who may pass whom (A1, convention 9).

A policy decides; the scheduler acts and tells it what happened. Budgets, batch slots and deadlines are the
scheduler's. Invariant of every policy: a request that waits is passed by a bounded number of later ones or
for a bounded time, so nobody starves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from ..kv.manager import KVManager
from ..kv.table import slots_needed
from ..lifecycle.request import Request

if TYPE_CHECKING:
    from .scheduler import SchedulerConfig

MAX_BLOCKED = 32
"""A step looks for admissions no further than this many requests that do not fit."""


class Policy(Protocol):
    """What the scheduler asks of a policy."""

    def key(self, request: Request) -> Any:
        """Place in the queue, smallest first. Must not change while the request waits."""
        ...

    def fits(self, request: Request, num_running: int) -> bool:
        """Whether the KV pool has room for `request` beside the running ones."""
        ...

    def may_be_passed(self, request: Request) -> bool:
        """Whether a later request may be admitted before this one, which does not fit."""
        ...

    def admitted(self, request: Request) -> None:
        """`request` runs now."""
        ...

    def stopped(self, request: Request) -> None:
        """`request` has ended or was preempted; it was admitted before."""
        ...


class Fcfs:
    """Strict order of arrival. The whole known sequence must fit, and leave the watermark free.

    A request that was preempted once also leaves a block for each running one and for itself: else the
    next step would take its blocks again, and it would be computed for nothing.
    """

    def __init__(self, config: SchedulerConfig, kv: KVManager) -> None:
        self._kv = kv
        self._watermark_blocks = int(config.watermark * kv.pool.num_blocks)

    def key(self, request: Request) -> Any:
        return request.arrival

    def fits(self, request: Request, num_running: int) -> bool:
        keep_free = self._watermark_blocks if num_running else 0
        if request.num_preemptions and num_running:
            keep_free = max(keep_free, num_running + 1)
        return self._kv.can_admit(request, keep_free)

    def may_be_passed(self, request: Request) -> bool:
        return False

    def admitted(self, request: Request) -> None:
        pass

    def stopped(self, request: Request) -> None:
        pass


class Priority(Fcfs):
    """Smallest priority first; a wait of `priority_ageing_s` is worth one step of priority.

    So a request of priority p is passed by later ones of priority q < p for at most
    (p − q) · priority_ageing_s seconds. Ties go to the earlier arrival.
    """

    def __init__(self, config: SchedulerConfig, kv: KVManager) -> None:
        super().__init__(config, kv)
        self._ageing_s = config.priority_ageing_s

    def key(self, request: Request) -> Any:
        # All grow older at the same pace: the order of priority − waited / ageing never changes.
        queued_at = request.queued_at or 0.0
        return queued_at + request.priority * self._ageing_s, request.arrival


class SkipBlocked(Fcfs):
    """Order of arrival, but one that does not fit may be passed by `max_passes` later ones."""

    def __init__(self, config: SchedulerConfig, kv: KVManager) -> None:
        super().__init__(config, kv)
        self._max_passes = config.max_passes

    def may_be_passed(self, request: Request) -> bool:
        return request.times_passed < self._max_passes


class Reserve(Fcfs):
    """Order of arrival; admitted only when its longest answer fits beside those of all running ones.

    Then nobody ever lacks a block, and nobody is preempted. n output tokens need prompt + n − 1 slots.
    """

    def __init__(self, config: SchedulerConfig, kv: KVManager) -> None:
        super().__init__(config, kv)
        self._reserved = 0

    def fits(self, request: Request, num_running: int) -> bool:
        fits = self._reserved + self._most_blocks(request) <= self._kv.pool.num_blocks
        return fits and self._kv.can_admit(request)

    def admitted(self, request: Request) -> None:
        self._reserved += self._most_blocks(request)

    def stopped(self, request: Request) -> None:
        self._reserved -= self._most_blocks(request)

    def _most_blocks(self, request: Request) -> int:
        most_slots = slots_needed(len(request.prompt_token_ids), max(request.max_new_tokens, 1))
        return self._kv.blocks_for(most_slots)


POLICIES: dict[str, Callable[[SchedulerConfig, KVManager], Policy]] = {
    "fcfs": Fcfs,
    "priority": Priority,
    "skip_blocked": SkipBlocked,
    "reserve": Reserve,
}
"""Names of `EngineConfig.policy`."""
