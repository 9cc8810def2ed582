"""Brute-force oracles for lab 02, written apart from the kit: clocks that tick, lists that are counted.

They share no function with `inference_kit.lifecycle`. A test compares them with the kit on random cases;
the hidden checks use the kit. Times are multiples of 1/64 s, so a tick loses nothing.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

TICK = Fraction(1, 64)


def between(start: float | None, end: float | None) -> float | None:
    """Seconds from start to end, by counting the ticks that lie between."""
    if start is None or end is None:
        return None
    at, ticks = Fraction(start), 0
    while at < Fraction(end):
        at, ticks = at + TICK, ticks + 1
    return float(ticks * TICK)


def durations(report: dict[str, Any]) -> dict[str, Any]:
    """Each duration by the clock; the totals as sums of what they are made of, where those are known."""
    times = list(report["token_times"])
    parts = [
        between(report["arrive"], report["admit"]),
        between(report["admit"], report["input_ready"]),
        between(report["input_ready"], report["first_token"]),
    ]
    ttft = None if None in parts else sum(part for part in parts if part is not None)
    decode = between(report["first_token"], report["end"])
    return {
        "queue_wait": parts[0],
        "preprocessing": parts[1],
        "prefill": parts[2],
        "ttft": ttft,
        "decode_time": decode,
        "token_span": between(min(times), max(times)) if times else None,
        "e2e": between(report["arrive"], report["end"]),
        "streamed_tokens": sum(1 for _ in times),
    }


def gaps(times: list[float]) -> list[Fraction]:
    return [Fraction(times[index + 1]) - Fraction(times[index]) for index in range(len(times) - 1)]


def mean_gap(times: list[float]) -> float | None:
    """The sum of all gaps, one by one, over their number."""
    found = gaps(times)
    return float(sum(found) / len(found)) if found else None


def excess(num_tokens: int, gap_s: float | None, tail_s: float) -> float | None:
    """Builds a trace with these gaps and measures both formulas on it, with exact numbers."""
    if gap_s is None:
        return None
    times = [Fraction(gap_s) * index for index in range(num_tokens)]
    finish = times[-1] + Fraction(tail_s)
    return float((finish - times[0]) / num_tokens - Fraction(gap_s))


def classify(report: dict[str, Any], metrics: dict[str, Any], threshold: float) -> dict[str, Any]:
    """The stage that no other one beats, and that no earlier one equals."""
    if not 0 < threshold <= 1:
        raise ValueError("threshold")
    if report["status"] != "completed":
        return {"outcome": report["status"], "stage": report["stage"], "dominant_share": None}
    stages = ["queued", "preprocessing", "prefill", "decode"]
    parts = [
        Fraction(metrics[name] or 0) for name in ("queue_wait", "preprocessing", "prefill", "decode_time")
    ]
    if not any(parts):
        raise ValueError("nothing")
    winner = next(index for index, part in enumerate(parts) if all(part >= other for other in parts))
    share = float(parts[winner] / sum(parts))
    return {
        "outcome": "completed",
        "stage": "mixed" if share < threshold else stages[winner],
        "dominant_share": share,
    }


def summary(rows: list[dict[str, Any]], window_s: float | None) -> dict[str, Any]:
    """Every figure by its own search through the rows."""
    ttft = [Fraction(row["ttft"]) for row in rows if row["ttft"] is not None]
    tpot = [Fraction(row["tpot"]) for row in rows if row["tpot"] is not None]
    bad = [row for row in rows if row["status"] != "completed"]
    names = {row["status"] for row in rows}
    return {
        "total_requests": len(rows),
        "completed_requests": len(rows) - len(bad),
        "success_rate": None if not rows else (len(rows) - len(bad)) / len(rows),
        "ttft_sample_count": len(ttft),
        "mean_ttft": float(sum(ttft) / len(ttft)) if ttft else None,
        "tpot_sample_count": len(tpot),
        "mean_tpot": float(sum(tpot) / len(tpot)) if tpot else None,
        "by_status": {name: len([row for row in rows if row["status"] == name]) for name in names},
        "throughput_rps": None if window_s is None else len(rows) / window_s,
        "abnormal": [{key: row[key] for key in ("status", "stage", "streamed_tokens")} for row in bad],
    }


NORMAL = ("completed", "stop", "stop_eos", "stop_token", "stop_string", "length")


def goodput(rows: list[dict[str, Any]], window_s: float, **slos: float | None) -> dict[str, Any]:
    """Strikes out who is not good, rule by rule."""
    attempted = [row for row in rows if row["reason"] is not None]
    left = [row for row in attempted if row["reason"] in NORMAL]
    for name, limit in slos.items():
        key = name.removesuffix("_slo_s")
        left = [row for row in left if limit is None or row[key] is None or not row[key] > limit]
    return {
        "attempted": len(attempted),
        "good": len(left),
        "goodput_rps": len(left) / window_s,
        "good_share": len(left) / len(attempted) if attempted else None,
    }


def percentile(values: list[float | None], percent: float) -> float | None:
    """Tries every measured value, smallest first: do enough of all requests stay at or below it?"""
    for candidate in sorted(value for value in values if value is not None):
        within = [value for value in values if value is not None and value <= candidate]
        if Fraction(len(within), len(values)) >= Fraction(percent) / 100:
            return candidate
    return None
