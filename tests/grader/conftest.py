"""Fixtures of the grading tests: the fake lab's checks, and one sandbox per level."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.sandbox import BUBBLEWRAP, RLIMITS, Sandbox, SandboxUnavailable, choose
from inference_kit.labs.checking import CheckSet, load_checks
from tests.grader import fake_lab


@pytest.fixture(scope="session")
def fake_checks(tmp_path_factory: pytest.TempPathFactory) -> CheckSet:
    """The check set of the fake lab."""
    path: Path = tmp_path_factory.mktemp("checks") / "checks.py"
    path.write_text(fake_lab.CHECKS, encoding="utf-8")
    return load_checks(path)


@pytest.fixture(scope="session")
def bubblewrap() -> Sandbox:
    """The sandbox of level bubblewrap; the test skips where it cannot be had."""
    try:
        return choose(BUBBLEWRAP)
    except SandboxUnavailable as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def rlimits() -> Sandbox:
    """The sandbox of level rlimits, which works everywhere."""
    return choose(RLIMITS)


@pytest.fixture(params=[pytest.param(BUBBLEWRAP, marks=pytest.mark.sandbox), RLIMITS])
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    """Each level in turn."""
    found: Sandbox = request.getfixturevalue(request.param)
    return found
