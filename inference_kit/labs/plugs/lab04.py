"""Puts the parts of lab 04 into the engine: its deadlines, and the order in which an end gives things back.

The decisions of the other questions are the engine's own functions; here the learner's are asked beside them,
on what the running engine did, and the two are compared. A wrong part reaches neither.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from ... import viz
from ...clock import VirtualClock
from ...config import Deadlines, EngineConfig
from ...lifecycle import (
    ClockMarks,
    Event,
    FinishReason,
    Request,
    State,
    find_orphans,
    first_expired,
    moved_on,
    next_state,
    reconcile,
    release_order,
    settle,
    settle_once,
    which_end,
)
from ...sampling import SamplingParams
from ...viz import Picture
from . import DONE, Parts

if TYPE_CHECKING:
    from ...engine import Components
    from ...engine.core import EngineCore, LiveRequest

NEEDS = {"kv and slot": ["stream"], "stream": ["registry"]}
"""What a request of the engine holds: its slot writes into the stream; its caller stands in the registry."""


class OrderedLifecycle:
    """The engine's `lifecycle` slot: the kit's rules, and an end that releases in the learner's order.

    Attributes:
        held: what the request that ended last had taken, in order.
        given_back: the same, in the order of the release.
    """

    def __init__(self, order: Callable[[Mapping[str, Iterable[str]]], Iterable[str]]) -> None:
        self._order = order
        self.held: list[str] = []
        self.given_back: list[str] = []

    def next_state(self, state: State, event: Event) -> State:
        return next_state(state, event)

    def finalize(self, request: Request, reason: FinishReason, at: float) -> bool:
        with request.settle_lock:
            held = dict(request.take_holdings())
            needs = {name: [one for one in NEEDS.get(name, []) if one in held] for name in held}
            order = [str(name) for name in self._order(needs)]
            # `release` gives back the last one first.
            for name in reversed(order):
                request.hold(name, held[name])
            ended = settle_once(request, reason, at)
        if ended:
            self.held, self.given_back = list(held), order
        return ended


@dataclass(frozen=True)
class Run:
    """Four requests, four ends."""

    table: Picture
    timeline: Picture


class Lab04(Parts):
    """The parts of lab 04.

    Attributes:
        components: for `LLM(model, components=…)` or `Engine(…, components=…)`.
        lifecycle: the part of them that ends requests.
    """

    lab = "lab04"
    questions: ClassVar = {
        "q1": "first_expired",
        "q2": "which_end",
        "q3": "settle",
        "q4": "leave",
        "q5": "find_orphans",
    }

    def __init__(self, names: Mapping[str, Any]) -> None:
        super().__init__(names)
        self._expired = self.part("q1", first_expired)
        self._which_end = self.part("q2", which_end)
        self._settle = self.part("q3", settle)
        self._orphans = self.part("q5", find_orphans)
        # The second function of a question, from the same cell as the first.
        self._moved_on = names["moved_on"] if self.words["q1"] == DONE else moved_on
        self._reconcile = names["reconcile"] if self.words["q5"] == DONE else reconcile
        self.lifecycle = OrderedLifecycle(
            names["release_order"] if self.words["q4"] == DONE else release_order
        )

    def endings(
        self, deadlines: Deadlines, marks: ClockMarks, now: float
    ) -> tuple[FinishReason, float] | None:
        """The engine's `endings` slot, by the learner's function."""
        end = self._expired(deadlines, marks, now)
        return None if end is None else (FinishReason(end[0]), float(end[1]))

    @property
    def components(self) -> Components:
        """The learner's deadlines and order of release in the engine's slots."""
        from ...engine import Components

        return Components(endings=self.endings, lifecycle=self.lifecycle)

    def _core(self, model: str, **options: Any) -> tuple[EngineCore, VirtualClock]:
        from ...engine.build import build_core, load_model

        config = EngineConfig(model=model, **options)
        clock = VirtualClock(1.0)
        return build_core(config, load_model(config, progress=False), self.components, clock), clock

    def four_ends(self, model: str) -> Run:
        """Four requests on a virtual clock, each with one limit that it cannot meet. A tick is a second."""
        core, clock = self._core(model, max_running=2, max_step_tokens=2)
        endless = SamplingParams(max_tokens=200, ignore_eos=True)
        whole = core.submit([1, 2], endless, Deadlines(overall_s=9.0), request_id="overall")
        gap = core.submit([3, 4], endless, Deadlines(inter_token_s=2.5), request_id="inter-token")
        queue = core.submit([5, 6], endless, Deadlines(queue_s=3.0), request_id="queue")
        ttft = core.submit([7, 8] * 20, endless, Deadlines(ttft_s=5.0), request_id="ttft")
        lives = [queue, ttft, gap, whole]
        for tick in range(60):
            if not core.has_work:
                break
            core.step()
            # From the sixth tick on each step takes three seconds: the device stalls.
            clock.advance(1.0 if tick < 6 else 3.0)
            for live in core.take_touched():
                live.take()
        rows: list[list[Any]] = [["request", "ended with", "dated", "tokens", "blocks held"]]
        for live in lives:
            request = live.request
            rows.append([
                request.request_id, str(request.finish_reason), f"{request.finished_at or 0.0:g} s",
                request.num_output_tokens, len(request.block_table),
            ])  # fmt: skip
        free = core.snapshot()
        note = f"{free['kv_blocks_free']} of {free['kv_blocks']} blocks are free afterwards"
        return Run(
            table=viz.grid(rows, "Four limits", [(row, 1) for row in range(1, 5)], note),
            timeline=viz.timeline(gap.request.events, "The one that stalled"),
        )

    def cancel_inside_a_step(self, model: str) -> Picture:
        """Two requests decode; one is cancelled while the step runs."""
        from ...engine.output import output_of

        core, _ = self._core(model)
        params = SamplingParams(max_tokens=6, ignore_eos=True)
        leaves = core.submit([1, 2], params, request_id="leaves")
        stays = core.submit([3, 4], params, request_id="stays")
        for _ in range(2):
            core.step()
        plan = core.scheduler.schedule(core.boundary())
        output = core.run(plan)
        core.cancel("leaves")
        core.commit(plan, output)
        rows: list[list[Any]] = [["request", "state", "proposed", "committed", "billed"]]
        for live in (leaves, stays):
            counts = live.token_counts
            billed = output_of(live).usage.completion_tokens
            state = str(live.request.state)
            rows.append([live.request.request_id, state, counts.proposed, counts.committed, billed])
        core.cancel("stays")
        core.step()
        return viz.grid(rows, "A cancel in the middle of a step", [(1, 2), (1, 4)])

    def one_boundary(self, model: str) -> Picture:
        """A limit at 5 s and a cancel, both noticed at 7 s: the engine's end and the learner's answers."""
        rows: list[list[Any]] = [["limit at", "cancel at", "the engine", "your which_end", "your settle"]]
        for asked_at in (4.0, 5.0, 6.0):
            core, clock = self._core(model)
            live = core.submit([1, 2, 3], SamplingParams(max_tokens=50), Deadlines(overall_s=4.0))
            core.step()
            clock.advance_to(asked_at)
            core.cancel(live.request.request_id)
            clock.advance_to(7.0)
            core.boundary()
            due = (str(FinishReason.OVERALL_DEADLINE), 5.0)
            asked = (str(FinishReason.CLIENT_CANCEL), asked_at)
            end = self._which_end(due, False, asked, 7.0, str(FinishReason.ERROR))
            winner, _ = self._settle([(5.0, "expire"), (asked_at, "cancel")])
            engine = str(live.request.finish_reason)
            rows.append(["5 s", f"{asked_at:g} s", engine, str(end[0]), str(winner[1]) if winner else "–"])
        return viz.grid(rows, "Both causes at one boundary", [(row, 2) for row in (1, 2, 3)])

    def release(self, model: str) -> Picture:
        """What a request of the engine had taken, and in which order the learner's function gave it back."""
        core, _ = self._core(model)
        core.submit([1, 2, 3], SamplingParams(max_tokens=2, ignore_eos=True))
        while core.has_work:
            core.step()
        return viz.release_order(self.lifecycle.held, self.lifecycle.given_back)

    def slow_readers(self, model: str) -> Run:
        """Two readers stop reading; one comes back, and then the device stalls. The other one never comes.

        The inter-token limit is 5 s, the limit of a slow reader 25 s.
        """
        core, clock = self._core(model, channel_high=3, channel_low=1, slow_consumer_s=25.0)
        limits = Deadlines(inter_token_s=5.0)
        endless = SamplingParams(max_tokens=200, ignore_eos=True)
        lives = [
            core.submit([index, 2, 3], endless, limits, request_id=name)
            for index, name in enumerate(("comes back", "never comes"), 1)
        ]
        back = lives[0]
        while any(live.request.has_credit for live in lives):
            core.step()
            clock.advance(1.0)
        token_at = back.request.last_token_at or 0.0
        paused_at = back.request.paused_at or 0.0
        clock.advance(14.0)
        core.step()
        rows: list[list[Any]] = [["request", "at", "what", "inter-token clock"]]
        for live in lives:
            name = live.request.request_id
            rows.append([name, f"{clock.now():g} s", "waits for its reader", "stands still"])
        back.take()
        core.boundary()
        resumed_at = clock.now()
        start = back.request.gap_started_at or 0.0
        mine = self._moved_on(token_at, paused_at, resumed_at)
        rows.append(["comes back", f"{resumed_at:g} s", "its reader is back", f"starts at {start:g} s"])
        rows.append(["comes back", f"{resumed_at:g} s", "your moved_on", f"starts at {mine:g} s"])
        while core.has_work:
            clock.advance(1.0)
            core.boundary()
        for live in lives:
            request = live.request
            what = str(request.finish_reason)
            rows.append([request.request_id, f"{request.finished_at or 0.0:g} s", what, "–"])
        marks = {
            "received_at": 1.0, "queued_at": 1.0, "admitted_at": 1.0, "first_token_at": 1.0,
            "last_token_at": token_at,
        }  # fmt: skip
        clocks = viz.deadline_clocks(
            {"inter_token_s": 5.0}, marks, back.request.finished_at or clock.now(),
            title="The one who came back", waits=[(paused_at, resumed_at)], slow_consumer_s=25.0,
        )  # fmt: skip
        note = "limits: 5 s between tokens, 25 s for a slow reader"
        last = [(len(rows) - 2, 2), (len(rows) - 1, 2)]
        return Run(table=viz.grid(rows, "Two slow readers", last, note), timeline=clocks)

    def orphans(self, model: str) -> Picture:
        """Three callers; two are not heard of any more. The learner's function finds what they hold."""
        core, clock = self._core(model)
        params = SamplingParams(max_tokens=100, ignore_eos=True)
        lives = [core.submit([index + 1] * 20, params, request_id=f"r{index}") for index in range(3)]
        heard_at = {live.request.request_id: clock.now() for live in lives}
        for _ in range(4):
            core.step()
            clock.advance(4.0)
            heard_at["r1"] = clock.now()
        held = {
            f"block {block}": live.request.request_id for live in lives for block in live.request.block_table
        }
        orphans = list(self._orphans(held, heard_at, clock.now(), 10.0))
        rows: list[list[Any]] = [["request", "silent for", "holds", "orphans", "after the end"]]
        before = {name: [block for block in held if held[block] == name] for name in heard_at}
        for name in {held[block] for block in orphans}:
            core.cancel(name)
        core.boundary()
        for live in lives:
            name = live.request.request_id
            lost = [block for block in before[name] if block in orphans]
            silent = f"{clock.now() - heard_at[name]:g} s"
            rows.append([name, silent, len(before[name]), len(lost), len(live.request.block_table)])
        core.cancel("r1")
        core.boundary()
        note = "the lease is 10 s; whoever holds an orphan is cancelled"
        return viz.grid(rows, "Who is still there?", [(row, 3) for row in range(1, 4)], note)

    def restart(self, model: str) -> Picture:
        """The gateway is back: its log lacks one request, and names a block of another that is not there."""
        core, _ = self._core(model)
        params = SamplingParams(max_tokens=100, ignore_eos=True)
        lives = [core.submit([index + 1] * 20, params, request_id=f"r{index}") for index in range(3)]
        core.step()
        tables = {live.request.request_id: self._named(live) for live in lives}
        recorded = {"r0": tables["r0"], "r1": [*tables["r1"], "block 999"]}
        in_use = [block for blocks in tables.values() for block in blocks]
        back, lost = (list(part) for part in self._reconcile(recorded, in_use))
        for name, blocks in tables.items():
            if name in lost or any(block in back for block in blocks):
                core.cancel(name)
        core.boundary()
        rows: list[list[Any]] = [["request", "by the log", "in use", "your reconcile", "in use afterwards"]]
        for live in lives:
            name = live.request.request_id
            gone = [block for block in tables[name] if block in back]
            says = "fails" if name in lost else "an orphan" if gone else "goes on"
            says += f", {len(gone)} given back" if gone else ""
            held = len(live.request.block_table)
            rows.append([name, len(recorded.get(name, [])), len(tables[name]), says, held])
        core.check_integrity()
        core.cancel("r0")
        core.boundary()
        return viz.grid(rows, "After the restart", [(row, 3) for row in (1, 2, 3)])

    def _named(self, live: LiveRequest) -> list[str]:
        return [f"block {block}" for block in live.request.block_table]


PLUG = Lab04
