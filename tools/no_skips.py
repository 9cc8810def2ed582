"""A pytest plugin: fails the run when a test with one of the named markers was skipped.

A skip is right on a machine without a browser; where one was just installed it would hide a broken test.
Use: `pytest -p tools.no_skips --no-skips browser,sandbox`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--no-skips`."""
    parser.addoption("--no-skips", default="", help="comma-separated markers whose tests must not be skipped")


def forbidden(skipped: Iterable[Any], markers: Iterable[str]) -> list[str]:
    """Node ids of the skipped reports that carry one of `markers`."""
    wanted = set(markers)
    return [
        report.nodeid
        for report in skipped
        if wanted & set(report.keywords) and not hasattr(report, "wasxfail")
    ]


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Turn the exit status red, and say which tests were skipped."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    markers = [name for name in session.config.getoption("--no-skips").split(",") if name]
    if reporter is None or not markers or hasattr(session.config, "workerinput"):
        return
    nodes = forbidden(reporter.stats.get("skipped", []), markers)
    if nodes:
        reporter.write_line("")
        reporter.write_line(
            f"skipped, but must run here ({', '.join(markers)}): {', '.join(nodes)}", red=True
        )
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
