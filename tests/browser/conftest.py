"""Chromium, and one JupyterLab for all browser tests. They skip together where the browser is missing."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.jupyter import JupyterLab

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--window-size=1400,1800",
)


def find_browser() -> tuple[str, str] | None:
    """Paths of Chromium and of its driver, or None."""
    names = ("chromium", "chromium-browser", "google-chrome")
    browser = next(filter(None, map(shutil.which, names)), None)
    driver = shutil.which("chromedriver")
    return (browser, driver) if browser and driver else None


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[JupyterLab]:
    """A running JupyterLab."""
    if find_browser() is None:
        pytest.skip("Chromium or chromedriver is not installed")
    with JupyterLab(tmp_path_factory.mktemp("jupyter")) as server:
        yield server


@pytest.fixture(scope="session")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[object]:
    """A headless Chromium with an empty profile."""
    found = find_browser()
    if found is None:
        pytest.skip("Chromium or chromedriver is not installed")
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = found[0]
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    service = webdriver.ChromeService(executable_path=found[1])
    chromium = webdriver.Chrome(options=options, service=service)
    yield chromium
    chromium.quit()


@pytest.fixture
def shots(tmp_path: Path) -> Path:
    """Where a test leaves its screenshots."""
    return tmp_path
