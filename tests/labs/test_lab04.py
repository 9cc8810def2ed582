"""Lab 04: oracle and kit agree, right deadlines end the engine's requests, wrong ones are kept out."""

from __future__ import annotations

import contextlib
import io
from typing import Any
from xml.etree import ElementTree

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inference_kit import Deadlines, viz
from inference_kit.labs.answers import reference_source, splice, stub_source
from inference_kit.labs.build import ROOT, find_labs
from inference_kit.labs.drawings import draw
from inference_kit.labs.gates import LabFiles, failed_names, run_answer
from inference_kit.labs.notebook import plug
from inference_kit.labs.plugs import DONE, WRONG
from inference_kit.labs.plugs.lab04 import Lab04, OrderedLifecycle
from inference_kit.lifecycle import (
    ClockMarks,
    Request,
    find_orphans,
    first_expired,
    leave,
    moved_on,
    reconcile,
    release_order,
    settle,
)
from solutions.lab04_endings import oracle

FILES = LabFiles.read(next(lab for lab in find_labs() if lab.lab == "lab04"))
QUARTERS = st.integers(0, 40).map(lambda count: count / 4)
LIMIT = st.integers(1, 20).map(lambda count: count / 4) | st.none()
LIMITS = ("queue_s", "ttft_s", "inter_token_s", "overall_s")
SIGNALS = st.lists(
    st.tuples(
        st.integers(0, 3).map(float), st.sampled_from(["expire", "finish", "cancel", "arrive", "step"])
    ),
    max_size=6,
)


@st.composite
def marks_of(draw: st.DrawFn) -> dict[str, Any]:
    """Marks that can have happened, in order."""
    times = sorted(draw(st.lists(QUARTERS, min_size=5, max_size=5)))
    names = ["received_at", "queued_at", "admitted_at", "first_token_at", "last_token_at"]
    reached = draw(st.sampled_from([1, 2, 3, 5]))
    pairs = enumerate(zip(names, times, strict=True))
    marks = {name: time if place < reached else None for place, (name, time) in pairs}
    return {**marks, "paused": draw(st.booleans())}


@settings(max_examples=300)
@given(
    limits=st.fixed_dictionaries(
        {name: LIMIT for name in ("queue_s", "ttft_s", "inter_token_s", "overall_s")}
    ),
    marks=marks_of(),
    now=QUARTERS,
)
def test_the_oracle_agrees_on_clocks(limits: dict[str, Any], marks: dict[str, Any], now: float) -> None:
    got = first_expired(Deadlines(**limits), ClockMarks(**marks), now)
    assert (None if got is None else (str(got[0]), got[1])) == oracle.expired(limits, marks, now)


@given(times=st.lists(QUARTERS, min_size=3, max_size=3))
def test_the_oracle_agrees_on_waits(times: list[float]) -> None:
    started_at, paused_at, resumed_at = times[0], *sorted(times[1:])
    resumed_at = max(resumed_at, started_at)
    wanted = oracle.moved_on(started_at, paused_at, resumed_at)
    assert moved_on(started_at, paused_at, resumed_at) == wanted


@given(signals=SIGNALS)
def test_the_oracle_agrees_on_races(signals: list[tuple[float, str]]) -> None:
    winner, late = settle(signals)
    assert winner == oracle.winner(signals)
    ends = [signal for signal in signals if signal[1] in ("expire", "finish", "cancel")]
    assert sorted([*late, *([winner] if winner else [])]) == sorted(ends)


@given(data=st.data())
def test_the_oracle_agrees_on_orders(data: Any) -> None:
    names = ["a", "b", "c", "d", "e"][: data.draw(st.integers(0, 5))]
    depends = {name: data.draw(st.lists(st.sampled_from(names), unique=True, max_size=2)) for name in names}
    valid = oracle.valid_orders(depends)
    if not valid:
        with pytest.raises(ValueError, match="wait for each other"):
            release_order(depends)
    else:
        assert tuple(release_order(depends)) in valid


@st.composite
def books_of(draw: st.DrawFn) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Owners of some resources, and needs without a circle, in which a resource may be missing."""
    names = draw(st.permutations("abcde"))
    owners = draw(
        st.dictionaries(st.sampled_from(names), st.lists(st.sampled_from("xyz"), unique=True, min_size=1))
    )
    needs = {
        name: draw(st.lists(st.sampled_from(names[:place]), unique=True)) if place else []
        for place, name in enumerate(names)
    }
    named = draw(st.lists(st.sampled_from(names), unique=True))
    return owners, {name: needs[name] for name in named}


@given(books=books_of(), leaving=st.permutations("xyz"))
def test_the_oracle_agrees_on_who_frees_what(
    books: tuple[dict[str, list[str]], dict[str, list[str]]], leaving: list[str]
) -> None:
    owners, needs = books
    for owner in [*leaving, leaving[0]]:
        freed, left = leave(owner, owners, needs)
        assert set(freed) == oracle.free_after(owner, owners, needs)
        place = {name: index for index, name in enumerate(freed)}
        assert all(
            place[name] < place[other] for name in freed for other in needs.get(name, []) if other in place
        )
        assert sorted([*freed, *left]) == sorted(owners)
        owners = left
    assert owners == {}, "all have left, so all is freed"


@given(
    held=st.dictionaries(st.sampled_from("abcd"), st.sampled_from("xyz")),
    heard=st.dictionaries(st.sampled_from("xyz"), st.integers(0, 9).map(float)),
    now=st.integers(0, 12).map(float),
)
def test_the_oracle_agrees_on_orphans(held: dict[str, str], heard: dict[str, float], now: float) -> None:
    assert find_orphans(held, heard, now, 4.0) == oracle.orphans(held, heard, now, 4.0)


@given(
    recorded=st.dictionaries(st.sampled_from("xyz"), st.lists(st.sampled_from("abcd"), unique=True)),
    held=st.lists(st.sampled_from("abcd"), unique=True),
)
def test_the_oracle_agrees_on_restarts(recorded: dict[str, list[str]], held: list[str]) -> None:
    assert reconcile(recorded, held) == oracle.restart(recorded, held)


def names_of(**answers: str) -> dict[str, Any]:
    """A learner's names after the answer cells: the reference, or the text given for a question."""
    names: dict[str, Any] = {"__name__": "learner"}
    for question, cell in FILES.cells.items():
        answer = answers.get(question)
        exec(splice(stub_source(cell), answer) if answer else reference_source(cell), names)
    return names


def rows_of(picture: Any) -> list[list[str]]:
    return [line.split() for line in picture.text.split("\n")[2:]]


def test_each_limit_ends_its_request_and_all_is_given_back() -> None:
    run = Lab04(names_of()).four_ends("tiny")
    rows = rows_of(run.table)
    assert [row[1] for row in rows[:4]] == [
        "queue_deadline", "ttft_deadline", "inter_token_deadline", "overall_deadline",
    ]  # fmt: skip
    assert [row[2] for row in (rows[0], rows[1], rows[3])] == ["4", "6", "10"]
    assert {row[-1] for row in rows[:4]} == {"0"}
    free, of = rows[-1][0], rows[-1][2]
    assert free == of
    assert "time_out" in run.timeline.text or "timed_out" in run.timeline.text


def test_the_learners_function_is_the_one_that_is_asked() -> None:
    names = names_of()
    asked = []

    def listening(deadlines: Any, marks: Any, now: float) -> Any:
        asked.append(now)
        return names["first_expired"](deadlines, marks, now)

    Lab04({**names, "first_expired": listening, "expired": names["expired"]}).four_ends("tiny")
    assert asked


def test_a_cancelled_step_proposes_one_more_than_it_commits() -> None:
    rows = rows_of(Lab04(names_of()).cancel_inside_a_step("tiny"))
    assert [row[0] for row in rows] == ["leaves", "stays"]
    assert rows[0][1] == "cancelled"
    assert int(rows[0][2]) == int(rows[0][3]) + 1
    assert rows[1][2] == rows[1][3]
    assert [row[4] for row in rows] == [row[3] for row in rows], "committed tokens are billed (A9)"


def test_orphans_are_found_and_given_back() -> None:
    rows = rows_of(Lab04(names_of()).orphans("tiny"))
    by_name = {row[0]: [int(part) for part in row[-3:]] for row in rows[:3]}
    for name in ("r0", "r2"):
        holds, orphans, after = by_name[name]
        assert holds == orphans > 0
        assert after == 0
    assert by_name["r1"][1] == 0
    assert by_name["r1"][2] > 0


def test_every_part_is_done_and_says_so() -> None:
    assert set(Lab04(names_of()).words.values()) == {DONE}


def test_two_slow_readers_end_for_two_reasons() -> None:
    run = Lab04(names_of()).slow_readers("tiny")
    text = run.table.text
    assert "comes back   23 s  inter_token_deadline" in text
    assert "never comes  28 s  slow_consumer" in text
    # 15 s without a token and an inter-token limit of 5 s: only a clock that stood still explains it.
    engine, mine = (line.split("starts at ")[1] for line in text.split("\n") if "starts at" in line)
    assert engine == mine == "18 s"
    assert "not counted: 3 s to 18 s" in run.timeline.alt


def test_the_learners_decisions_are_those_of_the_engine() -> None:
    rows = rows_of(Lab04(names_of()).one_boundary("tiny"))
    assert [row[4] for row in rows] == ["client_cancel", "overall_deadline", "overall_deadline"]
    assert [row[4] for row in rows] == [row[5] for row in rows]
    assert [row[6] for row in rows] == ["cancel", "expire", "expire"]


def test_the_engine_releases_in_the_learners_order() -> None:
    names = names_of()
    asked = []

    def listening(depends: Any) -> Any:
        asked.append(dict(depends))
        return names["release_order"](depends)

    parts = Lab04({**names, "release_order": listening})
    parts.release("tiny")
    assert asked[-1] == {"registry": [], "stream": ["registry"], "kv and slot": ["stream"]}
    assert parts.lifecycle.given_back == ["kv and slot", "stream", "registry"]


def test_a_late_signal_releases_nothing_again() -> None:
    lifecycle = OrderedLifecycle(release_order)
    request = Request("r", (1, 2), lifecycle=lifecycle)
    given_back: list[str] = []
    for name in ("registry", "stream", "kv and slot"):
        request.hold(name, lambda name=name: given_back.append(name))  # type: ignore[misc]
    assert request.finalize("client_cancel", 1.0) is True
    assert request.finalize("overall_deadline", 2.0) is False
    assert given_back == ["kv and slot", "stream", "registry"]


WRONG_ORDER = """def release_order(depends):
    return sorted(depends)


def leave(owner, owners, depends):
    return [], owners
"""


def test_a_wrong_order_is_kept_out_of_the_engine() -> None:
    parts = Lab04(names_of(q4=WRONG_ORDER))
    assert parts.words["q4"] == WRONG
    assert parts.release("tiny").text.endswith("kv and slot, stream, registry.")


def test_after_a_restart_only_what_the_log_knows_goes_on() -> None:
    text = Lab04(names_of()).restart("tiny").text
    rows = {line[:2]: line.split()[-1] for line in text.split("\n")[2:]}
    assert (int(rows["r0"]) > 0, rows["r1"], rows["r2"]) == (True, "0", "0")
    assert "goes on" in text and "fails, 2 given back" in text and "an orphan, 2 given back" in text


NEVER = """def armed(deadlines, marks):
    return []


def first_expired(deadlines, marks, now):
    return None


def moved_on(started_at, paused_at, resumed_at):
    return started_at
"""


def test_wrong_deadlines_are_kept_out_and_said_so(capsys: pytest.CaptureFixture[str]) -> None:
    parts = plug("lab04", names_of(q1=NEVER))
    assert "first_expired: wrong, so the engine gets the one of the kit" in capsys.readouterr().out
    assert rows_of(parts.four_ends("tiny").table)[0][1] == "queue_deadline"


def test_every_question_draws_its_reference() -> None:
    for question in FILES.cells:
        ElementTree.fromstring(draw("lab04", question).svg)


# --- the picture of the clocks

MARKS = {
    "received_at": 1.0,
    "queued_at": 2.0,
    "admitted_at": None,
    "first_token_at": None,
    "last_token_at": None,
}


@pytest.mark.parametrize(
    ("limits", "marks", "said"),
    [
        ({"queue_s": 3.0, "overall_s": 12.0}, MARKS, "queue_deadline at 5 s"),
        ({"overall_s": 12.0}, {**MARKS, "admitted_at": 3.0}, "none ran out"),
        ({}, MARKS, "none ran out"),
    ],
)
def test_the_clocks_say_which_one_ran_out(limits: dict[str, Any], marks: dict[str, Any], said: str) -> None:
    picture = viz.deadline_clocks(limits, marks, 9.0)
    ElementTree.fromstring(picture.svg)
    assert said in picture.alt
    assert said in picture.text


def test_a_paused_request_shows_a_clock_that_stands_still() -> None:
    marks = {**MARKS, "admitted_at": 2.0, "first_token_at": 3.0, "last_token_at": 3.0, "paused": True}
    assert "stands still: slow reader" in viz.deadline_clocks({"inter_token_s": 1.0}, marks, 9.0).text


def test_a_time_that_is_no_number_is_refused() -> None:
    with pytest.raises(ValueError, match="now"):
        viz.deadline_clocks({}, MARKS, float("nan"))


SLOW = {**MARKS, "admitted_at": 2.0, "first_token_at": 3.0, "last_token_at": 3.0}


@pytest.mark.parametrize(
    ("waits", "now", "said"),
    [
        ([(4.0, 9.0)], 9.5, "none ran out"),
        ([(4.0, 9.0)], 10.0, "inter_token_deadline at 10 s"),
        ([(4.0, None)], 10.0, "none ran out"),
        ([(4.0, None)], 12.0, "slow_consumer at 12 s"),
        ([(3.0, 5.0), (5.5, 8.5)], 9.0, "none ran out"),
        ([(3.0, 5.0), (5.5, 8.5)], 10.0, "inter_token_deadline at 10 s"),
    ],
)
def test_a_wait_for_the_reader_is_drawn_and_not_counted(waits: Any, now: float, said: str) -> None:
    picture = viz.deadline_clocks({"inter_token_s": 2.0}, SLOW, now, waits=waits, slow_consumer_s=8.0)
    ElementTree.fromstring(picture.svg)
    assert said in picture.alt
    assert "url(#waits)" in picture.svg
    assert f"{waits[0][0]:g} s to " in picture.text


# --- what the text says


def cells() -> list[str]:
    book = nbformat.read(ROOT / "labs" / "lab04_endings" / "lab04_endings.ipynb", 4)
    return [cell.source for cell in book.cells]


def test_the_incident_shows_work_for_nobody() -> None:
    (source,) = [cell for cell in cells() if cell.startswith("class Job:")]
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(source, {})
    assert said.getvalue() == (
        "the caller gave up at 3 s; the device worked until 10 s\n"
        "10 steps were computed, 7 of them for nobody\n"
    )


def test_the_fault_of_the_last_part_is_seen() -> None:
    (text,) = [cell for cell in cells() if "Try a fault." in cell]
    assert "let the TTFT clock start at `marks.queued_at`" in text
    source = reference_source(FILES.cells["q1"])
    right = 'starts["ttft_s"] = marks.received_at'
    assert source.count(right) == 1
    lost = failed_names(
        run_answer(FILES.checks, "q1", source.replace(right, 'starts["ttft_s"] = marks.queued_at'))
    )
    assert lost == {"the_ttft_clock", "the_earliest_is_the_cause"}
