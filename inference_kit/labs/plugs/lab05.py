"""Puts the channel of lab 05 into the engine, behind a lock, and lets slow readers meet it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from ... import viz
from ...clock import VirtualClock
from ...sampling import SamplingParams
from ...streaming import Chunk, PlainChannel, token_counts
from ...viz import Picture
from . import Parts

if TYPE_CHECKING:
    from ...engine import LLM, Components

MOST = 1_000_000
"""More tokens than any answer has: everything that waits."""


class LabChannel:
    """The engine's `channel` slot around a learner's channel: the engine and the reader have own threads."""

    def __init__(
        self,
        make: Callable[[int, int], Any],
        high: int,
        low: int,
        on_resume: Callable[[], None] | None = None,
    ) -> None:
        self._inner = make(high, low)
        self._lock = threading.Lock()
        self._on_resume = on_resume

    def put(self, text: str, token_ids: tuple[int, ...]) -> None:
        if text or token_ids:
            with self._lock:
                self._inner.put(text, list(token_ids))

    def close(self, finish_reason: str) -> None:
        with self._lock:
            self._inner.close(finish_reason)

    def take(self, max_tokens: int | None = None) -> Chunk | None:
        with self._lock:
            before = bool(self._inner.paused)
            taken = self._inner.take(MOST if max_tokens is None else max_tokens)
            resumed = before and not self._inner.paused
        if resumed and self._on_resume is not None:
            self._on_resume()
        if taken is None:
            return None
        text, token_ids, reason = taken
        return Chunk(text, tuple(token_ids), reason)

    @property
    def paused(self) -> bool:
        return bool(self._inner.paused)

    @property
    def unsent(self) -> int:
        return int(self._inner.unsent)

    @property
    def sent(self) -> int:
        return int(self._inner.sent)


@dataclass(frozen=True)
class Run:
    """What two readers did to one engine."""

    summary: Picture
    timeline: Picture
    counts: Picture


class Lab05(Parts):
    """The parts of lab 05.

    Attributes:
        components: for `LLM(model, components=…)` or `Engine(…, components=…)`.
    """

    lab = "lab05"
    questions: ClassVar = {
        "q1": "tick",
        "q2": "run_client",
        "q3": "watch",
        "q4": "Channel",
        "q5": "longest_unserved",
        "q6": "token_counts",
    }

    def __init__(self, names: Mapping[str, Any]) -> None:
        super().__init__(names)
        self._make = self.part("q4", PlainChannel)
        self._counts = self.part("q6", token_counts)

    @property
    def components(self) -> Components:
        """The learner's channel in the engine's slot."""
        from ...engine import Components

        return Components(channel=partial(LabChannel, self._make))

    def _engine(self, model: str, **options: Any) -> LLM:
        from ...engine import LLM

        return LLM(
            model, components=self.components, progress=False, channel_high=4, channel_low=1, **options
        )

    def two_readers(self, model: str, tokens: int = 16) -> Run:
        """One reader takes everything at once, one nothing for ten steps and then two tokens a step."""
        core = self._engine(model).core
        params = SamplingParams(max_tokens=tokens, ignore_eos=True)
        prompts = ([1, 2, 3], [4, 5, 6])
        fast, slow = (
            core.submit(ids, params, request_id=name)
            for ids, name in zip(prompts, ("fast", "slow"), strict=True)
        )
        log: dict[str, list[tuple[str, int]]] = {"fast": [], "slow": []}
        most_unsent, steps, fast_done = 0, 0, 0
        while core.has_work or slow.channel.unsent:
            plan = core.step() if core.has_work else None
            for chunk in plan.chunks if plan else ():
                if chunk.samples:
                    log[chunk.request_id] += [("propose", 1), ("commit", 1)]
            most_unsent = max(most_unsent, slow.channel.unsent)
            steps += 1
            for live, most in ((fast, None), (slow, 2 if steps > 10 else 0)):
                taken = None if most == 0 else live.take(most)
                if taken is not None and taken.token_ids:
                    log[live.request.request_id].append(("send", len(taken.token_ids)))
            fast_done = fast_done or (steps if fast.request.is_terminal else 0)
        moves = [line.event for line in slow.request.events]
        rows: list[list[Any]] = [
            ["what", "value"],
            ["steps until the fast one had all", fast_done],
            ["steps until the slow one had all", steps],
            ["most unsent tokens of the slow one", most_unsent],
            ["pauses of the slow one", moves.count("pause")],
        ]
        counts: list[list[Any]] = [["request", "who counts", "proposed", "committed", "unsent", "sent"]]
        for live in (fast, slow):
            name = live.request.request_id
            for who, got in (
                ("the engine", live.token_counts),
                ("your token_counts", self._counts(log[name])),
            ):
                counts.append([name, who, *(got[key] for key in ("proposed", "committed", "unsent", "sent"))])
        return Run(
            summary=viz.grid(rows, "Two readers, one engine", [(3, 1), (4, 1)], "the high mark is 4"),
            timeline=viz.timeline(slow.request.events, "The slow one"),
            counts=viz.grid(counts, "Four counts", [(row, 5) for row in range(1, 5)]),
        )

    def a_reader_who_never_comes(self, model: str) -> Picture:
        """On a virtual clock: the pause has a limit, and the end gives everything back."""
        from ...config import EngineConfig
        from ...engine.build import build_core, load_model

        config = EngineConfig(model=model, channel_high=4, channel_low=1, slow_consumer_s=30.0)
        clock = VirtualClock()
        core = build_core(config, load_model(config, progress=False), self.components, clock)
        live = core.submit([1, 2, 3], SamplingParams(max_tokens=16, ignore_eos=True))
        rows: list[list[Any]] = [["time", "state", "unsent", "blocks in use"]]
        for seconds in (0.0, 1.0, 1.0, 1.0, 1.0, 25.0, 5.0):
            clock.advance(seconds)
            core.step()
            snapshot = core.snapshot()
            used = snapshot["kv_blocks"] - snapshot["kv_blocks_free"]
            rows.append([f"{clock.now():g} s", str(live.request.state), live.channel.unsent, used])
        note = f"the end: {live.request.finish_reason}, dated {live.request.finished_at:g} s"
        return viz.grid(rows, "A reader who never comes", [(len(rows) - 1, 1)], note)


PLUG = Lab05
