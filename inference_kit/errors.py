"""Every error that `inference_kit` raises on purpose.

One base class, so that a caller can catch the kit's errors and nothing else.
A message always says what was wrong, what is allowed, and where.
"""

from __future__ import annotations

from typing import Any


class KitError(Exception):
    """Base class of all errors of the kit."""


class InvalidField(KitError, ValueError):
    """A field of a request or of a configuration has a value that is not allowed.

    Attributes:
        field: the name of the field, as the caller wrote it.
        value: the value that was refused.
        allowed: what would have been accepted, in words.
    """

    def __init__(self, field: str, value: Any, allowed: str) -> None:
        self.field = field
        self.value = value
        self.allowed = allowed
        try:
            shown = repr(value)
        except ValueError:
            # Python refuses to print a whole number of thousands of digits.
            shown = f"<{type(value).__name__} with too many digits>"
        if len(shown) > 80:
            shown = shown[:77] + "..."
        super().__init__(f"{field}={shown} is not allowed; allowed: {allowed}")


class UnknownOption(InvalidField, TypeError):
    """A name that no field has. Also a TypeError, as for any unknown keyword argument."""

    def __init__(self, owner: str, name: str, known: list[str]) -> None:
        KitError.__init__(
            self,
            f"{owner} has no option {name!r}; known options: {', '.join(sorted(known))}",
        )
        self.field = name
        self.value = None
        self.allowed = ", ".join(sorted(known))


class RequestRefused(InvalidField):
    """A well-formed request that can never fit into this engine (convention 10)."""


class QueueFull(KitError):
    """The waiting queue is at its bound (convention 8). Try again after `retry_after_s`."""

    def __init__(self, what: str, limit: int, retry_after_s: float = 1.0) -> None:
        self.limit = limit
        self.retry_after_s = retry_after_s
        super().__init__(
            f"the waiting queue is full: {what} would pass the limit of {limit}; "
            f"retry after {retry_after_s:g} s"
        )


class ModelNotFound(KitError):
    """A model could not be found or read; the message lists what was tried."""


class OutOfBlocks(KitError):
    """The block pool cannot give that many blocks; nothing was taken."""


class IntegrityError(KitError):
    """The books of the blocks are wrong (a leak, a double count), or this call would make them wrong."""


class LifecycleBroken(KitError):
    """A replaced lifecycle did not end a request that it was told to end."""


class EngineClosed(KitError):
    """The engine does not take requests any more."""


class WrongLoop(KitError, RuntimeError):
    """A stream was read on another event loop than the one it was submitted on. Its request is cancelled."""


class EngineFailed(KitError):
    """The request ended with finish reason `error`; `__cause__` holds the first fault."""
