"""The learners' repository: `labs/`, `course/`, the kit with its visible checks, and nothing else.

Owns the list of what is published and the writing of it. Notebooks and visible checks are built
from their masters, so what somebody left in `labs/` is not published. Invariants: nothing is
written when a text holds a secret (`grader.leaks`), and a file that this module did not write is
never changed.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from inference_kit.errors import KitError
from inference_kit.labs.build import build_all, find_labs
from inference_kit.labs.masters import read_course

from .leaks import leaks, secrets_of

MANIFEST = ".published.json"
"""Lists the files of the last publication with their SHA-256."""
README = Path(__file__).with_name("templates") / "learners" / "README.md"
COPIED = ("LICENSE", "course.toml", "requirements.lock")
KIT = "inference_kit"
KIT_SUFFIXES = {".py", ".toml", ".json", ".html", ".js", ".css", ".typed"}
KEPT_SECTIONS = ("build-system", "project", "tool.hatch")
SHOWN = 5
ENVIRONMENT = """# conda env create --file environment.yml
name: inference-kit
channels:
  - conda-forge
dependencies:
  - python>=3.11
  - pip
  - pip:
      - --constraint requirements.lock
      - --editable .[course]
"""
IGNORED = """.venv/
__pycache__/
*.py[cod]
*.egg-info/
.ipynb_checkpoints/
"""


class PublishRefused(KitError):
    """Nothing was written; the message says why and what to do."""


@dataclass(frozen=True)
class Published:
    """What a publication did, by path."""

    written: tuple[str, ...]
    removed: tuple[str, ...]
    unchanged: int


def publish(root: Path, target: Path) -> Published:
    """Write the learners' repository of the course at `root` into the folder `target`.

    A folder that was published before is brought up to date; files that are not ours stay as they
    are. Raises `PublishRefused`, and has then written nothing.
    """
    target = target.absolute()
    if not (root / "course.toml").is_file():
        raise PublishRefused(f"{root} has no course.toml; run this at the root of the repository")
    if target.resolve().is_relative_to((root / KIT).resolve()):
        raise PublishRefused(f"{target} lies inside {KIT}/, which is published; name another folder")
    files = collect_files(root)
    found = leaks(files, secrets_of(find_labs(root)))
    if found:
        raise PublishRefused("not published: " + some(found))
    before = read_manifest(target)
    refuse_foreign(target, files, before)
    removed = [name for name in before if name not in files and (target / name).is_file()]
    digests = {name: digest(text) for name, text in files.items()}
    written = [name for name in files if on_disk(target / name) != digests[name]]
    for name in removed:
        (target / name).unlink()
    for name in written:
        path = target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(files[name], encoding="utf-8", newline="")
    target.joinpath(MANIFEST).write_text(json.dumps(digests, indent=1, sort_keys=True) + "\n", "utf-8")
    return Published(tuple(written), tuple(removed), len(files) - len(written))


def collect_files(root: Path) -> dict[str, str]:
    """Path in the publication to text, of everything that learners get."""
    built = build_all(read_course(root / "course.toml"), root)
    files = {name: text for name, text in kit_files(root) if not name.startswith(f"{KIT}/labs/visible/lab")}
    files |= {name: text for name, text in built.items() if not name.startswith("solutions/")}
    files |= {name: (root / name).read_text(encoding="utf-8") for name in COPIED}
    files["README.md"] = README.read_text(encoding="utf-8")
    files["pyproject.toml"] = learners_project((root / "pyproject.toml").read_text(encoding="utf-8"))
    files["environment.yml"] = ENVIRONMENT
    files[".gitignore"] = IGNORED
    return dict(sorted(files.items()))


def kit_files(root: Path) -> Iterator[tuple[str, str]]:
    """The texts of the kit. A link is no file of the kit."""
    for path in sorted((root / KIT).rglob("*")):
        inside = path.relative_to(root)
        hidden = any(part.startswith((".", "__pycache__")) for part in inside.parts)
        if path.suffix in KIT_SUFFIXES and path.is_file() and not path.is_symlink() and not hidden:
            yield inside.as_posix(), path.read_text(encoding="utf-8")


def learners_project(text: str) -> str:
    """`pyproject.toml` without the sections of the house's own tools."""
    parts = re.split(r"(?m)^(?=\[)", text)
    return "".join(part for part in parts if part.lstrip("[").startswith(KEPT_SECTIONS)).rstrip() + "\n"


# --- the folder that is written into ----------------------------------------------------------------


def read_manifest(target: Path) -> dict[str, str]:
    """Path to SHA-256 of the last publication; empty when there was none. Raises `PublishRefused`."""
    path = target / MANIFEST
    try:
        known = json.loads(path.read_text(encoding="utf-8"))
        if all(is_inside(name) and isinstance(value, str) for name, value in known.items()):
            return dict(known)
    except FileNotFoundError:
        return {}
    except NotADirectoryError:
        raise PublishRefused(f"{target} is a file; name a folder") from None
    except (ValueError, AttributeError, OSError):
        pass
    raise PublishRefused(f"{path} is damaged; publish into another folder")


def is_inside(name: str) -> bool:
    """True for a path that stays in the folder it is relative to."""
    return not Path(name).is_absolute() and ".." not in Path(name).parts


def refuse_foreign(target: Path, files: dict[str, str], before: dict[str, str]) -> None:
    """Raise `PublishRefused` when a file of somebody else is in the way, or the folder is not ours."""
    linked = [name for name in {*files, *before} if goes_through_link(target, name)]
    if linked:
        raise PublishRefused(f"these are links in {target}, and may lead elsewhere: {some(linked)}")
    changed = []
    for name in sorted({*files, *before}):
        path = target / name
        ours = {before.get(name), digest(files[name]) if name in files else None}
        if path.exists() and on_disk(path) not in ours:
            changed.append(name)
    if changed:
        raise PublishRefused(f"somebody changed these in {target}: {some(changed)}; move them away first")
    if not before and target.is_dir():
        others = [path.name for path in target.iterdir() if path.name not in {".git", *tops(files)}]
        if others:
            raise PublishRefused(
                f"{target} holds something else: {some(others)}; name a new or an empty folder"
            )


def goes_through_link(target: Path, name: str) -> bool:
    """True when a file of the publication, or a folder above it, is a link."""
    parts = Path(name).parts
    return any(target.joinpath(*parts[:depth]).is_symlink() for depth in range(1, len(parts) + 1))


def tops(files: dict[str, str]) -> set[str]:
    """Names at the top of the publication."""
    return {Path(name).parts[0] for name in files}


def digest(text: str) -> str:
    """SHA-256 of a text as it is written."""
    return hashlib.sha256(text.encode()).hexdigest()


def on_disk(path: Path) -> str:
    """SHA-256 of a file; empty when it is not there or no file."""
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


def some(names: list[str]) -> str:
    """The first few of a list, and how many more there are."""
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(sorted(names)[:SHOWN]) + more
