"""Metrics of ended requests, from their boundaries (B3, D2–D4, C6, C9, convention 13).

Pure functions over reports of `replay`, or over rows: mappings that hold how one request ended and its
durations. A boundary that is missing gives None, never 0, and every mean carries its sample count.
Times are seconds.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from ..sampling import check_number
from .record import Record
from .request import LoggedEvent

STAGES = {
    "queued": "queue_wait",
    "preprocessing": "preprocessing",
    "prefill": "prefill",
    "decode": "decode_time",
}
"""Stage name to the metric that says how long it took, in causal order."""

GOOD_ENDS = frozenset({"completed", "stop", "stop_eos", "stop_token", "stop_string", "length"})


def _gap(start: float | None, end: float | None) -> float | None:
    return None if start is None or end is None else end - start


def mean_gap(token_times: Sequence[float]) -> float | None:
    """TPOT: mean gap of adjacent tokens, (last − first)/(n − 1); None below two tokens."""
    if len(token_times) < 2:
        return None
    return (token_times[-1] - token_times[0]) / (len(token_times) - 1)


def mean(values: Iterable[float | None]) -> tuple[float | None, int]:
    """Mean of the values that are not None, and how many there are; (None, 0) for none."""
    known = [value for value in values if value is not None]
    return (sum(known) / len(known) if known else None), len(known)


def service_tpot(token_times: Sequence[float], end: float) -> float | None:
    """The other TPOT (B3): (finish − first token) / n, for n tokens; None without a token.

    Other runtimes report it. It is not the mean gap: see `service_tpot_excess`.
    """
    return (end - token_times[0]) / len(token_times) if token_times else None


def service_tpot_excess(num_tokens: int, gap_s: float | None, tail_s: float) -> float | None:
    """How far `service_tpot` lies above `mean_gap`, in seconds; below it when negative (B3).

    `gap_s` is the mean gap, `tail_s` the time from the last token to the end. finish − first token is
    (n − 1) gaps and the tail; over n, less one gap, that is (tail − gap)/n. So the two agree exactly when
    the tail is as long as one mean gap. None when there is no mean gap (below two tokens).
    """
    if gap_s is None:
        return None
    return (tail_s - gap_s) / num_tokens


def durations(report: Mapping[str, Any]) -> Record:
    """Durations of one replayed request between its boundaries (D2).

    When all boundaries are there, ttft = queue_wait + preprocessing + prefill and
    e2e = ttft + decode_time. `token_span` is last − first token; 0 for one token.
    """
    tokens = report["token_times"]
    return Record(
        queue_wait=_gap(report["arrive"], report["admit"]),
        preprocessing=_gap(report["admit"], report["input_ready"]),
        prefill=_gap(report["input_ready"], report["first_token"]),
        ttft=_gap(report["arrive"], report["first_token"]),
        decode_time=_gap(report["first_token"], report["end"]),
        token_span=tokens[-1] - tokens[0] if tokens else None,
        e2e=_gap(report["arrive"], report["end"]),
        streamed_tokens=len(tokens),
    )


def request_metrics(report: Mapping[str, Any]) -> Record:
    """`durations` of one replayed request, and its `tpot`: the mean gap (D2, convention 13)."""
    return Record(**durations(report), tpot=mean_gap(report["token_times"]))


def row_of(report: Mapping[str, Any]) -> Record:
    """One replayed request as a row: `status`, `stage` and all of `request_metrics`."""
    return Record(status=str(report["status"]), stage=report["stage"], **request_metrics(report))


def engine_metrics(events: Iterable[LoggedEvent]) -> Record:
    """Durations of one request from the engine's own log, as its client saw them (convention 13).

    The names of `request_metrics`, and `tokenize`, `queue_wait_total` (with the waits after a
    preemption), `inter_token` (all gaps) and `preemptions`. ttft = tokenize + queue_wait + preprocessing
    + prefill. A preemption never rewrites what came before it.
    """
    at: dict[str, float] = {}
    token_times: list[float] = []
    waited = end = 0.0
    waiting_since: float | None = None
    preemptions = 0
    for entry in events:
        at.setdefault(entry.event, entry.timestamp)
        end = entry.timestamp
        if entry.event == "token":
            token_times.append(entry.timestamp)
        elif entry.event in ("enqueue", "preempt"):
            waiting_since = entry.timestamp
            preemptions += entry.event == "preempt"
        elif entry.event == "admit" and waiting_since is not None:
            waited += entry.timestamp - waiting_since
    received, first = at.get("receive"), at.get("token")
    return Record(
        tokenize=_gap(received, at.get("enqueue")),
        queue_wait=_gap(at.get("enqueue"), at.get("admit")),
        queue_wait_total=waited if "admit" in at else None,
        preprocessing=_gap(at.get("admit"), at.get("start_prefill")),
        prefill=_gap(at.get("start_prefill"), first),
        ttft=_gap(received, first),
        tpot=mean_gap(token_times),
        inter_token=[after - before for before, after in pairwise(token_times)],
        decode_time=_gap(first, end),
        token_span=token_times[-1] - token_times[0] if token_times else None,
        e2e=_gap(received, end),
        streamed_tokens=len(token_times),
        preemptions=preemptions,
    )


def classify_outcome(
    report: Mapping[str, Any], metrics: Mapping[str, Any], threshold: float = 0.45
) -> Record:
    """Which stage explains the time of a request (D3).

    A completed request: the stage with the largest share of the explained time, or "mixed" when
    that share is below `threshold`; ties go to the earlier stage. Any other end keeps its stage
    and has no share. Raises ValueError for a threshold outside (0, 1] or a total of zero.
    """
    check_number("threshold", threshold, 0.0, 1.0, low_open=True)
    if report["status"] != "completed":
        return Record(outcome=report["status"], stage=report["stage"], dominant_share=None)
    parts = {stage: metrics[name] or 0.0 for stage, name in STAGES.items()}
    total = sum(parts.values())
    if total <= 0:
        raise ValueError("no time to explain: all stages of the request took 0 s")
    stage = max(parts, key=lambda name: parts[name])
    share = parts[stage] / total
    return Record(outcome="completed", stage=stage if share >= threshold else "mixed", dominant_share=share)


def summarize_workload(reports: Iterable[Mapping[str, Any]], window_s: float | None = None) -> Record:
    """`summarize` of replayed requests (D4, C9)."""
    return summarize([row_of(report) for report in reports], window_s)


def summarize(rows: Sequence[Mapping[str, Any]], window_s: float | None = None) -> Record:
    """Figures of a set of ended requests, each with its own denominator (D4, C9).

    A row has `status`, `stage`, `ttft`, `tpot` and `streamed_tokens`. The success rate is over all ended
    requests; TTFT over those with a first token; TPOT over those with two tokens or more. With `window_s`
    the result has `throughput_rps` over all requests. Empty denominators give None. `abnormal` lists the
    requests that did not complete. Raises ValueError for a window that is not above 0 s.
    """
    if window_s is not None:
        check_number("window_s", window_s, 0.0, 1e18, low_open=True)
    by_status = Counter(row["status"] for row in rows)
    mean_ttft, ttft_samples = mean([row["ttft"] for row in rows])
    mean_tpot, tpot_samples = mean([row["tpot"] for row in rows])
    return Record(
        total_requests=len(rows),
        completed_requests=by_status["completed"],
        success_rate=by_status["completed"] / len(rows) if rows else None,
        ttft_sample_count=ttft_samples,
        mean_ttft=mean_ttft,
        tpot_sample_count=tpot_samples,
        mean_tpot=mean_tpot,
        by_status=dict(by_status),
        throughput_rps=None if window_s is None else len(rows) / window_s,
        abnormal=[
            {"status": row["status"], "stage": row["stage"], "streamed_tokens": row["streamed_tokens"]}
            for row in rows
            if row["status"] != "completed"
        ],
    )


def goodput(
    rows: Iterable[Mapping[str, Any]],
    *,
    window_s: float,
    ttft_slo_s: float | None = None,
    tpot_slo_s: float | None = None,
    e2e_slo_s: float | None = None,
) -> Record:
    """Requests that ended well within every objective that applies, per second (C9, convention 13).

    Each row has `reason` (a finish reason or a replay status; None: still running
    at the end of the window, left out) and `ttft`, `tpot`, `e2e` in seconds or None. An objective
    is met at equality and ignored where the value is None. Cancels, timeouts, errors and rejects
    are attempted and never good.
    """
    check_number("window_s", window_s, 0.0, 1e18, low_open=True)
    limits = {"ttft": ttft_slo_s, "tpot": tpot_slo_s, "e2e": e2e_slo_s}
    for name, limit in limits.items():
        if limit is not None:
            check_number(f"{name}_slo_s", limit, 0.0, 1e18)
    attempted = good = 0
    for row in rows:
        if row["reason"] is None:
            continue
        attempted += 1
        met = all(
            limit is None or row.get(name) is None or row[name] <= limit for name, limit in limits.items()
        )
        good += met and str(row["reason"]) in GOOD_ENDS
    return Record(
        attempted=attempted,
        good=good,
        goodput_rps=good / window_s,
        good_share=good / attempted if attempted else None,
    )


def percentile(values: Sequence[float | None], percent: float) -> float | None:
    """The smallest value that `percent` % of all requests stay at or below (nearest rank, C8, C9).

    `values` has one entry for each attempted request. A None entry was never measured (a reject, an end
    before the first token) and counts as worse than every value, so that nobody who vanished makes the
    result better. None: fewer than `percent` % were measured. Raises ValueError for a `percent` outside
    (0, 100].
    """
    check_number("percent", percent, 0.0, 100.0, low_open=True)
    known = sorted(value for value in values if value is not None)
    rank = math.ceil(percent * len(values) / 100)
    return known[rank - 1] if 0 < rank <= len(known) else None
