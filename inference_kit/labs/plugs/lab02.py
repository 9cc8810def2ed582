"""Puts the parts of lab 02 into the engine: an event log that measures each request as it ends.

A wrong part never measures; the kit's does in its place. The log itself stays the kit's own, so what the
engine writes down is the same whoever reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from ... import viz
from ...lifecycle import (
    TERMINAL_STATES,
    LoggedEvent,
    Record,
    classify_outcome,
    durations,
    goodput,
    mean_gap,
    percentile,
    replay,
    service_tpot,
    service_tpot_excess,
    summarize,
    trace_of,
)
from ...telemetry import EventLog
from ...viz import Picture
from ..overload import Traffic, rows_of
from . import Parts

if TYPE_CHECKING:
    from ...engine import Components


class MeasuringLog(EventLog):
    """The engine's `telemetry` slot: an event log that hands the whole log of each ended request on."""

    def __init__(self, on_end: Callable[[list[LoggedEvent]], None]) -> None:
        super().__init__()
        self._on_end = on_end
        self._live: dict[str, list[LoggedEvent]] = {}
        self.subscribe(self._hear)

    def _hear(self, entry: LoggedEvent) -> None:
        self._live.setdefault(entry.request_id, []).append(entry)
        if entry.state in TERMINAL_STATES:
            self._on_end(self._live.pop(entry.request_id))


class Lab02(Parts):
    """The parts of lab 02: the reader of the engine's log.

    Attributes:
        measured: one row for each request that has ended in an engine with these parts, in that order.
    """

    lab = "lab02"
    questions: ClassVar = {
        "q1": "durations",
        "q2": "mean_gap",
        "q3": "service_tpot_excess",
        "q4": "classify_outcome",
        "q5": "summarize",
        "q6": "goodput",
        "q7": "percentile",
    }

    def __init__(self, names: Mapping[str, Any]) -> None:
        super().__init__(names)
        self.durations = self.part("q1", durations)
        self.mean_gap = self.part("q2", mean_gap)
        self.service_tpot_excess = self.part("q3", service_tpot_excess)
        self.classify_outcome = self.part("q4", classify_outcome)
        self.summarize = self.part("q5", summarize)
        self.goodput = self.part("q6", goodput)
        self.percentile = self.part("q7", percentile)
        self.measured: list[Record] = []

    @property
    def components(self) -> Components:
        """For `LLM(model, components=…)` or `Engine(…, components=…)`."""
        from ...engine import Components

        return Components(telemetry=partial(MeasuringLog, self._measure))

    def row(self, report: Record) -> Record:
        """One ended request, by the learner's `durations` and `mean_gap`."""
        tpot = self.mean_gap(report.token_times)
        return Record(self.durations(report), status=report.status, stage=report.stage, tpot=tpot)

    def rows(self, traffic: Traffic) -> list[Record]:
        """One row for each arrival of a simulated window."""
        return rows_of(traffic, self.row)

    def _measure(self, events: list[LoggedEvent]) -> None:
        report = replay(trace_of(events))
        reason = str(events[-1].data.get("reason", report.status))
        self.measured.append(Record(self.row(report), reason=reason, report=report))

    def table(self) -> Picture:
        """Every measured request: how it ended, its durations, and where its time went."""
        rows: list[list[Any]] = [
            ["end", "queue_wait", "prefill", "ttft", "tpot", "e2e", "tokens", "explained by"]
        ]
        for row in self._rows():
            times = [_ms(row[name]) for name in ("queue_wait", "prefill", "ttft", "tpot", "e2e")]
            where = self.classify_outcome(row.report, row)
            share = where["dominant_share"]
            why = where["stage"] if share is None else f"{where['stage']} {share:.0%}"
            rows.append([row.reason, *times, row["streamed_tokens"], why])
        note = (
            "– was never measured. An end that is not normal keeps the stage where it came, without a share."
        )
        return viz.grid(rows, "Measured requests", (), note)

    def two_tpots(self) -> Picture:
        """Both TPOT formulas for each measured answer, and the difference by the learner's formula."""
        rows: list[list[Any]] = [["tokens", "mean gap", "(finish − first)/n", "difference", "predicted"]]
        for row in self._rows():
            times = row.report.token_times
            if not times:
                continue
            gap, other = self.mean_gap(times), service_tpot(times, row.report.end)
            predicted = self.service_tpot_excess(len(times), gap, row.report.end - times[-1])
            difference = None if gap is None or other is None else other - gap
            rows.append([len(times), *(_ms(value) for value in (gap, other, difference, predicted))])
        return viz.grid(rows, "Two TPOT formulas", [(row, 4) for row in range(1, len(rows))])

    def dashboard(self, rows: Sequence[Mapping[str, Any]], window_s: float, **slos: float) -> Picture:
        """The figures of one window, each with its number of samples, and what stands beside them (C9).

        `rows` are `measured` or the rows of a simulated window; a row without a reason is in flight.
        """
        ended = [row for row in rows if row["reason"] is not None]
        started = [row for row in ended if row["status"] != "rejected"]
        summary = self.summarize(started, window_s)
        good = self.goodput(rows, window_s=window_s, **slos)
        table: list[list[Any]] = [["figure", "value", "samples"]]
        for name in ("ttft", "tpot"):
            table.append([f"mean {name}", _ms(summary[f"mean_{name}"]), summary[f"{name}_sample_count"]])
        done = [row["ttft"] for row in ended if row["status"] == "completed"]
        table.append(["p95 ttft of the completed", _ms(self.percentile(done, 95)), len(done)])
        every = [row["ttft"] for row in ended]
        table.append(["p95 ttft of all attempted", _ms(self.percentile(every, 95)), len(every)])
        table.append(["goodput per second", f"{good['goodput_rps']:.3g}", good["attempted"]])
        share = "–" if good["good_share"] is None else f"{good['good_share']:.1%}"
        table.append(["good share", share, good["attempted"]])
        table += [[status, count, ""] for status, count in sorted(summary["by_status"].items())]
        table.append(["rejected", len(ended) - len(started), ""])
        table.append(["in flight", len(rows) - len(ended), ""])
        table.append(["arrivals", len(rows), ""])
        return viz.grid(table, "Dashboard", [(3, 1), (4, 1)])

    def _rows(self) -> list[Record]:
        if not self.measured:
            raise ValueError("no request has ended yet in an engine with these parts")
        return self.measured


def _ms(value: float | None) -> str:
    return "–" if value is None else f"{value * 1000:.4g} ms"


PLUG = Lab02
