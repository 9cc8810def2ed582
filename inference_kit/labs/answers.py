"""Right and wrong answers of a lab, as texts of answer cells.

Owns the form of the files in `accept/` and `reject/` and the way an answer is put into a stub
cell. It runs nothing. Each file `qM.py` holds several answers, separated by `# %% name`. Below a
name in `reject/` stand `# fails: check, check` and `# fault: one sentence`.

An answer is Python text. A definition that the stub also has takes the stub's place; everything
else (helpers, imports) goes in front of the first one. Given parts need not be repeated.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path

from .extract import MasterError

_NAME = re.compile(r"^# %% (.+)$", re.MULTILINE)
_FIELD = re.compile(r"^# (fails|fault): (.+)$", re.MULTILINE)
_REGION = re.compile(r"^[ ]*### (BEGIN|END) SOLUTION\n", re.MULTILINE)
_BODY = re.compile(r"(?ms)^(?P<indent>[ ]*)### BEGIN SOLUTION\n.*?### END SOLUTION")


Definition = ast.FunctionDef | ast.ClassDef


@dataclass(frozen=True)
class Answer:
    """One answer to one question.

    Attributes:
        question: "q1".
        name: short name, unique in its file.
        source: text of the whole answer cell, marker line first.
        fails: names of the checks that it must fail; empty for a right answer.
        fault: what is wrong with it, in one sentence.
    """

    question: str
    name: str
    source: str
    fails: tuple[str, ...] = ()
    fault: str = ""


def reference_source(cell: str) -> str:
    """The answer cell of the source notebook without the BEGIN and END lines."""
    return _REGION.sub("", cell + "\n").rstrip("\n")


def stub_source(cell: str, stub: str = "raise NotImplementedError") -> str:
    """The answer cell as it is released."""
    return _BODY.sub(lambda match: match["indent"] + stub, cell)


def splice(stub: str, answer: str) -> str:
    """The stub cell with the answer's definitions in place of its own."""
    lines = stub.split("\n")
    new_tree = ast.parse(answer)
    own = {node.name: node for node in ast.parse(stub).body if isinstance(node, Definition)}
    replaced = [node for node in new_tree.body if isinstance(node, Definition) and node.name in own]
    if not replaced:
        raise MasterError("the answer defines none of the names of its stub")
    texts = {node.name: _text(answer, node) for node in replaced}
    rest = [_text(answer, node) for node in new_tree.body if node not in replaced]
    first = min((own[node.name] for node in replaced), key=lambda node: node.lineno)
    for node in sorted(own.values(), key=lambda node: -node.lineno):
        if node.name not in texts:
            continue
        block = texts[node.name]
        if node is first and rest:
            block = "\n\n\n".join([*rest, block])
        lines[_start(node) - 1 : node.end_lineno] = block.split("\n")
    return "\n".join(lines)


def _start(node: ast.stmt) -> int:
    return min([node.lineno, *(item.lineno for item in getattr(node, "decorator_list", []))])


def _text(source: str, node: ast.stmt) -> str:
    return "\n".join(source.split("\n")[_start(node) - 1 : node.end_lineno])


def read_answers(folder: Path, stubs: dict[str, str]) -> list[Answer]:
    """All answers of an `accept` or `reject` folder, in order. `stubs`: stub cell by question."""
    answers: list[Answer] = []
    for path in sorted(folder.glob("q*.py")):
        if path.stem not in stubs:
            raise MasterError(f"{path} belongs to no question")
        parts = _NAME.split(path.read_text(encoding="utf-8"))[1:]
        for name, text in zip(parts[::2], parts[1::2], strict=True):
            fields = dict(_FIELD.findall(text))
            fails = tuple(item.strip() for item in fields.get("fails", "").split(",") if item.strip())
            source = splice(stubs[path.stem], text)
            answers.append(Answer(path.stem, name.strip(), source, fails, fields.get("fault", "")))
    return answers
