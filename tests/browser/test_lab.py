"""The course in JupyterLab: its front page opens, lab 01 runs top to bottom, its widget answers a click."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat
import pytest
from nbclient import NotebookClient

from inference_kit import viz
from inference_kit.labs.build import Lab, find_labs
from inference_kit.lifecycle import TRANSITIONS
from tests.browser.jupyter import JupyterLab
from tests.browser.page import NotebookPage

if TYPE_CHECKING:
    from selenium.webdriver.remote.webdriver import WebDriver

pytestmark = [pytest.mark.browser, pytest.mark.slow]

MACHINE = "from inference_kit.viz import state_machine\nstate_machine()"
SOLUTION = "solutions/lab01_lifecycle/lab01_lifecycle.ipynb"
MOVES = {
    str(state.value): {str(e.value): str(t.value) for e, t in moves.items()}
    for state, moves in TRANSITIONS.items()
}


def small_notebook(lab: JupyterLab, name: str, *sources: str) -> str:
    """Write a notebook of code cells into the server's tree; its path there."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, lab.tree / name)
    return name


def check_machine(page: NotebookPage) -> None:
    """The first state widget on the page shows its picture, offers the legal events and follows one."""
    machine = page.state_machines()[0]
    before = machine.state()
    assert machine.picture().get_attribute("alt")
    assert int(machine.picture().get_property("naturalWidth")) > 0
    assert machine.legal() == set(MOVES[before])
    event = next(iter(MOVES[before]))
    machine.press(event)
    assert machine.state() == MOVES[before][event]
    assert machine.legal() == set(MOVES[machine.state()])


def test_an_error_in_a_notebook_is_seen(lab: JupyterLab, driver: WebDriver) -> None:
    page = NotebookPage(driver, lab, small_notebook(lab, "wrong.ipynb", "1 + 1", "1 / 0", "2"))
    page.run_all()
    (error,) = page.errors()
    assert "ZeroDivisionError" in error


def test_the_state_widget_follows_a_click(lab: JupyterLab, driver: WebDriver) -> None:
    page = NotebookPage(driver, lab, small_notebook(lab, "widget.ipynb", MACHINE))
    page.run_all()
    assert page.errors() == []
    check_machine(page)


def test_without_trust_the_quiz_opens_and_the_widget_is_its_picture(
    lab: JupyterLab, driver: WebDriver
) -> None:
    sources = ['from inference_kit.labs import quiz\nquiz("lab01")', MACHINE]
    path = lab.tree / small_notebook(lab, "from_elsewhere.ipynb", *sources)
    notebook = NotebookClient(nbformat.read(path, 4), kernel_name="python3").execute()
    del notebook.metadata["widgets"]
    nbformat.write(notebook, path)
    page = NotebookPage(driver, lab, path.name)
    assert page.state_machines() == []
    assert page.stored_pictures() == [viz.state_diagram(current="received").alt]
    page.folds()[1].click()
    assert "✔ Right." in page.open_folds()


def test_lab_01_runs_from_top_to_bottom(lab: JupyterLab, driver: WebDriver, shots: Path) -> None:
    page = NotebookPage(driver, lab, SOLUTION)
    page.run_all()
    page.screenshot(shots / "lab01.png")
    assert page.errors() == []
    assert page.all_ran()
    check_machine(page)
    page.screenshot(shots / "lab01-widget.png")


def test_an_untouched_lab_01_stops_with_a_clear_word(lab: JupyterLab, driver: WebDriver) -> None:
    page = NotebookPage(driver, lab, "labs/lab01_lifecycle/lab01_lifecycle.ipynb")
    page.run_all()
    assert "Traceback" not in "".join(page.errors())
    assert "not done yet" in page.errors()[0].lower()


def goes_on(lab: JupyterLab, source: Path) -> str:
    """A copy of a released notebook whose checks do not stop *Run All Cells* when they fail; its path."""
    book = nbformat.read(source, 4)
    for cell in book.cells:
        if cell.source.startswith('check("'):
            cell.metadata["tags"] = ["raises-exception"]
    nbformat.write(book, lab.tree / source.name)
    return source.name


@pytest.mark.parametrize("one", find_labs(), ids=lambda one: one.name)
def test_an_untouched_lab_says_only_not_done_yet_and_shows_everything(
    one: Lab, lab: JupyterLab, driver: WebDriver, shots: Path
) -> None:
    page = NotebookPage(driver, lab, goes_on(lab, lab.tree / "labs" / one.name / f"{one.name}.ipynb"))
    page.run_all()
    page.screenshot(shots / f"{one.lab}.png")
    assert page.all_ran()
    questions = one.checks().questions
    assert [error.split(":")[0] for error in page.errors()] == ["not done yet"] * len(questions)
    assert page.broken() == []
    page.shut_down()


def test_a_broken_picture_is_seen(lab: JupyterLab, driver: WebDriver) -> None:
    source = 'from IPython.display import HTML\nHTML(\'<img alt="x" src="data:image/png;base64,AAAA"/>\')'
    page = NotebookPage(driver, lab, small_notebook(lab, "broken.ipynb", source))
    page.run_all()
    assert page.broken() == ["picture: x"]


def test_the_course_opens_at_its_front_page(lab: JupyterLab, driver: WebDriver, shots: Path) -> None:
    page = NotebookPage(driver, lab, "course/index.ipynb")
    page.screenshot(shots / "course.png")
    headings = driver.find_elements("css selector", ".jp-NotebookPanel .jp-RenderedMarkdown h1")
    assert [heading.text for heading in headings if heading.text]


def test_formgrader_shows_the_course(lab: JupyterLab) -> None:
    assert "formgrader" in lab.get("/formgrader").lower()
    listed = json.loads(lab.get("/formgrader/api/assignments"))
    names = {assignment["name"] for assignment in listed}
    assert {"lab00_orientation", "lab01_lifecycle"} <= names
