"""A notebook in JupyterLab, driven through what is on the page: menus, cells, outputs, widgets.

Every wait is for a condition on the page; there are no fixed pauses.
"""

from __future__ import annotations

import json
import re
import urllib.error
from collections.abc import Callable
from pathlib import Path
from typing import Any

from selenium.common.exceptions import StaleElementReferenceException, TimeoutException
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webdriver import WebDriver
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

from tests.browser.jupyter import JupyterLab

LOAD_S = 90
RUN_S = 180
CLICK_S = 30

PANEL = ".jp-NotebookPanel:not(.lm-mod-hidden)"
IDLE = f"{PANEL} .jp-Notebook-ExecutionIndicator[data-status='idle']"
# One entry per code cell that has text: what stands in its prompt, `[3]:`, `[*]:` or `[ ]:`.
PROMPTS = f"""
return [...document.querySelectorAll("{PANEL} .jp-CodeCell")]
    .filter(cell => cell.querySelector(".cm-content").textContent.trim() !== "")
    .map(cell => cell.querySelector(".jp-InputPrompt").textContent.trim());
"""
# Every output of the notebook in front, in nbformat's form. The server was started to allow this.
OUTPUTS = """
return window.jupyterapp.shell.currentWidget.content.widgets
    .filter(cell => cell.model.type === "code")
    .flatMap(cell => cell.model.outputs.toJSON());
"""

# Pictures that did not load, and widgets that JupyterLab has a sentence in place of.
BROKEN = f"""
const outputs = [...document.querySelectorAll("{PANEL} .jp-OutputArea-output")];
const pictures = outputs.flatMap(output => [...output.querySelectorAll("img")]);
return [
    ...pictures.filter(one => one.complete && one.naturalWidth === 0).map(one => "picture: " + one.alt),
    ...pictures.filter(one => !one.alt).map(() => "picture without words"),
    ...outputs.filter(one => /(Error|Loading|Failed to).*widget/i.test(one.textContent)).map(() => "widget"),
];
"""


class NotebookPage:
    """One notebook, opened in the browser."""

    def __init__(self, driver: WebDriver, server: JupyterLab, path: str) -> None:
        self.driver, self._server, self._path = driver, server, path
        driver.get(f"{server.url}/lab/tree/{path}?reset")
        self._until(LOAD_S, lambda _: self._ready(), "a connected, idle kernel")

    def _ready(self) -> bool:
        # The page says "idle" before there is a kernel, so the server is asked too.
        shown = self.driver.find_elements(By.CSS_SELECTOR, IDLE)
        sessions = self._ask("/api/sessions") or []
        kernels = [session["kernel"] for session in sessions if session["path"] == self._path]
        return bool(shown) and any(
            kernel["execution_state"] == "idle" and kernel["connections"] > 0 for kernel in kernels
        )

    def _ask(self, path: str) -> Any:
        # The server refuses while one of its kernels is just starting: ask again later.
        try:
            return json.loads(self._server.get(path))
        except urllib.error.HTTPError:
            return None

    def _until(self, limit_s: float, condition: Callable[[WebDriver], Any], what: str) -> Any:
        waiting = WebDriverWait(self.driver, limit_s, ignored_exceptions=[StaleElementReferenceException])
        try:
            return waiting.until(condition)
        except TimeoutException as error:
            seen = f"prompts {self.prompts()}, title {self.driver.title!r}"
            raise AssertionError(f"{what} did not appear in {limit_s} s; {seen}") from error

    def prompts(self) -> list[str]:
        """Prompts of the code cells that have text, in order."""
        return list(self.driver.execute_script(PROMPTS))

    def errors(self) -> list[str]:
        """What each failed cell says. Asked of the model: on the page an error looks like a warning."""
        outputs = self.driver.execute_script(OUTPUTS)
        return ["\n".join(output["traceback"]) for output in outputs if output["output_type"] == "error"]

    def all_ran(self) -> bool:
        """True when every code cell with text has a number."""
        return len(self._shown_counts()) == len(self.prompts())

    def broken(self) -> list[str]:
        """Pictures and widgets in outputs that cannot be seen."""
        return list(self.driver.execute_script(BROKEN))

    def _shown_counts(self) -> list[int]:
        return [int(number) for prompt in self.prompts() for number in re.findall(r"\d+", prompt)]

    def _menu(self, title: str, command: str) -> None:
        bar = f"//div[contains(@class, 'lm-MenuBar-itemLabel') and text()='{title}']"
        self.driver.find_element(By.XPATH, bar).click()
        item = f".lm-Menu li[data-command='{command}']"
        found = self._until(CLICK_S, lambda _: self.driver.find_elements(By.CSS_SELECTOR, item), command)
        found[0].click()

    def run_all(self) -> None:
        """Run > Run All Cells, and wait until every cell has run or one has stopped the rest."""
        self._menu("Run", "runmenu:run-all")
        self._until(RUN_S, lambda _: self._finished(), "the end of the run")

    def shut_down(self) -> None:
        """Kernel > Shut Down Kernel: a kernel with a model in it is not left behind."""
        self._menu("Kernel", "kernelmenu:shutdown")
        self._until(CLICK_S, lambda _: self._path not in self._open_paths(), "the end of the kernel")

    def _open_paths(self) -> set[str]:
        sessions = self._ask("/api/sessions")
        return {self._path} if sessions is None else {session["path"] for session in sessions}

    def _finished(self) -> bool:
        # Run All marks every cell with a star at once; a failing cell takes the stars from the rest.
        waiting = any("*" in prompt for prompt in self.prompts())
        idle = bool(self.driver.find_elements(By.CSS_SELECTOR, IDLE))
        return idle and not waiting and bool(self._shown_counts())

    def state_machines(self) -> list[StateMachineView]:
        """The state widgets on the page, from top to bottom."""
        boxes = self.driver.find_elements(By.CSS_SELECTOR, f"{PANEL} .jp-OutputArea-output .widget-vbox")
        views = [StateMachineView(self, box) for box in boxes]
        return [view for view in views if view.buttons()]

    def stored_pictures(self) -> list[str]:
        """Alt texts of the pictures that stand in outputs by themselves, with a drawn image."""
        found = self.driver.find_elements(
            By.CSS_SELECTOR, f"{PANEL} .jp-RenderedHTMLCommon.jp-OutputArea-output img"
        )
        return [str(image.get_attribute("alt")) for image in found if image.get_property("naturalWidth")]

    def folds(self) -> list[WebElement]:
        """What can be clicked to open a fold in the outputs."""
        return self.driver.find_elements(By.CSS_SELECTOR, f"{PANEL} .jp-OutputArea-output summary")

    def open_folds(self) -> str:
        """The text of the folds that are open."""
        found = self.driver.find_elements(By.CSS_SELECTOR, f"{PANEL} .jp-OutputArea-output details[open]")
        return "\n".join(fold.text for fold in found)

    def screenshot(self, path: Path) -> None:
        """Save what the window shows as a PNG."""
        self.driver.save_screenshot(str(path))


class StateMachineView:
    """The state diagram of `inference_kit.viz` as it stands on the page."""

    def __init__(self, page: NotebookPage, box: WebElement) -> None:
        self._page, self._box = page, box

    def buttons(self) -> dict[str, WebElement]:
        """Buttons that move the state: name of the event to element."""
        rows = self._box.find_elements(By.CSS_SELECTOR, ".widget-hbox")
        found = rows[0].find_elements(By.TAG_NAME, "button") if rows else []
        return {button.text: button for button in found}

    def legal(self) -> set[str]:
        """Events whose button can be pressed."""
        return {name for name, button in self.buttons().items() if button.is_enabled()}

    def picture(self) -> WebElement:
        """The drawn diagram."""
        return self._box.find_element(By.CSS_SELECTOR, ".widget-html img")

    def state(self) -> str:
        """The state in brackets in the text below the picture."""
        found = re.search(r"\[(\w+)\]", self._box.find_element(By.CSS_SELECTOR, ".widget-html").text)
        return found.group(1) if found else ""

    def press(self, event: str) -> None:
        """Click the button of `event` and wait until the shown state is another one."""
        before = self.state()
        button = self.buttons()[event]
        self._page.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", button)
        button.click()
        self._page._until(CLICK_S, lambda _: self.state() not in ("", before), f"the state after {event}")
