"""Fills a lab's answer cells from the kit's own code, so that there is one source.

Owns the meaning of two comment lines in a master notebook. It reads source text and imports
nothing. Invariant: what stands in an answer cell is, word for word, what the kit runs.

`# @answer module.path:Name` stands alone on a line between BEGIN and END SOLUTION:

- indented, and the name is a function or method: its body, without the docstring. The
  parameters of the function around it must have the same names as the kit's.
- indented, and the name is a module-level value: `return <value>`.
- at the start of the line: the whole function, class or assignment.

`# @given module.path:Name, Other` does the last of these for text that the learner gets.
Several names, separated by commas, come in that order; only the last value is returned.
"""

from __future__ import annotations

import ast
import re
import textwrap
from pathlib import Path

from ..errors import KitError

ROOT = Path(__file__).resolve().parents[2]

_LINE = re.compile(r"^(?P<indent>[ ]*)# @(?P<kind>answer|given) (?P<module>[\w.]+):(?P<names>[\w., ]+)$")

Definition = ast.FunctionDef | ast.ClassDef | ast.Assign | ast.AnnAssign


class MasterError(KitError):
    """A master notebook asks for something that is not there, or is not well formed."""


def fill(source: str, root: Path = ROOT) -> str:
    """Return `source` with each `@answer` and `@given` line replaced by the kit's code.

    Raises `MasterError` for an unknown module or name, and for parameters that differ.
    """
    lines: list[str] = []
    wanted: list[tuple[int, ast.FunctionDef]] = []
    for line in source.split("\n"):
        match = _LINE.match(line)
        if match is None:
            lines.append(line)
            continue
        text, found = module_source(match["module"], root)
        names = [name.strip() for name in match["names"].split(",")]
        nodes = [find_definition(found, name, match["module"]) for name in names]
        if match["indent"] and isinstance(nodes[-1], ast.FunctionDef):
            wanted.append((len(lines) + 1, nodes[-1]))
        lines.extend(_expand(text, nodes, match["indent"]))
    filled = "\n".join(lines)
    for line_number, node in wanted:
        _same_parameters(filled, line_number, node)
    return filled


def module_source(module: str, root: Path = ROOT) -> tuple[str, ast.Module]:
    """Text and tree of a module of this repository, found by path and not imported."""
    path = root.joinpath(*module.split("."))
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    if not file.is_file():
        raise MasterError(f"{module} is no module of this repository")
    text = file.read_text(encoding="utf-8")
    return text, ast.parse(text)


def find_definition(tree: ast.Module, qualname: str, module: str = "") -> Definition:
    """The function, class or assignment of that dotted name. Raises `MasterError`."""
    body: list[ast.stmt] = tree.body
    found: Definition | None = None
    for part in qualname.split("."):
        found = next((node for node in body if isinstance(node, Definition) and _defines(node, part)), None)
        if found is None:
            raise MasterError(f"{module}:{qualname} does not exist")
        body = getattr(found, "body", [])
    if found is None:
        raise MasterError(f"{module}: a name is needed after the colon")
    return found


def _defines(node: Definition, name: str) -> bool:
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return node.name == name
    if isinstance(node, ast.Assign):
        return any(isinstance(target, ast.Name) and target.id == name for target in node.targets)
    return isinstance(node.target, ast.Name) and node.target.id == name


def _expand(text: str, nodes: list[Definition], indent: str) -> list[str]:
    lines: list[str] = []
    for node in nodes:
        if not indent:
            lines += ["", ""] if lines and not isinstance(node, (ast.Assign, ast.AnnAssign)) else []
            lines += _whole(text, node)
        elif isinstance(node, ast.FunctionDef):
            lines += _indented(_body(text, node), indent)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            value = ast.get_source_segment(text, node.value) if node.value else None
            if value is None:
                raise MasterError("a name without a value cannot be an answer")
            start = "return" if node is nodes[-1] else f"{_target(node)} ="
            lines += _indented([f"{start} {value}"], indent)
        else:
            raise MasterError(f"class {node.name} cannot stand inside a function")
    return lines


def _target(node: ast.Assign | ast.AnnAssign) -> str:
    target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
    return ast.unparse(target)


def _whole(text: str, node: Definition) -> list[str]:
    first = min([node.lineno, *(item.lineno for item in getattr(node, "decorator_list", []))])
    return text.split("\n")[first - 1 : node.end_lineno]


def _body(text: str, node: ast.FunctionDef) -> list[str]:
    first, *rest = node.body
    documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    if documented and not rest:
        raise MasterError(f"{node.name} has no body")
    start = (first.end_lineno or 0) if documented else first.lineno - 1
    block = "\n".join(text.split("\n")[start : node.end_lineno])
    return textwrap.dedent(block).split("\n")


def _indented(lines: list[str], indent: str) -> list[str]:
    return textwrap.indent("\n".join(lines), indent).split("\n")


def _parameters(node: ast.FunctionDef) -> list[str]:
    every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    return [item.arg for item in every]


def _same_parameters(filled: str, line_number: int, kit: ast.FunctionDef) -> None:
    around = [
        node
        for node in ast.walk(ast.parse(filled))
        if isinstance(node, ast.FunctionDef) and node.lineno <= line_number <= (node.end_lineno or 0)
    ]
    if not around:
        raise MasterError(f"the answer {kit.name} does not stand inside a function")
    inner = max(around, key=lambda node: node.lineno)
    if _parameters(inner) != _parameters(kit):
        raise MasterError(
            f"{inner.name}({', '.join(_parameters(inner))}) in the lab and "
            f"{kit.name}({', '.join(_parameters(kit))}) in the kit have different parameters"
        )
