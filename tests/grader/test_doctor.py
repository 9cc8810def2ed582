"""The doctor's look at what a killed worker leaves behind: bounded patience, and no harm to others."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator

import pytest

from grader import doctor
from inference_kit.clock import VirtualClock


class Jumping(VirtualClock):
    """A clock that is one second further at each look."""

    def now(self) -> float:
        return self.advance(1.0)


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "LOOK_EVERY_S", 0.0)


@pytest.fixture
def sleeper() -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """A process that stays, under a name of its own."""
    name = f"left-behind-by-test-{os.getpid()}"
    process = subprocess.Popen([name], executable="/bin/cat", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(b"x\n")
    process.stdin.flush()
    process.stdout.readline()  # only now it surely has its name
    yield name, process
    process.kill()
    process.communicate()


def test_a_process_that_is_gone_a_little_later_does_not_stay_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    killed: list[int] = []
    seen = iter([4711, 4711, None])
    monkeypatch.setattr(doctor, "find_process", lambda name: next(seen))
    monkeypatch.setattr(os, "kill", lambda pid, signal: killed.append(pid))
    assert doctor.stays_behind("slow to go", VirtualClock()) is False
    assert killed == []


def test_a_process_that_stays_is_found_and_ended(sleeper: tuple[str, subprocess.Popen[bytes]]) -> None:
    name, process = sleeper
    assert doctor.find_process(name) == process.pid
    assert doctor.stays_behind(name, Jumping()) is True
    assert process.wait() == -9
    assert doctor.find_process(name) is None


def test_a_process_that_never_was_does_not_stay_behind() -> None:
    assert doctor.stays_behind("no process has this name", Jumping()) is False
