"""The oracles of the labs, written apart from the kit, agree with the kit on random cases."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference_kit.labs.checking import LocalSubject, load_checks
from inference_kit.lifecycle import END_EVENTS, TERMINAL_STATES, TRANSITIONS, replay, report_of, walk
from inference_kit.lifecycle.metrics import _gap, mean
from solutions.lab00_orientation import oracle as oracle00
from solutions.lab01_lifecycle import checks as checks01
from solutions.lab01_lifecycle import oracle as oracle01

EVENTS = sorted(oracle01.LETTERS)
logs = st.lists(st.tuples(st.sampled_from(EVENTS), st.integers(0, 6).map(float)), max_size=7)


def test_lab01_edges_agree() -> None:
    table = {(str(s), str(e), str(t)) for s, moves in TRANSITIONS.items() for e, t in moves.items()}
    assert table == oracle01.all_edges()


def test_lab01_check_constants_are_those_of_the_kit() -> None:
    assert set(checks01.ENDS) == {str(state) for state in TERMINAL_STATES}
    assert set(checks01.LIVE) == {str(state) for state in TRANSITIONS if state not in TERMINAL_STATES}


@given(logs)
def test_lab01_legality_agrees_on_any_log(log: list[tuple[str, float]]) -> None:
    try:
        walk(log)
    except ValueError:
        assert not oracle01.is_legal(log)
    else:
        assert oracle01.is_legal(log)


@pytest.mark.parametrize("seed", range(40))
def test_lab01_reports_agree_on_the_histories_of_the_checks(seed: int) -> None:
    rng = random.Random(seed)
    end = rng.choice(["complete", "cancel", "timeout", "fail"])
    stage = 3 if end == "complete" else rng.randrange(4)
    log = checks01.random_history(rng, stage, end, rng.randint(0, 5))
    assert oracle01.is_legal(log)
    assert report_of(walk(log)) == replay(log) == oracle01.report(log)


@pytest.mark.parametrize("seed", range(40))
def test_lab01_ends_agree(seed: int) -> None:
    from inference_kit.labs.drawings.lab01 import _kit_request
    from inference_kit.lifecycle import settle_once

    rng = random.Random(seed)
    state = rng.choice(["queued", "admitted", "prefill", "decode"])
    calls = [(str(rng.choice(list(END_EVENTS))), float(at)) for at in range(rng.randint(1, 4))]
    released: list[int] = []
    request = _kit_request(state, lambda: released.append(1))
    winners = []
    for index, (reason, at) in enumerate(calls):
        try:
            if settle_once(request, checks01_reason(reason), at):
                winners.append(index)
        except ValueError:
            continue
    reason = None if request.finish_reason is None else str(request.finish_reason)
    events = {str(name): str(event) for name, event in END_EVENTS.items()}
    expected = oracle01.settle(state, calls, events)
    assert (str(request.state), reason, request.finished_at, winners, len(released)) == expected


def checks01_reason(reason: str):  # type: ignore[no-untyped-def]
    return next(name for name in END_EVENTS if str(name) == reason)


times = st.none() | st.floats(0, 1e6).map(lambda value: round(value * 64) / 64)


@given(times, times)
def test_lab00_gaps_agree(start: float | None, end: float | None) -> None:
    assert _gap(start, end) == oracle00.gap(start, end)


@given(st.lists(st.none() | st.integers(0, 1000).map(float), max_size=8))
def test_lab00_means_agree(values: list[float | None]) -> None:
    got, count = mean(values)
    expected, number = oracle00.mean(values)
    assert count == number
    assert got == (None if expected is None else pytest.approx(expected, rel=1e-12))


@pytest.mark.parametrize(
    ("module", "names"),
    [
        (oracle00, {"gap": oracle00.gap, "mean": oracle00.mean}),
        (oracle01, {}),
    ],
)
def test_the_oracle_itself_passes_the_checks(module: object, names: dict[str, Callable[..., object]]) -> None:
    from inference_kit.labs.build import ROOT
    from inference_kit.labs.checking import run_check

    if not names:
        names = {
            "make_transitions": lambda: _table(oracle01.all_edges()),
            "walk": walk,
            "report_of": lambda steps: oracle01.report([(step[0], step[1]) for step in steps]),
        }
    folder = str(module.__name__).split(".")[1]  # type: ignore[attr-defined]
    checks = load_checks(ROOT / "solutions" / folder / "checks.py")
    questions = [q for q, name in (("q1", "gap"), ("q2", "mean")) if name in names] or ["q1", "q3", "q4"]
    results = [run_check(check, LocalSubject(names), 5) for q in questions for check in checks.of(q)]
    assert [result.message for result in results if result.status != "passed"] == []


def _table(edges: set[tuple[str, ...]]) -> dict[str, dict[str, str]]:
    table: dict[str, dict[str, str]] = {
        state: {} for state in (*oracle01.LIVE, "finished", "cancelled", "timed_out", "failed")
    }
    for state, event, target in edges:
        table[state][event] = target
    return table
