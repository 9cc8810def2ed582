"""The pictures of lab 02: spans, gaps, shares and denominators, as an answer computed them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import viz
from ...lifecycle import (
    classify_outcome,
    durations,
    goodput,
    mean_gap,
    percentile,
    replay,
    row_of,
    service_tpot_excess,
    summarize,
)
from ...viz import Picture
from ..checking import Subject
from ..overload import overload, rows_of

EXAMPLE = [
    ("arrive", 0.0),
    ("admit", 2.0),
    ("input_ready", 3.0),
    ("first_token", 7.0),
    ("token", 9.0),
    ("token", 11.0),
    ("complete", 12.0),
]
ONE_TOKEN = [*EXAMPLE[:4], ("complete", 8.0)]
CANCELLED = [*EXAMPLE[:3], ("cancel", 5.0)]
TIMED_OUT = [*EXAMPLE[:5], ("timeout", 20.0)]
FOUR = (EXAMPLE, ONE_TOKEN, CANCELLED, TIMED_OUT)


def draw_durations(s: Subject) -> Picture:
    report = replay(EXAMPLE)
    values: Any = s.call("durations", report)
    return viz.metric_spans(report, values)


def draw_gaps(s: Subject) -> Picture:
    cases = [[7.0, 9.0, 11.0], [0.0, 1.0, 5.0], [1.0, 1.25, 1.25, 1.75], [5.0], []]
    rows: list[list[Any]] = [["times of the tokens", "mean gap"]]
    rows += [[times, s.call("mean_gap", times)] for times in cases]
    return viz.grid(rows, "Mean gaps", [(row, 1) for row in range(1, len(rows))], "– there is no gap")


def draw_excess(s: Subject) -> Picture:
    """The difference of the two formulas against the tail, for gaps of one second."""
    tails = [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0]
    series: dict[str, Any] = {
        f"{n} tokens": [s.call("service_tpot_excess", n, 1.0, tail) for tail in tails] for n in (2, 4, 16)
    }
    return viz.latency_curve(
        tails, series, title="(finish − first)/n minus the mean gap",
        x_label="tail: from the last token to the end (in mean gaps)", y_label="difference (in mean gaps)",
    )  # fmt: skip


def draw_outcomes(s: Subject) -> Picture:
    rows: list[list[Any]] = [["queued", "preprocessing", "prefill", "decode", "end", "stage", "share"]]
    for log in FOUR:
        report = replay(log)
        metrics = row_of(report)
        result: Any = s.call("classify_outcome", report, metrics)
        share = result["dominant_share"]
        parts = [metrics[name] for name in ("queue_wait", "preprocessing", "prefill", "decode_time")]
        shown = None if share is None else f"{share:.1%}"
        rows.append([*parts, result["outcome"], result["stage"], shown])
    marked = [(row, 5) for row in range(1, len(rows))]
    return viz.grid(rows, "Where the time went", marked, "seconds; – is missing or has no share")


def draw_summary(s: Subject) -> Picture:
    summary: Any = s.call("summarize", [row_of(replay(log)) for log in FOUR], 40.0)
    rows = [
        ["figure", "value", "over"],
        ["success rate", summary["success_rate"], f"{summary['total_requests']} ended"],
        ["mean TTFT (s)", summary["mean_ttft"], f"{summary['ttft_sample_count']} with a first token"],
        ["mean TPOT (s)", summary["mean_tpot"], f"{summary['tpot_sample_count']} with two tokens"],
        ["requests/s", summary["throughput_rps"], f"{summary['total_requests']} in a window of 40 s"],
    ]
    rows += [
        [one["status"], f"in {one['stage']}", f"{one['streamed_tokens']} tokens sent"]
        for one in summary["abnormal"]
    ]
    return viz.grid(rows, "Every figure with its denominator", [(row, 2) for row in range(1, 5)])


GOODPUT_ROWS: list[dict[str, Any]] = [
    {"reason": "stop", "ttft": 2.0, "tpot": 1.0, "e2e": 4.0},
    {"reason": "stop", "ttft": 3.0, "tpot": None, "e2e": 3.0},
    {"reason": "length", "ttft": 5.0, "tpot": 1.0, "e2e": 9.0},
    {"reason": "client_cancel", "ttft": 1.0, "tpot": 1.0, "e2e": 2.0},
    {"reason": "rejected", "ttft": None, "tpot": None, "e2e": None},
    {"reason": None, "ttft": 1.0, "tpot": None, "e2e": None},
]


def draw_goodput(s: Subject) -> Picture:
    """Each request alone, and all together: TTFT ≤ 3 s and TPOT ≤ 2 s, in a window of 10 s."""
    slos = {"window_s": 10.0, "ttft_slo_s": 3.0, "tpot_slo_s": 2.0}
    rows: list[list[Any]] = [["reason", "ttft", "tpot", "attempted", "good"]]
    for row in GOODPUT_ROWS:
        one: Any = s.call("goodput", [row], **slos)
        rows.append([row["reason"], row["ttft"], row["tpot"], one["attempted"], one["good"]])
    every: Any = s.call("goodput", GOODPUT_ROWS, **slos)
    counts = f"{every['good']} good of {every['attempted']}, {every['goodput_rps']:g}/s in 10 s"
    marked = [(row, 4) for row in range(1, len(rows)) if rows[row][4]]
    return viz.grid(rows, "Who is good", marked, f"TTFT ≤ 3 s, TPOT ≤ 2 s: {counts}")


def draw_percentiles(s: Subject) -> Picture:
    """Percentiles of the TTFT in an overload: of those who completed, and of everyone who tried."""
    rows = [row for row in rows_of(overload(20.0)) if row.reason is not None]
    percents = [10.0, 25.0, 40.0, 50.0, 60.0, 75.0, 90.0, 99.0]
    done = [row.ttft for row in rows if row.status == "completed"]
    every = [row.ttft for row in rows]
    series: dict[str, Any] = {
        "of the completed": [s.call("percentile", done, percent) for percent in percents],
        "of all attempted": [s.call("percentile", every, percent) for percent in percents],
    }
    return viz.latency_curve(
        percents, series, title="Percentiles of the TTFT at 20 requests/s",
        x_label="percent of the requests", y_label="TTFT (s)",
    )  # fmt: skip


REFERENCE: dict[str, Any] = {
    "durations": durations,
    "mean_gap": mean_gap,
    "service_tpot_excess": service_tpot_excess,
    "classify_outcome": classify_outcome,
    "summarize": summarize,
    "goodput": goodput,
    "percentile": percentile,
}
DRAWINGS: dict[str, Callable[[Subject], Picture]] = {
    "q1": draw_durations,
    "q2": draw_gaps,
    "q3": draw_excess,
    "q4": draw_outcomes,
    "q5": draw_summary,
    "q6": draw_goodput,
    "q7": draw_percentiles,
}
