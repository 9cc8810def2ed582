"""The warm process from which the workers of a sandbox are forked.

This file is started as a script inside the outer sandbox. It imports what a lab needs, once,
and then forks a worker for each request: with a pid, mount and ipc namespace of its own, empty
folders, and no rights. It never runs an answer itself and knows nothing of checks. Invariant:
a worker sees no other worker, and killing it ends every process that it started.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import importlib.util
import json
import os
import signal
import socket
import sys
import types
from typing import Any

CLONE_NEWNS, CLONE_NEWIPC, CLONE_NEWPID = 0x00020000, 0x08000000, 0x20000000
MS_NOSUID, MS_NODEV, MS_NOEXEC = 2, 4, 8
PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL = 47, 4
CAPABILITY_VERSION_3 = 0x20080522
MAX_REQUEST_BYTES = 1 << 16
FOLDERS = ("/work", "/tmp")

_libc = ctypes.CDLL(None, use_errno=True)


def _checked(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def unshare(flags: int) -> None:
    """Give this process (or its next child, for CLONE_NEWPID) namespaces of its own."""
    _checked(_libc.unshare(flags), "unshare")


def mount(kind: str, target: str, flags: int, data: str = "") -> None:
    """Mount an empty file system of that kind over a folder."""
    _checked(
        _libc.mount(kind.encode(), target.encode(), kind.encode(), flags, data.encode()), f"mount {target}"
    )


def drop_capabilities() -> None:
    """Give up every capability. bubblewrap has set no_new_privs: no program gets one back."""
    _libc.prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION_3, 0)
    _checked(_libc.capset(header, (ctypes.c_uint32 * 6)()), "capset")


def private_folders(size_bytes: int) -> None:
    """Empty working folders and a /proc that shows this pid namespace only."""
    for folder in FOLDERS:
        mount("tmpfs", folder, MS_NOSUID | MS_NODEV, f"size={size_bytes},mode=1777")
    try:
        mount("proc", "/proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    except OSError:
        # A user namespace may be refused a new /proc. The old one would show other workers.
        mount("tmpfs", "/proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, "size=4096,mode=0555")
    os.chdir(FOLDERS[0])


def first_to_be_killed() -> None:
    """When memory runs out, the kernel shall take a worker and nothing else."""
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
        file.write("1000")


def held_bytes() -> int:
    """Private memory (what RLIMIT_DATA counts) that this process has already."""
    with contextlib.suppress(OSError, ValueError), open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[5]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def load_worker(path: str) -> types.ModuleType:
    """The worker's code, under a name that no answer sees as `__main__`."""
    spec = importlib.util.spec_from_file_location("worker", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"cannot load {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules["worker"] = module
    spec.loader.exec_module(module)
    return module


class Nursery:
    """Forks workers on request and ends them on request.

    Requests arrive as JSON datagrams: {"op": "start", "file_bytes": …} with two file
    descriptors (the worker's reading and writing end), answered by {"key": …}; and
    {"op": "kill", "key": …}, which has no answer: the kernel ends the worker soon after.

    Each worker is the first process of its pid namespace. Its parent, a keeper, waits outside
    that namespace, so that no process number can have been given to somebody else when it kills.
    """

    def __init__(self, requests: socket.socket, worker: types.ModuleType, plain: types.ModuleType) -> None:
        self._requests = requests
        self._worker = worker
        self._plain = plain
        self._keepers: set[int] = set()  # the writing ends of their pipes

    def serve(self) -> None:
        """Answer requests until the other side is gone."""
        while True:
            data, fds, _, _ = socket.recv_fds(self._requests, MAX_REQUEST_BYTES, 2)
            if not data:
                return
            request = json.loads(data)
            if request["op"] == "start":
                self._requests.send(json.dumps(self._start(request, fds)).encode())
            else:
                self._kill(request["key"])

    def _start(self, request: dict[str, Any], fds: list[int]) -> dict[str, Any]:
        self._reap()
        ended, end = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                os.close(end)
                self._keep(ended, request, fds)
            finally:
                os._exit(0)
        for fd in (ended, *fds):
            os.close(fd)
        self._keepers.add(end)
        return {"key": end}

    def _kill(self, key: int) -> None:
        self._keepers.remove(key)
        os.close(key)

    def _reap(self) -> None:
        """Take leave of the keepers whose worker has ended."""
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass

    def _keep(self, ended: int, request: dict[str, Any], fds: list[int]) -> None:
        """In the keeper: start the worker, wait until it shall end, and end it."""
        self._requests.close()
        for other in self._keepers:
            os.close(other)
        unshare(CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC)
        pid = os.fork()
        if pid == 0:
            os.close(ended)
            self._become_worker(request, fds)
            return
        for fd in fds:
            os.close(fd)
        os.read(ended, 1)  # end of file: the nursery asked for the end, or is gone itself
        os.kill(pid, signal.SIGKILL)  # the kernel ends all others of its namespace with it
        os.waitpid(pid, 0)

    def _become_worker(self, request: dict[str, Any], fds: list[int]) -> None:
        os.setsid()  # a signal to its process group must not reach another worker
        private_folders(request["file_bytes"])
        first_to_be_killed()
        self._worker.serve(self._worker.Channel(*fds), self._plain, held_bytes(), drop_capabilities)


def main(worker_path: str, plain_path: str, paths: str, modules: str) -> None:
    """Warm up, then serve. `modules`: `module` or `module:name`, separated by commas."""
    requests = socket.socket(fileno=os.dup(0))
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    os.close(null)
    sys.dont_write_bytecode = True
    worker = load_worker(worker_path)
    plain = worker.load_plain(plain_path)
    sys.path.extend(paths.split(os.pathsep))
    for wanted in filter(None, modules.split(",")):
        module, _, name = wanted.partition(":")
        with contextlib.suppress(Exception):  # an answer that needs it will say so
            getattr(importlib.import_module(module), name, None)  # some load what is asked for
    gc.collect()
    gc.freeze()  # pages that the collector never touches stay shared with the workers
    requests.send(json.dumps({"ready": True}).encode())
    Nursery(requests, worker, plain).serve()


if __name__ == "__main__":
    main(*sys.argv[1:])
