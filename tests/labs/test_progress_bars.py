"""Progress bars: one on everything that takes long, all of them can be switched off, none on short work."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import tqdm.auto

from inference_kit import LLM, SamplingParams, progress_bar
from inference_kit.clock import VirtualClock
from inference_kit.model import sources, tiny
from inference_kit.model.loader import load_folder
from inference_kit.progress_bar import ProgressBar
from tests.house.tree import ROOT


class Bar:
    """Stands for tqdm and writes down how it was made and how far it came."""

    made: list[Bar]

    def __init__(self, items: Iterable[Any] = (), **options: Any) -> None:
        self.items, self.options, self.n, self.closed = items, options, options.get("initial", 0), False
        Bar.made.append(self)

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def update(self, count: int) -> None:
        self.n += count

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def bars(monkeypatch: pytest.MonkeyPatch) -> list[Bar]:
    """The bars that a test makes, in order."""
    Bar.made = []
    monkeypatch.setattr(tqdm.auto, "tqdm", Bar)
    monkeypatch.setattr(sources, "tqdm", Bar)
    return Bar.made


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """All work counts as long."""
    monkeypatch.setattr(progress_bar, "APPEARS_AFTER_S", 0.0)


def test_the_bars_of_the_kit_choose_between_notebook_and_text_by_themselves() -> None:
    found = {
        path.name: line.strip()
        for path in sorted((ROOT / "inference_kit").rglob("*.py"))
        for line in re.findall(r"^\s*(?:from|import) tqdm.*$", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert {"progress_bar.py", "sources.py", "gguf_convert.py"} <= set(found)
    assert set(found.values()) == {"from tqdm.auto import tqdm"}


def test_a_bar_appears_after_two_seconds_and_says_how_far_the_work_is(bars: list[Bar]) -> None:
    clock = VirtualClock()
    with ProgressBar(10, "work", "piece", clock=clock) as bar:
        clock.advance(1.9)
        bar.update(3)
        assert bars == []
        clock.advance(0.2)
        bar.update(0)
        expected = {"initial": 3, "leave": False, "total": 10, "desc": "work", "unit": "piece"}
        assert bars[0].options == expected
        bar.update(2)
    assert (bars[0].n, bars[0].closed, len(bars)) == (5, True, 1)


def test_a_bar_that_is_switched_off_never_appears(bars: list[Bar], at_once: None) -> None:
    with ProgressBar(10, "work", "piece", shown=False) as bar:
        bar.update(10)
    assert bars == []


def test_a_failure_closes_the_bar(bars: list[Bar], at_once: None) -> None:
    with pytest.raises(RuntimeError), ProgressBar(1, "work", "piece") as bar:
        bar.update(0)
        raise RuntimeError
    assert bars[0].closed


def test_the_bar_of_a_notebook_leaves_no_widget(monkeypatch: pytest.MonkeyPatch, at_once: None) -> None:
    widgets = pytest.importorskip("ipywidgets", reason="ipywidgets is in the `course` extra")
    from tqdm.notebook import tqdm as notebook_bar

    monkeypatch.setattr(tqdm.auto, "tqdm", notebook_bar)
    module = widgets.widgets.widget
    registry = getattr(module, "_instances", None)
    live = widgets.Widget.widgets if registry is None else registry
    before = len(live)
    with ProgressBar(3, "work", "piece") as bar:
        bar.update(1)
        assert len(live) > before
        bar.update(2)
    assert len(live) == before


@pytest.mark.parametrize("shown", [True, False])
def test_generating_counts_the_prompts_and_can_be_switched_off(
    bars: list[Bar], at_once: None, shown: bool
) -> None:
    llm = LLM("tiny", progress=shown)
    bars.clear()
    llm.generate([[1, 2], [3, 4], [5, 6]], SamplingParams(max_tokens=2))
    assert [(bar.options["total"], bar.n) for bar in bars] == [(3, 3)] * shown


@pytest.mark.parametrize("shown", [True, False])
def test_placing_weights_counts_them_and_can_be_switched_off(
    bars: list[Bar], at_once: None, shown: bool, tmp_path: Path
) -> None:
    LLM(str(tiny.export_tiny(tmp_path / "model")), progress=shown)
    assert [bar.options["desc"] for bar in bars] == ["weights"] * shown
    assert all(bar.n == bar.options["total"] > 0 for bar in bars)


def test_loading_a_folder_by_itself_is_silent(bars: list[Bar], at_once: None, tmp_path: Path) -> None:
    load_folder(tiny.export_tiny(tmp_path / "model"), name="mine")
    assert bars == []


@pytest.mark.parametrize("shown", [True, False])
def test_a_download_counts_its_bytes_and_can_be_switched_off(
    bars: list[Bar], shown: bool, tmp_path: Path
) -> None:
    (tmp_path / "from").write_bytes(b"x" * 3000)
    sources._download((tmp_path / "from").as_uri(), tmp_path / "to", None, shown)
    (bar,) = bars
    assert (bar.options["total"], bar.n) == (3000, 3000)
    assert bar.options["disable"] is not shown


def test_short_work_leaves_no_trace(capsys: pytest.CaptureFixture[str]) -> None:
    LLM("tiny").generate([[1, 2, 3]], SamplingParams(max_tokens=2))
    assert capsys.readouterr() == ("", "")
