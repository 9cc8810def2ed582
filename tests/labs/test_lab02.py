"""Lab 02: the oracle agrees with the kit, the parts measure a running engine, and the incident is true."""

from __future__ import annotations

import contextlib
import io
import random
import re
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference_kit import LLM, Deadlines, SamplingParams, lifecycle
from inference_kit.labs import plug
from inference_kit.labs.answers import reference_source
from inference_kit.labs.build import ROOT, find_labs
from inference_kit.labs.checking import LocalSubject, load_checks, run_check
from inference_kit.labs.gates import LabFiles
from inference_kit.labs.masters import read_cells
from inference_kit.labs.overload import Server, overload, rows_of
from solutions.lab02_metrics import checks, oracle

LAB = next(lab for lab in find_labs() if lab.lab == "lab02")
FILES = LabFiles.read(LAB)

# --- the oracle

seconds = st.integers(0, 4000).map(lambda ticks: ticks / 64)
maybe = st.none() | seconds


@pytest.mark.parametrize("seed", range(30))
def test_durations_and_gaps_agree(seed: int) -> None:
    rng = random.Random(seed)
    stage = rng.randrange(4)
    end = rng.choice(["complete", "cancel"]) if stage == 3 else rng.choice(["cancel", "timeout", "fail"])
    report = checks.random_report(rng, stage, end, rng.randint(0, 5) if stage == 3 else 0)
    assert lifecycle.durations(report) == oracle.durations(report)
    assert lifecycle.mean_gap(report.token_times) == pytest.approx(oracle.mean_gap(report.token_times))


@given(st.lists(seconds, max_size=20).map(sorted))
def test_mean_gaps_agree(times: list[float]) -> None:
    assert lifecycle.mean_gap(times) == pytest.approx(oracle.mean_gap(times))


@given(st.lists(seconds, min_size=2, max_size=12).map(sorted), seconds)
def test_the_derived_difference_is_the_measured_one(times: list[float], tail: float) -> None:
    gap, other = lifecycle.mean_gap(times), lifecycle.service_tpot(times, times[-1] + tail)
    assert gap is not None and other is not None
    excess = lifecycle.service_tpot_excess(len(times), gap, tail)
    assert excess == pytest.approx(other - gap, abs=1e-9)
    assert excess == pytest.approx(oracle.excess(len(times), gap, tail), abs=1e-9)


@given(st.tuples(maybe, maybe, maybe, maybe), st.sampled_from([0.2, 0.45, 0.5, 1.0]))
def test_attribution_agrees(parts: tuple[Any, ...], threshold: float) -> None:
    metrics = checks.metrics_with(*parts)
    if not any(parts):
        for classify in (lifecycle.classify_outcome, oracle.classify):
            with pytest.raises(ValueError):
                classify(checks.DONE, metrics, threshold)
        return
    got, expected = (
        lifecycle.classify_outcome(checks.DONE, metrics, threshold),
        oracle.classify(checks.DONE, metrics, threshold),
    )
    assert got.dominant_share == pytest.approx(expected["dominant_share"])
    share = max(Fraction(part or 0) for part in parts) / sum(Fraction(part or 0) for part in parts)
    if abs(share - Fraction(threshold)) > Fraction(1, 10**9):
        assert got.stage == expected["stage"]


row = st.fixed_dictionaries(
    {
        "status": st.sampled_from(["completed", "cancelled", "timed_out", "failed"]),
        "reason": st.sampled_from(["stop", "length", "completed", "client_cancel", "rejected", None]),
        "stage": st.sampled_from(["queued", "decode"]),
        "ttft": maybe,
        "tpot": maybe,
        "e2e": maybe,
        "streamed_tokens": st.integers(0, 9),
    }
)


@given(st.lists(row, max_size=9), st.none() | st.sampled_from([0.5, 4.0]))
def test_summaries_agree(rows: list[dict[str, Any]], window_s: float | None) -> None:
    got, expected = lifecycle.summarize(rows, window_s), oracle.summary(rows, window_s)
    for name, value in expected.items():
        assert got[name] == (pytest.approx(value) if isinstance(value, float) else value), name


@given(st.lists(row, max_size=9), maybe, maybe, maybe)
def test_goodputs_agree(rows: list[dict[str, Any]], ttft: Any, tpot: Any, e2e: Any) -> None:
    slos = {"ttft_slo_s": ttft, "tpot_slo_s": tpot, "e2e_slo_s": e2e}
    assert lifecycle.goodput(rows, window_s=4.0, **slos) == oracle.goodput(rows, 4.0, **slos)


@given(st.lists(maybe, max_size=30), st.integers(1, 100).map(float))
def test_percentiles_agree(values: list[float | None], percent: float) -> None:
    assert lifecycle.percentile(values, percent) == oracle.percentile(values, percent)


def test_the_oracle_itself_passes_the_checks() -> None:
    """Where it refuses what the contract refuses; ranges of arguments are the kit's."""
    names = {
        "durations": oracle.durations,
        "mean_gap": oracle.mean_gap,
        "service_tpot_excess": oracle.excess,
        "classify_outcome": lambda report, metrics, threshold=0.45: oracle.classify(
            report, metrics, threshold
        ),
    }
    loaded = load_checks(ROOT / "solutions" / "lab02_metrics" / "checks.py")
    results = [
        run_check(check, LocalSubject(names), 3) for q in ("q1", "q2", "q3", "q4") for check in loaded.of(q)
    ]
    assert [result.message for result in results if result.status != "passed"] == []


# --- the simulated server


@pytest.mark.parametrize("rps", [2.0, 10.0, 30.0])
def test_every_arrival_is_counted_once_and_every_log_is_legal(rps: float) -> None:
    traffic = overload(rps)
    rows = rows_of(traffic)
    assert len(rows) == traffic.arrivals > 0
    assert sum(row.reason is None for row in rows) == len(traffic.cut_off)
    assert sum(row.status == "rejected" for row in rows) == traffic.rejected


def test_the_same_arguments_give_the_same_logs() -> None:
    assert overload(12.0) == overload(12.0)
    assert overload(12.0) != overload(12.0, seed=5)


def test_no_more_than_its_slots_are_served_at_once_and_first_come_is_first_admitted() -> None:
    traffic = overload(20.0, Server(slots=3))
    served = [dict(log) | {"end": log[-1][1]} for log in [*traffic.logs, *traffic.cut_off] if len(log) > 1]
    served = sorted((one for one in served if "admit" in one), key=lambda one: one["arrive"])
    assert [one["admit"] for one in served] == sorted(one["admit"] for one in served)
    for one in served:
        at_once = [other for other in served if other["admit"] <= one["admit"] < other["end"]]
        assert len(at_once) <= 3


def test_nobody_waits_longer_than_the_limit_for_a_first_token() -> None:
    rows = rows_of(overload(24.0))
    assert max(row.ttft for row in rows if row.ttft is not None) < Server().ttft_limit_s
    assert all(row.e2e == pytest.approx(3.0) for row in rows if row.status == "timed_out")


# --- the incident


def incident() -> dict[str, Any]:
    cells = [source for kind, source in read_cells(LAB.master.read_text("utf-8")) if kind == "code"]
    source = next(cell for cell in cells if "def old_dashboard" in cell)
    names: dict[str, Any] = {}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(source, names)
    return names


def test_the_dashboard_of_the_incident_improves_when_the_traffic_doubles() -> None:
    names = incident()
    thursday, friday = names["thursday"], names["friday"]
    assert friday.rps == 2 * thursday.rps
    fall = 1 - names["old_dashboard"](friday) / names["old_dashboard"](thursday)
    assert 0.25 < fall < 1 / 3, "the text says: it fell by almost a third"


def test_what_the_text_says_about_the_curves_is_true() -> None:
    """The percentile of all attempted has no value from 12 requests/s on; goodput at 1 s falls away."""
    loads = [4, 6, 8, 10, 12, 14, 16, 20, 24]
    windows = {rps: [row for row in rows_of(overload(rps)) if row.reason is not None] for rps in loads}
    none = [rps for rps in loads if lifecycle.percentile([row.ttft for row in windows[rps]], 95) is None]
    assert none == [12, 14, 16, 20, 24]
    done = {rps: [row.ttft for row in windows[rps] if row.status == "completed"] for rps in (4, 20)}
    assert lifecycle.percentile(done[20], 95) < lifecycle.percentile(done[4], 95)
    assert 1.5 < lifecycle.percentile(done[20], 50) < 2.0 and lifecycle.percentile(done[4], 50) < 0.31
    good = {
        rps: lifecycle.goodput(windows[rps], window_s=60.0, ttft_slo_s=1.0).goodput_rps for rps in (10, 24)
    }
    assert good[24] < good[10] / 10


# --- the parts in the engine


def right_parts() -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "learner"}
    for cell in FILES.cells.values():
        exec(reference_source(cell), names)
    return names


def run_engine(parts: Any) -> None:
    llm = LLM("tiny", components=parts.components, progress=False)
    for max_tokens in (6, 2, 1):
        llm.generate(["a prompt"], SamplingParams(max_tokens=max_tokens, ignore_eos=True))
    llm.generate(["nobody waits"], deadlines=Deadlines(queue_s=1e-9))


def test_the_learners_functions_measure_the_running_engine(capsys: pytest.CaptureFixture[str]) -> None:
    names = right_parts()
    called: list[int] = []
    right = names["mean_gap"]
    names["mean_gap"] = lambda times: (called.append(len(times)), right(times))[1]
    parts = plug("lab02", names)
    assert capsys.readouterr().out.count(": yours") == 7
    called.clear()
    run_engine(parts)
    assert called == [6, 2, 1, 0]
    assert [row.reason for row in parts.measured] == ["length", "length", "length", "queue_deadline"]
    assert [row["tpot"] is None for row in parts.measured] == [False, False, True, True]
    for row in parts.measured[:3]:
        assert row["ttft"] == pytest.approx(row["queue_wait"] + row["preprocessing"] + row["prefill"])


def test_a_wrong_part_is_kept_out_and_said_so(capsys: pytest.CaptureFixture[str]) -> None:
    names = right_parts()
    wrong = next(answer for answer in FILES.rejects if answer.name == "divides by the tokens")
    exec(wrong.source, names)
    parts = plug("lab02", names)
    said = capsys.readouterr().out
    assert "mean_gap: wrong, so the engine gets the one of the kit" in said and said.count(": yours") == 6
    run_engine(parts)
    times = parts.measured[0].report.token_times
    assert parts.measured[0]["tpot"] == lifecycle.mean_gap(times)


def test_the_tables_of_the_plug_in(capsys: pytest.CaptureFixture[str]) -> None:
    parts = plug("lab02", {})
    assert capsys.readouterr().out.count("not done yet") == 7
    with pytest.raises(ValueError, match="no request has ended"):
        parts.table()
    run_engine(parts)
    ends = [line.split()[0] for line in parts.table().text.splitlines()[2:6]]
    assert ends == ["length", "length", "length", "queue_deadline"]
    rows = [re.split(r"\s{2,}", line) for line in parts.two_tpots().text.splitlines()[2:]]
    assert [row[0] for row in rows] == ["6", "2", "1"]
    assert all(row[3] == row[4] for row in rows) and [row[3] == "–" for row in rows] == [False, False, True]
    board = parts.dashboard(parts.rows(overload(20.0)), 60.0, ttft_slo_s=2.6).text
    assert "rejected" in board and "in flight" in board and "arrivals" in board
