"""Visible checks of lab05: `make labs` copies them from solutions/lab05_backpressure. Do not edit."""

from __future__ import annotations

import random
from functools import partial
from typing import Any

from inference_kit.labs.checking import Callback, CheckSet, Handle, Subject, expect, expect_raises
from inference_kit.streaming import tick

CHECKS = CheckSet("lab05")


def expect_tick(
    s: Subject, level: int, drain: int, capacity: int | None, has_more: bool, wanted: tuple[int, int]
) -> None:
    given = f"tick({level}, {drain}, {capacity}, {has_more})"
    expect(s.call("tick", level, drain, capacity, has_more), wanted, given=given)


@CHECKS.check(
    "q1",
    1,
    misconception="a reader cannot take what is not there",
    rows=("(0, 1, 3, True)", "(2, 5, 3, True)"),
)
def the_reader_takes_what_is_there(s: Subject, rng: random.Random) -> None:
    expect_tick(s, 0, 1, 3, True, (0, 1))
    expect_tick(s, 2, 5, 3, True, (2, 1))
    expect_tick(s, 2, 1, 3, False, (1, 0))


@CHECKS.check(
    "q1",
    1,
    misconception="at the capacity nothing is made: the device waits, no token is thrown away",
    rows=("(3, 0, 3, True)", "(2, 0, 3, True)", "(0, 0, 0, True)"),
)
def full_means_no_production(s: Subject, rng: random.Random) -> None:
    expect_tick(s, 3, 0, 3, True, (0, 0))
    expect_tick(s, 0, 0, 0, True, (0, 0))
    expect_tick(s, 2, 0, 3, True, (0, 1))


@CHECKS.check(
    "q1",
    1,
    misconception="the reader comes first: what it takes makes room in the same tick",
    rows=("(3, 1, 3, True)",),
)
def the_reader_comes_first(s: Subject, rng: random.Random) -> None:
    expect_tick(s, 3, 1, 3, True, (1, 1))
    expect_tick(s, 1, 1, 1, True, (1, 1))


@CHECKS.check(
    "q1",
    1,
    misconception="capacity None is no bound; it is not a capacity of 0",
    rows=("(1000, 0, None, True)",),
)
def none_is_no_bound(s: Subject, rng: random.Random) -> None:
    expect_tick(s, 1000, 0, None, True, (0, 1))
    expect_tick(s, 0, 0, None, True, (0, 1))


@CHECKS.check(
    "q1", 1, misconception="an answer that is complete makes no more tokens", rows=("(1, 0, 3, False)",)
)
def nothing_left_to_make(s: Subject, rng: random.Random) -> None:
    expect_tick(s, 1, 0, 3, False, (0, 0))
    expect_tick(s, 0, 0, None, False, (0, 0))


DRAINS = [1, 0, 0, 0, 1, 0, 1, 0, 0]


def run(s: Subject, tokens: str, drains: list[int], capacity: int | None, deadline: int) -> Any:
    return s.call("run_client", tokens, drains, capacity, deadline, Callback(tick))


def expect_field(
    s: Subject, tokens: str, drains: list[int], capacity: int | None, deadline: int, **wanted: Any
) -> None:
    got = run(s, tokens, drains, capacity, deadline)
    given = f"run_client({tokens!r}, {drains}, {capacity}, {deadline}, tick)"
    for name, value in wanted.items():
        field = got.get(name) if isinstance(got, dict) else got
        expect(field, value, given=f"{given}, field {name!r}")


@CHECKS.check(
    "q2",
    1,
    misconception="without a bound the device makes the whole answer, and a slow client gets little of it",
    rows=("capacity None",),
)
def the_unbounded_client(s: Subject, rng: random.Random) -> None:
    expect_field(s, "ABCDEFG", DRAINS, None, 8, generated="ABCDEFG", sent="AB")


@CHECKS.check(
    "q2",
    1,
    misconception="with a bound the device makes what fits, and no more",
    rows=("capacity 3",),
)
def the_bounded_client(s: Subject, rng: random.Random) -> None:
    expect_field(s, "ABCDEFG", DRAINS, 3, 8, generated="ABCDE", sent="AB")


@CHECKS.check(
    "q2",
    1,
    misconception="dropped is what was made and never sent: device work for nobody",
    rows=("capacity 3", "capacity None"),
)
def what_was_made_for_nobody(s: Subject, rng: random.Random) -> None:
    expect_field(s, "ABCDEFG", DRAINS, 3, 8, dropped="CDE")
    expect_field(s, "ABCDEFG", DRAINS, None, 8, dropped="CDEFG")
    expect_field(s, "AB", [0, 1, 1], 9, 9, dropped="")


@CHECKS.check(
    "q2",
    1,
    misconception="paused means: there was a token to make, and none was made",
    rows=("capacity 3", "capacity None"),
)
def when_it_was_paused(s: Subject, rng: random.Random) -> None:
    expect_field(s, "ABCDEFG", DRAINS, 3, 8, paused_ticks=[3, 5, 7])
    expect_field(s, "ABCDEFG", DRAINS, None, 8, paused_ticks=[])
    expect_field(s, "ABC", [0, 0, 0, 0, 0], 3, 9, paused_ticks=[])
    expect_field(s, "ABCD", [0, 0, 1, 1, 0, 0], 2, 9, paused_ticks=[])


@CHECKS.check(
    "q2",
    1,
    misconception="at the deadline tick the request has ended: nothing is taken and nothing is made in it",
    rows=("deadline 0",),
)
def the_deadline_ends_it(s: Subject, rng: random.Random) -> None:
    expect_field(s, "ABC", [1, 1], None, 0, generated="", sent="")
    expect_field(s, "ABCDEFG", [0, 0, 1, 1], None, 2, generated="AB", sent="")


def expect_watch(s: Subject, *arguments: Any, wanted: tuple[float | None, bool]) -> None:
    expect(s.call("watch", *arguments), wanted, given=f"watch{arguments}")


@CHECKS.check(
    "q3",
    1,
    misconception="a stream pauses at the high mark, not behind it",
    rows=("(3, None, 5.0, 3, 1, 10.0)", "(2, None, 5.0, 3, 1, 10.0)", "(6, None, 5.0, 3, 1, 10.0)"),
)
def pauses_at_the_high_mark(s: Subject, rng: random.Random) -> None:
    expect_watch(s, 3, None, 5.0, 3, 1, 10.0, wanted=(5.0, False))
    expect_watch(s, 2, None, 5.0, 3, 1, 10.0, wanted=(None, False))
    expect_watch(s, 6, None, 5.0, 3, 1, 10.0, wanted=(5.0, False))


@CHECKS.check(
    "q3",
    1,
    misconception="between the marks nothing changes: that is what the second mark is for",
    rows=("(2, 5.0, 6.0, 3, 1, 10.0)",),
)
def stays_paused_between_the_marks(s: Subject, rng: random.Random) -> None:
    expect_watch(s, 2, 5.0, 6.0, 3, 1, 10.0, wanted=(5.0, False))
    expect_watch(s, 3, 5.0, 6.0, 3, 1, 10.0, wanted=(5.0, False))


@CHECKS.check(
    "q3", 1, misconception="it goes on at the low mark, not below it", rows=("(1, 5.0, 6.0, 3, 1, 10.0)",)
)
def goes_on_at_the_low_mark(s: Subject, rng: random.Random) -> None:
    expect_watch(s, 1, 5.0, 6.0, 3, 1, 10.0, wanted=(None, False))
    expect_watch(s, 0, 5.0, 6.0, 3, 1, 10.0, wanted=(None, False))


@CHECKS.check(
    "q3",
    1,
    misconception="a limit is missed at equality, and it is looked at before the marks",
    rows=("(3, 5.0, 15.0, 3, 1, 10.0)", "(0, 5.0, 15.0, 3, 1, 10.0)"),
)
def the_limit_ends_it(s: Subject, rng: random.Random) -> None:
    expect_watch(s, 3, 5.0, 15.0, 3, 1, 10.0, wanted=(5.0, True))
    expect_watch(s, 0, 5.0, 15.0, 3, 1, 10.0, wanted=(5.0, True))
    expect_watch(s, 2, 5.0, 15.0, 3, 1, 10.0, wanted=(5.0, True))
    expect_watch(s, 3, 5.0, 14.5, 3, 1, 10.0, wanted=(5.0, False))


@CHECKS.check(
    "q3",
    1,
    misconception="None is no limit: such a stream may wait for ever",
    rows=("(3, 5.0, 9999.0, 3, 1, None)",),
)
def no_limit(s: Subject, rng: random.Random) -> None:
    expect_watch(s, 3, 5.0, 9999.0, 3, 1, None, wanted=(5.0, False))
    expect_watch(s, 1, 5.0, 9999.0, 3, 1, None, wanted=(None, False))


def new_channel(s: Subject, high: int = 3, low: int = 1) -> Handle:
    return s.new("Channel", high, low)


def put(s: Subject, channel: Handle, *pieces: tuple[str, list[int]]) -> None:
    for text, ids in pieces:
        s.method(channel, "put", text, ids)


A, B, C = ("a", [1]), ("b", [2]), ("c", [3])


@CHECKS.check(
    "q4", 1, misconception="what waits comes as one piece, in order", rows=('put "a", put "b", take(9)',)
)
def entries_merge(s: Subject, rng: random.Random) -> None:
    channel = new_channel(s)
    put(s, channel, A, B)
    expect(s.method(channel, "take", 9), ("ab", [1, 2], None), given='put "a", put "b", take(9)')
    expect(s.method(channel, "take", 9), None, given='put "a", put "b", take(9) twice')


@CHECKS.check(
    "q4",
    1,
    misconception="a full channel takes what it is given: it pauses the next ones, it drops none",
    rows=("four puts with high 3, take(9)",),
)
def nothing_is_dropped(s: Subject, rng: random.Random) -> None:
    channel = new_channel(s)
    put(s, channel, A, B, C, ("d", [4]))
    expect(s.method(channel, "take", 9), ("abcd", [1, 2, 3, 4], None), given="four puts, high 3, take(9)")


@CHECKS.check(
    "q4",
    1,
    misconception="paused turns on at the high mark and off at the low one",
    rows=(
        "three puts with high 3",
        "then take(1), take(1) with low 1",
        "four puts with high 4, take(2), one put, close",
        "two puts with high 3, take(1), one put",
    ),
)
def the_marks(s: Subject, rng: random.Random) -> None:
    channel = new_channel(s)
    seen = []
    for piece in (A, B, C):
        put(s, channel, piece)
        seen.append(s.attr(channel, "paused"))
    expect(seen, [False, False, True], given="paused after each of three puts, high 3")
    seen = []
    for _ in range(2):
        s.method(channel, "take", 1)
        seen.append(s.attr(channel, "paused"))
    expect(seen, [True, False], given="paused after take(1), take(1), low 1")
    channel = new_channel(s, 4, 1)
    put(s, channel, A, B, C, ("d", [4]))
    s.method(channel, "take", 2)
    put(s, channel, ("e", [5]))
    given = "paused after four puts with high 4, take(2), one put; low 1"
    expect(s.attr(channel, "paused"), True, given=given)
    s.method(channel, "close", "length")
    expect(s.attr(channel, "paused"), True, given=f"{given}; and after close")
    channel = new_channel(s, 3, 0)
    put(s, channel, A, B)
    s.method(channel, "take", 1)
    expect(s.attr(channel, "paused"), False, given="paused after two puts with high 3, take(1); low 0")
    put(s, channel, C)
    expect(s.attr(channel, "paused"), False, given="two puts with high 3, take(1), one put; low 0")


@CHECKS.check(
    "q4",
    1,
    misconception="unsent counts what waits, sent what was taken; both count tokens and not entries",
    rows=('put "xy" with two ids',),
)
def the_counts(s: Subject, rng: random.Random) -> None:
    channel = new_channel(s, 9, 1)
    put(s, channel, ("xy", [1, 2]), C)
    counts = [s.attr(channel, name) for name in ("unsent", "sent")]
    expect(counts, [3, 0], given='unsent and sent after put "xy" with two ids and put "c"')
    s.method(channel, "take", 2)
    counts = [s.attr(channel, name) for name in ("unsent", "sent")]
    expect(counts, [1, 2], given="unsent and sent after take(2)")
    s.method(channel, "take", 9)
    put(s, channel, ("d", [4]), ("xy", [5, 6]))
    s.method(channel, "take", 2)
    counts = [s.attr(channel, name) for name in ("unsent", "sent")]
    expect(counts, [2, 4], given='unsent and sent after take(9), put "d", put "xy" with two ids, take(2)')


@CHECKS.check(
    "q4",
    1,
    misconception="an entry is never cut: its text belongs to all of its ids",
    rows=('put "xyz" with three ids, take(1)',),
)
def entries_are_not_cut(s: Subject, rng: random.Random) -> None:
    channel = new_channel(s, 9, 1)
    put(s, channel, ("xyz", [1, 2, 3]), ("c", [4]))
    expect(s.method(channel, "take", 1), ("xyz", [1, 2, 3], None), given='put "xyz" with three ids, take(1)')
    expect(s.method(channel, "take", 1), ("c", [4], None), given="take(1) once more")
    channel = new_channel(s, 9, 1)
    put(s, channel, A, ("long", [2]), ("xyz", [3, 4, 5]), ("c", [6]))
    given = 'puts "a", "long" with one id, "xyz" with three ids, "c"; take(2)'
    expect(s.method(channel, "take", 2), ("along", [1, 2], None), given=given)
    expect(s.method(channel, "take", 2), ("xyz", [3, 4, 5], None), given=f"{given} twice")
    channel = new_channel(s, 9, 1)
    put(s, channel, A, ("xyz", [3, 4, 5]), ("c", [6]))
    given = 'puts "a", "xyz" with three ids, "c"; take(2)'
    expect(s.method(channel, "take", 2), ("a", [1], None), given=given)


@CHECKS.check(
    "q4",
    1,
    misconception="a text without ids is an entry too: when it was the first one, the next must fit",
    rows=('put "held" without ids, put "xyz" with three ids, take(1)',),
)
def held_text_is_an_entry(s: Subject, rng: random.Random) -> None:
    channel = new_channel(s, 9, 1)
    put(s, channel, ("held", []), ("xyz", [1, 2, 3]))
    given = 'put "held" without ids, put "xyz" with three ids, take(1)'
    expect(s.method(channel, "take", 1), ("held", [], None), given=given)


@CHECKS.check(
    "q4",
    1,
    misconception="the reason comes with the last tokens, once, and nothing comes after it",
    rows=('put "a", put "b", close("length"), take(1) three times',),
)
def the_end_comes_once(s: Subject, rng: random.Random) -> None:
    channel = new_channel(s)
    put(s, channel, A, B)
    s.method(channel, "close", "length")
    got = [s.method(channel, "take", 1) for _ in range(3)]
    expect(got, [("a", [1], None), ("b", [2], "length"), None], given="two puts, close, take(1) three times")
    channel = new_channel(s)
    s.method(channel, "close", "length")
    expect(s.method(channel, "take", 1), ("", [], "length"), given="close without a put, take(1)")


@CHECKS.check(
    "q4",
    1,
    misconception="after close nothing enters, and the first reason stays",
    rows=('close("length"), put "a", close("error"), take(9)',),
)
def nothing_after_the_close(s: Subject, rng: random.Random) -> None:
    channel = new_channel(s)
    s.method(channel, "close", "length")
    put(s, channel, A)
    expect(s.attr(channel, "unsent"), 0, given='unsent after close("length"), put "a"')
    s.method(channel, "close", "error")
    expect(
        s.method(channel, "take", 9),
        ("", [], "length"),
        given='close("length"), put, close("error"), take(9)',
    )


def expect_served(s: Subject, rows: list[tuple[str, bool, int, int]], budget: int, wanted: list[str]) -> None:
    expect(s.call("longest_unserved", rows, budget), wanted, given=f"longest_unserved({rows}, {budget})")


@CHECKS.check(
    "q5",
    1,
    misconception="a stream without credit is passed over; it does not stall the ones behind it",
    rows=("a slow reader in front",),
)
def the_slow_one_stalls_nobody(s: Subject, rng: random.Random) -> None:
    expect_served(s, [("slow", True, 0, 0), ("b", False, 1, 1), ("c", False, 2, 2)], 9, ["b", "c"])


@CHECKS.check(
    "q5",
    1,
    misconception="a stream without credit takes no place in the budget either",
    rows=("a slow reader and a budget of 1",),
)
def the_slow_one_takes_no_place(s: Subject, rng: random.Random) -> None:
    expect_served(s, [("slow", True, 0, 0), ("b", False, 1, 1)], 1, ["b"])


@CHECKS.check(
    "q5",
    1,
    misconception="who was served longest ago is first, wherever it stands in the list",
    rows=("last served in steps 7 and 3",),
)
def the_longest_unserved_first(s: Subject, rng: random.Random) -> None:
    expect_served(s, [("a", False, 7, 0), ("b", False, 3, 1)], 2, ["b", "a"])
    expect_served(s, [("a", False, 7, 0), ("b", False, 3, 1)], 1, ["b"])


@CHECKS.check("q5", 1, misconception="ties go to the earlier arrival", rows=("both last served in step 3",))
def ties_by_arrival(s: Subject, rng: random.Random) -> None:
    expect_served(s, [("late", False, 3, 8), ("early", False, 3, 2)], 2, ["early", "late"])
    expect_served(s, [("a", False, 3, 8), ("z", False, 3, 2)], 2, ["z", "a"])


@CHECKS.check(
    "q5",
    1,
    misconception="the budget is a bound, and nobody left is nobody",
    rows=("three streams and a budget of 2", "three streams and a budget of 0", "no stream"),
)
def the_budget_is_a_bound(s: Subject, rng: random.Random) -> None:
    rows = [("a", False, 1, 0), ("b", False, 2, 1), ("c", False, 3, 2)]
    expect_served(s, rows, 2, ["a", "b"])
    expect_served(s, rows, 0, [])
    expect_served(s, [], 4, [])
    expect_served(s, [("slow", True, 1, 0)], 4, [])


LOG = [("propose", 4), ("commit", 3), ("send", 1)]


def expect_counts(s: Subject, log: list[tuple[str, int]], wanted: dict[str, int]) -> None:
    expect(s.call("token_counts", log), wanted, given=f"token_counts({log})")


@CHECKS.check(
    "q6", 1, misconception="proposed, committed and sent are three numbers, and unsent is what lies between two of them",
    rows=('[("propose", 4), ("commit", 3), ("send", 1)]',),
)  # fmt: skip
def four_numbers(s: Subject, rng: random.Random) -> None:
    expect_counts(s, LOG, {"proposed": 4, "committed": 3, "unsent": 2, "sent": 1})


@CHECKS.check("q6", 1, misconception="before anything has happened all four are 0", rows=("[]",))
def an_empty_log(s: Subject, rng: random.Random) -> None:
    expect_counts(s, [], {"proposed": 0, "committed": 0, "unsent": 0, "sent": 0})


def expect_refused(s: Subject, log: list[tuple[str, int]]) -> None:
    expect_raises(partial(s.call, "token_counts", log), "ValueError", given=f"token_counts({log})")


@CHECKS.check(
    "q6",
    1,
    misconception="more cannot be committed than was proposed",
    rows=('[("propose", 1), ("commit", 2)]',),
)
def no_more_committed_than_proposed(s: Subject, rng: random.Random) -> None:
    expect_refused(s, [("propose", 1), ("commit", 2)])
    expect_refused(s, [("commit", 1), ("propose", 5)])


@CHECKS.check(
    "q6",
    1,
    misconception="more cannot be sent than was committed, at no moment",
    rows=('[("propose", 3), ("commit", 1), ("send", 2)]',),
)
def no_more_sent_than_committed(s: Subject, rng: random.Random) -> None:
    expect_refused(s, [("propose", 3), ("commit", 1), ("send", 2)])
    expect_refused(s, [("propose", 9), ("send", 1), ("commit", 9)])


@CHECKS.check("q6", 1, misconception="a word that is no event is refused", rows=('[("drop", 1)]',))
def unknown_words(s: Subject, rng: random.Random) -> None:
    expect_refused(s, [("drop", 1)])
    expect_refused(s, [("propose", 2), ("committed", 1)])
