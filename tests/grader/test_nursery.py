"""Workers forked from a warm process: what they share with each other, and what dies with what."""

from __future__ import annotations

import contextlib
import os
import select
import signal
from pathlib import Path

import pytest

from grader.confined import SandboxUnavailable
from grader.remote import ProgramCell, RemoteSubject, Runner
from grader.sandbox import BubblewrapSandbox, Limits, Sandbox, bubblewrap_candidates, works
from grader.warm import Warm
from inference_kit.labs.checking import AnswerDied

pytestmark = pytest.mark.sandbox

SPY = """
import gc, os, random, sys

def loaded(name): return name in sys.modules
def look(): return sorted(os.listdir(".")) + sorted(os.listdir("/tmp"))
def leave(): open("note", "w").close(); open("/tmp/note", "w").close()
def dice(): return [random.randrange(1000) for _ in range(5)]
def order(): return list({"one", "two", "three", "four", "five", "six"})
def descriptors():
    found = []
    for fd in range(64):
        try:
            os.fstat(fd)
        except OSError:
            continue
        found.append(fd)
    return len(found)
def numbers(): return [int(name) for name in os.listdir("/proc") if name.isdigit()]
def rights():
    try:
        file = open("/proc/self/status")
    except FileNotFoundError:  # a user namespace may be refused a /proc of its own
        return {}
    with file:
        wanted = ("Cap", "NoNewPrivs")
        return {line.split(":")[0]: line.split()[1] for line in file if line.startswith(wanted)}
def mount(): return os.system("mount -t tmpfs x /tmp 2>/dev/null")
def own_namespace():
    import ctypes
    return [ctypes.CDLL(None).unshare(flag) for flag in (0x20000, 0x20000000, 0x40000000)]
def parent(): return os.getppid()
def kill_all():
    for number in (-1, os.getppid(), 0):
        try:
            os.kill(number, 9)
        except OSError:
            pass
def user(): return os.getuid()
"""


def spy(sandbox: Sandbox, warm: tuple[str, ...] = ()) -> RemoteSubject:
    subject = Runner((ProgramCell("spy", SPY, answer=True),), sandbox, Limits(), warm).start()
    subject.begin(5)
    return subject


@pytest.fixture(params=[False, True], ids=["root", "user namespace"])
def own(request: pytest.FixtureRequest, bubblewrap: Sandbox) -> BubblewrapSandbox:
    """Each way to use bubblewrap that works here, with a nursery of its own."""
    for candidate in bubblewrap_candidates():
        if candidate.has_user_namespace == request.param and works(candidate):
            request.addfinalizer(candidate.close)
            return candidate
    pytest.skip("this way to use bubblewrap needs to be root, or does not work here")


def test_a_worker_finds_nothing_of_one_before_it(own: BubblewrapSandbox) -> None:
    first = spy(own)
    first.call("leave")
    first.close()
    second = spy(own)
    assert second.call("look") == []
    second.close()


def test_a_worker_that_kills_all_it_can_reach_hits_nobody_else(own: BubblewrapSandbox) -> None:
    first, second = spy(own), spy(own)
    with contextlib.suppress(AnswerDied):  # the first process of a namespace survives its own signal
        first.call("kill_all")
    first.close()
    assert second.call("look") == []
    second.close()


def test_a_worker_sees_no_process_but_its_own(own: BubblewrapSandbox) -> None:
    first, second = spy(own), spy(own)
    try:
        assert second.call("numbers") in ([1], [])
        assert second.call("parent") == 0
    finally:
        first.close()
        second.close()


def test_a_worker_has_no_rights(own: BubblewrapSandbox) -> None:
    subject = spy(own)
    try:
        rights = subject.call("rights")
        assert rights or own.has_user_namespace
        assert set(rights.values()) - {rights.get("CapBnd")} <= {"0" * 16, "1"}
        assert subject.call("mount") != 0
        assert subject.call("own_namespace")[:2] == [-1, -1]
        assert subject.call("user") != 0
    finally:
        subject.close()


def test_a_worker_holds_its_channel_and_nothing_else(own: BubblewrapSandbox) -> None:
    first = spy(own)
    second = spy(own)  # the keeper of the first is a sibling now
    try:
        assert (
            second.call("descriptors") == first.call("descriptors") == 5
        )  # stdin, stdout, stderr, the channel
    finally:
        first.close()
        second.close()


def test_every_worker_starts_alike(own: BubblewrapSandbox) -> None:
    """Random numbers and the order of sets do not change from run to run: neither do grades."""
    seen = []
    for _ in range(2):
        subject = spy(own)
        seen.append((subject.call("dice"), subject.call("order")))
        subject.close()
        own.close()
    assert seen[0][1] == seen[1][1]


def test_modules_are_warm_only_if_asked(own: BubblewrapSandbox) -> None:
    subject = spy(own, ("sqlite3",))
    assert subject.call("loaded", "sqlite3")
    subject.close()
    subject = spy(own)
    assert not subject.call("loaded", "sqlite3")
    subject.close()


def test_a_module_that_cannot_be_imported_stops_nothing(own: BubblewrapSandbox) -> None:
    subject = spy(own, ("no_such_module",))
    assert subject.call("look") == []
    subject.close()


def test_a_lost_nursery_is_replaced(own: BubblewrapSandbox) -> None:
    first = spy(own)
    nursery = own._nursery(())
    os.killpg(nursery._process.pid, signal.SIGKILL)
    nursery._process.wait()
    second = spy(own)
    assert second.call("look") == []
    second.close()
    first.close()


def test_workers_end_with_their_nursery(own: BubblewrapSandbox) -> None:
    subject = spy(own)
    workers = [int(path.parent.name) for path in Path("/proc").glob("[0-9]*/status") if is_worker(path)]
    handles = [os.pidfd_open(pid) for pid in workers]
    assert handles
    own.close()
    for handle in handles:
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        assert poll.poll(10_000), "the worker is still there"
        os.close(handle)
    subject.close()


def is_worker(status: Path) -> bool:
    """True for a process that is number 1 of a pid namespace two levels down."""
    try:
        lines = status.read_text().splitlines()
    except OSError:
        return False
    numbers = next((line.split()[1:] for line in lines if line.startswith("NSpid")), [])
    return len(numbers) == 3 and numbers[-1] == "1"


def test_a_command_that_is_no_nursery_is_said_to_be_none() -> None:
    with pytest.raises(SandboxUnavailable, match="ended"):
        Warm(["/bin/true"])
