"""Lab 05: oracle and kit agree, a right channel runs in the engine, a wrong one does not; the player."""

from __future__ import annotations

import gc
import weakref
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inference_kit import LLM, SamplingParams, viz
from inference_kit.labs.answers import reference_source, splice, stub_source
from inference_kit.labs.build import ROOT, find_labs
from inference_kit.labs.drawings import draw
from inference_kit.labs.gates import LabFiles
from inference_kit.labs.notebook import plug
from inference_kit.labs.plugs.lab05 import Lab05
from inference_kit.scheduler.decodes import longest_unserved
from inference_kit.streaming import run_client, tick, token_counts
from inference_kit.viz.player import _OPEN
from solutions.lab05_backpressure import oracle

LAB = next(lab for lab in find_labs() if lab.lab == "lab05")
FILES = LabFiles.read(LAB)
DRAINS = [1, 0, 0, 0, 1, 0, 1, 0, 0]
CAPACITY = st.integers(1, 5) | st.none()


@given(level=st.integers(0, 5), drain=st.integers(0, 5), capacity=CAPACITY, more=st.booleans())
def test_the_oracle_agrees_on_ticks(level: int, drain: int, capacity: int | None, more: bool) -> None:
    level = level if capacity is None else min(level, capacity)
    assert tick(level, drain, capacity, more) == oracle.one_tick(level, drain, capacity, more)


@settings(max_examples=200)
@given(
    drains=st.lists(st.integers(0, 2), max_size=12),
    total=st.integers(0, 8),
    capacity=CAPACITY,
    deadline=st.integers(0, 14),
)
def test_the_oracle_agrees_on_clients(
    drains: list[int], total: int, capacity: int | None, deadline: int
) -> None:
    tokens = "abcdefgh"[:total]
    assert run_client(tokens, drains, capacity, deadline) == oracle.client(tokens, drains, capacity, deadline)


@given(served=st.lists(st.tuples(st.integers(0, 3), st.booleans()), max_size=7), budget=st.integers(0, 5))
def test_the_oracle_agrees_on_who_is_served(served: list[tuple[int, bool]], budget: int) -> None:
    rows = [(f"r{index}", paused, step, 9 - index) for index, (step, paused) in enumerate(served)]
    assert longest_unserved(rows, budget) == oracle.served(rows, budget)


@given(log=st.lists(st.tuples(st.sampled_from(["propose", "commit", "send"]), st.integers(0, 3)), max_size=8))
def test_the_oracle_agrees_on_counts(log: list[tuple[str, int]]) -> None:
    wanted = oracle.counts(log)
    if wanted is None:
        with pytest.raises(ValueError):
            token_counts(log)
    else:
        assert token_counts(log) == wanted


def names_of(**answers: str) -> dict[str, Any]:
    """A learner's names after the answer cells: the reference, or the text given for a question."""
    names: dict[str, Any] = {"__name__": "learner"}
    for question, cell in FILES.cells.items():
        answer = answers.get(question)
        exec(splice(stub_source(cell), answer) if answer else reference_source(cell), names)
    return names


def rows_of(picture: Any) -> dict[str, str]:
    lines = [line.rsplit("  ", 1) for line in picture.text.split("\n")[2:] if "  " in line]
    return {line[0].strip(): line[1].strip() for line in lines}


def test_the_slow_reader_pauses_and_the_fast_one_does_not_notice() -> None:
    run = Lab05(names_of()).two_readers("tiny")
    rows = rows_of(run.summary)
    fast, slow = (int(rows[f"steps until the {name} one had all"]) for name in ("fast", "slow"))
    assert fast < slow
    assert rows["most unsent tokens of the slow one"] == "4"
    assert int(rows["pauses of the slow one"]) >= 1
    assert "streaming" in run.timeline.text
    counts = [line.split()[-4:] for line in run.counts.text.split("\n")[2:]]
    assert counts[0] == counts[1] == ["16", "16", "0", "16"]
    assert counts[2] == counts[3]


def test_a_reader_who_never_comes_ends_and_gives_all_back() -> None:
    text = Lab05(names_of()).a_reader_who_never_comes("tiny").text
    assert "the end: slow_consumer" in text
    assert text.split("\n")[-2].split()[-1] == "0"


def test_the_learners_channel_gives_the_answer_of_the_engine() -> None:
    params = SamplingParams(max_tokens=40, ignore_eos=True)
    names = names_of()
    made = []

    class Listening(names["Channel"]):  # type: ignore[misc]
        def put(self, text: str, token_ids: list[int]) -> Any:
            made.append(token_ids)
            return super().put(text, token_ids)

    parts = Lab05({**names, "Channel": Listening})
    mine = LLM("tiny", components=parts.components, progress=False, channel_high=3, channel_low=1)
    kit = LLM("tiny", progress=False)
    for prompts in ([[1, 2]], [[3], [4, 5]]):
        got, wanted = mine.generate(prompts, params), kit.generate(prompts, params)
        assert [output.text for output in got] == [output.text for output in wanted]
    assert made


NEVER_PAUSES = """class Channel:
    def __init__(self, high, low):
        self.waiting, self.unsent, self.sent, self.paused = [], 0, 0, False

    def put(self, text, token_ids):
        self.waiting.append((text, token_ids))

    def close(self, finish_reason):
        pass

    def take(self, most):
        return None
"""


def test_a_wrong_channel_is_kept_out_and_said_so(capsys: pytest.CaptureFixture[str]) -> None:
    parts = plug("lab05", names_of(q4=NEVER_PAUSES))
    assert "Channel: wrong, so the engine gets the one of the kit" in capsys.readouterr().out
    output = LLM("tiny", components=parts.components, progress=False).generate(
        [[1]], SamplingParams(max_tokens=4)
    )
    assert output[0].finish_reason in ("length", "stop_eos")


def run_incident() -> list[list[str]]:
    """The rows of the incident's table, as its cell makes them."""
    import nbformat

    book = nbformat.read(ROOT / "labs" / LAB.name / f"{LAB.name}.ipynb", 4)
    (source,) = [cell.source for cell in book.cells if "def serve(way" in cell.source]
    names: dict[str, Any] = {"viz": viz}
    exec(source, names)
    return [[str(cell) for cell in row] for row in names["rows"][1:]]


def test_the_incident_shows_the_three_faults_that_the_text_names() -> None:
    no_bound, waits, drop = run_incident()
    assert no_bound[1:] == ["ABCDEFG", "AB", "CDEFG", "5", "ABCDEFG"]
    assert waits[5] == "ABCDE", "the fast reader lacks F and G"
    assert (drop[1], drop[2] + drop[3]) == ("ABCDEFG", "ABCEG"), "D and F are gone, and were computed"


def test_every_question_draws_its_reference() -> None:
    for question in FILES.cells:
        ElementTree.fromstring(draw("lab05", question).svg)


# --- the player


def player(**options: Any) -> Any:
    return viz.backpressure(**{"drains": DRAINS, "capacity": 3, "deadline_tick": 8, "key": "test", **options})


def test_the_player_shows_the_worked_client() -> None:
    shown = player()
    shown.go(5)
    assert "bounded, at most 3: 1 sent, 3 waiting, paused" in shown.pictures[5].alt
    assert "unbounded: 1 sent, 5 waiting, running" in shown.pictures[5].alt
    assert "made for nobody: 5 tokens unbounded, 3 bounded" in shown.whole.text
    for picture in (*shown.pictures, shown.whole):
        ElementTree.fromstring(picture.svg)


def test_all_controls_move_the_same_picture() -> None:
    shown = player()
    shown.forward.click()
    assert (shown.position, shown.slider.value, shown.play.value) == (1, 1, 1)
    shown.slider.value = 4
    assert (shown.position, shown.play.value) == (4, 4)
    shown.play.value = 6
    shown.back.click()
    assert (shown.position, shown.slider.value) == (5, 5)
    shown.go(99)
    assert shown.forward.disabled
    shown.go(-5)
    assert shown.back.disabled
    assert shown.pictures[0].html(folded=False) == shown.view.value


def test_a_policy_drives_the_bounded_side() -> None:
    greedy = player(policy=lambda level, drain, capacity, more: (0, 1))
    assert "bounded, at most 3: 0 sent, 7 waiting" in greedy.pictures[7].alt
    assert "unbounded: 2 sent, 5 waiting" in greedy.pictures[7].alt


@pytest.mark.parametrize("answer", [None, 3, "ab", (1,), (1, "x")])
def test_a_policy_that_returns_no_two_numbers_is_named(answer: Any) -> None:
    with pytest.raises(ValueError, match="consumed, produced"):
        player(policy=lambda *_: answer)


def test_no_ticks_are_refused() -> None:
    with pytest.raises(ValueError, match="at least one tick"):
        viz.backpressure(drains=[], key="test")


def open_widgets() -> int:
    """Live widgets of this process; the place of the registry differs between 7.7 and 8."""
    import ipywidgets

    registry = getattr(ipywidgets.widgets.widget, "_instances", None)
    return len(ipywidgets.Widget.widgets if registry is None else registry)


def test_running_the_cell_again_closes_the_player_before() -> None:
    player(key="again")
    count = open_widgets()
    for _ in range(3):
        shown = player(key="again")
        assert open_widgets() == count
    first = weakref.ref(shown)
    shown.close()
    _OPEN.pop("again")
    del shown
    gc.collect()
    assert first() is None
