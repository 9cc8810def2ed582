"""One running worker process and the wire to it, as the judge holds them.

This module owns sending, receiving and killing. It knows nothing of checks. Invariant: no
call waits past its deadline, and after `kill` nothing of the worker's group runs.
"""

from __future__ import annotations

import json
import os
import select
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
        self, write_fd: int, read_fd: int, end: Callable[[], None], clock: Clock | None = None
    ) -> None:
        """`end` must end the worker and everything it started; it is called once."""
        self._write_fd = write_fd
        self._read_fd = read_fd
        self._end: Callable[[], None] | None = end
        self._buffer = bytearray()
        self.clock = clock or MonotonicClock()
        for fd in (write_fd, read_fd):
            os.set_blocking(fd, False)

    def send(self, message: dict[str, Any], deadline_s: float) -> None:
        """Write one message before the deadline."""
        data = memoryview(json.dumps(message).encode() + b"\n")
        while data:
            try:
                data = data[os.write(self._write_fd, data[:_CHUNK]) :]
            except BlockingIOError:
                self._wait(self._write_fd, select.POLLOUT, deadline_s)
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
        """End the worker and everything it started. Safe to repeat."""
        if self._end is None:
            return
        end, self._end = self._end, None
        try:
            end()
        finally:
            for fd in {self._write_fd, self._read_fd}:
                os.close(fd)

    def _read_more(self, deadline_s: float) -> None:
        self._wait(self._read_fd, select.POLLIN, deadline_s)
        try:
            chunk = os.read(self._read_fd, _CHUNK)
        except BlockingIOError:
            return
        except OSError:  # the other end of a socket was closed with unread data
            chunk = b""
        if not chunk:
            raise AnswerDied("the process of the answer ended")
        self._buffer += chunk

    def _wait(self, fd: int, event: int, deadline_s: float) -> None:
        left_s = deadline_s - self.clock.now()
        poll = select.poll()
        poll.register(fd, event)
        if left_s <= 0 or not poll.poll(left_s * 1000):
            raise AnswerTimeout("the answer did not come back in time")
