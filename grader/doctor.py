"""What the sandbox of this machine stops, found out by trying.

Owns a list of probes. Each runs hostile code in a worker the way an answer runs, and looks at
what came of it; nothing is taken from a table of promises. Invariant: a probe counts as
stopped only when it was seen to fail.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from inference_kit.clock import Clock, MonotonicClock
from inference_kit.labs.checking import AnswerError

from .remote import ProgramCell, RemoteSubject, Runner
from .sandbox import REPOSITORY, WORKER_ENVIRONMENT, Limits, Sandbox

GONE_WITHIN_S = 5.0
"""How long the processes of a killed worker may take to disappear. The kernel ends a pid namespace
by itself, but later than the kill returns; a process that was really left behind sleeps for a minute."""
LOOK_EVERY_S = 0.02

PROBE_LIMITS = Limits(check_s=3.0, cell_s=3.0, load_s=6.0)

HOSTILE = """
import os, socket, time

def read(path):
    with open(path, "rb") as file:
        return len(file.read(1))

def append(path):
    with open(path, "ab"):
        return True

def connect(port):
    socket.create_connection(("127.0.0.1", port), timeout=1).close()
    return True

def environment():
    return sorted(os.environ)

def processes():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]

def fork_many(count):
    started = 0
    for _ in range(count):
        try:
            pid = os.fork()
        except OSError:
            break
        if pid == 0:
            time.sleep(60)
            os._exit(0)
        started += 1
    return started

def leave_behind(name):
    read_fd, write_fd = os.pipe()
    if os.fork() == 0:
        os.setsid()
        pid = os.fork()
        if pid == 0:
            os.execv("/bin/sleep", [name, "60"])
        os.write(write_fd, str(pid).encode())
        os._exit(0)
    pid = int(os.read(read_fd, 32))
    while True:  # a process has its new name only some time after its start
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            if file.read().startswith(name.encode()):
                return True
        time.sleep(0.01)

def allocate(size):
    return len(bytearray(size))

def fill(size):
    with open("filler", "wb") as file:
        for _ in range(size >> 20):
            file.write(bytes(1 << 20))
    return True

def user():
    return os.getuid()

def loop():
    while True:
        pass

def leave():
    os._exit(0)
"""


@dataclass(frozen=True)
class Probe:
    """One thing an answer may try.

    `attempt` returns True when it seems to have succeeded; `remains`, asked after the worker
    was killed, whether something of it is still there.
    """

    name: str
    attempt: Callable[[RemoteSubject], bool]
    remains: Callable[[], bool] = lambda: True


def probes(course: Path) -> tuple[Probe, ...]:
    """The things to try against a course root."""
    checks = sorted(course.glob("solutions/*/checks.py"))
    target = str(checks[0] if checks else course / "nbgrader_config.py")
    name = f"left-behind-{secrets.token_hex(8)}"
    return (
        Probe("read the hidden checks", lambda s: bool(s.call("read", target))),
        Probe("write into the course", lambda s: bool(s.call("append", target))),
        Probe("use the network", uses_network),
        Probe("read the environment's secrets", sees_environment),
        Probe("see other processes", lambda s: os.getpid() in s.call("processes")),
        Probe("start 200 processes", lambda s: int(s.call("fork_many", 200)) >= 200),
        Probe(
            "leave a process behind", lambda s: bool(s.call("leave_behind", name)), lambda: stays_behind(name)
        ),
        Probe("take 3 GB of memory", lambda s: bool(s.call("allocate", 3 << 30))),
        Probe("write 64 MB into one file", lambda s: bool(s.call("fill", 64 << 20))),
        Probe("run as root", lambda s: bool(s.call("user") == 0)),
        Probe("hold up the grader for ever", lambda s: s.call("loop") is None),
        Probe("end the grader's process", lambda s: s.call("leave") is None),
    )


def examine(sandbox: Sandbox, course: Path = REPOSITORY) -> Iterator[tuple[str, bool]]:
    """(what was tried, whether it was stopped), one by one. Each probe gets its own worker."""
    for probe in probes(course):
        yield probe.name, not succeeds(probe, sandbox)


def succeeds(probe: Probe, sandbox: Sandbox) -> bool:
    """True when the probe's attempt succeeded in that sandbox."""
    subject = Runner((ProgramCell("hostile", HOSTILE, answer=True),), sandbox, PROBE_LIMITS).start()
    subject.begin(PROBE_LIMITS.check_s)
    try:
        if not probe.attempt(subject):
            return False
    except AnswerError:
        return False
    finally:
        subject.close()
    return probe.remains()


def uses_network(subject: RemoteSubject) -> bool:
    """Let the answer connect to a port that listens on this machine."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return bool(subject.call("connect", server.getsockname()[1]))


def sees_environment(subject: RemoteSubject) -> bool:
    """True when the answer sees a variable of this process that it was not given."""
    given = {*WORKER_ENVIRONMENT, "HOME", "LC_CTYPE", "PWD"}
    return bool((set(os.environ) - given) & set(subject.call("environment")))


def stays_behind(name: str, clock: Clock | None = None) -> bool:
    """True when a process of that name is still there after `GONE_WITHIN_S`; it is ended then."""
    clock = clock or MonotonicClock()
    until = clock.now() + GONE_WITHIN_S
    while (pid := find_process(name)) is not None:
        if clock.now() >= until:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
            return True
        time.sleep(LOOK_EVERY_S)
    return False


def find_process(name: str) -> int | None:
    """The id of a process by its first argument. None when there is none."""
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError):
                if (folder / "cmdline").read_bytes().split(b"\0")[0] == name.encode():
                    return int(folder.name)
    return None
