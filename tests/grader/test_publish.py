"""The learners' repository: nothing secret is in it, it works alone, and it harms no other file."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest

from grader import publish as module
from grader.cli import main
from grader.leaks import leaks, secrets_of
from grader.publish import MANIFEST, PublishRefused, collect_files, publish
from grader.sandbox import REPOSITORY
from inference_kit.labs.answers import reference_source
from inference_kit.labs.build import Lab, find_labs

LABS = find_labs()


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("learners") / "course"
    publish(REPOSITORY, folder)
    return folder


@pytest.fixture(scope="module")
def files(published: Path) -> dict[str, str]:
    paths = [path for path in published.rglob("*") if path.is_file() and path.name != MANIFEST]
    return {path.relative_to(published).as_posix(): path.read_text("utf-8") for path in paths}


def code_of(files: dict[str, str]) -> Iterator[str]:
    """Every piece of Python in the publication."""
    for name, text in files.items():
        if name.endswith(".py"):
            yield text
        elif name.endswith(".ipynb"):
            cells = nbformat.reads(text, as_version=4).cells
            yield from (cell.source for cell in cells if cell.cell_type == "code")


def functions(source: str) -> Iterator[tuple[str, str]]:
    """(name, body) of each function, without layout, comments, docstring and its own name."""
    try:
        tree = ast.parse(source)
    except SyntaxError:  # a cell with a line magic
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            has_doc = ast.get_docstring(node) is not None
            yield node.name, "".join(ast.dump(statement) for statement in node.body[has_doc:])


# --- nothing secret


def test_no_hidden_check_is_in_it_under_any_name(files: dict[str, str]) -> None:
    bodies = {body for source in code_of(files) for _, body in functions(source)}
    names = set(re.findall(r"\w+", "\n".join(files.values())))
    visible = {check.name for lab in LABS for check in lab.checks().checks if check.visible}
    for lab in LABS:
        hidden = {check.name for check in lab.checks().checks if not check.visible}
        assert hidden
        assert (hidden - visible) & names == set()
        for name, body in functions(lab.checks_file.read_text("utf-8")):
            assert name not in hidden or body not in bodies


def test_the_visible_checks_are_in_it(files: dict[str, str]) -> None:
    for lab in LABS:
        visible = {check.name for check in lab.checks().checks if check.visible}
        assert visible <= {name for name, _ in functions(files[f"inference_kit/labs/visible/{lab.lab}.py"])}


def test_no_mark_of_a_master_is_in_a_notebook(files: dict[str, str]) -> None:
    for name, text in files.items():
        if name.endswith(".ipynb"):
            assert not re.search(r"(BEGIN|END) (SOLUTION|HIDDEN)|@answer", text), name


def test_only_these_rooms_are_in_it(files: dict[str, str]) -> None:
    tops = {name.split("/")[0] for name in files}
    assert tops == {
        "labs", "course", "inference_kit", "README.md", "LICENSE", "pyproject.toml", "environment.yml",
        "requirements.lock", "course.toml", ".gitignore",
    }  # fmt: skip


def test_work_that_was_left_in_labs_is_not_published(files: dict[str, str]) -> None:
    for lab in LABS:
        cells = nbformat.reads(files[f"labs/{lab.name}/{lab.name}.ipynb"], as_version=4).cells
        assert all(not cell.get("outputs") for cell in cells)
        assert len([name for name in files if name.startswith(f"labs/{lab.name}/")]) == 1


def secret_texts(lab: Lab) -> dict[str, str]:
    """One secret text of each kind."""
    checks = lab.checks_file.read_text("utf-8")
    hidden = next(check.name for check in lab.checks().checks if not check.visible)
    node = next(n for n in ast.parse(checks).body if isinstance(n, ast.FunctionDef) and n.name == hidden)
    book = nbformat.read(lab.folder / f"{lab.name}.ipynb", as_version=4)
    solved = next(cell.source for cell in book.cells if "BEGIN SOLUTION" in cell.source)
    return {
        "hidden check": ast.get_source_segment(checks, node) or "",
        "oracle": (lab.folder / "oracle.py").read_text("utf-8"),
        "accept": (lab.folder / "accept" / "q1.py").read_text("utf-8"),
        "reject": (lab.folder / "reject" / "q1.py").read_text("utf-8"),
        "solution": reference_source(solved),
    }


@pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.name)
def test_a_secret_is_found_wherever_it_is_planted(lab: Lab) -> None:
    secrets = secrets_of([lab])
    for kind, text in secret_texts(lab).items():
        squeezed = re.sub(r"\s+", " ", text)
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(f"before\n{text}\nafter")])
        places = {
            "labs/x/x.ipynb": json.dumps(notebook),
            "course/x.ipynb": nbformat.writes(notebook),
            "inference_kit/labs/other.py": text,
            "README.md": squeezed,
        }
        for place, content in places.items():
            assert leaks({place: content}, secrets), (kind, place)
        if kind in ("hidden check", "oracle"):
            assert leaks({"inference_kit/engine/other.py": text}, secrets), kind


def test_a_leak_stops_everything_before_the_first_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    secret = secret_texts(LABS[1])["hidden check"]
    planted = collect_files(REPOSITORY) | {"course/notes.md": secret}
    monkeypatch.setattr(module, "collect_files", lambda root: planted)
    assert main(["publish", str(tmp_path / "new"), "--root", str(REPOSITORY)]) == 1
    assert "course/notes.md holds" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


# --- it works alone


def test_every_link_leads_to_a_published_file(files: dict[str, str]) -> None:
    for name, text in files.items():
        if name.endswith((".md", ".ipynb")):
            for target in re.findall(r"\]\(((?![a-z]+:|#)[^)\s\\]+)\)", text):
                path = os.path.normpath(Path(name).parent / target.partition("#")[0])
                assert path in files, (name, target)


def test_the_project_is_the_one_of_the_house(files: dict[str, str]) -> None:
    ours = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))
    theirs = tomllib.loads(files["pyproject.toml"])
    assert theirs["project"] == ours["project"]
    assert theirs["build-system"] == ours["build-system"]
    assert theirs["tool"] == {"hatch": ours["tool"]["hatch"]}


def test_a_lab_runs_from_it(published: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(published, copy)
    program = (
        "import json, pathlib, nbformat, nbclient, inference_kit\n"
        "path = pathlib.Path('lab00_orientation.ipynb')\n"
        "book = nbformat.read(path, 4)\n"
        "nbclient.NotebookClient(book, timeout=120, allow_errors=True).execute()\n"
        "errors = [o.ename for c in book.cells for o in c.get('outputs', []) if o.output_type == 'error']\n"
        "print(json.dumps([inference_kit.__file__, errors]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=copy / "labs" / "lab00_orientation",
        env={**os.environ, "PYTHONPATH": str(copy), "INFERENCE_KIT_MODEL": "tiny"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    where, errors = json.loads(done.stdout.splitlines()[-1])
    assert Path(where).is_relative_to(copy)
    assert set(errors) == {"NotDoneYet"}


# --- it harms no other file


def small(monkeypatch: pytest.MonkeyPatch, **files: str) -> None:
    """Publish these files instead of the course."""
    texts = {name.replace("__", "/"): text for name, text in files.items()}
    monkeypatch.setattr(module, "collect_files", lambda root: texts)
    monkeypatch.setattr(module, "secrets_of", lambda labs: [])


def tree(folder: Path) -> dict[str, str]:
    return {str(p.relative_to(folder)): p.read_text() for p in folder.rglob("*") if p.is_file()}


def test_a_second_publication_changes_what_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small(monkeypatch, a="1", labs__old="2", labs__same="3")
    publish(REPOSITORY, tmp_path)
    (tmp_path / "announcement.md").write_text("mine")
    (tmp_path / ".git").mkdir()
    small(monkeypatch, a="9", labs__same="3")
    done = publish(REPOSITORY, tmp_path)
    assert (done.written, done.removed, done.unchanged) == (("a",), ("labs/old",), 1)
    left = tree(tmp_path)
    del left[MANIFEST]
    assert left == {"a": "9", "labs/same": "3", "announcement.md": "mine"}


def test_a_fresh_clone_of_an_empty_repository_is_welcome(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".git").mkdir()
    small(monkeypatch, a="1")
    assert publish(REPOSITORY, tmp_path).written == ("a",)


def test_what_a_killed_publication_left_is_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_text("1")
    small(monkeypatch, a="1", b="2")
    assert publish(REPOSITORY, tmp_path).written == ("b",)


def someone_elses(folder: Path) -> None:
    (folder / "thesis.txt").write_text("mine")


def changed_by_hand(folder: Path) -> None:
    publish(REPOSITORY, folder)
    (folder / "a").write_text("changed")


def same_name(folder: Path) -> None:
    (folder / "a").write_text("mine")


def folder_in_the_way(folder: Path) -> None:
    (folder / "a").mkdir()


def linked_folder(folder: Path) -> None:
    (folder.parent / "elsewhere").mkdir()
    (folder / "labs").symlink_to(folder.parent / "elsewhere")


def linked_file(folder: Path) -> None:
    (folder.parent / "other").write_text("1")
    (folder / "a").symlink_to(folder.parent / "other")


def damaged_manifest(folder: Path) -> None:
    (folder / MANIFEST).write_text("{")


def lying_manifest(folder: Path) -> None:
    (folder.parent / "victim").write_text("mine")
    (folder / MANIFEST).write_text(json.dumps({"../victim": module.digest("mine")}))


@pytest.mark.parametrize(
    "prepare",
    [
        someone_elses, changed_by_hand, same_name, folder_in_the_way, linked_folder, linked_file,
        damaged_manifest, lying_manifest,
    ],
)  # fmt: skip
def test_a_folder_that_is_not_ours_stays_as_it_is(
    prepare: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "target"
    folder.mkdir()
    small(monkeypatch, a="1", labs__b="2")
    assert callable(prepare)
    prepare(folder)
    before = tree(tmp_path)
    with pytest.raises(PublishRefused, match=str(folder)):
        publish(REPOSITORY, folder)
    assert tree(tmp_path) == before


def test_a_file_is_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small(monkeypatch, a="1")
    (tmp_path / "file").write_text("mine")
    with pytest.raises(PublishRefused, match="is a file"):
        publish(REPOSITORY, tmp_path / "file")


def test_the_kit_itself_is_no_target(monkeypatch: pytest.MonkeyPatch) -> None:
    small(monkeypatch, a="1")
    with pytest.raises(PublishRefused, match="name another folder"):
        publish(REPOSITORY, REPOSITORY / "inference_kit" / "new")


def test_a_root_without_a_course_is_named(tmp_path: Path) -> None:
    with pytest.raises(PublishRefused, match=r"course\.toml"):
        publish(tmp_path, tmp_path / "new")
