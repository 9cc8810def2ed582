"""Puts the deadlines of lab 04 into the engine, and looks for orphans in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from ... import viz
from ...clock import VirtualClock
from ...config import Deadlines, EngineConfig
from ...lifecycle import ClockMarks, FinishReason, find_orphans, first_expired
from ...sampling import SamplingParams
from ...viz import Picture
from . import Parts

if TYPE_CHECKING:
    from ...engine import Components
    from ...engine.core import EngineCore


@dataclass(frozen=True)
class Run:
    """Four requests, four ends."""

    table: Picture
    timeline: Picture


class Lab04(Parts):
    """The parts of lab 04.

    Attributes:
        components: for `LLM(model, components=…)` or `Engine(…, components=…)`.
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
        self._orphans = self.part("q5", find_orphans)

    def endings(
        self, deadlines: Deadlines, marks: ClockMarks, now: float
    ) -> tuple[FinishReason, float] | None:
        """The engine's `endings` slot, by the learner's function."""
        end = self._expired(deadlines, marks, now)
        return None if end is None else (FinishReason(end[0]), float(end[1]))

    @property
    def components(self) -> Components:
        """The learner's deadlines in the engine's slot."""
        from ...engine import Components

        return Components(endings=self.endings)

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
        rows: list[list[Any]] = [["request", "state", "proposed", "committed"]]
        for live in (leaves, stays):
            counts = live.token_counts
            rows.append([live.request.request_id, str(live.request.state), counts.proposed, counts.committed])
        core.cancel("stays")
        core.step()
        return viz.grid(rows, "A cancel in the middle of a step", [(1, 2)])

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


PLUG = Lab04
