"""The notebooks in other places: in Colab, without ipywidgets, and behind the links that open them."""

from __future__ import annotations

import io
import logging
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbgrader.utils import determine_grade
from nbgrader.validator import Validator

from inference_kit.labs import build
from inference_kit.labs.build import ROOT, publish
from inference_kit.labs.masters import MasterError, read_course
from inference_kit.viz.still import STILL
from tests.house.tree import pyproject
from tests.labs import colab
from tests.labs.colab import KIT, Colab
from tests.labs.notebooks import CHAPTERS, LABS, answered, checks_of, errors_of, name, outputs, shown
from tests.labs.test_build import PUBLISHED, run_setup, set_up

UNTOUCHED = ("torch", "numpy", "ipykernel", "ipywidgets")


@dataclass(frozen=True)
class Ran:
    """A notebook after its run, and what the machine held before and after."""

    book: Any
    before: dict[str, Any]
    after: dict[str, Any]
    content: Path


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if lost := colab.missing():
        pytest.skip(lost)
    return colab.build_wheel(tmp_path_factory.mktemp("wheel"))


def run_in_colab(book: Any, folder: Path, wheel: Path) -> Ran:
    machine = Colab(folder, wheel)
    before, after = machine.run(book)
    return Ran(book, before, after, machine.content)


@pytest.fixture(scope="module", params=LABS, ids=name)
def ran(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, wheel: Path) -> Ran:
    """One released notebook with its reference answers, after a run in Colab."""
    return run_in_colab(answered(request.param), tmp_path_factory.mktemp("colab"), wheel)


def changes(ran: Ran) -> dict[str, tuple[str | None, str | None]]:
    """Packages whose version is another one after the run: before and after."""
    before, after = ran.before["packages"], ran.after["packages"]
    return {
        package: (before.get(package), after.get(package))
        for package in {*before, *after}
        if before.get(package) != after.get(package)
    }


THE_KIT_CAME = {KIT: (None, pyproject()["project"]["version"])}


@pytest.mark.colab
class TestReleasedNotebook:
    def test_it_runs_without_an_error(self, ran: Ran) -> None:
        assert errors_of(ran.book) == []

    def test_every_check_is_done_with_a_picture(self, ran: Ran) -> None:
        for cell in checks_of(ran.book):
            (done,) = outputs(cell, "display_data")
            assert done["data"]["text/plain"].startswith("done: ")
            assert "data:image/svg+xml;base64," in done["data"]["text/html"]

    def test_nbgrader_would_give_full_points_without_a_warning(
        self, ran: Ran, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.clear()
        for cell in checks_of(ran.book):
            points = cell.metadata.nbgrader.points
            assert determine_grade(cell, logging.getLogger("grade")) == (points, points)
        assert [record.getMessage() for record in caplog.records if record.name == "grade"] == []

    def test_nbgrader_validate_has_nothing_to_say(self, ran: Ran, tmp_path: Path) -> None:
        nbformat.write(ran.book, tmp_path / "ran.ipynb")
        # No preprocessors: it judges the outputs of this run and starts none of its own.
        validator = Validator(preprocessors=[])
        validator.stream = io.StringIO()
        validator.validate_and_print(str(tmp_path / "ran.ipynb"))
        assert validator.stream.getvalue().strip() == "Success! Your notebook passes all the tests."

    def test_the_set_up_cell_brings_the_kit_and_changes_nothing_else(self, ran: Ran) -> None:
        assert ran.before["kit"] is None
        assert not Path(ran.after["kit"]).is_relative_to(ROOT)
        assert changes(ran) == THE_KIT_CAME
        for package in UNTOUCHED:
            assert ran.before["packages"][package] == ran.after["packages"][package]

    def test_the_notebook_packages_are_colabs(self, ran: Ran) -> None:
        assert {package: ran.after["packages"][package] for package in colab.pins()} == colab.pins()

    def test_the_working_folder_is_empty_before_and_after(self, ran: Ran) -> None:
        assert (ran.before["files"], ran.after["files"], list(ran.content.iterdir())) == ([], [], [])

    def test_no_widget_stands_still(self, ran: Ran) -> None:
        assert [text for text in shown(ran.book, "text/plain") if STILL in text] == []


@pytest.mark.colab
@pytest.mark.parametrize("chapter", CHAPTERS, ids=name)
def test_a_chapter_runs_in_colab(chapter: Path, tmp_path: Path, wheel: Path) -> None:
    ran = run_in_colab(nbformat.read(chapter, 4), tmp_path, wheel)
    assert errors_of(ran.book) == []
    assert changes(ran) == THE_KIT_CAME


# --- without ipywidgets


def without_widgets(program: str, folder: Path) -> str:
    """What `program` prints in a Python that has no ipywidgets."""
    blocked = "import sys\nsys.modules['ipywidgets'] = None\n"
    done = subprocess.run(
        [sys.executable, "-c", blocked + program], cwd=folder, capture_output=True, text=True, check=False,
        env={"PYTHONPATH": str(ROOT), "PATH": "", "HOME": str(folder)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def test_without_ipywidgets_the_state_machine_is_its_picture_and_one_line(tmp_path: Path) -> None:
    program = (
        "from inference_kit import viz\n"
        "shown = viz.state_machine()._repr_mimebundle_()\n"
        "print(shown['text/plain'])\n"
        "print(shown['text/html'].count('<img alt='), shown['text/html'].count('<p>'))\n"
    )
    lines = without_widgets(program, tmp_path).strip().split("\n")
    assert lines[-2:] == [STILL, "1 1"]


def test_without_ipywidgets_check_hint_plug_and_show_work(tmp_path: Path) -> None:
    program = (
        "from inference_kit.labs import check, hint, plug, show\n"
        "def gap(start, end):\n    return None if None in (start, end) else end - start\n"
        "check('lab00.q1')\n"
        "print(hint('lab00.q1'))\n"
        "plug('lab01')\n"
        "print(show('lab01.q1').alt)\n"
    )
    said = without_widgets(program, tmp_path)
    assert said.startswith("done: lab00.q1")
    assert "**Hint 1 of 3.**" in said and "not done yet, so the engine gets the one of the kit" in said


def test_every_module_that_builds_widgets_asks_first_whether_it_can() -> None:
    texts = {path: path.read_text(encoding="utf-8") for path in (ROOT / "inference_kit").rglob("*.py")}
    builders = {
        path for path, text in texts.items() if re.search(r"^ +import ipywidgets", text, re.MULTILINE)
    }
    assert len(builders) >= 2
    assert [path.name for path in builders if "has_widgets()" not in texts[path]] == []


def test_the_set_up_cell_works_in_modelscope_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODELSCOPE_ENVIRONMENT", "notebook")
    (command,) = run_setup(set_up(PUBLISHED), tmp_path, colab=False)
    assert command[1:] == ["-m", "pip", "install", "--quiet", "--no-deps", "/somewhere/kit.whl"]


# --- the links: one name in course.toml


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """What `make badges` reads and writes, in a folder of its own."""
    for part in ("course", "inference_kit", "labs", "solutions"):
        ignored = shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints", f"*{build.WORK}*")
        shutil.copytree(ROOT / part, tmp_path / part, ignore=ignored)
    shutil.copy(ROOT / "course.toml", tmp_path)
    return tmp_path


def text_of(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in files}


def test_badges_write_the_name_once_and_the_links_into_every_notebook(tree: Path) -> None:
    before = text_of(tree)
    written = publish("some-one/the.course", tree)
    assert read_course(tree / "course.toml").repository == "some-one/the.course"
    assert {name for name, text in text_of(tree).items() if text != before.get(name)} == set(written)
    tag = read_course().tag
    for path in [*tree.glob("course/*.ipynb"), *tree.glob("labs/*/*.ipynb")]:
        place = f"some-one/the.course/blob/{tag}/{path.relative_to(tree).as_posix()}"
        prose = "\n".join(
            cell.source for cell in nbformat.read(path, 4).cells if cell.cell_type == "markdown"
        )
        assert f"(https://colab.research.google.com/github/{place})" in prose, path.name
        assert f"(https://modelscope.cn/notebook/share/github/{place})" in prose, path.name


def test_badges_twice_write_nothing_and_another_name_takes_the_place_of_the_first(tree: Path) -> None:
    publish("someone/course", tree)
    once = text_of(tree)
    assert publish("someone/course", tree) == []
    assert text_of(tree) == once
    publish("other/course", tree)
    assert not any("someone/course" in text for text in text_of(tree).values())
    assert text_of(tree).keys() == once.keys()


@pytest.mark.parametrize("repository", ["", "name", "a/b/c", "https://github.com/a/b", "a/b c"])
def test_a_bad_name_is_one_clear_line_and_writes_nothing(
    repository: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "write", lambda *_: pytest.fail("something was written"))
    assert build.main(["--badges", repository]) == 1
    told = capsys.readouterr()
    assert told.out == ""
    (line,) = told.err.splitlines()
    assert line.startswith(f"inference-kit: {repository!r} is not owner/name")


@pytest.mark.parametrize("text", ["", "[repository]\nname = ''", "[repository]\nname = 'x'\ntag = 'v1'", "["])
def test_a_course_file_that_says_too_little_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "course.toml").write_text(text, encoding="utf-8")
    with pytest.raises(MasterError):
        read_course(tmp_path / "course.toml")


def test_the_tag_names_the_version_of_the_wheel() -> None:
    assert read_course().tag == f"v{pyproject()['project']['version']}"
