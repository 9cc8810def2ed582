"""Where an answer runs: the two levels of confinement, and which one this machine gives.

This module owns how one confined worker is started and with which limits; not what is said to
it. Whatever an answer does, killing the worker ends every process that it started at the level
`bubblewrap`, and its process group at the level `rlimits`.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Protocol

from inference_kit.clock import MonotonicClock
from inference_kit.errors import InvalidField
from inference_kit.labs.checking import AnswerError

from .confined import Confined, SandboxUnavailable
from .warm import Warm

NOBODY = 65534
FIRST_UID = 1 << 30
"""At the level `bubblewrap`, root's worker is this user plus the judge's pid: limits on processes count
per user, so two judges at work on one machine must not share one."""
WORKER_FILE = Path(__file__).resolve().with_name("worker.py")
NURSERY_FILE = WORKER_FILE.with_name("nursery.py")
REPOSITORY = Path(__file__).resolve().parent.parent
PLAIN_FILE = REPOSITORY / "inference_kit" / "labs" / "plain.py"
KIT_NAME = "inference_kit"
BUBBLEWRAP, RLIMITS, AUTO = "bubblewrap", "rlimits", "auto"
LEVELS = (AUTO, BUBBLEWRAP, RLIMITS)


@dataclass(frozen=True)
class Limits:
    """What one confined worker may use."""

    load_s: float = 20.0
    """Wall time in which all cells of a submission must have run."""
    cell_s: float = 5.0
    """Wall time of one cell."""
    check_s: float = 5.0
    """Wall time of one check."""
    cpu_s: int = 60
    """CPU time of one process."""
    memory_bytes: int = 1 << 30
    """Private memory (RLIMIT_DATA) of one process."""
    processes: int = 64
    """Processes and threads of the worker at work and the one that gets ready, together.
    At the level `rlimits`: none beside the worker itself."""
    file_bytes: int = 16 << 20
    """Size of one file, and of the whole working folder at the level `bubblewrap`."""
    open_files: int = 64
    """Open file descriptors of one process."""
    timeouts: int = 2
    """Checks of one question that may run out of time before the rest is not run."""


class Sandbox(Protocol):
    """One level of confinement."""

    level: str
    processes: int | None
    """Overrides `Limits.processes` where it is not None."""
    die_with_parent: bool
    """True when the worker has to ask for its own end."""
    paths: tuple[str, ...]
    """Folders of installed packages, as the worker sees them."""

    @property
    def uid(self) -> int:
        """User that the worker becomes by itself; -1 when it stays who it is."""
        ...

    def start(self, limits: Limits, warm: tuple[str, ...] = ()) -> Confined:
        """Start one worker that waits for its program.

        `warm` names the modules that it may have imported before; only time depends on it.
        """
        ...

    def close(self) -> None:
        """End what is kept between workers. The next start makes it anew."""
        ...


def python_home() -> tuple[Path, Path]:
    """(installation prefix, interpreter) of the running Python, outside any virtual environment."""
    return Path(sys.base_prefix).resolve(), Path(os.path.realpath(sys.executable))


def package_folders() -> tuple[Path, ...]:
    """The folders of installed packages (site-packages) of the running environment."""
    found = dict.fromkeys(sysconfig.get_paths()[name] for name in ("purelib", "platlib"))
    return tuple(Path(folder).resolve() for folder in found if Path(folder).is_dir())


# Not -I: it would ignore PYTHONHASHSEED, and the order of sets must be the same in every run.
WORKER_FLAGS = ("-P", "-s", "-S", "-B")
WORKER_ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "PYTHONHASHSEED": "0",
    "OMP_NUM_THREADS": "1",
}
ALWAYS_WARM = (
    "asyncio",
    "bisect",
    "collections",
    "copy",
    "dataclasses",
    "enum",
    "functools",
    "heapq",
    "itertools",
    "math",
    "random",
    "re",
    "string",
    "typing",
)
"""Modules of the standard library that answers often import."""


class BubblewrapSandbox:
    """Own pid, network, ipc, uts and mount namespaces; nothing of the course is mounted.

    The outer sandbox holds a warm process that forks the workers, each in a pid, mount and ipc
    namespace of its own. As root a worker changes to a user without rights; otherwise
    bubblewrap maps the caller to 65534 in a user namespace.
    """

    level = BUBBLEWRAP
    processes: int | None = None
    die_with_parent = False

    def __init__(self, program: str, *, user_namespace: bool) -> None:
        self._program = program
        self.has_user_namespace = user_namespace
        self._warm: tuple[tuple[str, ...], Warm] | None = None
        self.paths = tuple(f"/packages/{index}" for index in range(len(package_folders())))

    @property
    def uid(self) -> int:
        return -1 if self.has_user_namespace else FIRST_UID + os.getpid()

    def start(self, limits: Limits, warm: tuple[str, ...] = ()) -> Confined:
        """A worker from the nursery. Raises `SandboxUnavailable` when not even a new one gives any."""
        try:
            return self._nursery(warm).start(limits.file_bytes)
        except SandboxUnavailable:
            self.close()  # its nursery was lost; a new one is tried once
            return self._nursery(warm).start(limits.file_bytes)

    def close(self) -> None:
        """End the nursery and its workers. The next start makes a new one."""
        if self._warm is not None:
            self._warm[1].close()
            self._warm = None

    def _nursery(self, modules: tuple[str, ...]) -> Warm:
        """The nursery that has imported these modules, and belongs to this process."""
        if self._warm is not None and self._warm[0] == modules and self._warm[1].owner_pid == os.getpid():
            return self._warm[1]
        self.close()
        nursery = Warm(self._command((*ALWAYS_WARM, *modules)))
        atexit.register(nursery.close)
        self._warm = (modules, nursery)
        return nursery

    def _command(self, modules: tuple[str, ...]) -> list[str]:
        prefix, interpreter = python_home()
        mounts = [*_system_mounts(), *zip(package_folders(), self.paths, strict=True)]
        command = [self._program, "--die-with-parent", "--new-session", "--clearenv", *self._namespaces()]
        for name, value in {**WORKER_ENVIRONMENT, "HOME": "/work"}.items():
            command += ["--setenv", name, value]
        if not prefix.is_relative_to("/usr"):
            mounts.append((prefix, "/python"))
            command += ["--setenv", "LD_LIBRARY_PATH", "/python/lib"]
            interpreter = Path("/python") / interpreter.relative_to(prefix)
        mounts += [(path, f"/kit/{path.name}") for path in (NURSERY_FILE, WORKER_FILE, PLAIN_FILE)]
        # bubblewrap would make these parents itself, closed to the user the worker becomes.
        command += ["--perms", "0755", "--dir", "/packages", "--perms", "0755", "--dir", "/kit"]
        for source, seen_as in mounts:
            command += ["--ro-bind", str(source), seen_as]
        command += [*_system_links(), *_masks(mounts), "--proc", "/proc", "--dev", "/dev"]
        for folder in ("/work", "/tmp"):
            command += ["--dir", folder]
        command += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/"]
        arguments = ["/kit/worker.py", "/kit/plain.py", os.pathsep.join(self.paths), ",".join(modules)]
        return [*command, "--", str(interpreter), *WORKER_FLAGS, "/kit/nursery.py", *arguments]

    def _namespaces(self) -> list[str]:
        # The nursery keeps the right to make namespaces; a worker gives up every right.
        rights = ["--cap-drop", "ALL", "--cap-add", "CAP_SYS_ADMIN", "--cap-add", "CAP_KILL"]
        if self.has_user_namespace:
            return ["--unshare-all", "--uid", str(NOBODY), "--gid", str(NOBODY), *rights]
        shared = ["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
        return [*shared, *rights, "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]


class RlimitsSandbox:
    """Limits, a new session, an empty folder and an empty environment; no namespaces.

    Files that the user may read can be read, and the network is open: grades of this level
    are provisional. As root the worker becomes 65534 where that user can run this Python.
    """

    level = RLIMITS
    processes: int | None = 0
    die_with_parent = True

    def __init__(self) -> None:
        self._uid = NOBODY if os.geteuid() == 0 and _others_can_run_python() else -1
        self.paths = tuple(str(folder) for folder in package_folders())

    @property
    def uid(self) -> int:
        return self._uid

    def start(self, limits: Limits, warm: tuple[str, ...] = ()) -> Confined:
        folder = tempfile.mkdtemp(prefix="answer-")
        if self.uid >= 0:
            os.chown(folder, self.uid, self.uid)
        process = subprocess.Popen(
            [str(python_home()[1]), *WORKER_FLAGS, str(WORKER_FILE), str(PLAIN_FILE)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**WORKER_ENVIRONMENT, "HOME": folder},
            cwd=folder,
            start_new_session=True,
        )
        if process.stdin is None or process.stdout is None:
            raise SandboxUnavailable("the worker was started without its channel")
        ends = os.dup(process.stdin.fileno()), os.dup(process.stdout.fileno())
        process.stdin.close()
        process.stdout.close()
        return Confined(*ends, functools.partial(_end_group, process, folder))

    def close(self) -> None:
        """Nothing is kept between workers."""


def _end_group(process: subprocess.Popen[bytes], folder: str) -> None:
    """End a worker and its group, and remove its working folder."""
    # Before the first wait the pid cannot belong to anybody else.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    shutil.rmtree(folder, ignore_errors=True)


_SYSTEM_FOLDERS = ("/bin", "/lib", "/lib64", "/lib32", "/sbin")
_SYSTEM_FILES = ("/etc/ld.so.cache", "/etc/localtime")


def _system_mounts() -> list[tuple[Path, str]]:
    """(folder or file outside, path inside) of what Python needs of the system, read-only."""
    folders = [Path(name) for name in _SYSTEM_FOLDERS if Path(name).is_dir() and not Path(name).is_symlink()]
    files = [Path(name) for name in _SYSTEM_FILES if Path(name).exists()]
    return [(path.resolve(), str(path)) for path in (Path("/usr"), *folders, *files)]


def _system_links() -> list[str]:
    """What is a link outside (`/lib` to `usr/lib`) stays one."""
    links = [Path(name) for name in _SYSTEM_FOLDERS if Path(name).is_symlink()]
    return [word for link in links for word in ("--symlink", os.readlink(link), str(link))]


def _masks(mounts: list[tuple[Path, str]]) -> list[str]:
    """Empty folders over the course, and over an installed kit, inside a mounted folder."""
    kits = [folder / KIT_NAME for folder in package_folders() if (folder / KIT_NAME).is_dir()]
    masks = []
    for hidden in dict.fromkeys((REPOSITORY, Path.cwd().resolve(), *kits)):
        for source, seen_as in mounts:
            if hidden != source and hidden.is_relative_to(source):
                masks += ["--tmpfs", str(Path(seen_as) / hidden.relative_to(source))]
    return masks


def _others_can_run_python() -> bool:
    """True when a user without rights can reach the interpreter and its library."""
    prefix, interpreter = python_home()
    needed = (interpreter, prefix / "lib" / "python", WORKER_FILE, PLAIN_FILE)
    folders = {parent for path in needed for parent in path.parents}
    return all(folder.stat().st_mode & 0o001 for folder in folders if folder.exists())


# --- choosing -----------------------------------------------------------------------------------


def setup_message(sandbox: Sandbox, limits: Limits, cells: list[dict[str, object]]) -> dict[str, object]:
    """The first message to a worker: its limits and the cells it runs."""
    given = asdict(limits)
    given["uid"] = sandbox.uid
    if sandbox.processes is not None:
        given["processes"] = sandbox.processes
    return {
        "limits": given,
        "paths": list(sandbox.paths),
        "blocked": [KIT_NAME],
        "die_with_parent": sandbox.die_with_parent,
        "cells": cells,
    }


def works(sandbox: Sandbox) -> bool:
    """Start one worker, load an empty program, end it. False when any of that fails."""
    limits = Limits()
    try:
        confined = sandbox.start(limits)
    except (OSError, SandboxUnavailable):
        return False
    try:
        deadline_s = MonotonicClock().now() + limits.load_s
        confined.send(setup_message(sandbox, limits, []), deadline_s)
        return [confined.receive(deadline_s) for _ in range(2)] == [{"ready": True}, {"loaded": []}]
    except AnswerError:
        return False
    finally:
        confined.kill()


def bubblewrap_candidates() -> list[BubblewrapSandbox]:
    """The ways to use bubblewrap here, the better one first."""
    program = shutil.which("bwrap")
    if program is None:
        return []
    ways = (False, True) if os.geteuid() == 0 else (True,)
    return [BubblewrapSandbox(program, user_namespace=way) for way in ways]


@functools.cache
def choose(level: str = AUTO) -> Sandbox:
    """The sandbox of that level, proved by starting a worker in it.

    `auto` is bubblewrap where it works, else rlimits. Raises `InvalidField` for an unknown
    level and `SandboxUnavailable` when the level does not work here.
    """
    if level not in LEVELS:
        raise InvalidField("sandbox", level, " or ".join(LEVELS))
    if level != RLIMITS:
        for candidate in bubblewrap_candidates():
            if works(candidate):
                return candidate
        if level == BUBBLEWRAP:
            raise SandboxUnavailable("bubblewrap (bwrap) is not installed or cannot make namespaces here")
    fallback = RlimitsSandbox()
    if not works(fallback):
        raise SandboxUnavailable("no worker process could be started")
    return fallback
