"""Checks of lab 03 (streaming). `make labs` copies the visible ones into the kit.

Every check tests what an answer does, never how. Hidden checks draw their cases from the seed and
compare with the kit's reference; `oracle.py` computes the same in another way, and a test holds
the two against each other.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import partial
from typing import Any

from inference_kit.labs.checking import Callback, CheckSet, Handle, Subject, expect, recorded
from inference_kit.streaming import (
    PlainTextStream,
    Utf8Decoder,
    answer_length,
    find_stop,
    held_length,
    tail_length,
)

CHECKS = CheckSet("lab03")

HIDDEN_MODULES = ("inference_kit.streaming",)
"""Modules under study: an answer cannot import them in the judge."""


def hexed(data: bytes) -> str:
    return data.hex(" ") or "no bytes"


# --- q1: the incomplete end ---------------------------------------------------------------------------

EDGES = bytes.fromhex("000a417f808f909fa0bfc4dfe1eceeeff0f1f3f4f5ff")
"""Bytes at the edges of what UTF-8 allows. Those that only one visible check tries are left out."""


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


@CHECKS.check(
    "q1", 2, visible=False, misconception="the end of any bytes is the start of a character, or it is not"
)
def any_bytes(s: Subject, rng: random.Random) -> None:
    cases = [bytes(rng.choice(EDGES) for _ in range(rng.randint(1, 6))) for _ in range(400)]
    for data, got in zip(cases, s.calls("tail_length", [(data,) for data in cases]), strict=True):
        expect(got(), tail_length(data))


# --- q2: bytes in, characters out -----------------------------------------------------------------------


HALVES = bytes.fromhex("808f9fa0bfc0c2dfe1eceeeff5ff")
"""Parts of characters of two and three bytes, and bytes that are in no character."""


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


@CHECKS.check(
    "q2",
    1,
    visible=False,
    misconception="the text is that of all bytes together, however they are cut; a leading U+FEFF is content",
)
def any_cut_of_any_bytes(s: Subject, rng: random.Random) -> None:
    for _ in range(40):
        parts, kit = [], Utf8Decoder()
        for _ in range(rng.randint(1, 6)):
            text = rng.choice(["", "é", "你", "\ufeff"]).encode()
            piece = text + bytes(rng.choice(HALVES) for _ in range(rng.choice([0, 0, 1, 2])))
            cut = rng.randint(0, len(piece))
            parts += [piece[:cut], piece[cut:]]
        requests = [*(("push", part) for part in parts), ("finish",)]
        *pushes, finish = s.methods(s.new("Utf8Stream"), requests)
        for part, got in zip(parts, pushes, strict=True):
            expect(got(), kit.push(part))
        expect(finish(), kit.finish())


@CHECKS.check(
    "q2",
    1,
    visible=False,
    misconception="after e0, f0 and f4 the second byte has a narrower range as well: what breaks it is replaced at once",
)
def narrow_second_bytes_do_not_wait(s: Subject, rng: random.Random) -> None:
    for first, seconds in ((0xE0, range(0x80, 0xA0)), (0xF0, range(0x80, 0x90)), (0xF4, range(0x90, 0xC0))):
        for second in (seconds[0], seconds[-1], rng.choice(seconds)):
            pieces = [bytes([first]), bytes([second])]
            expect(pushed(s, s.new("Utf8Stream"), pieces), ["", "\ufffd\ufffd"])


# --- q3: which stop comes first ---------------------------------------------------------------------------


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


def random_text(rng: random.Random, chars: str, most: int) -> str:
    return "".join(rng.choice(chars) for _ in range(rng.randint(0, most)))


SIGNS = "a.b*[你 \n"
"""Letters, signs that mean something in a pattern, and white space."""


@CHECKS.check("q3", 1, visible=False, misconception="a stop is text; its signs have no meaning of their own")
def any_signs(s: Subject, rng: random.Random) -> None:
    cases = []
    for _ in range(80):
        stop = random_text(rng, SIGNS, 3) + rng.choice(".*[")
        cases.append((random_text(rng, SIGNS, 5) + stop + random_text(rng, SIGNS, 5), [stop], 0))
        cases.append(("e\u0301" + stop, ["\u0301" + stop], 0))  # an accent that joins the letter before it
    for case, got in zip(cases, s.calls("find_stop", cases), strict=True):
        expect(got(), find_stop(*case))


@CHECKS.check(
    "q3",
    1,
    visible=False,
    misconception="behind `after` every occurrence counts: one that shares text with an earlier one, a very long one",
)
def every_occurrence_counts(s: Subject, rng: random.Random) -> None:
    cases = []
    for _ in range(20):
        unit = "".join(rng.sample("abcdefgh", rng.randint(3, 5)))
        overlapping, long = 2 * unit, "".join(rng.sample("klmnopqrstuvwxyz", 16)) * rng.randint(1, 2)
        cases.append(("x" + 4 * unit, [overlapping], 1 + len(overlapping) + rng.randint(1, len(unit) - 2)))
        cases.append(("x" + long + "x", ["!!", long], rng.randint(2, len(long) - 1)))
        cases.append((unit + "   \n " + unit, [unit], len(unit) + 1))
    for case, got in zip(cases, s.calls("find_stop", cases), strict=True):
        expect(got(), find_stop(*case))


# --- q4: what must wait -------------------------------------------------------------------------------------


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


@CHECKS.check("q4", 2, visible=False, misconception="a stop is text; its signs have no meaning of their own")
def any_beginning(s: Subject, rng: random.Random) -> None:
    cases = []
    for _ in range(50):
        stop = "".join(rng.sample("a.b*[你?cdefghijklmnopqr", rng.randint(3, 22)))
        begun = stop[: rng.choice([rng.randint(2, len(stop) - 1), len(stop) - 1])]
        text = random_text(rng, "a.b*[你?", 5) + begun
        cases += [(text, [stop]), (text + rng.choice("\n "), [stop]), (stop[:-1] + "!" + begun, [stop])]
        cases.append((begun.upper(), [stop]))
    for case, got in zip(cases, s.calls("held_length", cases), strict=True):
        expect(got(), held_length(*case))


# --- q5: the stream ---------------------------------------------------------------------------------------


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


@CHECKS.check("q5", 1, visible=False, misconception="the first of several stops in one piece ends the answer")
def any_cut_of_any_text(s: Subject, rng: random.Random) -> None:
    for _ in range(25):
        stops = rng.sample("ab你.", 2)
        kit, pieces, wanted = PlainTextStream(stops), [], []
        while kit.stop_reason is None:
            pieces.append(random_text(rng, "ab你.xyz \n", 3) + rng.choice("xyz"))
            wanted.append(kit.push(pieces[-1]))
        stream = new_stream(s, stops, pieces=pieces)
        results = s.methods(stream, [("push", piece) for piece in pieces])
        for want, got in zip(wanted, results, strict=True):
            expect(got(), want)


@CHECKS.check(
    "q5",
    1,
    visible=False,
    misconception="the beginning of any of the stops waits, wherever it stands in the list",
)
def every_stop_is_held_back(s: Subject, rng: random.Random) -> None:
    for _ in range(10):
        stops = ["".join(rng.sample(letters, 4)) for letters in ("abcde", "fghij", "klmno")]
        for stop in stops:
            before = random_text(rng, "xyz \n", 4)
            begun = stop[: rng.randint(1, 3)]
            stream = new_stream(s, stops, pieces=[before + begun])
            expect(s.method(stream, "push", before + begun), before)


# --- q6: where ids and log-probabilities end ------------------------------------------------------------------


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


@CHECKS.check(
    "q6", 1, visible=False, misconception="a token without text is a token: it counts and is billed"
)
def tokens_without_text_count(s: Subject, rng: random.Random) -> None:
    for _ in range(20):
        pieces = [random_text(rng, "xyz", 2) for _ in range(rng.randint(0, 6))]
        pieces += ["", random_text(rng, "xyz", 2) + "#", *[random_text(rng, "xyz#", 2) for _ in range(3)]]
        find = recorded(find_stop, partial(answer_length, pieces, ["#"], 0))
        expect(s.call("answer_length", pieces, ["#"], 0, find), answer_length(pieces, ["#"]))


@CHECKS.check(
    "q6",
    1,
    visible=False,
    misconception="any of the stops ends the answer, however many tokens it is spread over",
)
def long_stops_in_many_tokens(s: Subject, rng: random.Random) -> None:
    for _ in range(10):
        stops = [3 * "".join(rng.sample(letters, 8)) for letters in ("abcdefghijkl", "mnopqrstuvw")]
        text = random_text(rng, "XYZ!", 6) + rng.choice(stops)
        cuts = sorted(rng.sample(range(1, len(text)), len(text) // 2))
        pieces = [text[begin:end] for begin, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
        pieces += ["X", random_text(rng, "XYZ!", 3)]
        find = recorded(find_stop, partial(answer_length, pieces, stops, 0))
        expect(s.call("answer_length", pieces, stops, 0, find), answer_length(pieces, stops))
