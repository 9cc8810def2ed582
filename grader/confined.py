"""One running worker process and the wire to it, as the judge holds them.

This module owns sending, receiving and killing. It knows nothing of checks. Invariant: no
call waits past its deadline, and after `kill` nothing of the worker's group runs.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
from collections.abc import Callable
from typing import Any

from inference_kit.clock import Clock, MonotonicClock
from inference_kit.errors import KitError
from inference_kit.labs.checking import AnswerDied, AnswerTimeout

MAX_REPLY_BYTES = 16 << 20
_CHUNK = 1 << 16


class SandboxUnavailable(KitError):
    """The level that was asked for cannot be had on this machine; the message says why."""


class Confined:
    """A confined worker that speaks JSON lines.

    `send` and `receive` raise `AnswerTimeout` at the deadline (seconds of the clock) and
    `AnswerDied` when the process has ended or talks nonsense.
    """

    def __init__(
        self, process: subprocess.Popen[bytes], cleanup: Callable[[], None], clock: Clock | None = None
    ) -> None:
        if process.stdin is None or process.stdout is None:
            raise SandboxUnavailable("the worker was started without its channel")
        self._process = process
        self._streams = (process.stdin, process.stdout)
        self._cleanup = cleanup
        self._buffer = bytearray()
        self.clock = clock or MonotonicClock()
        for stream in self._streams:
            os.set_blocking(stream.fileno(), False)

    @property
    def pid(self) -> int:
        """Process id of the worker, or of the bubblewrap that holds it."""
        return self._process.pid

    def send(self, message: dict[str, Any], deadline_s: float) -> None:
        """Write one message before the deadline."""
        data = memoryview(json.dumps(message).encode() + b"\n")
        fd = self._streams[0].fileno()
        while data:
            self._wait(fd, select.POLLOUT, deadline_s)
            try:
                data = data[os.write(fd, data[:_CHUNK]) :]
            except BlockingIOError:
                continue
            except OSError:
                raise AnswerDied("the process of the answer ended") from None

    def receive(self, deadline_s: float) -> dict[str, Any]:
        """Read one message before the deadline. Its content is untrusted."""
        searched = 0
        while (end := self._buffer.find(b"\n", searched)) < 0:
            searched = len(self._buffer)
            if searched > MAX_REPLY_BYTES:
                raise AnswerDied("the answer's reply is too long")
            self._read_more(deadline_s)
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            raise AnswerDied("the process of the answer talks nonsense") from None
        if not isinstance(message, dict):
            raise AnswerDied("the process of the answer talks nonsense")
        return message

    def kill(self) -> None:
        """End the worker and its group, and remove its working folder. Safe to repeat."""
        if self._process.returncode is None:
            # Before the first wait the pid cannot belong to anybody else.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        for stream in self._streams:
            with contextlib.suppress(OSError):
                stream.close()
        self._cleanup()

    def _read_more(self, deadline_s: float) -> None:
        fd = self._streams[1].fileno()
        self._wait(fd, select.POLLIN, deadline_s)
        try:
            chunk = os.read(fd, _CHUNK)
        except BlockingIOError:
            return
        if not chunk:
            raise AnswerDied("the process of the answer ended")
        self._buffer += chunk

    def _wait(self, fd: int, event: int, deadline_s: float) -> None:
        left_s = deadline_s - self.clock.now()
        poll = select.poll()
        poll.register(fd, event)
        if left_s <= 0 or not poll.poll(left_s * 1000):
            raise AnswerTimeout("the answer did not come back in time")
