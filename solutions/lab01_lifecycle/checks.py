"""Checks of lab 01 (lifecycle). `make labs` copies the visible ones into the kit.

Every check tests what an answer does, never how. Hidden checks draw their cases from the seed and
compare with the kit's reference; `oracle.py` computes the same in another way, and a test holds
the two against each other.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from functools import partial
from typing import Any

from inference_kit.labs.checking import (
    AnswerRaised,
    Callback,
    CallbackRaises,
    CheckSet,
    Handle,
    Subject,
    expect,
    expect_raises,
    fail,
)
from inference_kit.lifecycle import END_EVENTS, TRACE_TRANSITIONS, TRANSITIONS, next_state, report_of

CHECKS = CheckSet("lab01")

HIDDEN_MODULES = ("inference_kit.lifecycle",)
"""Modules under study: an answer cannot import them in the judge."""

LIVE = ("received", "tokenized", "queued", "admitted", "prefill", "decode", "streaming", "preempted")
ENDS = ("finished", "cancelled", "timed_out", "failed")
EARLY = {"cancel": "cancelled", "time_out": "timed_out", "fail": "failed"}

# --- q1: the transition table -----------------------------------------------------------------------


def table_of(s: Subject) -> dict[str, dict[str, str]]:
    """The learner's table; a wrong shape is named before anything else is looked at."""
    table = s.call("make_transitions")
    if not isinstance(table, dict):
        fail("make_transitions() must return a dict", expected="a dict", got=table)
    for state, moves in table.items():
        if not isinstance(moves, dict):
            fail(f"the value of {state!r} must be a dict from event to next state", got=moves)
    return table


def expect_move(table: dict[str, Any], state: str, event: str, target: str) -> None:
    got = table.get(state, {}).get(event)
    expect(got, target, given=f"state {state!r}, event {event!r}")


@CHECKS.check(
    "q1",
    1,
    misconception="a token waits in streaming and computes in decode; finish is legal from both",
    rows=("received", "decode", "streaming"),
)
def normal_path(s: Subject, rng: random.Random) -> None:
    table = table_of(s)
    steps = [
        ("received", "tokenize", "tokenized"),
        ("tokenized", "enqueue", "queued"),
        ("queued", "admit", "admitted"),
        ("admitted", "start_prefill", "prefill"),
        ("prefill", "start_decode", "decode"),
        ("decode", "pause", "streaming"),
        ("streaming", "resume", "decode"),
        ("decode", "finish", "finished"),
        ("streaming", "finish", "finished"),
    ]
    for state, event, target in steps:
        expect_move(table, state, event, target)


@CHECKS.check(
    "q1", 1, misconception="a terminal state is in the table and has no way out", rows=("finished",)
)
def ends_absorb(s: Subject, rng: random.Random) -> None:
    table = table_of(s)
    for state in ENDS:
        expect(table.get(state), {}, given=f"the moves of {state!r}")


@CHECKS.check(
    "q1",
    1,
    misconception="cancel, timeout and failure can come in every live state, not only while running",
    rows=("every live state",),
)
def early_ends_from_every_live_state(s: Subject, rng: random.Random) -> None:
    table = table_of(s)
    for state in LIVE:
        for event, target in EARLY.items():
            expect_move(table, state, event, target)


@CHECKS.check(
    "q1",
    1,
    misconception="preemption is a pause: the request goes back to the queue and keeps living",
    rows=("preempted",),
)
def preemption_is_a_pause(s: Subject, rng: random.Random) -> None:
    table = table_of(s)
    for state in ("prefill", "decode", "streaming"):
        expect_move(table, state, "preempt", "preempted")
    expect_move(table, "preempted", "requeue", "queued")


@CHECKS.check("q1", 1, visible=False, misconception="the table holds a move that no request may make")
def nothing_else_is_legal(s: Subject, rng: random.Random) -> None:
    table = table_of(s)
    for state, moves in table.items():
        if state in ENDS:
            continue
        for event, target in moves.items():
            legal = {str(name): str(to) for name, to in TRANSITIONS.get(state, {}).items()}
            if event not in legal and event not in EARLY:
                fail("this move must not be in the table", given=f"{state} –{event}→ {target}")


# --- q2: refuse what the table does not allow ---------------------------------------------------------


def plain_transitions() -> dict[str, dict[str, str]]:
    return {
        str(state): {str(event): str(to) for event, to in moves.items()}
        for state, moves in TRANSITIONS.items()
    }


def random_table(rng: random.Random) -> dict[str, dict[str, str]]:
    """A table that has nothing to do with requests: lights, doors, lifts."""
    states = rng.sample(
        ["red", "amber", "green", "dark", "open", "shut", "up", "down", "stuck"], rng.randint(3, 6)
    )
    events = rng.sample(["tick", "push", "pull", "press", "cancel", "finish", "kick"], rng.randint(2, 5))
    return {state: {event: rng.choice(states) for event in events if rng.random() < 0.6} for state in states}


@CHECKS.check(
    "q2",
    1,
    misconception="every move of the table is allowed, also finish while streaming",
    rows=('("queued", "admit", table)',),
)
def legal_moves(s: Subject, rng: random.Random) -> None:
    table = plain_transitions()
    for state, moves in table.items():
        for event, target in moves.items():
            expect(
                s.call("next_state", state, event, table),
                target,
                given=f"next_state({state!r}, {event!r}, table)",
            )


@CHECKS.check(
    "q2",
    1,
    misconception="an illegal event is refused with IllegalTransition, also when the request has ended",
    rows=('("queued", "finish", table)', '("finished", "cancel", table)'),
)
def illegal_events_refused(s: Subject, rng: random.Random) -> None:
    table = plain_transitions()
    cases = [("queued", "finish"), ("received", "admit"), ("prefill", "pause"), ("finished", "cancel")]
    cases += [(state, event) for state in ENDS for event in ("cancel", "finish", "time_out")]
    for state, event in cases:
        given = f"next_state({state!r}, {event!r}, table)"
        expect_raises(
            partial(s.call, "next_state", state, event, table),
            "ValueError",
            given=given,
        )


@CHECKS.check(
    "q2",
    1,
    misconception="the message must name the state, the event and exactly the events that are legal there",
    rows=('("queued", "finish", table)',),
)
def message_names_legal_events(s: Subject, rng: random.Random) -> None:
    table = plain_transitions()
    for state, event in (("queued", "finish"), ("decode", "admit"), ("preempted", "pause")):
        given = f"next_state({state!r}, {event!r}, table)"
        error = expect_raises(
            partial(s.call, "next_state", state, event, table),
            "Exception",
            given=given,
        )
        legal = set(table[state])
        named = set(re.findall(r"\w+", error.message))
        missing = sorted(({state, event} | legal) - named)
        if missing:
            fail(f"the message does not name {missing[0]!r}", given=given, got=error.message)
        extra = sorted(({name for moves in table.values() for name in moves} - legal - {event}) & named)
        if f"event {event!r} is not legal in state {state!r}" not in error.message:
            fail(
                "the message mixes up state and event: IllegalTransition(state, event, legal)",
                given=given,
                got=error.message,
            )
        if extra:
            fail(f"the message names {extra[0]!r}, which is not legal here", given=given, got=error.message)


@CHECKS.check(
    "q2",
    1,
    misconception="a state that the table does not know has no legal event: refuse it the same way",
    rows=('("asleep", "admit", table)',),
)
def unknown_state_refused(s: Subject, rng: random.Random) -> None:
    table = plain_transitions()
    for state, event in (("asleep", "admit"), ("nowhere", "cancel")):
        given = f"next_state({state!r}, {event!r}, table)"
        expect_raises(partial(s.call, "next_state", state, event, table), "ValueError", given=given)


@CHECKS.check(
    "q2",
    1,
    misconception="a question changes nothing: the table is the same after the call, also after a refusal",
)
def table_is_left_alone(s: Subject, rng: random.Random) -> None:
    table = plain_transitions()
    for state, event in (
        ("queued", "admit"),
        ("queued", "finish"),
        ("finished", "cancel"),
        ("asleep", "admit"),
    ):
        after = s.call("table_after", state, event, table)
        expect(after, table, given=f"the table after next_state({state!r}, {event!r}, table)")


@CHECKS.check(
    "q2",
    1,
    visible=False,
    misconception="the table decides, and nothing else: no state or event has a meaning of its own",
)
def any_table(s: Subject, rng: random.Random) -> None:
    for _ in range(12):
        table = random_table(rng)
        for state in table:
            for event in ("tick", "push", "pull", "press", "cancel", "finish", "kick"):
                try:
                    expected = next_state(state, event, table)  # type: ignore[arg-type]
                except ValueError:
                    expect_raises(
                        partial(s.call, "next_state", state, event, table),
                        "Exception",
                    )
                else:
                    expect(s.call("next_state", state, event, table), expected)


# --- q3: walk a log, refuse an illegal history ----------------------------------------------------------

D5 = [
    ("arrive", 0.0),
    ("admit", 2.0),
    ("input_ready", 3.0),
    ("first_token", 7.0),
    ("token", 9.0),
    ("token", 11.0),
    ("complete", 12.0),
]
D5_STEPS = [
    ("arrive", 0.0, "not_arrived", "queued"),
    ("admit", 2.0, "queued", "preprocessing"),
    ("input_ready", 3.0, "preprocessing", "prefill"),
    ("first_token", 7.0, "prefill", "decode"),
    ("token", 9.0, "decode", "decode"),
    ("token", 11.0, "decode", "decode"),
    ("complete", 12.0, "decode", "completed"),
]
SHORT: list[Any] = [("arrive", 0), ("cancel", 1)]
SHORT_STEPS = [("arrive", 0.0, "not_arrived", "queued"), ("cancel", 1.0, "queued", "cancelled")]
ONE_TOKEN = [("arrive", 0.0), ("admit", 1.0), ("input_ready", 2.0), ("first_token", 3.0), ("complete", 4.0)]

ILLEGAL = [
    ([("admit", 0)], "admit before arrive"),
    ([("cancel", 0.0)], "an end before arrive"),
    ([("arrive", 1.0), ("admit", 0.5)], "time goes back"),
    ([("arrive", 1), ("cancel", 0.5)], "time goes back"),
    ([*D5, ("token", 13.0)], "a token after the end"),
    ([], "an empty log"),
    ([("arrive", 0)], "no end"),
    ([("arrive", 0.0), ("arrive", 1.0), ("cancel", 2.0)], "two arrivals"),
    (
        [("arrive", 0.0), ("admit", 1.0), ("input_ready", 2.0), ("token", 3.0), ("complete", 4.0)],
        "no first token",
    ),
    ([("arrive", 0.0), ("admit", 1.0), ("input_ready", 2.0), ("complete", 3.0)], "complete without a token"),
]
"""The nine histories that the lesson's source refuses (D1), and the contract's own case of time going back."""


def as_tuples(steps: Any) -> Any:
    """Steps may be lists or tuples."""
    if not isinstance(steps, (list, tuple)):
        fail("walk must return a list of steps", expected="a list", got=steps)
    return [tuple(step) if isinstance(step, list) else step for step in steps]


def expect_steps(s: Subject, events: list[Any], expected: list[Any], given: Any = None) -> None:
    expect(as_tuples(s.call("walk", events)), expected, given=given)


def steps_by_table(events: Sequence[tuple[str, float]]) -> list[tuple[str, float, str, str]]:
    """The steps of a legal log, by the table alone."""
    state, steps = "not_arrived", []
    for event, at in events:
        after = TRACE_TRANSITIONS[state][event]
        steps.append((event, at, state, after))
        state = after
    return steps


def random_history(rng: random.Random, stage: int, end: str, tokens: int = 0) -> list[tuple[str, float]]:
    """A legal log that ends in `stage` (0: queued … 3: decode). Times grow; whole and half seconds."""
    names = ["arrive", "admit", "input_ready", "first_token"][: stage + 1]
    names += ["token"] * (tokens if stage == 3 else 0)
    at, log = rng.randint(0, 9) / 2, []
    for name in [*names, end]:
        log.append((name, at))
        at += rng.randint(1, 9) / 2
    return log


@CHECKS.check(
    "q3",
    1,
    misconception="one step for each event: (event, time, state before, state after); one token is enough to complete",
    rows=('[("arrive", 0), ("cancel", 1)]',),
)
def completed_history(s: Subject, rng: random.Random) -> None:
    expect_steps(s, SHORT, SHORT_STEPS, given=SHORT)
    expect_steps(s, D5, D5_STEPS, given=D5)
    expect_steps(s, ONE_TOKEN, steps_by_table(ONE_TOKEN), given=ONE_TOKEN)


@CHECKS.check(
    "q3",
    1,
    misconception="a log entry can also be a mapping with 'event' and 'timestamp'; read_event reads both forms",
    rows=('[{"event": "arrive", "timestamp": 0}, …]',),
)
def both_forms_of_an_entry(s: Subject, rng: random.Random) -> None:
    for log in (SHORT, ONE_TOKEN):
        mappings = [{"event": event, "timestamp": at} for event, at in log]
        expect_steps(s, mappings, steps_by_table(log), given=mappings)
    bad = [("arrive", 0.0), ("admit", float("nan")), ("cancel", 3.0)]
    expect_raises(
        partial(s.call, "walk", bad),
        "ValueError",
        given=bad,
        note="a time that is not a number must be refused",
    )


@CHECKS.check(
    "q3",
    1,
    misconception="an illegal history is refused as a whole, with a ValueError",
    rows=(
        "[]",
        '[("arrive", 0)]',
        '[("admit", 0)]',
        '[("arrive", 1), ("cancel", 0.5)]',
        '[…, ("complete", 12), ("token", 13)]',
    ),
)
def illegal_histories_refused(s: Subject, rng: random.Random) -> None:
    for events, why in ILLEGAL:
        expect_raises(
            partial(s.call, "walk", events),
            "ValueError",
            given=events,
            note=f"must be refused: {why}",
        )


@CHECKS.check(
    "q3",
    1,
    misconception="two events may carry the same time; only a time that goes back is refused",
    rows=('[("arrive", 1), ("cancel", 1)]',),
)
def equal_times_are_legal(s: Subject, rng: random.Random) -> None:
    logs: list[list[Any]] = [[("arrive", 1), ("cancel", 1)], [(name, 2.0) for name, _ in D5]]
    for log in logs:
        expect_steps(s, log, steps_by_table(log), given=log)


@CHECKS.check(
    "q3",
    1,
    visible=False,
    misconception="each time is compared with the one right before it, wherever it stands in the log",
)
def time_never_goes_back(s: Subject, rng: random.Random) -> None:
    for _ in range(8):
        log = random_history(rng, 3, rng.choice(["complete", "cancel"]), rng.randint(1, 5))
        index = rng.randrange(1, len(log))
        before = log[index - 1][1]
        back = [
            (name, at + 0.25 if place == index - 1 else before if place == index else at)
            for place, (name, at) in enumerate(log)
        ]
        expect_raises(partial(s.call, "walk", back), "ValueError")


@CHECKS.check(
    "q3",
    1,
    visible=False,
    misconception="a log without its end is refused, however far it came, and nothing may follow an end",
)
def exactly_one_end(s: Subject, rng: random.Random) -> None:
    log = random_history(rng, 3, "complete", 3)
    for length in range(1, len(log)):
        expect_raises(partial(s.call, "walk", log[:length]), "Exception")
    for end in ("cancel", "timeout", "fail"):
        ended = random_history(rng, rng.randrange(4), end, 2)
        for late in ("complete", "cancel", "timeout", "fail"):
            expect_raises(partial(s.call, "walk", [*ended, (late, ended[-1][1] + 1)]), "Exception")


@CHECKS.check(
    "q3",
    1,
    visible=False,
    misconception="cancel, timeout and fail are legal in every stage after the arrival",
)
def early_ends_in_every_stage(s: Subject, rng: random.Random) -> None:
    for stage in range(4):
        for end in ("cancel", "timeout", "fail"):
            log = random_history(rng, stage, end, rng.randint(0, 6))
            expect_steps(s, log, steps_by_table(log))


# --- q4: from steps to a report ---------------------------------------------------------------------------

PARTIAL_CANCEL = [("arrive", 0.0), ("admit", 2.0), ("cancel", 5.0)]
DECODE_TIMEOUT = [*D5[:5], ("timeout", 10.0)]
BOUNDARIES = ("arrive", "admit", "input_ready", "first_token", "end")
WHOLE_LOG = "arrive 0, admit 2, input_ready 3, first_token 7, token 9, token 11, complete 12"
CANCELLED_LOG = "arrive 0, admit 2, cancel 5"
"""The two logs of the contract (`D5` and `PARTIAL_CANCEL`), as its table writes them."""
FIELDS = ("status", "stage", *BOUNDARIES, "token_times")


def report(s: Subject, events: list[tuple[str, float]]) -> dict[str, Any]:
    """The learner's report of a legal log; a wrong shape is named first."""
    got = s.call("report_of", steps_by_table(events))
    if not isinstance(got, dict):
        fail("report_of must return a dict", given=events, expected="a dict", got=got)
    missing = [name for name in FIELDS if name not in got]
    if missing:
        fail(
            f"the report has no field {missing[0]!r}",
            given=events,
            expected=list(FIELDS),
            got=sorted(got, key=str),
        )
    return got


@CHECKS.check(
    "q4",
    1,
    misconception="a boundary is the time of the event that opens the next stage",
    rows=("arrive, admit, input_ready, first_token", "end", WHOLE_LOG),
)
def boundaries_of_a_whole_log(s: Subject, rng: random.Random) -> None:
    expected = {"arrive": 0.0, "admit": 2.0, "input_ready": 3.0, "first_token": 7.0, "end": 12.0}
    got = report(s, D5)
    expect({name: got[name] for name in BOUNDARIES}, expected, given=D5)


@CHECKS.check(
    "q4",
    1,
    misconception="a boundary that never came is None, never 0: a missing time is not a fast one",
    rows=("arrive, admit, input_ready, first_token", CANCELLED_LOG),
)
def missing_boundary_is_none(s: Subject, rng: random.Random) -> None:
    got = report(s, PARTIAL_CANCEL)
    for name in ("input_ready", "first_token"):
        expect(got[name], None, given=f"{name} of {PARTIAL_CANCEL}")
    for stage in range(3):
        log = random_history(rng, stage, "cancel")
        got = report(s, log)
        for name in ("admit", "input_ready", "first_token")[stage:]:
            expect(got[name], None, given=f"{name} of {log}")


@CHECKS.check(
    "q4",
    1,
    misconception="stage is where the request stood when the end came; status is how it ended",
    rows=("status", "stage", WHOLE_LOG, CANCELLED_LOG),
)
def status_and_stage(s: Subject, rng: random.Random) -> None:
    cases = [
        (D5, "completed", "decode"),
        (PARTIAL_CANCEL, "cancelled", "preprocessing"),
        (DECODE_TIMEOUT, "timed_out", "decode"),
    ]
    for events, status, stage in cases:
        got = report(s, events)
        expect((got["status"], got["stage"]), (status, stage), given=events)


@CHECKS.check(
    "q4",
    1,
    misconception="the first token is a token: it belongs into token_times, which is an empty list without tokens",
    rows=("token_times", WHOLE_LOG, CANCELLED_LOG),
)
def token_times_with_the_first(s: Subject, rng: random.Random) -> None:
    for log, times in ((D5, [7.0, 9.0, 11.0]), (ONE_TOKEN, [3.0]), (PARTIAL_CANCEL, [])):
        expect(report(s, log)["token_times"], times, given=f"token_times of {log}")


@CHECKS.check(
    "q4",
    1,
    visible=False,
    misconception="token_times holds every token in order, also two that came at the same time",
)
def token_times_hold_every_token(s: Subject, rng: random.Random) -> None:
    for _ in range(8):
        log = random_history(rng, 3, rng.choice(["cancel", "fail"]), rng.randint(2, 7))
        twin = rng.randrange(4, len(log) - 1)
        log[twin] = ("token", log[twin - 1][1])
        got = report(s, log)
        reference = report_of(steps_by_table(log))
        expect(got["token_times"], reference["token_times"])


@CHECKS.check("q4", 1, visible=False, misconception="0 seconds is a time like any other, not a missing one")
def zero_is_a_time(s: Subject, rng: random.Random) -> None:
    for stage in range(1, 4):
        log = [(name, 0.0) for name, _ in random_history(rng, stage, "timeout")]
        got = report(s, log)
        reference = report_of(steps_by_table(log))
        expect({name: got[name] for name in BOUNDARIES}, {name: reference[name] for name in BOUNDARIES})


# --- q5: end a request exactly once -------------------------------------------------------------------------


class Releases:
    """Counts the releases of one demo request, on the check's side."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self) -> None:
        self.count += 1


def demo(s: Subject, state: str, release: Any) -> Handle:
    return s.new("DemoRequest", state, Callback(release))


def settle(s: Subject, request: Handle, reason: str, at: float) -> Any:
    return s.call("settle_once", request, reason, at)


def ending(s: Subject, request: Handle) -> tuple[Any, Any, Any]:
    return (s.attr(request, "state"), s.attr(request, "finish_reason"), s.attr(request, "finished_at"))


@CHECKS.check(
    "q5",
    1,
    misconception="the first cause wins: a later signal returns False and changes neither reason nor time",
    rows=('first call, "stop_eos" in decode', "any later call"),
)
def first_call_wins(s: Subject, rng: random.Random) -> None:
    request = demo(s, "decode", lambda: None)
    given = "stop_eos at 5.0, then client_cancel at 6.0, then error at 7.0"
    calls = [settle(s, request, "stop_eos", 5.0)]
    calls += [settle(s, request, "client_cancel", 6.0), settle(s, request, "error", 7.0)]
    expect(calls, [True, False, False], given=given)
    expect(ending(s, request), ("finished", "stop_eos", 5.0), given=given)


@CHECKS.check(
    "q5",
    1,
    misconception="everything is given back exactly once, by the call that ended the request",
    rows=('first call, "stop_eos" in decode', "any later call"),
)
def releases_once(s: Subject, rng: random.Random) -> None:
    for state, reason in (("decode", "stop_eos"), ("prefill", "client_cancel")):
        release = Releases()
        request = demo(s, state, release)
        settle(s, request, reason, 1.0)
        expect(release.count, 1, given=f"releases after the first call, {reason!r} in {state}")
        for at in (2.0, 3.0):
            settle(s, request, "ttft_deadline", at)
        expect(release.count, 1, given="releases after three calls")


@CHECKS.check(
    "q5",
    1,
    misconception="an end that is not legal here is refused before anything changes; the request lives on",
    rows=('"stop_eos" in queued',),
)
def illegal_end_changes_nothing(s: Subject, rng: random.Random) -> None:
    release = Releases()
    request = demo(s, "queued", release)
    given = "a queued request, reason stop_eos (finish is not legal in queued)"
    expect_raises(partial(settle, s, request, "stop_eos", 1.0), "ValueError", given=given)
    expect((ending(s, request), release.count), (("queued", None, None), 0), given=given)
    settle(s, request, "queue_deadline", 2.0)
    expect(
        ending(s, request),
        ("timed_out", "queue_deadline", 2.0),
        given="the same request, reason queue_deadline",
    )


@CHECKS.check(
    "q5",
    1,
    misconception="a release can send the next signal: the request must already be ended when it runs",
    rows=("the release itself calls settle_once",),
)
def signal_during_release(s: Subject, rng: random.Random) -> None:
    seen: list[Any] = []

    def release() -> None:
        # Only once, so that an answer that releases first cannot recurse for ever.
        if not seen:
            seen.append(None)
            seen[0] = settle(s, request, "client_cancel", 9.0)

    request = demo(s, "decode", release)
    given = "stop_eos at 4.0; while it releases, client_cancel at 9.0 arrives"
    settle(s, request, "stop_eos", 4.0)
    expect(seen, [False], given=given, note="what the call inside the release returned")
    expect(ending(s, request), ("finished", "stop_eos", 4.0), given=given)


@CHECKS.check(
    "q5",
    1,
    misconception="a release that raises does not undo the end: the request has ended and is not released again",
    rows=("the release raises",),
)
def release_that_raises(s: Subject, rng: random.Random) -> None:
    release = Releases()

    def failing() -> None:
        release()
        raise CallbackRaises("RuntimeError", "the device is gone")

    given = "ttft_deadline at 1.0 in prefill, and the release raises RuntimeError; then shutdown at 2.0"
    request = demo(s, "prefill", failing)
    try:
        settle(s, request, "ttft_deadline", 1.0)
    except AnswerRaised:
        pass  # both are right: to pass the error on, and to keep it
    expect(settle(s, request, "shutdown", 2.0), False, given=given, note="what the second call returned")
    expect(ending(s, request), ("timed_out", "ttft_deadline", 1.0), given=given)
    expect(release.count, 1, given=given, note="how often everything was given back")


MOMENTS = 60
"""More turns than any answer gives away between its start and its return."""


class OtherThread:
    """A second thread that ends the same request. It gets its turns while nobody holds the lock.

    It acts at one of its turns, the `moment`-th, so that a check can try them all, one by one.
    """

    def __init__(self, s: Subject, moment: int) -> None:
        self.s = s
        self.moment = moment
        self.turns = 0
        self.request: Handle | None = None
        self.returned: list[Any] = []

    def __call__(self) -> None:
        turn, self.turns = self.turns, self.turns + 1
        if turn == self.moment and self.request is not None:
            self.returned.append(outcome(self.s, self.request, "client_cancel", 6.0))


def outcome(s: Subject, request: Handle, reason: str, at: float) -> Any:
    """What `settle_once` returned, or the exception it raised, in words."""
    try:
        return settle(s, request, reason, at)
    except AnswerRaised as error:
        return f"raised {error}"


@CHECKS.check(
    "q5",
    1,
    misconception="to look and to move are one decision: without the lock around both, a thread comes between them",
    rows=("a second thread calls settle_once, at any moment in which the lock is free",),
)
def a_second_thread_comes_between(s: Subject, rng: random.Random) -> None:
    for moment in range(MOMENTS):
        other = OtherThread(s, moment)
        request = s.new("DemoRequest", "decode", Callback(lambda: None), Callback(other))
        other.request = request
        first = outcome(s, request, "stop_eos", 5.0)
        other.request = None
        if not other.returned:
            break  # there are no more moments
        given = (
            f"stop_eos at 5.0; at moment {moment} with the lock free, another thread: client_cancel at 6.0"
        )
        both = [first, *other.returned]
        expected = [True, False] if first is True else [False, True]
        expect(both, expected, given=given, note="what the two calls returned; just one may be True")
        end = ("finished", "stop_eos", 5.0) if first is True else ("cancelled", "client_cancel", 6.0)
        expect(
            ending(s, request), end, given=given, note="the end must be that of the call that returned True"
        )


@CHECKS.check(
    "q5",
    1,
    visible=False,
    misconception="END_EVENTS says which event a reason stands for; the event leads to the end",
)
def every_reason_has_its_end(s: Subject, rng: random.Random) -> None:
    reasons = list(END_EVENTS.items())
    rng.shuffle(reasons)
    for reason, event in reasons:
        state = rng.choice(
            ["decode", "streaming"] if event == "finish" else ["decode", "streaming", "prefill", "admitted"]
        )
        request = demo(s, state, lambda: None)
        at = rng.randint(0, 40) / 4
        settle(s, request, str(reason), at)
        expect(ending(s, request), (str(next_state(state, event)), str(reason), at))  # type: ignore[arg-type]


# --- q6: the one release path ---------------------------------------------------------------------------------


class Ledger:
    """Writes down what an answer gives back, on the check's side."""

    def __init__(self, s: Subject) -> None:
        self.s = s
        self.given_back: list[str] = []
        self.holdings = s.new("Holdings")

    def hold(self, name: str, also: Any = None) -> None:
        def release() -> None:
            self.given_back.append(name)
            if also is not None:
                also()

        self.s.method(self.holdings, "hold", name, Callback(release))

    def release(self) -> None:
        self.s.method(self.holdings, "release")


def failing() -> None:
    raise CallbackRaises("RuntimeError", "the stream is gone")


A14 = [("a normal stop", 3), ("a cancel during prefill", 2), ("a queue timeout", 0)]
"""The three worked lifecycles: what ends the request, and the KV blocks it holds then."""


@CHECKS.check(
    "q6",
    1,
    misconception="every block comes back: 3 at a normal stop, 2 at a cancel in prefill, 0 at a queue timeout",
)
def a14_blocks_come_back(s: Subject, rng: random.Random) -> None:
    for what, blocks in A14:
        ledger = Ledger(s)
        names = [f"block {number}" for number in range(blocks)]
        for name in names:
            ledger.hold(name)
        ledger.release()
        expect(sorted(ledger.given_back), names, given=f"{what}: {blocks} blocks held")


@CHECKS.check(
    "q6",
    1,
    misconception="what was taken last goes first: it may still use what was taken before it",
    rows=("held: registry, stream, kv",),
)
def last_taken_first_released(s: Subject, rng: random.Random) -> None:
    for taken in (["registry", "stream", "kv"], ["registry", "stream", "slot", "kv"]):
        ledger = Ledger(s)
        for name in taken:
            ledger.hold(name)
        ledger.release()
        expected = [name for name in reversed(taken) if name in ledger.given_back]
        expect(ledger.given_back, expected, given=f"taken in this order: {taken}")


@CHECKS.check(
    "q6",
    1,
    misconception="cleanup is idempotent: a second release finds nothing to give back",
    rows=("release() a second time",),
)
def safe_to_call_twice(s: Subject, rng: random.Random) -> None:
    ledger = Ledger(s)
    ledger.hold("slot")
    ledger.hold("kv")
    ledger.release()
    once = list(ledger.given_back)
    ledger.release()
    expect(ledger.given_back, once, given="release() twice")


@CHECKS.check(
    "q6",
    1,
    misconception="one release that fails must not keep the others from running",
    rows=("one function raises",),
)
def one_failure_stops_no_other(s: Subject, rng: random.Random) -> None:
    ledger = Ledger(s)
    ledger.hold("kv")
    ledger.hold("stream", failing)
    given = "kv and stream held; the release of stream raises"
    try:
        ledger.release()
    except AnswerRaised as error:
        fail("release() must not raise when one release fails", given=given, got=f"raised {error}")
    if "kv" not in ledger.given_back:
        fail("kv was never given back", given=given, got=ledger.given_back)


@CHECKS.check(
    "q6",
    1,
    misconception="the exception itself must be kept in release_errors: its text alone cannot be raised or traced",
    rows=("one function raises",),
)
def failures_are_kept(s: Subject, rng: random.Random) -> None:
    for count in (1, 3):
        ledger = Ledger(s)
        for number in range(count):
            ledger.hold(f"stream {number}", failing)
        try:
            ledger.release()
        except AnswerRaised:
            pass  # another check looks at that
        problems = s.method(ledger.holdings, "problems")
        given = f"{count} held, each release raises; types and messages of what release_errors holds"
        expect(problems, ["RuntimeError: the stream is gone"] * count, given=given)


@CHECKS.check(
    "q6",
    1,
    misconception="a release may call release again: each thing must leave the list before it is given back",
    rows=("a function calls release() itself",),
)
def release_during_release(s: Subject, rng: random.Random) -> None:
    names = ["kv", "registry", "slot", "stream"]
    for where in names:
        ledger = Ledger(s)
        again: list[int] = []

        def once_more(ledger: Ledger = ledger, again: list[int] = again) -> None:
            # Three times at most, so that an answer that never empties its list comes to an end.
            if len(again) < 3:
                again.append(1)
                ledger.release()

        for name in names:
            ledger.hold(name, once_more if name == where else None)
        ledger.release()
        expect(sorted(ledger.given_back), names, given=f"{names}; the function of {where!r} calls release()")


@CHECKS.check(
    "q6",
    1,
    visible=False,
    misconception="any exception of a function is kept, whatever its type, and stops nothing",
)
def any_kind_of_failure(s: Subject, rng: random.Random) -> None:
    kinds = ["ValueError", "KeyError", "OSError", "ZeroDivisionError", "RuntimeError"]
    rng.shuffle(kinds)
    ledger = Ledger(s)
    for kind in kinds:

        def break_down(kind: str = kind) -> None:
            raise CallbackRaises(kind, "it broke")

        ledger.hold(kind, break_down)
    try:
        ledger.release()
    except AnswerRaised:
        pass  # another check looks at that
    expect(sorted(ledger.given_back), sorted(kinds))


@CHECKS.check(
    "q6",
    1,
    visible=False,
    misconception="release gives back all that is held now, also what was taken after an earlier release",
)
def held_after_a_release(s: Subject, rng: random.Random) -> None:
    ledger = Ledger(s)
    names = [f"block {number}" for number in range(rng.randint(3, 6))]
    for name in names:
        ledger.hold(name)
        if rng.random() < 0.5 or name == names[0]:
            ledger.release()
    ledger.release()
    # Only what is missing counts here: what comes back twice is the matter of another check.
    expect(sorted(set(ledger.given_back)), names)
