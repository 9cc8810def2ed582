"""An answer in a sandboxed worker, as the checks see it.

`RemoteSubject` is the `Subject` of the checking framework over the wire of one worker.
Invariant: only plain data crosses, and it is decoded into exact builtin types; nothing that
comes from the worker is unpickled, evaluated or compared by its own methods.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NoReturn

from inference_kit.labs.checking import (
    MAX_SHOWN,
    AnswerDied,
    AnswerError,
    AnswerRaised,
    AnswerTimeout,
    Callback,
    CallbackRaises,
    Handle,
    MissingAnswer,
    NotDone,
    NotPlain,
    Result,
)
from inference_kit.labs.plain import Plain, decode_plain, encode_plain

from .confined import Confined, SandboxUnavailable
from .sandbox import Limits, Sandbox, setup_message

MAX_STARTS = 8
GROUP = 100
"""Of many calls, how many go in one message: its reply must stay below the limit of a reply."""
NONSENSE = "the process of the answer talks nonsense"


@dataclass(frozen=True)
class ProgramCell:
    """One code cell that the worker runs. Helpers give their definitions only."""

    key: str
    source: str
    answer: bool


class RemoteSubject:
    """One loaded worker. After a time-out or a death `lost` says which, and it stays lost."""

    def __init__(self, confined: Confined) -> None:
        self._confined = confined
        self._keys = itertools.count(1)
        self._callbacks: dict[int, Callback] = {}
        self._check_errors: list[Exception] = []
        self._deadline_s = 0.0
        self.lost: AnswerError | None = None

    def begin(self, check_s: float) -> None:
        """Give the next check its wall time."""
        self._callbacks.clear()
        self._check_errors.clear()
        self._deadline_s = self._confined.clock.now() + check_s

    def close(self) -> None:
        """End the worker and everything it started."""
        self._confined.kill()

    def call(self, name: str, *args: Any, **kwargs: Any) -> Plain:
        return self._decode(self._ask("call", name, args, kwargs))

    def get(self, name: str) -> Plain:
        return self._decode(self._ask("get", name))

    def new(self, name: str, *args: Any, **kwargs: Any) -> Handle:
        handle = Handle(next(self._keys))
        self._ask("new", name, args, kwargs, key=handle.key)
        return handle

    def method(self, handle: Handle, name: str, *args: Any, **kwargs: Any) -> Plain:
        return self._decode(self._ask("method", name, args, kwargs, handle=handle.key))

    def attr(self, handle: Handle, name: str) -> Plain:
        return self._decode(self._ask("attr", name, handle=handle.key))

    def calls(self, name: str, arguments: Iterable[tuple[Any, ...]]) -> list[Result]:
        return self._many([(name, *given) for given in arguments])

    def methods(self, handle: Handle, requests: Iterable[tuple[Any, ...]]) -> list[Result]:
        return self._many(list(requests), handle=handle.key)

    def _many(self, requests: list[tuple[Any, ...]], **more: int) -> list[Result]:
        """Send requests in groups; an error is raised when its result is asked for."""
        if any(isinstance(part, (Callback, Handle)) for request in requests for part in request):
            raise TypeError("one of many calls cannot be given a Callback or a Handle")
        results: list[Result] = []
        pending = len(self._check_errors)
        for start in range(0, len(requests), GROUP):
            group = requests[start : start + GROUP]
            reply = self._exchange({"op": "many", "plain": encode_plain(group), **more})
            self._raise_check_error(pending)
            values, errors = self._decode(reply.get("done")), reply.get("errors")
            if not isinstance(values, list) or len(values) != len(group) or not isinstance(errors, dict):
                self._lose(AnswerDied(NONSENSE))
            for index, (request, value) in enumerate(zip(group, values, strict=True)):
                error = errors.get(str(index))
                results.append(functools.partial(self._result, request[0], value, error))
        return results

    def _result(self, name: str, value: Plain, error: Any) -> Plain:
        if error is None:
            return value
        self._encoded(name, {"error": error})  # raises it
        raise AnswerDied(NONSENSE)

    def _ask(
        self,
        op: str,
        name: str,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
        **more: int,
    ) -> str:
        """Send one request, serve the callbacks it causes, and return the encoded result."""
        request = self._request(op, name, args, kwargs or {}, **more)
        pending = len(self._check_errors)
        reply = self._exchange(request)
        self._raise_check_error(pending)
        return self._encoded(name, reply)

    def _request(
        self, op: str, name: str, args: Iterable[Any], kwargs: dict[str, Any], **more: int
    ) -> dict[str, Any]:
        return {
            "op": op,
            "name": name,
            "args": [self._argument(arg) for arg in args],
            "kwargs": {key: self._argument(arg) for key, arg in kwargs.items()},
            **more,
        }

    def _encoded(self, name: str, reply: object) -> str:
        """The result in a reply, still encoded. Raises the error that the reply tells of."""
        if isinstance(reply, dict):
            if isinstance(reply.get("done"), str):
                return str(reply["done"])
            if isinstance(reply.get("error"), dict):
                _raise_answer_error(name, reply["error"])
        self._lose(AnswerDied(NONSENSE))

    def _raise_check_error(self, pending: int) -> None:
        """Raise what a callback of the check raised meanwhile, if anything."""
        if len(self._check_errors) > pending:
            error = self._check_errors[pending]
            del self._check_errors[pending:]
            raise error

    def _exchange(self, request: dict[str, Any]) -> dict[str, Any]:
        if self.lost is not None:
            raise self.lost
        try:
            self._confined.send(request, self._deadline_s)
            while "callback" in (message := self._confined.receive(self._deadline_s)):
                self._confined.send(self._serve(message), self._deadline_s)
        except (AnswerTimeout, AnswerDied) as error:
            self._lose(error)
        return message

    def _serve(self, message: dict[str, Any]) -> dict[str, Any]:
        """Run a callback of the check and return what the answer gets."""
        key, args = message["callback"], self._decode(message.get("plain"))
        callback = self._callbacks.get(key) if isinstance(key, int) else None
        if callback is None or not isinstance(args, list):
            self._lose(AnswerDied(NONSENSE))
        try:
            return {"op": "return", "plain": encode_plain(callback.fn(*args))}
        except CallbackRaises as error:
            return {"op": "raise", "type": error.type_name, "message": error.message}
        except Exception as error:
            if self.lost is not None:
                raise
            # The check gets its own error after the call, whatever the answer does with it.
            self._check_errors.append(error)
            return {"op": "raise", "type": "RuntimeError", "message": "the callback failed"}

    def _argument(self, arg: Any) -> dict[str, Any]:
        if isinstance(arg, Handle):
            return {"handle": arg.key}
        if isinstance(arg, Callback):
            key = next(self._keys)
            self._callbacks[key] = arg
            known = {encode_plain(list(args)): encode_plain(result) for args, result in arg.known}
            return {"callback": key, "known": known}
        return {"plain": encode_plain(arg)}

    def _decode(self, text: Any) -> Plain:
        try:
            return decode_plain(text)
        except (ValueError, TypeError):
            self._lose(AnswerDied(NONSENSE))

    def _lose(self, error: AnswerError) -> NoReturn:
        self.lost = error
        raise error


def _raise_answer_error(name: str, error: dict[str, Any]) -> NoReturn:
    """Raise the `AnswerError` that the worker describes; an unknown one counts as raised."""
    kind, type_name = error.get("kind"), clean_text(error.get("type", ""))
    message = clean_text(error.get("message", ""))
    if kind == "not_done":
        raise NotDone("not done yet")
    if kind == "missing":
        raise MissingAnswer(f"{name} is not defined in the answer")
    if kind == "not_plain":
        raise NotPlain(message, type_name)
    bases = error.get("bases")
    names = tuple(clean_text(base) for base in bases[:64]) if isinstance(bases, list) else ()
    raise AnswerRaised(type_name or "Exception", message, names)


def clean_text(value: object, limit: int = MAX_SHOWN) -> str:
    """A short text without control characters or unpaired surrogates."""
    text = value if isinstance(value, str) else type(value).__name__
    shown = (ch if ch.isprintable() or ch == "\n" else "\N{REPLACEMENT CHARACTER}" for ch in text[:limit])
    return "".join(shown)


class Runner:
    """Starts workers for one submission and remembers which of its cells kill or hang them.

    Such a cell is tried again with its definitions only, and then left out, so that the
    other questions are still graded. `faults` maps its key to "died" or "timeout", and
    `stopped` maps the key of a cell that raised to the name of its exception.
    """

    def __init__(
        self,
        cells: tuple[ProgramCell, ...],
        sandbox: Sandbox,
        limits: Limits,
        warm: tuple[str, ...] = (),
    ) -> None:
        self._cells = cells
        self._warm = warm
        self._sandbox = sandbox
        self.limits = limits
        self.faults: dict[str, str] = {}
        self.stopped: dict[str, str] = {}
        self._definitions_only: set[int] = set()
        self._left_out: set[int] = set()
        self._next: _Begun | None = None

    @property
    def level(self) -> str:
        """The level of confinement of every worker of this runner."""
        return self._sandbox.level

    def prepare(self) -> None:
        """Let the next worker load its cells while this one is at work. Only time depends on it."""
        if self._next is None:
            self._next = self._begin()

    def close(self) -> None:
        """End a worker that was prepared and not used. Safe to repeat."""
        if self._next is not None:
            begun, self._next = self._next, None
            begun.confined.kill()

    def start(self) -> RemoteSubject:
        """A worker with every cell loaded that can be. Raises `AnswerError` when none starts."""
        try:
            return self._start()
        except SandboxUnavailable:
            # The sandbox ended while the worker was on its way. A new one is tried once.
            self.close()
            self._sandbox.close()
            return self._start()

    def _start(self) -> RemoteSubject:
        for _ in range(MAX_STARTS):
            begun, self._next = self._next or self._begin(), None
            confined, running = begun.confined, _Position()
            try:
                self._load(begun, running)
            except AnswerError as error:
                confined.kill()
                if not self._blame(running.cell, error.status):
                    raise
                self.close()  # what was prepared has the cell that is to blame
            except BaseException:
                confined.kill()
                raise
            else:
                return RemoteSubject(confined)
        raise AnswerDied("too many cells of the notebook end or hang their process")

    def _begin(self) -> _Begun:
        """Start a worker and give it its cells, without waiting for them."""
        confined = self._sandbox.start(self.limits, self._warm)
        numbers = [number for number in range(len(self._cells)) if number not in self._left_out]
        cells = [self._given(number) for number in numbers]
        try:
            confined.send(
                setup_message(self._sandbox, self.limits, cells), confined.clock.now() + self.limits.load_s
            )
        except AnswerError as error:
            confined.kill()
            raise SandboxUnavailable(f"a worker did not start: {error}") from error
        except BaseException:
            confined.kill()
            raise
        return _Begun(confined, numbers)

    def _load(self, begun: _Begun, running: _Position) -> None:
        limits, confined, numbers = self.limits, begun.confined, begun.numbers
        end_s = confined.clock.now() + limits.load_s
        await_ready(confined, end_s)
        while True:
            message = confined.receive(min(end_s, confined.clock.now() + limits.cell_s))
            if "loaded" in message:
                self._remember(numbers, message["loaded"])
                return
            index = message.get("cell")
            if not isinstance(index, int) or not 0 <= index < len(numbers):
                raise AnswerDied(NONSENSE)
            running.cell = numbers[index]

    def _remember(self, numbers: list[int], problems: object) -> None:
        if not isinstance(problems, list) or len(problems) != len(numbers):
            raise AnswerDied(NONSENSE)
        for number, problem in zip(numbers, problems, strict=True):
            if problem:
                self.stopped[self._cells[number].key] = clean_text(problem, 80)

    def _given(self, number: int) -> dict[str, object]:
        cell = self._cells[number]
        only = number in self._definitions_only
        return {"key": cell.key, "source": cell.source, "answer": cell.answer, "definitions_only": only}

    def _blame(self, number: int | None, status: str) -> bool:
        """Demote the cell that ran when the worker was lost. False when it was none."""
        if number is None:
            return False
        self.faults[self._cells[number].key] = status
        if number in self._definitions_only or not self._cells[number].answer:
            self._left_out.add(number)
        else:
            self._definitions_only.add(number)
        return True


def await_ready(confined: Confined, deadline_s: float) -> None:
    """Wait until a worker is about to run its program. Before that, no answer is to blame.

    Raises `SandboxUnavailable`.
    """
    try:
        ready = confined.receive(deadline_s) == {"ready": True}
    except AnswerError as error:
        raise SandboxUnavailable(f"a worker did not start: {error}") from error
    if not ready:
        raise SandboxUnavailable("a worker did not start: it said something else")


@dataclass(frozen=True)
class _Begun:
    """A worker that has got its cells, and their numbers."""

    confined: Confined
    numbers: list[int]


@dataclass
class _Position:
    """The number of the cell that a worker is running."""

    cell: int | None = None
