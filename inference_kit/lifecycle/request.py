"""One request: what was asked, where it stands, and how it ended.

Owns the state, the marks of the clocks, and the resources the request holds, as a list of release
functions. It does not decide what happens next: the scheduler and the engine do. Invariants: the
only way to a terminal state is `finalize`; the first call wins and runs the one release path; a
request is in a `DecodeTable` only while it is in DECODE, so every move takes it out.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from ..sampling import SamplingParams
from .deadlines import ClockMarks, Deadlines, moved_on
from .states import END_EVENTS, TERMINAL_STATES, Event, FinishReason, State, next_state


@dataclass(frozen=True)
class LoggedEvent:
    """One line of a request's history."""

    event: str
    """An `Event` value, or `receive` (the start) or `token` (one committed token)."""
    timestamp: float
    """Seconds on the engine's clock."""
    request_id: str
    state: str
    """The state after the event."""
    data: dict[str, Any] = field(default_factory=dict)


def token_line(request_id: str, token_id: int, at: float, state: str) -> LoggedEvent:
    """The line of one committed token."""
    return LoggedEvent("token", at, request_id, state, {"token_id": token_id})


class Table(Protocol):
    """What advances many decoding requests at once; `scheduler.decodes.DecodeTable`."""

    def leave(self, request: Request) -> None:
        """Give the request its own counts back."""
        ...

    def look_again(self, request: Request, after: int, looks: int) -> None:
        """Say which of the request's next tokens the engine must look at."""
        ...


class Lifecycle(Protocol):
    """The replaceable rules of a request: lab 01's answer plugs in here."""

    def next_state(self, state: State, event: Event) -> State:
        """The state after `event`; raises `IllegalTransition` for a move that is not legal."""
        ...

    def finalize(self, request: Request, reason: FinishReason, at: float) -> bool:
        """End the request once; True for the call that ended it."""
        ...


def settle_once(request: Request, reason: FinishReason, at: float) -> bool:
    """End `request` with `reason`; the first call wins, every later call returns False (A2, A10, C1).

    The reason's event must be legal in the current state, else `IllegalTransition` and nothing changes.
    Everything the request holds is released, also when one release fails.
    """
    with request.settle_lock:
        if request.is_terminal:
            return False
        request.move(END_EVENTS[reason], at, reason=str(reason))
        request.finish_reason = reason
        request.finished_at = at
    request.release()
    return True


class TableLifecycle:
    """The kit's own rules: the table of `states.py` and `settle_once`."""

    def next_state(self, state: State, event: Event) -> State:
        return next_state(state, event)

    def finalize(self, request: Request, reason: FinishReason, at: float) -> bool:
        return settle_once(request, reason, at)


DEFAULT_LIFECYCLE = TableLifecycle()


class Request:
    """A request and its life (B1: input, state, output).

    Args:
        request_id: unique among the live requests of an engine.
        prompt_token_ids: ids of the prompt, at least one.
        sampling: how to choose tokens and when to end.
        deadlines: limits of the four clocks.
        received_at: engine time in seconds.
        priority: smaller runs earlier under the `priority` policy; the largest is preempted first.
        lifecycle: the rules; lab 01 replaces them.
        observer: called with each `LoggedEvent`.
    """

    def __init__(
        self,
        request_id: str,
        prompt_token_ids: Sequence[int] = (),
        sampling: SamplingParams | None = None,
        deadlines: Deadlines | None = None,
        received_at: float = 0.0,
        priority: int = 0,
        lifecycle: Lifecycle = DEFAULT_LIFECYCLE,
        observer: Callable[[LoggedEvent], None] | None = None,
    ) -> None:
        self.request_id = request_id
        self.prompt_token_ids = tuple(prompt_token_ids)
        self.sampling = sampling or SamplingParams()
        self.deadlines = deadlines or Deadlines()
        self.received_at = received_at
        self.priority = priority

        self._begin_state()
        self._begin_output()
        self.settle_lock = threading.RLock()
        self._history: list[tuple[int, LoggedEvent]] = []
        self._lifecycle = lifecycle
        self._observer = observer
        self._releases: list[tuple[str, Callable[[], None]]] = []
        self._log("receive", received_at)

    def _begin_state(self) -> None:
        """What changes while the request lives (B1)."""
        self.state = State.RECEIVED
        self.arrival = 0
        self.seed = 0
        self.max_new_tokens = 0
        self.token_ids: list[int] = list(self.prompt_token_ids)
        self.token_times: list[float] = []
        """When each output token was committed, in seconds; one for each."""
        self.logprobs: list[Any] = []
        """One entry for each output token, when they are asked for; never fewer than there are tokens."""
        self.num_discarded_tokens = 0
        """Tokens that the runner proposed and that were never committed (C4)."""
        self.num_preemptions = 0
        self.block_table: list[int] = []
        self.host_blocks: list[int] = []
        self.num_host_tokens = 0
        """Computed tokens whose keys and values are kept in `host_blocks` while it waits."""
        self.cache_salt = ""
        self.num_cached_tokens = 0
        self.num_published_blocks = 0
        self.family: str | None = None
        self.sample_index = 0
        self.queued_at: float | None = None
        self.admitted_at: float | None = None
        self.cancel_reason: FinishReason | None = None
        self.cancelled_at = 0.0
        self.has_credit = True
        self.paused_at: float | None = None
        """Since when the request waits for stream credit; None: it has credit. Outlives a preemption."""
        self.table: Table | None = None
        self.row = 0
        """Its place in `table`."""
        self.last_planned_step = 0
        self.times_passed = 0
        """Later requests that were admitted while this one waited and did not fit."""
        self._computed = 0
        self._moved_gap = (0, 0.0)
        """(tokens so far, start of the gap after them), as the last wait for credit left it."""

    def _begin_output(self) -> None:
        """What is known at the end (B1)."""
        self.finish_reason: FinishReason | None = None
        self.finished_at: float | None = None
        self.stop_reason: str | int | None = None
        self.error: BaseException | None = None
        self.release_errors: list[BaseException] = []

    @property
    def is_terminal(self) -> bool:
        return self.state in TERMINAL_STATES

    @property
    def output_token_ids(self) -> list[int]:
        """Committed tokens: everything after the prompt."""
        return self.token_ids[len(self.prompt_token_ids) :]

    @property
    def num_output_tokens(self) -> int:
        return len(self.token_ids) - len(self.prompt_token_ids)

    @property
    def first_token_at(self) -> float | None:
        """When the first output token was committed; never rewritten (convention 13)."""
        return self.token_times[0] if self.token_times else None

    @property
    def last_token_at(self) -> float | None:
        """When the newest output token was committed."""
        return self.token_times[-1] if self.token_times else None

    @property
    def gap_started_at(self) -> float | None:
        """Start of the inter-token clock: the last token, moved on by the waits for credit since then."""
        num_tokens, started_at = self._moved_gap
        return started_at if num_tokens and num_tokens == len(self.token_times) else self.last_token_at

    @property
    def num_computed_tokens(self) -> int:
        """Tokens whose keys and values are written. In a table: all but the newest."""
        return self._computed if self.table is None else len(self.token_ids) - 1

    @num_computed_tokens.setter
    def num_computed_tokens(self, count: int) -> None:
        self.leave_table()
        self._computed = count

    @property
    def events(self) -> list[LoggedEvent]:
        """The whole history in order. Built when asked, so that a token costs no object before."""
        # In this order, because a step that runs appends to the three lists in the opposite one.
        history, times, outputs = list(self._history), list(self.token_times), self.output_token_ids
        lines: list[LoggedEvent] = []
        done, state = 0, ""
        for count, entry in [*history, (len(times), None)]:
            for token_id, at in zip(outputs[done:count], times[done:count], strict=True):
                lines.append(token_line(self.request_id, token_id, at, state))
            done = count
            if entry is not None:
                lines.append(entry)
                state = entry.state
        return lines

    @property
    def num_uncomputed_tokens(self) -> int:
        """Known tokens whose keys and values are not written yet. The scheduler's one rule."""
        return len(self.token_ids) - self.num_computed_tokens

    @property
    def marks(self) -> ClockMarks:
        """Where the clocks start."""
        return ClockMarks(
            received_at=self.received_at,
            queued_at=self.queued_at,
            admitted_at=self.admitted_at,
            first_token_at=self.first_token_at,
            last_token_at=self.gap_started_at,
            paused=not self.has_credit,
        )

    def move(self, event: Event, at: float, **data: Any) -> State:
        """Apply a non-terminal or terminal event; raises `IllegalTransition` and changes nothing.

        Ends go through `finalize`, which calls this once.
        """
        self.state = State(self._lifecycle.next_state(self.state, event))
        self.leave_table()
        if event is Event.ENQUEUE:
            self.queued_at = at
        if event is Event.ADMIT and self.admitted_at is None:
            self.admitted_at = at
        if event is Event.PREEMPT:
            self.num_preemptions += 1
        self._log(str(event), at, **data)
        return self.state

    def commit_token(self, token_id: int, at: float) -> None:
        """Accept one sampled token. The first one starts DECODE and freezes TTFT (convention 13)."""
        if self.state is State.PREFILL:
            self.move(Event.START_DECODE, at)
        self.token_ids.append(token_id)
        self.token_times.append(at)
        self.report(token_line(self.request_id, token_id, at, str(self.state)))

    def set_credit(self, has_credit: bool, at: float) -> None:
        """Note that the stream's credit is used up or back (convention 6).

        Without credit the inter-token clock stands still and the slow-consumer clock runs, in every state.
        """
        if has_credit == self.has_credit:
            return
        if not has_credit:
            self.paused_at = at
        elif self.paused_at is not None:
            if self.gap_started_at is not None:
                moved = moved_on(self.gap_started_at, self.paused_at, at)
                self._moved_gap = (len(self.token_times), moved)
            self.paused_at = None
        self.has_credit = has_credit

    def leave_table(self) -> None:
        """Take the request out of the table that advances it, if it is in one."""
        if self.table is not None:
            self.table.leave(self)

    def hold(self, name: str, release: Callable[[], None]) -> None:
        """Register a resource; `release` runs once, at the end, last registered first."""
        self._releases.append((name, release))

    def take_holdings(self) -> list[tuple[str, Callable[[], None]]]:
        """Empty the list of what is held and return it in order of registration.

        For a replaced release path: whoever takes the list must call every release.
        """
        holdings, self._releases = self._releases, []
        return holdings

    def finalize(self, reason: FinishReason | str, at: float) -> bool:
        """End the request. True for the first call, False for every later one (C1)."""
        ended = self._lifecycle.finalize(self, FinishReason(reason), at)
        if self.is_terminal:
            # A replaced lifecycle may end a request without a move.
            self.leave_table()
        return ended

    def fall_back(self) -> None:
        """Go on by the kit's own rules: the replaced ones did not end the request."""
        self._lifecycle = DEFAULT_LIFECYCLE

    def release(self) -> None:
        """Give back all that is held. Safe to call twice; a failing release stops no other (A10)."""
        while self._releases:
            _, give_back = self._releases.pop()
            try:
                give_back()
            except Exception as error:
                self.release_errors.append(error)

    def report(self, entry: LoggedEvent) -> None:
        """Hand a line of this request to the observer, if there is one."""
        if self._observer is None:
            return
        try:
            self._observer(entry)
        except Exception as error:
            # A faulty observer must not stop an end half-way; the engine ends the request for it.
            self.error = self.error or error

    def _log(self, event: str, at: float, **data: Any) -> None:
        # An end is dated start + limit, which can lie before the line that noticed it: a slow tokenizer.
        before = [line.timestamp for _, line in self._history[-1:]]
        at = max([at, *before, *self.token_times[-1:]])
        entry = LoggedEvent(event, at, self.request_id, str(self.state), data)
        self._history.append((len(self.token_times), entry))
        self.report(entry)
