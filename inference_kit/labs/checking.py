"""Checks of answers: how they are written, run against an answer, and reported.

A check sees an answer only as a `Subject`: it calls names and gets plain data back, so the
same check runs in the learner's kernel (`LocalSubject`) and in the judge (the answer in a
sandboxed process). `run_check` never raises for what an answer does, and a check passes only
when its function returns (convention 15).
"""

from __future__ import annotations

import builtins
import functools
import importlib.util
import itertools
import math
import random
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, Protocol

from ..errors import KitError
from .plain import Plain, PlainTooLarge, decode_plain, encode_plain, plain

MAX_SHOWN = 400


# --- what can go wrong with an answer -----------------------------------------------------------


class AnswerError(KitError):
    """An answer did not give a plain result. `status` is what `CheckResult.status` becomes."""

    status = "raised"


class NotDone(AnswerError):
    """The answer raised NotImplementedError: its TODO lines still wait."""

    status = "not_done"


class MissingAnswer(AnswerError):
    """The name is not defined, or does not have the attribute."""

    status = "missing"


class NotPlain(AnswerError):
    """The answer returned something that is not plain data; `type_name` says what."""

    status = "not_plain"

    def __init__(self, message: str, type_name: str = "") -> None:
        super().__init__(message)
        self.type_name = type_name


class AnswerRaised(AnswerError):
    """The answer raised an exception.

    Attributes:
        type_name: the class name of the exception.
        message: its text, cut to a few lines.
        bases: the class names of its MRO, without `object`, first the class itself.
    """

    def __init__(self, type_name: str, message: str, bases: tuple[str, ...] = ()) -> None:
        super().__init__(f"{type_name}: {message}" if message else type_name)
        self.type_name = type_name
        self.message = message
        self.bases = bases or (type_name,)


class AnswerTimeout(AnswerError):
    """The answer did not come back within its limit (raised by the judge only)."""

    status = "timeout"


class AnswerDied(AnswerError):
    """The process of the answer ended (raised by the judge only)."""

    status = "died"


class Mismatch(KitError):
    """A check found a difference. All four parts may be None or empty.

    Attributes:
        given: what was asked of the answer, as plain data or a short text.
        expected: what a right answer gives.
        got: what this answer gave.
        note: one sentence that says what the difference means.
    """

    def __init__(
        self, note: str = "", *, given: Plain = None, expected: Plain = None, got: Plain = None
    ) -> None:
        super().__init__(note or "the result differs")
        self.note = note
        self.given = given
        self.expected = expected
        self.got = got


# --- the answer, seen from a check ----------------------------------------------------------------


@dataclass(frozen=True)
class Handle:
    """Stands for an instance that stays on the answer's side. Only its subject can use it."""

    key: int


@dataclass(frozen=True)
class Callback:
    """An argument that the answer can call. `fn` runs on the check's side, on plain data.

    If `fn` raises `CallbackRaises`, the answer sees that builtin exception. If it raises
    anything else (a `Mismatch`, say), the answer sees a RuntimeError and the check gets the
    original error after the call, whatever the answer did with its RuntimeError.
    `fn` may use the subject again while the answer waits (re-entrancy).

    `known` holds (arguments, result) of calls of an `fn` whose result depends on nothing but its
    arguments. They travel with the callback: an answer that asks the expected need not ask here.
    """

    fn: Callable[..., Plain]
    known: tuple[tuple[tuple[Plain, ...], Plain], ...] = ()


def recorded(fn: Callable[..., Plain], run: Callable[[Callable[..., Plain]], object]) -> Callback:
    """A callback that knows what `fn` gives for every call that `run` makes of the function it gets.

    A sequence among the arguments counts as a list: who asks with a tuple asks `fn` itself.
    """
    calls: list[tuple[tuple[Plain, ...], Plain]] = []

    def record(*args: Plain) -> Plain:
        result = fn(*args)
        for kind in (list, tuple):
            calls.append(
                (tuple(kind(arg) if isinstance(arg, (list, tuple)) else arg for arg in args), result)
            )
        return result

    run(record)
    return Callback(fn, tuple(calls))


class CallbackRaises(Exception):
    """Raised by the `fn` of a `Callback`: the answer's call fails with this builtin type."""

    def __init__(self, type_name: str, message: str = "") -> None:
        super().__init__(f"{type_name}: {message}")
        self.type_name = type_name
        self.message = message


Result = Callable[[], Plain]
"""Gives the plain result of one of many calls, or raises its `AnswerError`."""


class Subject(Protocol):
    """An answer behind plain data. Every method may raise an `AnswerError`."""

    def call(self, name: str, *args: Any, **kwargs: Any) -> Plain:
        """Call the function `name` and return its result as plain data."""
        ...

    def get(self, name: str) -> Plain:
        """The value of the name `name` as plain data."""
        ...

    def new(self, name: str, *args: Any, **kwargs: Any) -> Handle:
        """Call `name` and keep its result, whatever it is, on the answer's side."""
        ...

    def method(self, handle: Handle, name: str, *args: Any, **kwargs: Any) -> Plain:
        """Call a method of the kept instance and return its result as plain data."""
        ...

    def attr(self, handle: Handle, name: str) -> Plain:
        """The value of an attribute of the kept instance as plain data."""
        ...

    def calls(self, name: str, arguments: Iterable[tuple[Any, ...]]) -> list[Result]:
        """Call the function `name` once with each of these arguments, in order.

        One trip to the answer instead of many. Each `Result` gives what `call` would have given,
        or raises what it would have raised. No argument may be a `Callback`.
        """
        ...

    def methods(self, handle: Handle, requests: Iterable[tuple[Any, ...]]) -> list[Result]:
        """Call methods of the kept instance in order; each request is (name, argument, …)."""
        ...


def builtin_exception(type_name: str) -> type[Exception]:
    """The builtin exception class of that name; RuntimeError for any other name."""
    found = getattr(builtins, type_name, None)
    if isinstance(found, type) and issubclass(found, Exception):
        return found
    return RuntimeError


def describe_exception(error: BaseException) -> AnswerError:
    """The `AnswerError` that stands for an exception an answer raised."""
    if isinstance(error, NotImplementedError):
        return NotDone("not done yet")
    try:
        message = str(error)[:MAX_SHOWN]
    except Exception:
        message = ""
    names = tuple(cls.__name__ for cls in type(error).__mro__ if cls is not object)
    return AnswerRaised(type(error).__name__, message, names)


class LocalSubject:
    """An answer in this process: the names of `namespace` (the learner's kernel).

    Arguments and results are copied through plain data, so an answer can neither change a
    check's data nor hand out an object with tricks of its own.
    """

    def __init__(self, namespace: Mapping[str, Any]) -> None:
        self._namespace = namespace
        self._kept: dict[int, Any] = {}
        self._keys = itertools.count(1)
        self._check_errors: list[BaseException] = []

    def call(self, name: str, *args: Any, **kwargs: Any) -> Plain:
        return self._plain(name, self._run(self._lookup(name), args, kwargs))

    def get(self, name: str) -> Plain:
        return self._plain(name, self._lookup(name))

    def new(self, name: str, *args: Any, **kwargs: Any) -> Handle:
        handle = Handle(next(self._keys))
        self._kept[handle.key] = self._run(self._lookup(name), args, kwargs)
        return handle

    def method(self, handle: Handle, name: str, *args: Any, **kwargs: Any) -> Plain:
        return self._plain(name, self._run(self._attribute(handle, name), args, kwargs))

    def attr(self, handle: Handle, name: str) -> Plain:
        return self._plain(name, self._attribute(handle, name))

    def calls(self, name: str, arguments: Iterable[tuple[Any, ...]]) -> list[Result]:
        return in_order([functools.partial(self.call, name, *given) for given in arguments])

    def methods(self, handle: Handle, requests: Iterable[tuple[Any, ...]]) -> list[Result]:
        return in_order([functools.partial(self.method, handle, *request) for request in requests])

    def _lookup(self, name: str) -> Any:
        if name not in self._namespace:
            raise MissingAnswer(f"{name} is not defined; run the cell that defines it")
        return self._namespace[name]

    def _attribute(self, handle: Handle, name: str) -> Any:
        kept = self._kept[handle.key]
        try:
            return getattr(kept, name)
        except AttributeError:
            raise MissingAnswer(f"the object has no {name!r}") from None
        except Exception as error:
            raise describe_exception(error) from None

    def _run(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        given = [self._argument(arg) for arg in args]
        named = {name: self._argument(arg) for name, arg in kwargs.items()}
        pending = len(self._check_errors)
        try:
            result = function(*given, **named)
        except (Exception, SystemExit) as error:
            self._raise_check_error(pending)
            raise describe_exception(error) from None
        self._raise_check_error(pending)
        return result

    def _raise_check_error(self, pending: int) -> None:
        """Re-raise what a callback of this call raised for the check, if anything."""
        if len(self._check_errors) > pending:
            error = self._check_errors[pending]
            del self._check_errors[pending:]
            raise error

    def _argument(self, arg: Any) -> Any:
        if isinstance(arg, Handle):
            return self._kept[arg.key]
        if isinstance(arg, Callback):
            return self._callable(arg)
        return plain(arg)

    def _callable(self, callback: Callback) -> Callable[..., Plain]:
        def call_the_check(*args: Any) -> Plain:
            try:
                return plain(callback.fn(*(self._plain("the argument", arg) for arg in args)))
            except CallbackRaises as error:
                raise builtin_exception(error.type_name)(error.message) from None
            except Exception as error:
                self._check_errors.append(error)
                raise RuntimeError("the callback failed") from None

        return call_the_check

    def _plain(self, name: str, value: Any) -> Plain:
        try:
            return decode_plain(encode_plain(value))
        except (TypeError, PlainTooLarge) as error:
            raise NotPlain(f"{name} gave {error}", type(value).__name__) from None
        except Exception as error:
            raise describe_exception(error) from None


def in_order(actions: list[Result]) -> list[Result]:
    """Results that run the actions when they are asked for, each once and never out of order."""
    done: list[Result] = []

    def ask(index: int) -> Plain:
        while len(done) <= index:
            done.append(_outcome(actions[len(done)]))
        return done[index]()

    return [functools.partial(ask, index) for index in range(len(actions))]


def _outcome(action: Result) -> Result:
    """Run an action now; the result gives its value, or raises its error, as often as asked."""
    try:
        value = action()
    except AnswerError as error:
        return functools.partial(_raise, error)
    return lambda: value


def _raise(error: AnswerError) -> NoReturn:
    raise error


# --- comparing ----------------------------------------------------------------------------------


_SIMPLE = (type(None), bool, int, str, bytes)


def expect(
    got: Plain, expected: Plain, *, given: Plain = None, note: str = "", tol: float | None = None
) -> None:
    """Raise `Mismatch` at the first difference between two plain values, naming its path.

    Types are exact: True is not 1. Numbers compare by value (2 equals 2.0), lists and tuples
    as sequences, NaN equals NaN. `tol` is the largest absolute difference allowed between
    two floats; whoever passes it says why.
    """
    if type(got) is type(expected) and type(got) in _SIMPLE and got == expected:
        return  # most are: nothing to copy, nothing to say
    want = plain(expected)
    try:
        have = plain(got)
    except (TypeError, PlainTooLarge) as error:
        raise Mismatch(str(error), given=given, expected=want) from None
    problem = _difference(have, want, "result", tol)
    if problem:
        text = f"{note}: {problem}" if note else problem
        raise Mismatch(text, given=given, expected=want, got=have)


def _difference(got: Plain, want: Plain, path: str, tol: float | None) -> str:
    """What differs first, or an empty string."""
    if _kind(got) != _kind(want):
        return f"{path} has the wrong type: {type(got).__name__} instead of {type(want).__name__}"
    if isinstance(want, dict):
        return _dict_difference(got, want, path, tol)
    if isinstance(want, (list, tuple)):
        return _sequence_difference(got, want, path, tol)
    if isinstance(want, (int, float)) and not isinstance(want, bool):
        return "" if _same_number(got, want, tol) else f"{path} is {got!r} instead of {want!r}"
    return "" if got == want else f"{path} is {shorten(got)} instead of {shorten(want)}"


def _kind(value: Plain) -> str:
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, (int, float)):
        return "number"
    if isinstance(value, (list, tuple)):
        return "sequence"
    return type(value).__name__


def _same_number(got: float, want: float, tol: float | None) -> bool:
    if isinstance(got, float) and isinstance(want, float) and math.isnan(got) and math.isnan(want):
        return True
    if got == want:
        return True
    return tol is not None and abs(got - want) <= tol


def _dict_difference(got: Plain, want: Plain, path: str, tol: float | None) -> str:
    missing = [key for key in want if key not in got]
    extra = [key for key in got if key not in want]
    if missing:
        return f"{path} lacks the key {shorten(missing[0])}"
    if extra:
        return f"{path} has a key too many: {shorten(extra[0])}"
    for key in want:
        problem = _difference(got[key], want[key], f"{path}[{key!r}]", tol)
        if problem:
            return problem
    return ""


def _sequence_difference(got: Plain, want: Plain, path: str, tol: float | None) -> str:
    for index, (left, right) in enumerate(zip(got, want, strict=False)):
        problem = _difference(left, right, f"{path}[{index}]", tol)
        if problem:
            return problem
    if len(got) != len(want):
        return f"{path} has {len(got)} items instead of {len(want)}"
    return ""


def shorten(value: Plain, limit: int = 160) -> str:
    """A `repr` of plain data that fits into a message."""
    text = repr(value)
    return text if len(text) <= limit else text[: limit - 3] + "..."


def fail(note: str, *, given: Plain = None, expected: Plain = None, got: Plain = None) -> NoReturn:
    """Raise the `Mismatch` that says what is wrong in one sentence."""
    raise Mismatch(note, given=given, expected=expected, got=got)


def expect_raises(
    action: Callable[[], Plain], base: str, *, given: Plain = None, note: str = ""
) -> AnswerRaised:
    """Run `action` (a call of the subject); it must raise an exception that is a `base`.

    Returns the `AnswerRaised`, so that a check can look at the message. `NotDone` and
    `MissingAnswer` pass through: they are not wrong answers of this kind.
    """
    try:
        got = action()
    except AnswerRaised as error:
        if base in error.bases:
            return error
        fail(
            note or f"the exception has the wrong type: {error.type_name} is not a {base}",
            given=given,
            expected=f"raises {base}",
            got=f"raised {error.type_name}: {error.message}",
        )
    shown = "an instance" if isinstance(got, Handle) else got
    fail(note or f"a {base} was expected", given=given, expected=f"raises {base}", got=shown)


# --- sets of checks -------------------------------------------------------------------------------

CheckFunction = Callable[[Subject, random.Random], None]


@dataclass(frozen=True)
class Check:
    """One named check of one question. `points` count only when it passes."""

    lab: str
    question: str
    name: str
    points: int
    visible: bool
    misconception: str
    function: CheckFunction
    rows: tuple[str, ...] = ()
    """First cells of the rows of the contract table that this check tries, without backticks."""


class CheckSet:
    """The checks of one lab, in the order they are written."""

    def __init__(self, lab: str) -> None:
        self.lab = lab
        self.checks: list[Check] = []

    def check(
        self,
        question: str,
        points: int = 1,
        visible: bool = True,
        misconception: str = "",
        rows: tuple[str, ...] = (),
    ) -> Callable[[CheckFunction], CheckFunction]:
        """Register the decorated function. Its name is the check's name, unique in the lab."""
        if isinstance(points, bool) or not isinstance(points, int) or points < 0:
            raise ValueError(f"points={points!r} is not allowed; allowed: a whole number >= 0")

        def register(function: CheckFunction) -> CheckFunction:
            name = getattr(function, "__name__", "")
            if any(name == known.name for known in self.checks):
                raise ValueError(f"{self.lab} has two checks named {name!r}")
            self.checks.append(
                Check(self.lab, question, name, points, visible, misconception, function, rows)
            )
            return function

        return register

    @property
    def questions(self) -> tuple[str, ...]:
        """The ids of the questions, in the order of their first check."""
        return tuple(dict.fromkeys(check.question for check in self.checks))

    def points(self, question: str) -> int:
        """The sum of the points of the question's checks, visible and hidden."""
        return sum(check.points for check in self.of(question))

    def of(self, question: str) -> tuple[Check, ...]:
        """The checks of one question. Raises KeyError naming the known questions."""
        found = tuple(check for check in self.checks if check.question == question)
        if not found:
            raise KeyError(f"{self.lab} has no question {question!r}; known: {', '.join(self.questions)}")
        return found


STATUSES = (
    "passed",
    "failed",
    "not_done",
    "raised",
    "not_plain",
    "missing",
    "timeout",
    "died",
    "not_run",
)


@dataclass(frozen=True)
class CheckResult:
    """What became of one check. `message` is safe to show: it holds no hidden input."""

    question: str
    name: str
    points: int
    earned: int
    visible: bool
    status: str
    message: str
    misconception: str


KNOWN_ERRORS = (
    "AttributeError",
    "IndexError",
    "KeyError",
    "NameError",
    "RecursionError",
    "TypeError",
    "ValueError",
    "ZeroDivisionError",
)
"""The exceptions that a hidden check names: the usual slips, and few, since each name can carry a message."""


def run_check(check: Check, subject: Subject, seed: int | str) -> CheckResult:
    """Run one check against one answer. The same seed gives the same cases.

    Never raises for what an answer does. An interrupt by the person at the keyboard passes.
    """
    rng = random.Random(f"{seed}/{check.lab}/{check.question}/{check.name}")
    try:
        check.function(subject, rng)
    except AnswerError as error:
        return result_of(check, error.status, _answer_message(check, error))
    except Mismatch as error:
        return result_of(check, "failed", _mismatch_message(check, error))
    except Exception as error:
        # A check that trips over an odd shape has not passed; the reference never gets here.
        note = f"the result has the wrong shape ({type(error).__name__})"
        return result_of(check, "failed", note)
    return result_of(check, "passed", "passed")


def result_of(check: Check, status: str, message: str) -> CheckResult:
    """A `CheckResult` for `check`; only "passed" earns its points."""
    if status not in STATUSES:
        raise ValueError(f"status={status!r} is not allowed; allowed: {', '.join(STATUSES)}")
    passed = status == "passed"
    return CheckResult(
        question=check.question,
        name=check.name,
        points=check.points,
        earned=check.points if passed else 0,
        visible=check.visible,
        status=status,
        message=message,
        misconception="" if passed else check.misconception,
    )


def _answer_message(check: Check, error: AnswerError) -> str:
    # An exception's text, and the name of a type of one's own, can tell the input.
    if isinstance(error, AnswerRaised) and not check.visible:
        return f"the answer raised {error.type_name if error.type_name in KNOWN_ERRORS else 'an exception'}"
    if isinstance(error, AnswerRaised):
        return f"the answer raised {error}"
    if isinstance(error, NotDone):
        return "not done yet"
    return str(error) if check.visible or not isinstance(error, NotPlain) else "the result is not plain data"


def _mismatch_message(check: Check, error: Mismatch) -> str:
    if not check.visible:
        return "a hidden case differs"
    lines = [error.note or "the result differs"]
    for label, value in (("given", error.given), ("expected", error.expected), ("got", error.got)):
        if value is not None:
            shown = value if isinstance(value, str) and label == "given" else shorten(value, MAX_SHOWN)
            lines.append(f"  {label}: {shown}")
    return "\n".join(lines)


def load_checks(path: Path) -> CheckSet:
    """The `CHECKS` of a checks file, loaded by path. Raises ValueError when it has none."""
    name = f"_checks_{path.resolve().parent.name}_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ValueError(f"{path} cannot be loaded as Python")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    found = getattr(module, "CHECKS", None)
    if not isinstance(found, CheckSet):
        raise ValueError(f"{path} has no CHECKS = CheckSet(...)")
    return found
