"""Visible checks of lab02: `make labs` copies them from solutions/lab02_metrics. Do not edit."""

from __future__ import annotations

import random
from functools import partial
from typing import Any

from inference_kit.labs.checking import CheckSet, Subject, expect, expect_raises, fail
from inference_kit.lifecycle import durations

CHECKS = CheckSet("lab02")
TOL = 1e-9
DONE: dict[str, Any] = {
    "status": "completed",
    "stage": "decode",
    "arrive": 0.0,
    "admit": 2.0,
    "input_ready": 3.0,
    "first_token": 7.0,
    "token_times": [7.0, 9.0, 11.0],
    "end": 12.0,
}
LATER: dict[str, Any] = {
    "status": "completed",
    "stage": "decode",
    "arrive": 100.0,
    "admit": 100.5,
    "input_ready": 101.5,
    "first_token": 104.0,
    "token_times": [104.0, 104.25, 106.0, 106.5],
    "end": 107.5,
}
IN_PREFILL = DONE | {
    "status": "cancelled",
    "stage": "prefill",
    "first_token": None,
    "token_times": [],
    "end": 5.0,
}
IN_QUEUE = IN_PREFILL | {
    "status": "timed_out",
    "stage": "queued",
    "admit": None,
    "input_ready": None,
    "end": 4.0,
}
ONE_TOKEN = DONE | {"token_times": [7.0], "end": 8.0}
ALL_AT_ZERO = DONE | {
    "admit": 0.0,
    "input_ready": 0.0,
    "first_token": 0.0,
    "token_times": [0.0, 0.0],
    "end": 0.0,
}


def record_of(value: Any, what: str, names: list[str]) -> dict[str, Any]:
    """A dict with these keys; a wrong shape is named before any value is looked at."""
    if not isinstance(value, dict):
        fail(f"{what} must return a dict", expected="a dict", got=value)
    missing = [name for name in names if name not in value]
    extra = [name for name in value if name not in names]
    if missing or extra:
        note = (
            f"the result lacks {missing[0]!r}"
            if missing
            else f"the result has {extra[0]!r}, not in the contract"
        )
        fail(note, expected=names, got=sorted(map(str, value)))
    return value


def expect_fields(got: dict[str, Any], expected: dict[str, Any], given: Any = None) -> None:
    for name, want in expected.items():
        expect(got.get(name), want, given=given, note=name, tol=TOL)


DURATIONS = [
    "queue_wait", "preprocessing", "prefill", "ttft", "decode_time", "token_span", "e2e", "streamed_tokens",
]  # fmt: skip


def durations_of(s: Subject, report: dict[str, Any]) -> dict[str, Any]:
    return record_of(s.call("durations", report), "durations", DURATIONS)


@CHECKS.check(
    "q1",
    1,
    misconception="ttft and e2e begin when the request arrives: the client has waited since then",
    rows=("arrive 0, admit 2, input_ready 3, first_token 7, tokens 7, 9, 11, end 12",),
)
def parts_and_totals(s: Subject, rng: random.Random) -> None:
    for report in (DONE, LATER):
        got = durations_of(s, report)
        names = ("queue_wait", "preprocessing", "prefill", "ttft", "e2e")
        expect_fields(got, {name: durations(report)[name] for name in names}, given=report)
        expect(got["streamed_tokens"], len(report["token_times"]), given=report, note="streamed_tokens")


@CHECKS.check(
    "q1",
    1,
    misconception="decode_time ends with the request, token_span with the last token; the end may come later",
    rows=("arrive 0, admit 2, input_ready 3, first_token 7, tokens 7, 9, 11, end 12",),
)
def span_is_not_decode_time(s: Subject, rng: random.Random) -> None:
    for report in (DONE, LATER):
        got = durations_of(s, report)
        expected = {
            "decode_time": durations(report)["decode_time"],
            "token_span": durations(report)["token_span"],
        }
        expect_fields(got, expected, given=report)


@CHECKS.check(
    "q1",
    1,
    misconception="a duration whose boundary never came is None; 0 would be a very fast request",
    rows=("cancelled in prefill at 5", "timed out in the queue at 4"),
)
def a_missing_boundary_gives_none(s: Subject, rng: random.Random) -> None:
    for report in (IN_PREFILL, IN_QUEUE):
        got = durations_of(s, report)
        missing = [name for name, value in durations(report).items() if value is None]
        expect_fields(got, dict.fromkeys(missing), given=report)


@CHECKS.check(
    "q1",
    1,
    misconception="what did happen before an early end is still measured: queue_wait, preprocessing, e2e, tokens",
    rows=("cancelled in prefill at 5", "timed out in the queue at 4"),
)
def an_early_end_keeps_what_was_measured(s: Subject, rng: random.Random) -> None:
    for report in (IN_PREFILL, IN_QUEUE):
        got = durations_of(s, report)
        known = {name: value for name, value in durations(report).items() if value is not None}
        expect_fields(got, known, given=report)


@CHECKS.check(
    "q1",
    1,
    misconception="one token has a span of 0: its first and its last token are the same one",
    rows=("one token at 7, end 8",),
)
def one_token_spans_zero(s: Subject, rng: random.Random) -> None:
    got = durations_of(s, ONE_TOKEN)
    expect_fields(got, {"token_span": 0.0, "decode_time": 1.0, "streamed_tokens": 1}, given=ONE_TOKEN)


@CHECKS.check(
    "q1",
    1,
    misconception="0.0 is a time. Only None says that a boundary is missing",
    rows=("everything at 0",),
)
def zero_is_a_time(s: Subject, rng: random.Random) -> None:
    got = durations_of(s, ALL_AT_ZERO)
    expect_fields(got, dict(durations(ALL_AT_ZERO)), given=ALL_AT_ZERO)


def expect_gap(s: Subject, times: list[float], expected: float | None) -> None:
    expect(s.call("mean_gap", times), expected, given=f"mean_gap({times})", tol=TOL)


@CHECKS.check(
    "q2",
    1,
    misconception="n tokens have n − 1 gaps between them",
    rows=("mean_gap([7.0, 9.0, 11.0])",),
)
def gaps_are_counted_not_tokens(s: Subject, rng: random.Random) -> None:
    expect_gap(s, [7.0, 9.0, 11.0], 2.0)
    expect_gap(s, [1.0, 1.5], 0.5)


@CHECKS.check(
    "q2",
    1,
    misconception="below two tokens there is no gap, so there is no mean: None, not 0",
    rows=("mean_gap([5.0])", "mean_gap([])"),
)
def no_gap_gives_none(s: Subject, rng: random.Random) -> None:
    expect_gap(s, [5.0], None)
    expect_gap(s, [], None)


@CHECKS.check(
    "q2",
    1,
    misconception="the mean of the gaps, not the middle one and not the last one",
    rows=("mean_gap([0.0, 1.0, 5.0])",),
)
def uneven_gaps(s: Subject, rng: random.Random) -> None:
    # Three gaps and not two: the mean of two gaps is their median as well.
    expect_gap(s, [0.0, 1.0, 5.0], 2.5)
    expect_gap(s, [0.0, 1.0, 2.0, 8.0], 8.0 / 3.0)


@CHECKS.check(
    "q2",
    1,
    misconception="two tokens may come at one time (one chunk, one step): their gap of 0 counts like any other",
    rows=("mean_gap([1.0, 1.25, 1.25, 1.75])", "mean_gap([3.0, 3.0])"),
)
def tokens_at_one_time(s: Subject, rng: random.Random) -> None:
    expect_gap(s, [1.0, 1.25, 1.25, 1.75], 0.25)
    expect_gap(s, [3.0, 3.0], 0.0)


def expect_excess(
    s: Subject, num_tokens: int, gap_s: float | None, tail_s: float, expected: float | None
) -> None:
    got = s.call("service_tpot_excess", num_tokens, gap_s, tail_s)
    expect(got, expected, given=f"service_tpot_excess({num_tokens}, {gap_s}, {tail_s})", tol=TOL)


@CHECKS.check(
    "q3",
    1,
    misconception="the two formulas agree when the tail is exactly one mean gap, for every number of tokens",
    rows=("service_tpot_excess(3, 2.0, 2.0)",),
)
def agree_when_the_tail_is_one_gap(s: Subject, rng: random.Random) -> None:
    for num_tokens in (2, 3, 50):
        expect_excess(s, num_tokens, 2.0, 2.0, 0.0)


@CHECKS.check(
    "q3",
    1,
    misconception="a short tail: the other formula is smaller, because it divides n − 1 gaps by n",
    rows=("service_tpot_excess(3, 2.0, 1.0)", "service_tpot_excess(2, 1.0, 0.0)"),
)
def a_short_tail_looks_faster(s: Subject, rng: random.Random) -> None:
    expect_excess(s, 3, 2.0, 1.0, -1.0 / 3.0)
    expect_excess(s, 2, 1.0, 0.0, -0.5)
    expect_excess(s, 10, 1.0, 0.0, -0.1)


@CHECKS.check(
    "q3",
    1,
    misconception="a long tail (a slow close, a last flush) makes the other formula larger than the mean gap",
    rows=("service_tpot_excess(4, 1.0, 3.0)",),
)
def a_long_tail_looks_slower(s: Subject, rng: random.Random) -> None:
    expect_excess(s, 4, 1.0, 3.0, 0.5)
    expect_excess(s, 8, 0.5, 4.5, 0.5)


@CHECKS.check(
    "q3",
    1,
    misconception="without a mean gap there is nothing to compare with: None",
    rows=("service_tpot_excess(1, None, 5.0)",),
)
def no_gap_no_difference(s: Subject, rng: random.Random) -> None:
    expect_excess(s, 1, None, 5.0, None)
    expect_excess(s, 0, None, 0.0, None)


OUTCOME = ["outcome", "stage", "dominant_share"]


def metrics_with(queue_wait: Any, preprocessing: Any, prefill: Any, decode_time: Any) -> dict[str, Any]:
    return {
        "queue_wait": queue_wait,
        "preprocessing": preprocessing,
        "prefill": prefill,
        "decode_time": decode_time,
    }


def expect_outcome(s: Subject, parts: tuple[Any, ...], stage: str, share: float, *threshold: float) -> None:
    metrics = metrics_with(*parts)
    got = record_of(s.call("classify_outcome", DONE, metrics, *threshold), "classify_outcome", OUTCOME)
    given = f"completed, {metrics}" + "".join(f", threshold {value}" for value in threshold)
    expect_fields(got, {"outcome": "completed", "stage": stage, "dominant_share": share}, given=given)


@CHECKS.check(
    "q4",
    1,
    misconception="the stage with the largest share explains the time, if that share is large enough",
    rows=("completed; 2, 1, 6, 3 s",),
)
def the_largest_share_explains(s: Subject, rng: random.Random) -> None:
    expect_outcome(s, (2.0, 1.0, 6.0, 3.0), "prefill", 0.5)
    expect_outcome(s, (9.0, 1.0, 1.0, 1.0), "queued", 0.75)
    expect_outcome(s, (1.0, 6.0, 0.0, 1.0), "preprocessing", 0.75)
    expect_outcome(s, (0.125, 0.0, 0.0, 0.375), "decode", 0.75)


@CHECKS.check(
    "q4",
    1,
    misconception="when no share reaches the threshold (0.45 when none is given) the answer is mixed",
    rows=("completed; 2, 1, 4, 5 s",),
)
def below_the_threshold_it_is_mixed(s: Subject, rng: random.Random) -> None:
    expect_outcome(s, (2.0, 1.0, 4.0, 5.0), "mixed", 5.0 / 12.0)
    # 44 % is below the limit that stands in the contract, 46 % is above it.
    expect_outcome(s, (11.0, 4.0, 5.0, 5.0), "mixed", 0.44)
    expect_outcome(s, (5.0, 11.0, 23.0, 11.0), "prefill", 0.46)


@CHECKS.check(
    "q4",
    1,
    misconception="the threshold that is given decides, and a share that equals it is large enough",
    rows=("completed; 2, 1, 4, 1 s; threshold 0.5", "completed; 2, 1, 4, 1 s; threshold 0.75"),
)
def the_threshold_is_met_at_equality(s: Subject, rng: random.Random) -> None:
    expect_outcome(s, (2.0, 1.0, 4.0, 1.0), "prefill", 0.5, 0.5)
    expect_outcome(s, (2.0, 1.0, 4.0, 1.0), "mixed", 0.5, 0.75)
    expect_outcome(s, (0.0, 0.0, 4.0, 0.0), "prefill", 1.0, 1.0)


@CHECKS.check(
    "q4",
    1,
    misconception="of two equal shares the earlier stage is named",
    rows=("completed; 3, 0, 3, 0 s",),
)
def ties_go_to_the_earlier_stage(s: Subject, rng: random.Random) -> None:
    expect_outcome(s, (3.0, 0.0, 3.0, 0.0), "queued", 0.5)
    expect_outcome(s, (4.0, 0.0, 0.0, 4.0), "queued", 0.5)


@CHECKS.check(
    "q4",
    1,
    misconception="an end that is not normal keeps its status and its stage, and has no share",
    rows=("cancelled in prefill", "timed_out in the queue"),
)
def an_early_end_has_no_share(s: Subject, rng: random.Random) -> None:
    for report in (IN_PREFILL, IN_QUEUE):
        got = record_of(
            s.call("classify_outcome", report, dict(durations(report))), "classify_outcome", OUTCOME
        )
        expected = {"outcome": report["status"], "stage": report["stage"], "dominant_share": None}
        expect_fields(got, expected, given=f"{report['status']} in {report['stage']}")


@CHECKS.check(
    "q4",
    1,
    misconception="a part that was not measured explains nothing; the others share what is explained",
    rows=("completed; 2, None, None, 6 s",),
)
def an_unknown_part_explains_nothing(s: Subject, rng: random.Random) -> None:
    expect_outcome(s, (2.0, None, None, 6.0), "decode", 0.75)
    expect_outcome(s, (None, 1.0, 3.0, None), "prefill", 0.75)


@CHECKS.check(
    "q4",
    1,
    misconception="a threshold outside (0, 1] is a mistake of the caller: ValueError, whatever the request",
    rows=("threshold 0.0, -0.1, 1.1 or NaN",),
)
def the_threshold_has_a_range(s: Subject, rng: random.Random) -> None:
    for report in (DONE, IN_PREFILL):
        for threshold in (0.0, -0.1, 1.1, float("nan")):
            action = partial(s.call, "classify_outcome", report, dict(durations(report)), threshold)
            expect_raises(action, "ValueError", given=f"{report['status']}, threshold {threshold}")


@CHECKS.check(
    "q4",
    1,
    misconception="when nothing took any time there is nothing to explain: ValueError, not a division by zero",
    rows=("completed; 0, 0, 0, 0 s",),
)
def nothing_to_explain(s: Subject, rng: random.Random) -> None:
    metrics = metrics_with(0.0, 0.0, 0.0, 0.0)
    expect_raises(
        partial(s.call, "classify_outcome", DONE, metrics), "ValueError", given=f"completed, {metrics}"
    )


SUMMARY = [
    "total_requests", "completed_requests", "success_rate", "ttft_sample_count", "mean_ttft",
    "tpot_sample_count", "mean_tpot", "by_status", "throughput_rps", "abnormal",
]  # fmt: skip
ROWS: list[dict[str, Any]] = [
    {"status": "completed", "stage": "decode", "ttft": 2.0, "tpot": 0.5, "streamed_tokens": 9},
    {"status": "completed", "stage": "decode", "ttft": 4.0, "tpot": None, "streamed_tokens": 1},
    {"status": "cancelled", "stage": "decode", "ttft": 6.0, "tpot": 1.0, "streamed_tokens": 4},
    {"status": "timed_out", "stage": "queued", "ttft": None, "tpot": None, "streamed_tokens": 0},
]


def summary_of(s: Subject, rows: list[dict[str, Any]], *window_s: float) -> dict[str, Any]:
    return record_of(s.call("summarize", rows, *window_s), "summarize", SUMMARY)


@CHECKS.check(
    "q5",
    1,
    misconception="the success rate is over all that ended, not over those with a good number",
    rows=("total_requests, completed_requests, success_rate",),
)
def success_is_over_all_that_ended(s: Subject, rng: random.Random) -> None:
    expected = {"total_requests": 4, "completed_requests": 2, "success_rate": 0.5}
    expect_fields(summary_of(s, ROWS), expected, given="the four rows")
    lost = [ROWS[2], ROWS[3]]
    expected = {"total_requests": 2, "completed_requests": 0, "success_rate": 0.0}
    expect_fields(summary_of(s, lost), expected, given="the last two rows")


@CHECKS.check(
    "q5",
    1,
    misconception="TTFT is over all with a first token, also those that were cancelled after it",
    rows=("ttft_sample_count, mean_ttft",),
)
def ttft_is_over_those_with_a_first_token(s: Subject, rng: random.Random) -> None:
    expect_fields(summary_of(s, ROWS), {"ttft_sample_count": 3, "mean_ttft": 4.0}, given="the four rows")


@CHECKS.check(
    "q5",
    1,
    misconception="TPOT is over all with two tokens or more; a one-token answer is no sample, and not a 0",
    rows=("tpot_sample_count, mean_tpot",),
)
def tpot_is_over_those_with_two_tokens(s: Subject, rng: random.Random) -> None:
    expect_fields(summary_of(s, ROWS), {"tpot_sample_count": 2, "mean_tpot": 0.75}, given="the four rows")


@CHECKS.check(
    "q5",
    1,
    misconception="each end state is counted under its own name, the completed ones too",
    rows=("by_status",),
)
def ends_are_counted_by_name(s: Subject, rng: random.Random) -> None:
    got = summary_of(s, ROWS)
    expect(got["by_status"], {"completed": 2, "cancelled": 1, "timed_out": 1}, given="the four rows")


@CHECKS.check(
    "q5",
    1,
    misconception="throughput is all requests over the window; without a window there is none",
    rows=("throughput_rps",),
)
def throughput_is_per_second_of_the_window(s: Subject, rng: random.Random) -> None:
    expect(summary_of(s, ROWS, 8.0)["throughput_rps"], 0.5, given="the four rows, window 8 s", tol=TOL)
    expect(summary_of(s, ROWS)["throughput_rps"], None, given="the four rows, no window")
    expect(summary_of(s, [], 8.0)["throughput_rps"], 0.0, given="no rows, window 8 s", tol=TOL)


@CHECKS.check(
    "q5",
    1,
    misconception="what did not complete is listed: status, stage, and the tokens that were already sent",
    rows=("abnormal",),
)
def abnormal_ends_are_listed(s: Subject, rng: random.Random) -> None:
    expected = [
        {"status": "cancelled", "stage": "decode", "streamed_tokens": 4},
        {"status": "timed_out", "stage": "queued", "streamed_tokens": 0},
    ]
    expect(summary_of(s, ROWS)["abnormal"], expected, given="the four rows")


@CHECKS.check(
    "q5",
    1,
    misconception="an empty denominator gives None: no mean of nothing, and no division by zero",
    rows=("no rows at all", "one row that never got a token"),
)
def empty_denominators_give_none(s: Subject, rng: random.Random) -> None:
    none = {"mean_ttft": None, "ttft_sample_count": 0, "mean_tpot": None, "tpot_sample_count": 0}
    expect_fields(summary_of(s, []), {"success_rate": None, "total_requests": 0, **none}, given="no rows")
    expect_fields(summary_of(s, ROWS[3:]), none, given="the last row alone")


@CHECKS.check(
    "q5",
    1,
    misconception="a window of 0 s or less cannot have been measured: ValueError",
    rows=("window of 0 s or -1 s",),
)
def the_window_is_above_zero(s: Subject, rng: random.Random) -> None:
    for window_s in (0.0, -1.0):
        expect_raises(
            partial(s.call, "summarize", ROWS, window_s), "ValueError", given=f"window {window_s} s"
        )


GOODPUT = ["attempted", "good", "goodput_rps", "good_share"]


def good_row(reason: Any, ttft: Any = 1.0, tpot: Any = 1.0, e2e: Any = 4.0) -> dict[str, Any]:
    return {"reason": reason, "ttft": ttft, "tpot": tpot, "e2e": e2e}


def expect_goodput(s: Subject, rows: list[dict[str, Any]], expected: dict[str, Any], **slos: Any) -> None:
    options = {"window_s": 10.0, **slos}
    got = record_of(s.call("goodput", rows, **options), "goodput", GOODPUT)
    shown = [tuple(row.values()) for row in rows]
    expect_fields(got, expected, given=f"(reason, ttft, tpot, e2e): {shown}; {options}")


@CHECKS.check(
    "q6",
    1,
    misconception="good means a normal end AND every objective met; goodput is their number per second",
    rows=("stop 2/1, stop 5/3, client_cancel 1/1",),
)
def three_requests(s: Subject, rng: random.Random) -> None:
    rows = [good_row("stop", 2.0, 1.0), good_row("stop", 5.0, 3.0), good_row("client_cancel", 1.0, 1.0)]
    expected = {"attempted": 3, "good": 1, "goodput_rps": 0.1, "good_share": 1.0 / 3.0}
    expect_goodput(s, rows, expected, ttft_slo_s=3.0, tpot_slo_s=2.0)
    # One objective met and another one missed is not good.
    rows = [good_row("length", 1.0, 3.0), good_row("length", 5.0, 1.0), good_row("length", 1.0, 1.0)]
    expect_goodput(s, rows, {"attempted": 3, "good": 1}, ttft_slo_s=3.0, tpot_slo_s=2.0)


@CHECKS.check(
    "q6",
    1,
    misconception="an objective is met at equality, and missed by the smallest step above it",
    rows=("stop with ttft 3 and tpot 2, limits 3 and 2",),
)
def met_at_equality(s: Subject, rng: random.Random) -> None:
    limits = {"ttft_slo_s": 3.0, "tpot_slo_s": 2.0, "e2e_slo_s": 4.0}
    expect_goodput(s, [good_row("stop", 3.0, 2.0, 4.0)], {"good": 1}, **limits)
    for name, limit in limits.items():
        late = good_row("stop") | {name.removesuffix("_slo_s"): limit + 0.001}
        expect_goodput(s, [late], {"good": 0}, **{name: limit})


@CHECKS.check(
    "q6",
    1,
    misconception="cancels, timeouts, errors and rejects were attempted and are never good, however fast they were",
    rows=("client_cancel, timed_out, error, rejected, all of them fast",),
)
def early_ends_are_attempted_and_not_good(s: Subject, rng: random.Random) -> None:
    reasons = ["client_cancel", "timed_out", "error", "rejected", "overall_deadline", "shutdown", "cancelled"]
    for reason in reasons:
        expect_goodput(s, [good_row(reason)], {"attempted": 1, "good": 0, "good_share": 0.0}, ttft_slo_s=3.0)


@CHECKS.check(
    "q6",
    1,
    misconception="an objective that does not apply is ignored: a one-token answer has no TPOT and can be good",
    rows=("stop with ttft 2 and tpot None", "stop with ttft 99, no limit for ttft"),
)
def an_objective_that_does_not_apply(s: Subject, rng: random.Random) -> None:
    expect_goodput(s, [good_row("stop", 2.0, None)], {"good": 1}, ttft_slo_s=3.0, tpot_slo_s=2.0)
    expect_goodput(s, [good_row("stop", 99.0, 1.0)], {"good": 1}, tpot_slo_s=2.0)
    expect_goodput(s, [good_row("stop", 99.0, 99.0)], {"good": 1})


@CHECKS.check(
    "q6",
    1,
    misconception="a request that still runs at the end of the window is neither good nor bad: left out",
    rows=("reason None",),
)
def cut_off_is_left_out(s: Subject, rng: random.Random) -> None:
    rows = [good_row("stop"), good_row(None)]
    expect_goodput(s, rows, {"attempted": 1, "good": 1, "good_share": 1.0}, ttft_slo_s=3.0)


@CHECKS.check(
    "q6",
    1,
    misconception="an empty denominator gives None for the share, and a goodput of 0",
    rows=("no rows",),
)
def nobody_asked(s: Subject, rng: random.Random) -> None:
    expected = {"attempted": 0, "good": 0, "goodput_rps": 0.0, "good_share": None}
    expect_goodput(s, [], expected, ttft_slo_s=3.0)


@CHECKS.check(
    "q6",
    1,
    misconception="a window of 0 s or less, or a limit below 0 s, is a mistake of the caller: ValueError",
    rows=("window of 0 s or -1 s, or a limit of -1 s",),
)
def goodput_needs_a_window(s: Subject, rng: random.Random) -> None:
    for window_s in (0.0, -1.0):
        action = partial(s.call, "goodput", [good_row("stop")], window_s=window_s)
        expect_raises(action, "ValueError", given=f"window {window_s} s")
    for name, limit in (("ttft", -1.0), ("tpot", -0.5), ("e2e", -1.0)):
        limits = {f"{name}_slo_s": limit}
        action = partial(s.call, "goodput", [good_row("stop")], window_s=10.0, **limits)
        expect_raises(action, "ValueError", given=f"window 10 s, {limits}")


def expect_percentile(s: Subject, values: list[Any], percent: float, expected: float | None) -> None:
    expect(s.call("percentile", values, percent), expected, given=f"percentile({values}, {percent:g})")


@CHECKS.check(
    "q7",
    1,
    misconception="nearest rank: the smallest value that at least this many percent stay at or below",
    rows=("percentile([1, 2, 3, 4], 50)", "percentile([1, 2, 3, 4], 51)"),
)
def nearest_rank(s: Subject, rng: random.Random) -> None:
    four = [1.0, 2.0, 3.0, 4.0]
    for percent, expected in ((50.0, 2.0), (51.0, 3.0), (75.0, 3.0), (76.0, 4.0), (1.0, 1.0)):
        expect_percentile(s, four, percent, expected)
    expect_percentile(s, [7.0], 50.0, 7.0)


@CHECKS.check(
    "q7",
    1,
    misconception="100 % is the largest value: the last place of the list, not the one behind it",
    rows=("percentile([1, 2, 3, 4], 100)",),
)
def all_of_them(s: Subject, rng: random.Random) -> None:
    expect_percentile(s, [1.0, 2.0, 3.0, 4.0], 100.0, 4.0)
    expect_percentile(s, [5.0], 100.0, 5.0)


@CHECKS.check(
    "q7",
    1,
    misconception="the order of the values means nothing: sort first",
    rows=("percentile([4, 1, 3, 2], 50)",),
)
def order_means_nothing(s: Subject, rng: random.Random) -> None:
    expect_percentile(s, [4.0, 1.0, 3.0, 2.0], 50.0, 2.0)
    expect_percentile(s, [10.0, 9.0, 2.0, 4.0], 75.0, 9.0)


@CHECKS.check(
    "q7",
    1,
    misconception="who was never measured counts as worse than everyone: the rank is taken among all requests",
    rows=("percentile([1, 2, None, None], 50)",),
)
def the_missing_are_the_worst(s: Subject, rng: random.Random) -> None:
    expect_percentile(s, [1.0, 2.0, None, None], 50.0, 2.0)
    expect_percentile(s, [None, 1.0, 2.0, None, 3.0], 60.0, 3.0)


@CHECKS.check(
    "q7",
    1,
    misconception="when fewer than that many percent were measured, no measured value is an answer: None",
    rows=("percentile([1, 2, None, None], 75)", "percentile([], 95)"),
)
def too_few_were_measured(s: Subject, rng: random.Random) -> None:
    expect_percentile(s, [1.0, 2.0, None, None], 75.0, None)
    expect_percentile(s, [1.0, 2.0, None, None], 100.0, None)
    expect_percentile(s, [None, None], 1.0, None)
    expect_percentile(s, [], 95.0, None)


@CHECKS.check(
    "q7",
    1,
    misconception="a percent outside (0, 100] is a mistake of the caller: ValueError",
    rows=("percent of 0, -5 or 100.5",),
)
def percent_has_a_range(s: Subject, rng: random.Random) -> None:
    for percent in (0.0, -5.0, 100.5):
        action = partial(s.call, "percentile", [1.0, 2.0], percent)
        expect_raises(action, "ValueError", given=f"percentile([1.0, 2.0], {percent:g})")
