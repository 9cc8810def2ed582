"""Checks of lab 04 (endings). `make labs` copies the visible ones into the kit.

Every check tests what an answer does, never how. Hidden checks draw their cases from the seed and
compare with the kit's reference; `oracle.py` computes the same in another way, and a test holds
the two against each other.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from inference_kit.labs.checking import CheckSet, Subject, expect, expect_raises, fail
from inference_kit.lifecycle import find_orphans, reconcile, settle, which_end

CHECKS = CheckSet("lab04")

HIDDEN_MODULES = ("inference_kit.lifecycle",)
"""Modules under study: an answer cannot import them in the judge."""

# --- q1: four clocks --------------------------------------------------------------------------------------

NO_LIMITS = {"queue_s": None, "ttft_s": None, "inter_token_s": None, "overall_s": None}
WAITING = {
    "received_at": 1.0,
    "queued_at": 2.0,
    "admitted_at": None,
    "first_token_at": None,
    "last_token_at": None,
    "paused": False,
}
"""Marks of a request that came at 1 s and was queued at 2 s."""
DECODING = {**WAITING, "admitted_at": 3.0, "first_token_at": 4.0, "last_token_at": 6.0}
"""The same request later: admitted, and two tokens."""


def expect_expired(
    s: Subject, limits: Mapping[str, Any], marks: Mapping[str, Any], now: float, wanted: Any
) -> None:
    given = f"limits {dict(limits)}, marks {dict(marks)}, now {now}"
    expect(s.call("expired", {**NO_LIMITS, **limits}, dict(marks), now), wanted, given=given)


@CHECKS.check(
    "q1",
    1,
    misconception="a limit is missed at equality, and dated start + limit however late it is noticed",
    rows=(
        "overall 10, came at 1, now 10.5",
        "overall 10, came at 1, now 11",
        "overall 10, came at 1, now 14",
    ),
)
def missed_at_equality(s: Subject, rng: random.Random) -> None:
    expect_expired(s, {"overall_s": 10.0}, WAITING, 10.5, None)
    expect_expired(s, {"overall_s": 10.0}, WAITING, 11.0, ("overall_deadline", 11.0))
    expect_expired(s, {"overall_s": 10.0}, WAITING, 14.0, ("overall_deadline", 11.0))


@CHECKS.check(
    "q1",
    1,
    misconception="the queue clock starts at the queue and is disarmed by the first admission",
    rows=("queue 3, queued at 2, now 5", "queue 3, admitted at 3, now 99"),
)
def the_queue_clock(s: Subject, rng: random.Random) -> None:
    expect_expired(s, {"queue_s": 3.0}, WAITING, 4.5, None)
    expect_expired(s, {"queue_s": 3.0}, WAITING, 5.0, ("queue_deadline", 5.0))
    # Before the first token: the admission alone disarms it.
    expect_expired(s, {"queue_s": 3.0}, {**WAITING, "admitted_at": 3.0}, 99.0, None)
    expect_expired(s, {"queue_s": 3.0}, DECODING, 99.0, None)


@CHECKS.check(
    "q1",
    1,
    misconception="the TTFT clock starts when the request came and ends with the first token",
    rows=("ttft 4, came at 1, now 5", "ttft 4, first token at 4, now 99"),
)
def the_ttft_clock(s: Subject, rng: random.Random) -> None:
    expect_expired(s, {"ttft_s": 4.0}, WAITING, 5.0, ("ttft_deadline", 5.0))
    expect_expired(s, {"ttft_s": 4.0}, {**WAITING, "admitted_at": 3.0}, 5.0, ("ttft_deadline", 5.0))
    expect_expired(s, {"ttft_s": 4.0}, DECODING, 99.0, None)


@CHECKS.check(
    "q1",
    1,
    misconception="the inter-token clock runs from the last token, and not before there is one",
    rows=("inter-token 2, last token at 6, now 8", "inter-token 2, no token yet, now 99"),
)
def the_inter_token_clock(s: Subject, rng: random.Random) -> None:
    expect_expired(s, {"inter_token_s": 2.0}, DECODING, 7.5, None)
    expect_expired(s, {"inter_token_s": 2.0}, DECODING, 8.0, ("inter_token_deadline", 8.0))
    expect_expired(s, {"inter_token_s": 2.0}, WAITING, 99.0, None)


@CHECKS.check(
    "q1",
    1,
    misconception="while the reader is slow the inter-token clock stands still: the device is not to blame",
    rows=("inter-token 2, paused, now 99",),
)
def the_pause(s: Subject, rng: random.Random) -> None:
    expect_expired(s, {"inter_token_s": 2.0}, {**DECODING, "paused": True}, 99.0, None)
    expect_expired(s, {"overall_s": 9.0}, {**DECODING, "paused": True}, 10.0, ("overall_deadline", 10.0))


@CHECKS.check(
    "q1",
    1,
    misconception="of several the earliest is the cause; ties go to queue, ttft, inter-token, overall",
    rows=("ttft 9 and overall 5, now 99", "queue 3 and overall 4, both due at 5"),
)
def the_earliest_is_the_cause(s: Subject, rng: random.Random) -> None:
    expect_expired(s, {"ttft_s": 9.0, "overall_s": 5.0}, WAITING, 99.0, ("overall_deadline", 6.0))
    expect_expired(s, {"queue_s": 3.0, "overall_s": 4.0}, WAITING, 99.0, ("queue_deadline", 5.0))
    expect_expired(s, {"ttft_s": 4.0, "overall_s": 4.0}, WAITING, 99.0, ("ttft_deadline", 5.0))
    expect_expired(s, {"inter_token_s": 2.0, "overall_s": 7.0}, DECODING, 99.0, ("inter_token_deadline", 8.0))


@CHECKS.check("q1", 1, misconception="a limit of None is no limit", rows=("no limits, now 99",))
def no_limits(s: Subject, rng: random.Random) -> None:
    expect_expired(s, {}, WAITING, 99.0, None)
    expect_expired(s, {}, DECODING, 99.0, None)


@CHECKS.check(
    "q1",
    1,
    misconception="a clock whose start has not happened does not run",
    rows=("queue 3, not queued yet, now 99",),
)
def not_started_yet(s: Subject, rng: random.Random) -> None:
    received = {**WAITING, "queued_at": None}
    expect_expired(s, {"queue_s": 3.0}, received, 99.0, None)
    expect_expired(s, {"queue_s": 3.0, "overall_s": 8.0}, received, 99.0, ("overall_deadline", 9.0))


def expect_moved_on(s: Subject, started_at: float, paused_at: float, resumed_at: float, to: float) -> None:
    given = f"moved_on({started_at:g}, {paused_at:g}, {resumed_at:g})"
    expect(s.call("moved_on", started_at, paused_at, resumed_at), to, given=given)


@CHECKS.check(
    "q1",
    1,
    misconception="the wait does not count, and what had gone before it still does",
    rows=("moved_on(6, 7, 12)", "moved_on(6, 6, 12)"),
)
def a_wait_does_not_count(s: Subject, rng: random.Random) -> None:
    expect_moved_on(s, 6.0, 7.0, 12.0, 11.0)
    expect_moved_on(s, 6.0, 6.0, 12.0, 12.0)
    expect_moved_on(s, 6.0, 9.0, 9.0, 6.0)


@CHECKS.check(
    "q1",
    1,
    misconception="a token in the middle of a wait sets the clock anew: only the rest of the wait is left out",
    rows=("moved_on(9, 7, 12)",),
)
def a_token_during_the_wait(s: Subject, rng: random.Random) -> None:
    expect_moved_on(s, 9.0, 7.0, 12.0, 12.0)
    expect_moved_on(s, 12.0, 7.0, 12.0, 12.0)


@CHECKS.check("q1", 2, visible=False, misconception="0.0 is a time: a request may come when the clock starts")
def time_zero(s: Subject, rng: random.Random) -> None:
    for _ in range(20):
        limit = rng.randint(1, 20) / 2
        marks = {**WAITING, "received_at": 0.0, "queued_at": 0.0}
        expect(s.call("expired", {**NO_LIMITS, "overall_s": limit}, marks, 50.0), ("overall_deadline", limit))
        expect(s.call("expired", {**NO_LIMITS, "queue_s": limit}, marks, 50.0), ("queue_deadline", limit))
        marks = {**marks, "admitted_at": 0.0, "first_token_at": 0.0, "last_token_at": 0.0}
        expect(s.call("expired", {**NO_LIMITS, "queue_s": limit, "ttft_s": limit}, marks, 50.0), None)
        wanted = ("inter_token_deadline", limit)
        expect(s.call("expired", {**NO_LIMITS, "inter_token_s": limit}, marks, 50.0), wanted)


# --- q2: the safe point -----------------------------------------------------------------------------------

LIMIT = ("overall_deadline", 5.0)


def expect_end(s: Subject, due: Any, failed: bool, cancelled: Any, wanted: Any, now: float = 9.0) -> None:
    given = f"which_end({due}, {failed}, {cancelled}, {now}, 'error')"
    expect(s.call("which_end", due, failed, cancelled, now, "error"), wanted, given=given)


@CHECKS.check("q2", 1, misconception="without a cause a request goes on", rows=("nothing",))
def nothing_ends_it(s: Subject, rng: random.Random) -> None:
    expect_end(s, None, False, None, None)


@CHECKS.check(
    "q2",
    1,
    misconception="each cause alone ends the request",
    rows=("a limit at 5", "a cancel at 7", "a failure"),
)
def each_cause_alone(s: Subject, rng: random.Random) -> None:
    expect_end(s, LIMIT, False, None, LIMIT)
    expect_end(s, None, False, ("client_cancel", 7.0), ("client_cancel", 7.0))
    expect_end(s, None, True, None, ("error", 9.0))
    expect_end(s, None, True, None, ("error", 4.0), now=4.0)


@CHECKS.check(
    "q2",
    1,
    misconception="of a limit and a cancel the earlier one is the cause",
    rows=("a limit at 5, a cancel at 3", "a limit at 5, a cancel at 7"),
)
def the_earlier_one(s: Subject, rng: random.Random) -> None:
    expect_end(s, LIMIT, False, ("client_cancel", 3.0), ("client_cancel", 3.0))
    expect_end(s, LIMIT, False, ("client_cancel", 7.0), LIMIT)


@CHECKS.check(
    "q2",
    1,
    misconception="at the same instant a limit goes before a cancel",
    rows=("a limit at 5, a cancel at 5",),
)
def the_same_instant(s: Subject, rng: random.Random) -> None:
    expect_end(s, LIMIT, False, ("shutdown", 5.0), LIMIT)


@CHECKS.check(
    "q2",
    1,
    misconception="a failure is noticed now: a limit that passed before it wins, a cancel does not",
    rows=("a failure and a limit at 5", "a failure and a cancel at 3"),
)
def a_failure_among_others(s: Subject, rng: random.Random) -> None:
    expect_end(s, LIMIT, True, None, LIMIT)
    expect_end(s, None, True, ("client_cancel", 3.0), ("error", 9.0))


@CHECKS.check(
    "q2",
    1,
    misconception="with all three on the table, first limit and cancel are compared, then the failure is looked at",
    rows=("a failure, a limit at 5, a cancel at 3", "a failure, a limit at 5, a cancel at 8"),
)
def all_three_at_once(s: Subject, rng: random.Random) -> None:
    expect_end(s, LIMIT, True, ("client_cancel", 3.0), ("error", 9.0))
    expect_end(s, LIMIT, True, ("client_cancel", 8.0), LIMIT)


@CHECKS.check("q2", 2, visible=False, misconception="times are compared exactly, a moment counts")
def a_moment_counts(s: Subject, rng: random.Random) -> None:
    for _ in range(60):
        at = rng.randint(1, 40) / 4
        due, cancelled = ("ttft_deadline", at), ("client_cancel", at + rng.choice([-0.25, 0.25]))
        wanted = which_end(due, False, cancelled, 20.0, "error")
        expect(s.call("which_end", due, False, cancelled, 20.0, "error"), wanted)


# --- q3: one winner ---------------------------------------------------------------------------------------


@CHECKS.check("q3", 1, misconception="time decides first", rows=("a cancel at 6, a finish at 5",))
def time_first(s: Subject, rng: random.Random) -> None:
    signals = [(6.0, "cancel"), (5.0, "finish")]
    expect(s.call("in_order", signals), [(5.0, "finish"), (6.0, "cancel")], given=f"in_order({signals})")
    expect(s.call("settle", signals), ((5.0, "finish"), [(6.0, "cancel")]), given=f"settle({signals})")


@CHECKS.check(
    "q3",
    1,
    misconception="at the same instant: expire, finish, cancel, arrive, step",
    rows=("all five at 5",),
)
def the_order_of_an_instant(s: Subject, rng: random.Random) -> None:
    words = ["step", "arrive", "cancel", "finish", "expire"]
    got = s.call("in_order", [(5.0, word) for word in words])
    expect(
        got, [(5.0, word) for word in reversed(words)], given="in_order of all five words at 5.0, backwards"
    )
    got = s.call("in_order", [(5.0, "cancel"), (5.0, "expire"), (5.0, "finish")])
    expect(got, [(5.0, "expire"), (5.0, "finish"), (5.0, "cancel")], given="in_order of three ends at 5.0")


@CHECKS.check(
    "q3",
    1,
    misconception="one signal ends the request; the later ones are named and do nothing",
    rows=("a cancel, an expire and a finish at 5",),
)
def one_winner(s: Subject, rng: random.Random) -> None:
    signals = [(5.0, "cancel"), (5.0, "expire"), (5.0, "finish")]
    wanted = ((5.0, "expire"), [(5.0, "finish"), (5.0, "cancel")])
    expect(s.call("settle", signals), wanted, given=f"settle({signals})")


@CHECKS.check(
    "q3",
    1,
    misconception="an arrival and a step end nothing",
    rows=("an arrival at 1, a step at 2", "no signal"),
)
def not_every_signal_is_an_end(s: Subject, rng: random.Random) -> None:
    expect(
        s.call("settle", [(1.0, "arrive"), (2.0, "step")]),
        (None, []),
        given="settle of an arrival and a step",
    )
    expect(s.call("settle", []), (None, []), given="settle([])")
    signals = [(1.0, "arrive"), (2.0, "step"), (3.0, "cancel"), (4.0, "step")]
    expect(s.call("settle", signals), ((3.0, "cancel"), []), given=f"settle({signals})")


@CHECKS.check(
    "q3",
    1,
    misconception="the same signal can come twice: one ends the request, the other one is late like any other",
    rows=("two cancels at 5",),
)
def twice_the_same(s: Subject, rng: random.Random) -> None:
    signals = [(5.0, "cancel"), (5.0, "cancel")]
    expect(s.call("settle", signals), ((5.0, "cancel"), [(5.0, "cancel")]), given=f"settle({signals})")


@CHECKS.check(
    "q3",
    1,
    misconception="a word that is no signal is refused before anything is decided",
    rows=('a signal "explode"',),
)
def unknown_words(s: Subject, rng: random.Random) -> None:
    for signals in ([(1.0, "explode")], [(1.0, "cancel"), (2.0, "explode")]):
        for name in ("in_order", "settle"):
            expect_raises(partial(s.call, name, signals), "ValueError", given=f"{name}({signals})")


@CHECKS.check("q3", 2, visible=False, misconception="times are numbers: 9 is before 10")
def many_signals(s: Subject, rng: random.Random) -> None:
    for _ in range(40):
        times = rng.sample(range(8, 300), 6)
        signals = [(float(time), rng.choice(["expire", "finish", "cancel"])) for time in times]
        expect(s.call("settle", signals), settle(signals))


# --- q4: owners and dependencies ----------------------------------------------------------------------------

NEEDS = {"trace": [], "kv": ["trace"], "stream": ["kv", "trace"]}
DIAMOND = {"pool": [], "left": ["pool"], "right": ["pool"], "top": ["left", "right"]}


def expect_valid(got: Any, depends: Mapping[str, Sequence[str]], given: str) -> None:
    """Every resource once, and each before what it depends on."""
    if not isinstance(got, (list, tuple)) or sorted(map(str, got)) != sorted(depends):
        fail("every resource must be in the order, once", given=given, expected=sorted(depends), got=got)
    place = {name: index for index, name in enumerate(got)}
    for name, needed in depends.items():
        for other in needed:
            if place[name] > place[other]:
                fail(f"{other!r} goes before {name!r}, which still needs it", given=given, got=list(got))


@CHECKS.check(
    "q4",
    1,
    misconception="what depends on something goes before it",
    rows=("stream needs kv, kv needs trace",),
)
def dependents_first(s: Subject, rng: random.Random) -> None:
    expect(s.call("release_order", NEEDS), ["stream", "kv", "trace"], given=f"release_order({NEEDS})")


@CHECKS.check(
    "q4",
    1,
    misconception="a resource that two others need goes once, after both",
    rows=("top needs left and right, both need pool", "no resource"),
)
def a_diamond(s: Subject, rng: random.Random) -> None:
    expect_valid(s.call("release_order", DIAMOND), DIAMOND, f"release_order({DIAMOND})")
    expect(s.call("release_order", {}), [], given="release_order({})")


@CHECKS.check(
    "q4", 1, misconception="in a circle there is no right order: say so", rows=("a needs b, b needs a",)
)
def circles_are_refused(s: Subject, rng: random.Random) -> None:
    for depends in ({"a": ["b"], "b": ["a"]}, {"a": ["b"], "b": ["c"], "c": ["a"], "d": []}):
        expect_raises(
            partial(s.call, "release_order", depends), "ValueError", given=f"release_order({depends})"
        )


def no_needs(names: Iterable[str]) -> dict[str, list[str]]:
    """Resources that need nothing."""
    return {name: [] for name in names}


OWNERS = {"trace": ["r1"], "kv": ["r1", "r2"], "stream": ["r1"]}


@CHECKS.check(
    "q4",
    1,
    misconception="a shared resource is not freed as long as somebody owns it",
    rows=("r1 leaves; kv is shared with r2",),
)
def shared_resources_stay(s: Subject, rng: random.Random) -> None:
    freed, left = s.call("leave", "r1", OWNERS, no_needs(OWNERS))
    expect(sorted(freed), ["stream", "trace"], given="leave('r1', …): freed")
    expect(left, {"kv": ["r2"]}, given="leave('r1', …): owners afterwards")


@CHECKS.check(
    "q4",
    1,
    misconception="what is freed goes in the order of the dependencies",
    rows=("r1 leaves and owned all three alone",),
)
def freed_in_order(s: Subject, rng: random.Random) -> None:
    alone = {name: ["r1"] for name in NEEDS}
    freed, left = s.call("leave", "r1", alone, NEEDS)
    expect(freed, ["stream", "kv", "trace"], given=f"leave('r1', {alone}, {NEEDS}): freed")
    expect(left, {}, given="owners afterwards")


@CHECKS.check(
    "q4",
    1,
    misconception="who owns nothing frees nothing; leaving twice is no fault",
    rows=("r1 leaves twice",),
)
def leaving_twice(s: Subject, rng: random.Random) -> None:
    owners, flat = {"trace": ["r1"], "kv": ["r2"]}, no_needs(["trace", "kv"])
    first = s.call("leave", "r1", owners, flat)
    expect(first, (["trace"], {"kv": ["r2"]}), given=f"leave('r1', {owners}, …)")
    again = s.call("leave", "r1", {"kv": ["r2"]}, flat)
    expect(again, ([], {"kv": ["r2"]}), given="leave('r1', …) a second time")


@CHECKS.check(
    "q4",
    1,
    misconception="what has no owner stays as long as something that stays needs it, and then goes with that",
    rows=("r1 leaves with trace and kv; the stream of r2 needs kv", "after that, r2 leaves"),
)
def needed_resources_stay(s: Subject, rng: random.Random) -> None:
    owners = {"trace": ["r1"], "kv": ["r1"], "stream": ["r2"]}
    needs = {"trace": [], "kv": ["trace"], "stream": ["kv"]}
    kept = {"trace": [], "kv": [], "stream": ["r2"]}
    given = f"leave('r1', {owners}, {needs})"
    expect(s.call("leave", "r1", owners, needs), ([], kept), given=given)
    got = s.call("leave", "r2", kept, needs)
    expect(got, (["stream", "kv", "trace"], {}), given=f"leave('r2', {kept}, {needs})")


@CHECKS.check(
    "q4",
    1,
    misconception="who needs nothing may be missing in `depends`, and must still be given back",
    rows=("r1 leaves; depends does not name its buffer",),
)
def not_named_is_freed_too(s: Subject, rng: random.Random) -> None:
    owners = {"buffer": ["r1"], "kv": ["r2"]}
    named: list[dict[str, list[str]]] = [{}, {"kv": []}]
    for needs in named:
        got = s.call("leave", "r1", owners, needs)
        expect(got, (["buffer"], {"kv": ["r2"]}), given=f"leave('r1', {owners}, {needs})")


def random_needs(rng: random.Random) -> dict[str, list[str]]:
    """Resources without a circle, listed in any order."""
    names = [f"n{index}" for index in range(rng.randint(4, 8))]
    needs = {
        name: [other for other in names[:index] if rng.random() < 0.5] for index, name in enumerate(names)
    }
    return {name: needs[name] for name in rng.sample(names, len(names))}


@CHECKS.check("q4", 1, visible=False, misconception="the order in which resources are listed means nothing")
def any_listing(s: Subject, rng: random.Random) -> None:
    for _ in range(25):
        needs = random_needs(rng)
        expect_valid(s.call("release_order", needs), needs, "")


@CHECKS.check(
    "q4",
    2,
    visible=False,
    misconception="whoever leaves frees in the order of the dependencies, however the books are listed",
)
def any_leaving(s: Subject, rng: random.Random) -> None:
    for _ in range(25):
        needs = random_needs(rng)
        freed, left = s.call("leave", "r1", {name: ["r1"] for name in needs}, needs)
        expect(left, {})
        expect_valid(freed, needs, "")


# --- q5: orphans ------------------------------------------------------------------------------------------------

HELD = {"block 1": "r1", "block 2": "r2", "block 3": "r1"}


def expect_orphans(s: Subject, heard_at: Mapping[str, float], now: float, wanted: list[str]) -> None:
    given = f"find_orphans({HELD}, {dict(heard_at)}, {now}, 10.0)"
    expect(s.call("find_orphans", HELD, dict(heard_at), now, 10.0), wanted, given=given)


@CHECKS.check(
    "q5",
    1,
    misconception="a holder within its lease is no orphan; at equality the lease is over",
    rows=("r1 heard at 5, now 14.5", "r1 heard at 5, now 15"),
)
def the_lease(s: Subject, rng: random.Random) -> None:
    expect_orphans(s, {"r1": 5.0, "r2": 14.0}, 14.5, [])
    expect_orphans(s, {"r1": 5.0, "r2": 14.0}, 15.0, ["block 1", "block 3"])


@CHECKS.check(
    "q5", 1, misconception="a holder that was never heard of is an orphan", rows=("r2 was never heard of",)
)
def never_heard_of(s: Subject, rng: random.Random) -> None:
    expect_orphans(s, {"r1": 5.0}, 6.0, ["block 2"])
    expect_orphans(s, {}, 0.0, ["block 1", "block 2", "block 3"])
    # 0.0 is a time, and not silence.
    expect_orphans(s, {"r1": 0.0, "r2": 0.0}, 6.0, [])


def expect_reconciled(s: Subject, recorded: Mapping[str, list[str]], held: list[str], wanted: Any) -> None:
    given = f"reconcile({dict(recorded)}, {held})"
    expect(s.call("reconcile", dict(recorded), held), wanted, given=given)


@CHECKS.check(
    "q5",
    1,
    misconception="where log and device agree, nothing is done",
    rows=("r1 has a and b; a and b in use",),
)
def all_is_well(s: Subject, rng: random.Random) -> None:
    expect_reconciled(s, {"r1": ["a", "b"]}, ["a", "b"], ([], []))
    expect_reconciled(s, {}, [], ([], []))
    expect_reconciled(s, {"r1": []}, [], ([], []))


@CHECKS.check(
    "q5",
    1,
    misconception="what nobody is recorded to have is given back",
    rows=("r1 has a; a, b and c in use",),
)
def nobody_has_it(s: Subject, rng: random.Random) -> None:
    expect_reconciled(s, {"r1": ["a"]}, ["c", "a", "b"], (["c", "b"], []))


@CHECKS.check(
    "q5",
    1,
    misconception="a request that lacks something cannot go on, and what it still has is given back",
    rows=("r1 has a and b; only a in use",),
)
def something_is_missing(s: Subject, rng: random.Random) -> None:
    expect_reconciled(s, {"r1": ["a", "b"], "r2": ["c"]}, ["a", "c"], (["a"], ["r1"]))


@CHECKS.check(
    "q5",
    1,
    misconception="requests fail in the order of the log, so that two restarts say the same",
    rows=("r2 and r1, in this order, lack something",),
)
def they_fail_in_order(s: Subject, rng: random.Random) -> None:
    expect_reconciled(s, {"r2": ["b"], "r3": ["c"], "r1": ["a"]}, ["c"], ([], ["r2", "r1"]))


@CHECKS.check(
    "q5",
    2,
    visible=False,
    misconception="each holder has a last sign of life of its own, and resources come in the order of the books",
)
def any_silence(s: Subject, rng: random.Random) -> None:
    for _ in range(30):
        names = rng.sample(range(100, 999), 9)
        held = {f"block {name}": f"r{rng.randrange(4)}" for name in names}
        heard_at = {f"r{number}": rng.randint(0, 80) / 4 for number in range(4)}
        lease_s = rng.choice([2.5, 5.0, 7.25])
        # Never at equality: another check looks at that.
        wanted = find_orphans(held, heard_at, 20.1, lease_s)
        expect(s.call("find_orphans", held, heard_at, 20.1, lease_s), wanted)


@CHECKS.check(
    "q5", 2, visible=False, misconception="a resource that another request shares stays with that one"
)
def shared_after_a_restart(s: Subject, rng: random.Random) -> None:
    for _ in range(30):
        shared = [f"s{index}" for index in range(rng.randint(1, 4))]
        recorded = {"r1": [*shared, "lost"], "r2": [*shared, "own"]}
        held = [*shared, "own"]
        expect(s.call("reconcile", recorded, held), reconcile(recorded, held))
