"""Puts the parts of lab 01 into the engine: a lifecycle made of tables, ends and releases.

A wrong part never reaches the engine. It is still tried where no loop waits for what it does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from ... import viz
from ...lifecycle import (
    TRANSITIONS,
    Event,
    FinishReason,
    IllegalTransition,
    LoggedEvent,
    Request,
    State,
    next_state,
    report_of,
    request_metrics,
    settle_once,
    trace_of,
    walk,
)
from ...viz import Picture
from . import WRONG, Parts

if TYPE_CHECKING:
    from ...engine import Components


class _KitHoldings:
    """The kit's release path behind the small interface of question 6."""

    def __init__(self) -> None:
        self._request = Request("holdings")
        self.release_errors = self._request.release_errors

    def hold(self, name: str, release: Callable[[], None]) -> None:
        self._request.hold(name, release)

    def release(self) -> None:
        self._request.release()


class _Settling:
    """A request as question 5 sees it: `release` goes through the learner's holdings."""

    def __init__(self, request: Request, make_holdings: Callable[[], Any]) -> None:
        object.__setattr__(self, "_request", request)
        object.__setattr__(self, "_make_holdings", make_holdings)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._request, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._request, name, value)

    def move(self, event: str, at: float, **data: Any) -> Any:
        return self._request.move(Event(event), at, **data)

    def release(self) -> None:
        holdings = self._make_holdings()
        for name, give_back in self._request.take_holdings():
            holdings.hold(name, give_back)
        holdings.release()
        self._request.release_errors.extend(getattr(holdings, "release_errors", ()))


class LabLifecycle:
    """The engine's `lifecycle` slot, filled with a learner's parts."""

    def __init__(
        self,
        table: Mapping[Any, Mapping[Any, Any]],
        next_state_: Callable[..., Any],
        settle: Callable[..., Any],
        make_holdings: Callable[[], Any],
    ) -> None:
        self.table = viz.states.plain_table(table)
        self._next_state = next_state_
        self._settle = settle
        self._make_holdings = make_holdings

    def next_state(self, state: State, event: Event) -> State:
        """By the learner's table and function; a refusal becomes the kit's `IllegalTransition`."""
        try:
            return State(self._next_state(str(state), str(event), self.table))
        except ValueError as error:
            raise IllegalTransition(state, event, list(self.table.get(str(state), {}))) from error

    def finalize(self, request: Request, reason: FinishReason, at: float) -> bool:
        return bool(self._settle(_Settling(request, self._make_holdings), reason, at))


WORKED = (
    ("a normal stop", ("admit", "start_prefill", "start_decode", "pause"), "stop_string", 3),
    ("a cancel during prefill", ("admit", "start_prefill"), "client_cancel", 2),
    ("a queue timeout", (), "queue_deadline", 0),
)
"""A14: what happens, the events after the queue, the reason of the end, KV blocks held."""


class Lab01(Parts):
    """The parts of lab 01: a lifecycle for the engine, and a reader for its logs.

    Attributes:
        lifecycle: for the engine; made of the parts that are done, and of the kit's.
        trial: for the worked lifecycles; the wrong parts are in it as well.
    """

    lab = "lab01"
    questions: ClassVar = {
        "q1": "make_transitions",
        "q2": "next_state",
        "q3": "walk",
        "q4": "report_of",
        "q5": "settle_once",
        "q6": "Holdings",
    }

    def __init__(self, names: Mapping[str, Any]) -> None:
        super().__init__(names)
        self._walk = self.part("q3", walk)
        self._report_of = self.part("q4", report_of)
        self.lifecycle = self._lifecycle(also_wrong=False)
        self.trial = self._lifecycle(also_wrong=True)

    def _lifecycle(self, also_wrong: bool) -> LabLifecycle:
        return LabLifecycle(
            self._table(also_wrong),
            self.part("q2", next_state, also_wrong=also_wrong),
            self.part("q5", settle_once, also_wrong=also_wrong),
            self.part("q6", _KitHoldings, also_wrong=also_wrong),
        )

    def _table(self, also_wrong: bool) -> Mapping[Any, Mapping[Any, Any]]:
        """The learner's table; the kit's when a wrong one is not even a table."""
        try:
            table = self.part("q1", lambda: TRANSITIONS, also_wrong=also_wrong)()
            return {state: dict(moves) for state, moves in table.items()}
        except Exception:
            if self.words["q1"] != WRONG:
                raise
            return TRANSITIONS

    @property
    def components(self) -> Components:
        """For `LLM(model, components=…)` or `Engine(…, components=…)`."""
        from ...engine import Components

        return Components(lifecycle=self.lifecycle)

    def report(self, events: Iterable[LoggedEvent]) -> Picture:
        """Read an engine's log with the learner's `walk` and `report_of`, and check its first identity.

        With every boundary there, ttft = queue_wait + preprocessing + prefill (D2).
        """
        metrics = request_metrics(self._report_of(self._walk(trace_of(events))))
        rows: list[list[Any]] = [["metric", "value"]]
        for name, value in metrics.items():
            rows.append(
                [name, value if value is None or name == "streamed_tokens" else f"{value * 1000:.3f} ms"]
            )
        parts = [metrics["queue_wait"], metrics["preprocessing"], metrics["prefill"]]
        note = "a boundary is missing, so the parts cannot be compared with ttft"
        if metrics["ttft"] is not None and None not in parts:
            same = abs(sum(parts) - metrics["ttft"]) < 1e-9
            note = f"queue_wait + preprocessing + prefill = {sum(parts) * 1000:.3f} ms: "
            note += "that is ttft" if same else "that is NOT ttft, so the log is broken"
        return viz.grid(rows, "Metrics of the request", (), note)

    def worked_lifecycles(self) -> Picture:
        """A14: three requests live and end by the learner's rules, on a real block pool.

        Wrong parts are tried here, for nothing waits for them. An exception of theirs is shown as the end.
        """
        rows: list[list[Any]] = [["lifecycle", "end", "blocks held", "given back", "still held"]]
        rows += [[what, *self._live(events, reason, blocks)] for what, events, reason, blocks in WORKED]
        return viz.grid(rows, "Three lifecycles", [(row, 3) for row in range(1, len(rows))])

    def _live(self, events: tuple[str, ...], reason: str, blocks: int) -> list[Any]:
        from ...kv import BlockPool

        pool = BlockPool(8, 16)
        request = Request("worked", (1, 2, 3), lifecycle=self.trial)
        for block in pool.allocate(blocks):
            request.hold(f"block {block}", partial(pool.free, [block]))
        held = 8 - pool.num_free
        try:
            for event in ("tokenize", "enqueue", *events):
                request.move(Event(event), 0.0)
            request.finalize(reason, 1.0)
        except Exception as error:
            end = f"{request.state}; raised {type(error).__name__}"
        else:
            end = str(request.state)
        still = 8 - pool.num_free
        return [end, held, held - still, still]


PLUG = Lab01
