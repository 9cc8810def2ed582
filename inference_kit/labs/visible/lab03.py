"""Visible checks of lab03: `make labs` copies them from solutions/lab03_streaming. Do not edit."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from inference_kit.labs.checking import Callback, CheckSet, Handle, Subject, expect, recorded
from inference_kit.streaming import PlainTextStream, find_stop, held_length

CHECKS = CheckSet("lab03")


def hexed(data: bytes) -> str:
    return data.hex(" ") or "no bytes"


def expect_tail(s: Subject, data: bytes, wanted: int) -> None:
    expect(s.call("tail_length", data), wanted, given=f"tail_length(bytes {hexed(data)})")


@CHECKS.check(
    "q1", 1, misconception="a whole character waits for nothing", rows=("no bytes", "41 62", "e4 bd a0")
)
def whole_characters_do_not_wait(s: Subject, rng: random.Random) -> None:
    for data in (b"", b"Ab", "é".encode(), "你".encode(), "😀".encode(), "a你！".encode()):
        expect_tail(s, data, 0)


@CHECKS.check(
    "q1",
    1,
    misconception="the first byte says how many follow: c2..df one, e0..ef two, f0..f4 three",
    rows=("41 e4 bd", "f0 9f 98"),
)
def open_characters_wait(s: Subject, rng: random.Random) -> None:
    for data, wanted in (
        ("41e4bd", 2),
        ("e5", 1),
        ("c3", 1),
        ("c2", 1),
        ("f4", 1),
        ("f09f98", 3),
        ("f09f", 2),
        ("e4bda0e4", 1),
    ):
        expect_tail(s, bytes.fromhex(data), wanted)


@CHECKS.check(
    "q1",
    1,
    misconception="a byte that begins no character, or an end that was cut off by a letter, waits for nothing",
    rows=("e4 41", "ff"),
)
def ill_formed_ends_do_not_wait(s: Subject, rng: random.Random) -> None:
    for data in ("ff", "c0", "c1", "f5", "80", "8080", "e441", "c341"):
        expect_tail(s, bytes.fromhex(data), 0)


@CHECKS.check(
    "q1",
    1,
    misconception="after e0, ed, f0 and f4 the second byte has a narrower range",
    rows=("ed a0",),
)
def narrow_second_bytes(s: Subject, rng: random.Random) -> None:
    for data in ("eda0", "e080", "f080", "f490", "edbf", "e09f", "f08f"):
        expect_tail(s, bytes.fromhex(data), 0)
    for data in ("ed9f", "e0a0", "f090", "f48f"):
        expect_tail(s, bytes.fromhex(data), 2)


def pushed(s: Subject, stream: Handle, pieces: Sequence[bytes]) -> list[Any]:
    return [s.method(stream, "push", piece) for piece in pieces]


def expect_pushes(s: Subject, pieces: Sequence[bytes], wanted: list[str], rest: str) -> None:
    stream = s.new("Utf8Stream")
    given = "pushes " + " | ".join(hexed(piece) for piece in pieces)
    expect(pushed(s, stream, pieces), wanted, given=given)
    expect(s.method(stream, "finish"), rest, given=f"{given}, then finish()")


@CHECKS.check(
    "q2",
    1,
    misconception="a character is sent when its last byte has come, and not in parts",
    rows=("e4 bd, a0, 41",),
)
def characters_wait_for_their_bytes(s: Subject, rng: random.Random) -> None:
    expect_pushes(s, [b"\xe4\xbd", b"\xa0", b"A"], ["", "你", "A"], "")
    expect_pushes(s, [b"\xf0", b"\x9f", b"\x98", b"\x80!"], ["", "", "", "😀!"], "")


@CHECKS.check(
    "q2",
    1,
    misconception="what is whole is sent at once: nothing waits in vain",
    rows=("48 69 e4, bd a0",),
)
def whole_text_is_sent_at_once(s: Subject, rng: random.Random) -> None:
    expect_pushes(s, [b"Hi\xe4", b"\xbd\xa0"], ["Hi", "你"], "")
    expect_pushes(s, ["你好".encode(), b"", b"ok"], ["你好", "", "ok"], "")
    expect_pushes(s, [b"a\x00\r\n", "e\u0301".encode()], ["a\x00\r\n", "e\u0301"], "")


@CHECKS.check(
    "q2",
    1,
    misconception="an incomplete end becomes one U+FFFD, when the answer ends and not before, and only once",
    rows=("e4 bd, then finish() twice",),
)
def the_incomplete_end(s: Subject, rng: random.Random) -> None:
    stream = s.new("Utf8Stream")
    expect(pushed(s, stream, [b"\xe4\xbd"]), [""], given="push(e4 bd)")
    expect(s.method(stream, "finish"), "\ufffd", given="push(e4 bd), then finish()")
    expect(s.method(stream, "finish"), "", given="push(e4 bd), then finish() twice")


@CHECKS.check(
    "q2",
    1,
    misconception="ill-formed bytes become U+FFFD and the stream goes on; it raises nothing",
    rows=("ff, 41", "e4, 41"),
)
def ill_formed_bytes_are_replaced(s: Subject, rng: random.Random) -> None:
    expect_pushes(s, [b"\xff", b"A"], ["\ufffd", "A"], "")
    expect_pushes(s, [b"\xe4", b"A"], ["", "\ufffdA"], "")


@CHECKS.check(
    "q2",
    1,
    misconception="no character begins with ed a0: these bytes can be replaced at once",
    rows=("ed, a0",),
)
def surrogates_do_not_wait(s: Subject, rng: random.Random) -> None:
    expect_pushes(s, [b"\xed", b"\xa0", b"A"], ["", "\ufffd\ufffd", "A"], "")
    expect_pushes(s, [b"\xed", b"\x9f", b"\xbf"], ["", "", "\ud7ff"], "")


def expect_found(
    s: Subject, text: str, stops: Sequence[str], after: int, wanted: tuple[str, int] | None
) -> None:
    given = f"find_stop({text!r}, {stops!r}, {after})"
    expect(s.call("find_stop", text, stops, after), wanted, given=given)


@CHECKS.check(
    "q3",
    1,
    misconception="the text decides which stop comes first, not the order of the list",
    rows=('("oneENDtwoSTOP", ["STOP", "END"], 0)',),
)
def earliest_end_wins(s: Subject, rng: random.Random) -> None:
    expect_found(s, "oneENDtwoSTOP", ["STOP", "END"], 0, ("END", 6))
    expect_found(s, "oneENDtwoSTOP", ("END", "STOP"), 0, ("END", 6))


@CHECKS.check(
    "q3",
    1,
    misconception="the stop that ends first wins, also when another one began earlier",
    rows=('("abcd", ["abcd", "bc"], 0)',),
)
def the_end_counts_and_not_the_beginning(s: Subject, rng: random.Random) -> None:
    expect_found(s, "abcd", ["abcd", "bc"], 0, ("bc", 3))
    expect_found(s, "xabcdx", ["bc", "abcd"], 0, ("bc", 4))


@CHECKS.check(
    "q3",
    1,
    misconception="of two stops that end at the same place the longer one counts",
    rows=('("abc", ["c", "bc"], 0)',),
)
def ties_go_to_the_longest(s: Subject, rng: random.Random) -> None:
    expect_found(s, "abc", ["c", "bc"], 0, ("bc", 3))
    expect_found(s, "abc", ["bc", "c", "abc"], 0, ("abc", 3))


@CHECKS.check("q3", 1, misconception="half a stop is no stop", rows=('("EN", ["END"], 0)',))
def nothing_is_none(s: Subject, rng: random.Random) -> None:
    for text, stops in (("EN", ["END"]), ("", ["END"]), ("end", ["END"]), ("text", [])):
        expect_found(s, text, list(stops), 0, None)


@CHECKS.check(
    "q3",
    1,
    misconception="a stop counts when its last character stands behind `after`; it may begin before",
    rows=('("ENDxEND", ["END"], 3)', '("xEND", ["END"], 3)'),
)
def only_behind_after(s: Subject, rng: random.Random) -> None:
    expect_found(s, "ENDxEND", ["END"], 3, ("END", 7))
    expect_found(s, "xEND", ["END"], 3, ("END", 4))
    expect_found(s, "xEND", ["END"], 4, None)


def expect_held(s: Subject, text: str, stops: Sequence[str], wanted: int) -> None:
    expect(s.call("held_length", text, stops), wanted, given=f"held_length({text!r}, {stops!r})")


@CHECKS.check(
    "q4",
    1,
    misconception="an end that begins a stop must wait",
    rows=('("hello EN", ["END"])',),
)
def the_beginning_of_a_stop_waits(s: Subject, rng: random.Random) -> None:
    expect_held(s, "hello EN", ["END"], 2)
    expect_held(s, "hello E", ["END"], 1)
    expect_held(s, "EN", ["STOP", "END"], 2)


@CHECKS.check(
    "q4",
    1,
    misconception="text that begins no stop is sent: holding back a fixed length makes every answer late",
    rows=('("hello", ["a very long stop"])',),
)
def nothing_else_waits(s: Subject, rng: random.Random) -> None:
    expect_held(s, "hello", ["a very long stop"], 0)
    expect_held(s, "ENx", ("END", "STOP"), 0)
    expect_held(s, "", ["END"], 0)
    expect_held(s, "text", [], 0)


@CHECKS.check(
    "q4",
    1,
    misconception="of several beginnings the longest waits: all of it may still become a stop",
    rows=('("xaab", ["b?", "ab!", "aabb"])',),
)
def the_longest_beginning_counts(s: Subject, rng: random.Random) -> None:
    expect_held(s, "xaab", ["b?", "ab!", "aabb"], 3)
    expect_held(s, "aaa", ["aaab"], 3)
    expect_held(s, "aaaa", ["aaab"], 3)


@CHECKS.check(
    "q4",
    1,
    misconception="a whole stop does not wait for itself, only for a longer one that it begins",
    rows=('("END", ["END"])', '("END", ["ENDING", "END"])'),
)
def a_whole_stop_does_not_wait(s: Subject, rng: random.Random) -> None:
    expect_held(s, "END", ["END"], 0)
    expect_held(s, "END", ["ENDING", "END"], 3)


def new_stream(
    s: Subject, stops: list[str], include_stop: bool = False, pieces: Sequence[str] = ()
) -> Handle:
    """The learner's stream over the kit's two functions, so that question 5 is judged alone.

    `pieces`: what will be pushed; it saves time only.
    """

    def push_all(find: Any = find_stop, hold: Any = held_length) -> None:
        kit = PlainTextStream(stops, include_stop, find, hold)
        for piece in pieces:
            kit.push(piece)

    find = recorded(find_stop, push_all)
    hold = recorded(held_length, lambda function: push_all(hold=function))
    return s.new("TextStream", stops, include_stop, find, hold)


def expect_stream(
    s: Subject, stops: list[str], pieces: list[str], wanted: list[str], include_stop: bool = False
) -> Handle:
    stream = new_stream(s, stops, include_stop)
    got = [s.method(stream, "push", piece) for piece in pieces]
    expect(got, wanted, given=f"TextStream({stops!r}, include_stop={include_stop}), pushes {pieces!r}")
    return stream


@CHECKS.check(
    "q5", 1, misconception="text that is no beginning of a stop is sent at once", rows=('"Hel", "lo"',)
)
def plain_text_passes(s: Subject, rng: random.Random) -> None:
    expect_stream(s, ["END"], ["Hel", "lo", ""], ["Hel", "lo", ""])
    expect_stream(s, [], ["E", "N", "D"], ["E", "N", "D"])


@CHECKS.check(
    "q5",
    1,
    misconception="what waited is sent, in front, as soon as it can be no stop any more",
    rows=('"E", "N", "x"',),
)
def what_waited_comes_later(s: Subject, rng: random.Random) -> None:
    expect_stream(s, ["END"], ["E", "N", "x"], ["", "", "ENx"])
    expect_stream(s, ["END"], ["EN", "END"], ["", "EN"])


@CHECKS.check(
    "q5",
    1,
    misconception="the stop and what follows it are not sent; what stands before it is",
    rows=('"Hi E", "ND more"',),
)
def the_stop_is_cut_off(s: Subject, rng: random.Random) -> None:
    stream = expect_stream(s, ["END"], ["Hi E", "ND more"], ["Hi ", ""])
    expect(s.attr(stream, "stop_reason"), "END", given="stop_reason after the stop")
    stream = expect_stream(s, ["STOP", "END"], ["one END two"], ["one "])
    expect(s.attr(stream, "stop_reason"), "END", given="stop_reason after the stop")


@CHECKS.check(
    "q5",
    1,
    misconception="with include_stop the stop itself is sent, and nothing behind it",
    rows=('"Hi E", "ND more" with include_stop',),
)
def the_stop_can_be_kept(s: Subject, rng: random.Random) -> None:
    expect_stream(s, ["END"], ["Hi E", "ND more"], ["Hi ", "END"], include_stop=True)
    expect_stream(s, ["END"], ["one END two"], ["one END"], include_stop=True)


@CHECKS.check(
    "q5",
    1,
    misconception="after a stop nothing comes any more: the answer is over",
    rows=('after the stop: "more", then finish()',),
)
def after_the_stop_nothing_comes(s: Subject, rng: random.Random) -> None:
    stream = expect_stream(s, ["END"], ["aEND", "more", "bEND"], ["a", "", ""])
    expect(s.method(stream, "finish"), "", given="finish() after a stop")
    stream = expect_stream(s, ["END"], ["aEND more"], ["a"])
    expect(s.method(stream, "finish"), "", given="finish() after a stop with text behind it")
    stream = expect_stream(s, ["END"], ["aE", "ND"], ["a", ""])
    expect(s.method(stream, "finish"), "", given="finish() after a stop that began to wait")


@CHECKS.check(
    "q5",
    1,
    misconception="at the end of the answer, what still waits is part of it",
    rows=('"so EN", then finish() twice',),
)
def the_end_releases_what_waits(s: Subject, rng: random.Random) -> None:
    stream = expect_stream(s, ["END"], ["so EN"], ["so "])
    expect(s.attr(stream, "stop_reason"), None, given="stop_reason without a stop")
    expect(s.method(stream, "finish"), "EN", given="push('so EN'), then finish()")
    expect(s.method(stream, "finish"), "", given="push('so EN'), then finish() twice")
    expect(s.attr(stream, "stop_reason"), None, given="stop_reason after finish() without a stop")


def expect_length(
    s: Subject, pieces: Sequence[str], stops: Sequence[str], min_tokens: int, wanted: int
) -> None:
    given = f"answer_length({pieces!r}, {stops!r}, {min_tokens}, find)"
    expect(s.call("answer_length", pieces, stops, min_tokens, Callback(find_stop)), wanted, given=given)


@CHECKS.check(
    "q6",
    1,
    misconception="without a stop every token belongs to the answer",
    rows=('["He", "llo"]', '["He", "llo"], min_tokens 5'),
)
def all_tokens_without_a_stop(s: Subject, rng: random.Random) -> None:
    expect_length(s, ["He", "llo"], ["END"], 0, 2)
    expect_length(s, ("EN",), ("END", "STOP"), 0, 1)
    expect_length(s, ["He", "llo"], ["END"], 5, 2)
    expect_length(s, [], ["END"], 0, 0)


@CHECKS.check(
    "q6",
    1,
    misconception="the token that completes the stop was generated, so it counts; the ones behind it do not",
    rows=('["Hi", " E", "ND!", "x"]',),
)
def the_completing_token_is_the_last(s: Subject, rng: random.Random) -> None:
    expect_length(s, ["Hi", " E", "ND!", "x"], ["END"], 0, 3)
    expect_length(s, ["END", "x", "y"], ["END"], 0, 1)
    expect_length(s, ["a", "bEND c", "d"], ["STOP", "END"], 0, 2)


@CHECKS.check(
    "q6",
    1,
    misconception="before min_tokens a stop is ordinary text, and it does not count later either",
    rows=('["END", "a", "END", "b"], min_tokens 1',),
)
def early_stops_do_not_count(s: Subject, rng: random.Random) -> None:
    expect_length(s, ["END", "a", "END", "b"], ["END"], 1, 3)


@CHECKS.check(
    "q6",
    1,
    misconception="what counts is when a stop is completed, not when it began",
    rows=('["E", "N", "D", "x"], min_tokens 2',),
)
def a_stop_may_begin_early(s: Subject, rng: random.Random) -> None:
    expect_length(s, ["E", "N", "D", "x"], ["END"], 2, 3)
    expect_length(s, ["E", "ND", "x", "y"], ["END"], 1, 2)
