"""The judge's hold on a nursery: start a worker, end a worker, end them all.

Owns the nursery's process and its request socket; what the nursery does is in `nursery.py`,
which runs inside the outer sandbox. Invariant: when the nursery is gone every worker of it is
gone, and the next start makes a new one.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import signal
import socket
import subprocess
from typing import Any

from .confined import Confined, SandboxUnavailable

START_S = 60.0
"""A nursery that imports torch on a busy machine is slow; one that hangs is an error."""
REPLY_S = 30.0
MAX_REPLY_BYTES = 1 << 16


class Warm:
    """One running nursery. Not for use by several threads at once."""

    def __init__(self, command: list[str]) -> None:
        """`command` starts the nursery; its standard input becomes the request socket."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._requests = ours
        self.owner_pid = os.getpid()
        with theirs:
            self._process = subprocess.Popen(
                command,
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={},
                start_new_session=True,
            )
        try:
            if not self._receive(START_S).get("ready"):
                raise SandboxUnavailable("the sandbox did not start")
        except SandboxUnavailable:
            self.close()
            raise

    def start(self, file_bytes: int) -> Confined:
        """A worker that waits for its program. Raises `SandboxUnavailable`."""
        worker_reads, we_write = os.pipe()
        we_read, worker_writes = os.pipe()
        try:
            request = json.dumps({"op": "start", "file_bytes": file_bytes}).encode()
            self._send(request, [worker_reads, worker_writes])
            reply = self._receive(REPLY_S)
        except SandboxUnavailable:
            os.close(we_write)
            os.close(we_read)
            raise
        finally:
            os.close(worker_reads)
            os.close(worker_writes)
        return Confined(we_write, we_read, functools.partial(self._end, reply["key"]))

    def close(self) -> None:
        """End the nursery and with it every worker. Safe to repeat."""
        self._requests.close()
        if self._process.returncode is None and self.owner_pid == os.getpid():
            # Before the first wait the pid cannot belong to anybody else.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def _end(self, key: int) -> None:
        """End one worker; when the nursery does not listen, end the nursery."""
        try:
            self._send(json.dumps({"op": "kill", "key": key}).encode(), [])
        except SandboxUnavailable:
            self.close()

    def _send(self, data: bytes, fds: list[int]) -> None:
        try:
            socket.send_fds(self._requests, [data], fds)
        except OSError as error:
            raise SandboxUnavailable(f"the sandbox has ended ({error})") from error

    def _receive(self, wait_s: float) -> dict[str, Any]:
        try:
            self._requests.settimeout(wait_s)
            data = self._requests.recv(MAX_REPLY_BYTES)
        except OSError as error:
            raise SandboxUnavailable(f"the sandbox does not answer ({error})") from error
        if not data:
            raise SandboxUnavailable("the sandbox has ended")
        reply: dict[str, Any] = json.loads(data)
        return reply
