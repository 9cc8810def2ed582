"""The sandboxed side of grading: runs an answer and lends it to the judge, call by call.

This file is started as a script inside the sandbox. It uses the standard library and the one
file `plain.py` (the encoding of plain data), and never sees a check. Everything it says is
untrusted: the judge takes only plain data from it, so a hostile answer that rewrites this
process gains nothing.
"""

from __future__ import annotations
import __future__

import ast
import builtins
import importlib.machinery
import importlib.util
import json
import os
import resource
import signal
import sys
import threading
import types
from collections.abc import Callable, Iterator
from typing import Any

MAX_MESSAGE = 400
PR_SET_PDEATHSIG = 1
CO_COROUTINE = 0x80  # inspect.CO_COROUTINE, without the import


class Channel:
    """JSON lines on two private file descriptors: the judge's end of stdin and stdout."""

    def __init__(self, read_fd: int, write_fd: int) -> None:
        self._reader = os.fdopen(read_fd, "rb")
        self._writer = os.fdopen(write_fd, "wb")

    @classmethod
    def take_over_stdio(cls) -> Channel:
        """Move stdin and stdout away from the answer. What it prints is dropped; it reads EOF."""
        read_fd, write_fd = os.dup(0), os.dup(1)
        null_in, null_out = os.open(os.devnull, os.O_RDONLY), os.open(os.devnull, os.O_WRONLY)
        os.dup2(null_in, 0)
        os.dup2(null_out, 1)
        os.dup2(null_out, 2)
        os.close(null_in)
        os.close(null_out)
        return cls(read_fd, write_fd)

    def send(self, message: dict[str, Any]) -> None:
        self._writer.write(json.dumps(message).encode() + b"\n")
        self._writer.flush()

    def receive(self) -> dict[str, Any] | None:
        """The next message of the judge; None when the judge is gone."""
        line = self._reader.readline()
        return json.loads(line) if line else None


def confine(limits: dict[str, int], held_bytes: int = 0) -> None:
    """Set the limits of this process for good, and become nobody if told to.

    `limits`: cpu_s, memory_bytes (beyond `held_bytes`, which the process has already),
    processes, file_bytes, open_files, uid (-1: stay).
    """
    pairs = (
        (resource.RLIMIT_CPU, limits["cpu_s"]),
        (resource.RLIMIT_DATA, held_bytes + limits["memory_bytes"]),
        (resource.RLIMIT_NPROC, limits["processes"]),
        (resource.RLIMIT_FSIZE, limits["file_bytes"]),
        (resource.RLIMIT_NOFILE, limits["open_files"]),
        (resource.RLIMIT_CORE, 0),
    )
    for kind, value in pairs:
        hard = resource.getrlimit(kind)[1]
        top = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (top, top))
    if limits["uid"] >= 0:
        os.setgroups([])
        os.setgid(limits["uid"])
        os.setuid(limits["uid"])


def die_with_parent() -> None:
    """Ask the kernel to kill this process when the judge dies. A setuid clears the request."""
    import ctypes  # ten milliseconds that only the level without bubblewrap has to pay

    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


class BlockedModules:
    """A finder that refuses the modules under study, where they happen to be installed."""

    def __init__(self, names: list[str]) -> None:
        self._names = tuple(names)

    def find_spec(
        self, fullname: str, path: Any = None, target: Any = None
    ) -> importlib.machinery.ModuleSpec | None:
        for name in self._names:
            if fullname == name or fullname.startswith(name + "."):
                raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)
        return None


def load_plain(path: str) -> types.ModuleType:
    """The encoding of plain data, loaded from its one file."""
    spec = importlib.util.spec_from_file_location("plain", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"cannot load {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules["plain"] = module
    spec.loader.exec_module(module)
    return module


# --- running the notebook's code ----------------------------------------------------------------


def without_magics(source: str) -> str:
    """Python source of a notebook cell: magic and shell lines become `pass`."""
    lines = []
    for line in source.split("\n"):
        bare = line.lstrip()
        is_magic = bare.startswith(("%", "!"))
        lines.append(line[: len(line) - len(bare)] + "pass" if is_magic else line)
    return "\n".join(lines)


def parse_cell(source: str, name: str) -> list[ast.stmt]:
    """The statements of a cell; magics are looked at only where plain Python fails."""
    try:
        return ast.parse(source, name).body
    except SyntaxError:
        return ast.parse(without_magics(source), name).body


def bound_names(statement: ast.stmt) -> set[str]:
    """Names that a top-level statement defines."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {statement.name}
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return {(alias.asname or alias.name).split(".")[0] for alias in statement.names}
    if isinstance(statement, (ast.Assign, ast.AnnAssign)):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        return {node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)}
    return {name for inner in inner_statements(statement) for name in bound_names(inner)}


def inner_statements(statement: ast.stmt) -> Iterator[ast.stmt]:
    """The statements of a top-level `if` or `try`, where imports are often guarded."""
    if isinstance(statement, ast.If):
        yield from statement.body
        yield from statement.orelse
    elif isinstance(statement, ast.Try):
        for part in (statement.body, statement.orelse, statement.finalbody):
            yield from part
        for handler in statement.handlers:
            yield from handler.body


def is_definition(statement: ast.stmt) -> bool:
    """True for an import, def, class, plain assignment, or a guard around nothing else."""
    if isinstance(statement, ast.Assign):
        return all(isinstance(target, (ast.Name, ast.Tuple)) for target in statement.targets)
    if isinstance(statement, ast.AnnAssign):
        return isinstance(statement.target, ast.Name)
    if isinstance(statement, (ast.If, ast.Try)):
        inside = [inner for inner in inner_statements(statement) if not isinstance(inner, ast.Pass)]
        return all(is_definition(inner) for inner in inside)
    return isinstance(
        statement, (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    )


class Notebook:
    """The answer's `__main__`: cells run in order, and one that fails stops no other."""

    def __init__(self) -> None:
        module = types.ModuleType("__main__")
        self.namespace: dict[str, Any] = module.__dict__
        self._worker_module = sys.modules["__main__"]  # keeps this file's globals alive
        self._flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        sys.modules["__main__"] = module

    def run(self, cell: dict[str, Any], protected: set[str]) -> str:
        """Run one cell; returns what stopped it, or an empty string.

        A helper cell gives its definitions only, each on its own, and never rebinds a
        `protected` name. An answer cell runs whole and stops at its first error, as in a
        notebook, except that an import that fails stops nothing.
        """
        try:
            statements = parse_cell(cell["source"], f"<{cell['key']}>")
        except Exception as error:
            return describe(error)["type"]
        whole = cell["answer"] and not cell["definitions_only"]
        problem = ""
        for statement in statements:
            if not whole and not is_definition(statement):
                continue
            if not cell["answer"] and bound_names(statement) & protected:
                continue
            trouble = self._execute(statement, cell["key"])
            problem = problem or trouble
            if trouble and whole and not isinstance(statement, (ast.Import, ast.ImportFrom)):
                break
        return problem

    def _execute(self, statement: ast.stmt, key: str) -> str:
        try:
            module = ast.Module([statement], [])
            code = compile(module, f"<{key}>", "exec", flags=self._flags, dont_inherit=True)
            if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
                for alias in statement.names:
                    self._flags |= getattr(__future__, alias.name).compiler_flag
            if code.co_flags & CO_COROUTINE:
                import asyncio  # fifty milliseconds that only a top-level await has to pay

                asyncio.run(types.FunctionType(code, self.namespace)())
            else:
                exec(code, self.namespace)
        except BaseException as error:
            # SystemExit and KeyboardInterrupt included: they end a cell, not the notebook.
            return describe(error)["type"]
        return ""


def answer_names(cells: list[dict[str, Any]]) -> set[str]:
    """Every name that an answer cell defines at its top level."""
    names: set[str] = set()
    for cell in cells:
        if cell["answer"]:
            try:
                statements = parse_cell(cell["source"], "<answer>")
            except Exception:
                continue  # its cell reports the error when it runs
            for statement in statements:
                if is_definition(statement) and not isinstance(statement, (ast.Import, ast.ImportFrom)):
                    names |= bound_names(statement)
    return names


def describe(error: BaseException) -> dict[str, Any]:
    """What the judge learns of an exception: type, message and bases, as short texts."""
    try:
        message = str(error)[:MAX_MESSAGE]
    except BaseException:
        message = ""
    names = [str(cls.__name__) for cls in type(error).__mro__ if cls is not object]
    kind = "not_done" if isinstance(error, NotImplementedError) else "raised"
    return {"kind": kind, "type": names[0], "message": message, "bases": names}


# --- serving the judge ----------------------------------------------------------------------------


class Failure(Exception):
    """A request that cannot be answered; `reply` is what the judge gets."""

    def __init__(self, **reply: Any) -> None:
        super().__init__(reply)
        self.reply = reply


class Server:
    """Answers the judge's requests on the notebook's names."""

    def __init__(self, channel: Channel, notebook: Notebook, plain: types.ModuleType) -> None:
        self._channel = channel
        self._namespace = notebook.namespace
        self._plain = plain
        self._kept: dict[int, Any] = {}
        self._lock = threading.RLock()

    def serve(self) -> None:
        while (request := self._channel.receive()) is not None:
            self._channel.send(self.reply(request))

    def reply(self, request: dict[str, Any]) -> dict[str, Any]:
        if request["op"] == "many":
            return self._many(request)
        try:
            return {"done": self._perform(request)}
        except Failure as failure:
            return {"error": failure.reply}
        except BaseException as error:
            return {"error": describe(error)}

    def _many(self, request: dict[str, Any]) -> dict[str, Any]:
        """One call after the other. Each result becomes plain data before the next call can change it."""
        results, errors = [], {}
        kept = {"op": "method", "handle": request["handle"]} if "handle" in request else {"op": "call"}
        for index, (name, *args) in enumerate(self._plain.decode_plain(request["plain"])):
            try:
                results.append(self._tree(name, self._target({**kept, "name": name})(*args)))
            except Failure as failure:
                errors[index] = failure.reply
            except BaseException as error:
                errors[index] = describe(error)
            if index in errors:
                results.append(None)
        return {"done": self._plain.text_of(results), "errors": errors}

    def _perform(self, request: dict[str, Any]) -> str:
        target = self._target(request)
        if request["op"] in ("get", "attr"):
            return self._encode(request["name"], target)
        args = [self._argument(arg) for arg in request["args"]]
        kwargs = {name: self._argument(arg) for name, arg in request["kwargs"].items()}
        result = target(*args, **kwargs)
        if request["op"] == "new":
            self._kept[request["key"]] = result
            return self._encode("new", None)
        return self._encode(request["name"], result)

    def _target(self, request: dict[str, Any]) -> Any:
        name = request["name"]
        if request["op"] in ("method", "attr"):
            kept = self._kept[request["handle"]]
            try:
                return getattr(kept, name)
            except AttributeError:
                raise Failure(kind="missing", message=f"the object has no {name!r}") from None
        if name not in self._namespace:
            raise Failure(kind="missing", message=f"{name} is not defined")
        return self._namespace[name]

    def _argument(self, arg: dict[str, Any]) -> Any:
        if "handle" in arg:
            return self._kept[arg["handle"]]
        if "callback" in arg:
            return self._callable(arg["callback"], arg["known"])
        return self._plain.decode_plain(arg["plain"])

    def _encode(self, name: str, value: Any) -> str:
        text: str = self._plain.text_of(self._tree(name, value))
        return text

    def _tree(self, name: str, value: Any) -> Any:
        """A value as what JSON can say. Raises `Failure` for one that is not plain data."""
        try:
            return self._plain.tree_of(value)
        except (TypeError, self._plain.PlainTooLarge) as error:
            type_name = str(type(value).__name__)
            message = f"{name} gave {error}"[:MAX_MESSAGE]
            raise Failure(kind="not_plain", message=message, type=type_name) from None

    def _callable(self, key: int, known: dict[str, str]) -> Callable[..., Any]:
        def ask_the_check(*args: Any) -> Any:
            text = self._plain.text_of([self._tree("the argument", arg) for arg in args])
            if text in known:
                return self._plain.decode_plain(known[text])
            with self._lock:
                self._channel.send({"callback": key, "plain": text})
                return self._wait_for_return()

        return ask_the_check

    def _wait_for_return(self) -> Any:
        """The judge may use the answer again before it returns: serve it meanwhile."""
        while (message := self._channel.receive()) is not None:
            if message["op"] == "return":
                return self._plain.decode_plain(message["plain"])
            if message["op"] == "raise":
                found = getattr(builtins, message["type"], None)
                if isinstance(found, type) and issubclass(found, Exception):
                    raise found(message["message"])
                raise RuntimeError(message["message"])
            self._channel.send(self.reply(message))
        raise EOFError("the judge is gone")


def serve(channel: Channel, plain: types.ModuleType, held_bytes: int, give_up: Callable[[], None]) -> None:
    """Take the program from the judge, run it, then serve requests until the judge leaves.

    `give_up` is called when the limits are set and before anything of the program runs.
    """
    setup = channel.receive()
    if setup is None:
        return
    sys.dont_write_bytecode = True
    sys.path.extend(path for path in setup["paths"] if path not in sys.path)
    sys.meta_path.insert(0, BlockedModules(setup["blocked"]))
    confine(setup["limits"], held_bytes)
    give_up()
    channel.send({"ready": True})
    notebook = Notebook()
    protected = answer_names(setup["cells"])
    problems = []
    for index, cell in enumerate(setup["cells"]):
        channel.send({"cell": index})
        problems.append(notebook.run(cell, protected))
    channel.send({"loaded": problems})
    Server(channel, notebook, plain).serve()


if __name__ == "__main__":
    serve(Channel.take_over_stdio(), load_plain(sys.argv[1]), 0, die_with_parent)
