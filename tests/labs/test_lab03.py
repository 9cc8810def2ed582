"""Lab 03: oracle and kit agree, right parts stream the engine's text, wrong ones are kept out."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inference_kit import LLM, SamplingParams, viz
from inference_kit.labs.answers import reference_source, splice, stub_source
from inference_kit.labs.build import find_labs
from inference_kit.labs.drawings import draw
from inference_kit.labs.gates import LabFiles
from inference_kit.labs.notebook import plug
from inference_kit.labs.plugs.lab03 import Lab03, LabMatcher
from inference_kit.streaming import (
    PlainTextStream,
    StopMatcher,
    Utf8Decoder,
    answer_length,
    find_stop,
    held_length,
    tail_length,
)
from inference_kit.viz.hold_back import rows_of
from solutions.lab03_streaming import oracle

FILES = LabFiles.read(next(lab for lab in find_labs() if lab.lab == "lab03"))
EDGES = st.sampled_from(
    [0x41, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC2, 0xE0, 0xE4, 0xED, 0xEF]
) | st.sampled_from([0xF0, 0xF1, 0xF4, 0xF5, 0xFF])
BYTES = st.lists(EDGES, max_size=8).map(bytes)
TEXT = st.text("ab你", max_size=8)
STOPS = st.lists(st.text("ab你", min_size=1, max_size=4), max_size=4)
STORY = [bytes.fromhex(part) for part in ("e4bd", "a0", "e5", "a5bd", "45", "4e", "44", "69676e6f726564")]


@settings(max_examples=300)
@given(data=BYTES)
def test_the_oracle_agrees_on_incomplete_ends(data: bytes) -> None:
    assert oracle.tail(data) == tail_length(data)


@settings(max_examples=200)
@given(pushes=st.lists(BYTES, max_size=6))
def test_the_oracle_agrees_on_the_pieces(pushes: list[bytes]) -> None:
    decoder = Utf8Decoder()
    assert [decoder.push(push) for push in pushes] == oracle.pieces_of(pushes)


@settings(max_examples=300)
@given(text=TEXT, stops=STOPS, after=st.integers(0, 4))
def test_the_oracle_agrees_on_stops_and_hold_back(text: str, stops: list[str], after: int) -> None:
    assert find_stop(text, stops, after) == oracle.first_stop(text, stops, after)
    assert held_length(text, stops) == oracle.waits(text, stops)


@settings(max_examples=300)
@given(pieces=st.lists(TEXT, max_size=6), stops=STOPS, include=st.booleans(), least=st.integers(0, 3))
def test_the_oracle_agrees_on_streams(pieces: list[str], stops: list[str], include: bool, least: int) -> None:
    stream = PlainTextStream(stops, include)
    sent = [stream.push(piece) for piece in pieces]
    assert (sent, stream.finish(), stream.stop_reason) == oracle.stream(pieces, stops, include)
    assert answer_length(pieces, stops, least) == oracle.answer(pieces, stops, least)


@settings(max_examples=200)
@given(pieces=st.lists(TEXT, max_size=6), stops=st.lists(st.text("ab你", min_size=1, max_size=4), min_size=1))
def test_the_matcher_of_the_plug_in_is_the_kits(pieces: list[str], stops: list[str]) -> None:
    mine, kit = LabMatcher(find_stop, held_length, stops), StopMatcher(stops)
    for piece in pieces:
        match = kit.push(piece)
        assert mine.push(piece) == match
        assert mine.held == kit.held
        if match is not None:
            return


def names_of(**answers: str) -> dict[str, Any]:
    """A learner's names after the answer cells: the reference, or the text given for a question."""
    names: dict[str, Any] = {"__name__": "learner"}
    for question, cell in FILES.cells.items():
        answer = answers.get(question)
        exec(splice(stub_source(cell), answer) if answer else reference_source(cell), names)
    return names


def test_right_parts_stream_the_answer_of_the_engine(capsys: pytest.CaptureFixture[str]) -> None:
    parts = plug("lab03", names_of())
    assert capsys.readouterr().out.count(": yours\n") == 6
    params = SamplingParams(max_tokens=30, ignore_eos=True)
    kit = LLM("tiny", progress=False).generate([[1, 2, 3]], params)[0]
    stop = kit.text[10:12]
    cut = SamplingParams(max_tokens=30, ignore_eos=True, stop=(stop,))
    mine = LLM("tiny", components=parts.components, progress=False).generate([[1, 2, 3]], cut)[0]
    assert mine.text == kit.text[: kit.text.index(stop)]
    assert mine.stop_reason == stop


def test_the_engine_really_calls_the_learners_decoder() -> None:
    names = names_of()
    calls = []

    class Listening(names["Utf8Stream"]):  # type: ignore[misc]
        def push(self, data: bytes) -> Any:
            calls.append(data)
            return super().push(data)

    parts = Lab03({**names, "Utf8Stream": Listening})
    output = LLM("tiny", components=parts.components, progress=False).generate(
        [[1]], SamplingParams(max_tokens=5)
    )[0]
    assert len(calls) >= len(output.token_ids) - 1


ALONE = """class Utf8Stream:
    def push(self, data):
        return data.decode("utf-8", "replace")

    def finish(self):
        return ""
"""


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("q2", ALONE),
        ("q3", "def find_stop(text, stops, after=0):\n    return None\n"),
        ("q4", "def held_length(text, stops):\n    return 0\n"),
    ],
)
def test_a_wrong_part_is_kept_out_and_said_so(
    question: str, answer: str, capsys: pytest.CaptureFixture[str]
) -> None:
    parts = plug("lab03", names_of(**{question: answer}))
    assert (
        f"{Lab03.questions[question]}: wrong, so the engine gets the one of the kit"
        in capsys.readouterr().out
    )
    output = LLM("tiny", components=parts.components, progress=False)
    kit = LLM("tiny", progress=False)
    params = SamplingParams(max_tokens=20, ignore_eos=True)
    assert output.generate([[5]], params)[0].text == kit.generate([[5]], params)[0].text


def test_the_story_ends_with_the_two_characters_only() -> None:
    assert "sent in all: '你好'" in Lab03(names_of()).story(STORY, ["END"]).alt
    shown = [token.decode("utf-8", "replace") for token in STORY]
    assert shown[0] == "\ufffd"


def test_the_comparison_counts_the_same() -> None:
    llm = LLM("tiny", progress=False)
    rows = [line.split() for line in Lab03(names_of()).compare(llm).text.split("\n")]
    engine, mine = (next(row[-1] for row in rows if row[:1] == [name]) for name in ("the", "your"))
    assert engine == mine


# --- viz.hold_back


def test_each_push_has_a_row_with_what_waits() -> None:
    rows = rows_of(STORY[:5], PlainOfBytes())
    assert [(row.now, row.waits) for row in rows] == [
        ("", "e4 bd"), ("你", ""), ("", "e5"), ("好", ""), ("", "E"), ("E", ""),
    ]  # fmt: skip


class PlainOfBytes:
    """The kit's parts for the stop END."""

    stop_reason = None

    def __init__(self) -> None:
        self._decoder, self._stream = Utf8Decoder(), PlainTextStream(["END"])

    def push(self, data: bytes) -> str:
        return self._stream.push(self._decoder.push(data))

    def finish(self) -> str:
        return self._stream.finish()


def test_the_picture_is_xml_with_alt_text_and_a_table() -> None:
    from xml.etree import ElementTree

    picture = viz.hold_back(STORY, stop=["END"])
    ElementTree.fromstring(picture.svg)
    assert picture.alt == (
        "What is sent and what waits: 8 pushes, something waits after 4 of them; sent in all: '你好'."
    )
    assert len(picture.text.split("\n")) == 2 + 9


def test_a_long_stream_shows_its_end_and_says_so() -> None:
    picture = viz.hold_back(["word "] * 200)
    assert "161 earlier pushes are left out" in picture.text


def test_odd_characters_do_no_harm() -> None:
    from xml.etree import ElementTree

    picture = viz.hold_back(["\x00<&\n", "\ud800", ""], stop=["<&x"])
    ElementTree.fromstring(picture.svg)


def test_every_question_draws_its_reference() -> None:
    for question in FILES.cells:
        assert draw("lab03", question).text
