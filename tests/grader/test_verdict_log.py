"""The log of verdicts, opened by several processes."""

from __future__ import annotations

import multiprocessing
from pathlib import Path
from typing import Any

from grader.verdict_log import VerdictLog

OPENERS, FILES = 4, 25


def open_new(folders: list[Path], barrier: Any, troubles: Any) -> None:
    """Open each log at the same moment as the others do, and tell what went wrong."""
    found = []
    for folder in folders:
        barrier.wait()
        try:
            log = VerdictLog(folder)
            log.find("no such key")
            log.close()
        except Exception as error:
            found.append(f"{type(error).__name__}: {error}")
    troubles.put(found)


def test_a_new_log_can_be_opened_by_many_at_once(tmp_path: Path) -> None:
    folders = [tmp_path / str(number) for number in range(FILES)]
    for folder in folders:
        folder.mkdir()
    context = multiprocessing.get_context("fork")
    barrier, troubles = context.Barrier(OPENERS), context.SimpleQueue()
    openers = [context.Process(target=open_new, args=(folders, barrier, troubles)) for _ in range(OPENERS)]
    for opener in openers:
        opener.start()
    assert [troubles.get() for _ in openers] == [[]] * OPENERS
    for opener in openers:
        opener.join()
