"""The build: one source, no drift, nothing hidden in what learners get."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from inference_kit.labs import build
from inference_kit.labs.answers import read_answers, splice, stub_source
from inference_kit.labs.build import (
    ROOT,
    Lab,
    build_all,
    build_lab,
    drift,
    find_labs,
    unexpected,
    visible_source,
)
from inference_kit.labs.checking import load_checks
from inference_kit.labs.extract import MasterError, fill
from inference_kit.labs.masters import (
    Course,
    answer_cells,
    make_notebook,
    make_release,
    read_course,
    to_text,
    with_repository,
)

LABS = find_labs()
CODE_STUB = "raise NotImplementedError"
PUBLISHED = Course("someone/somewhere", "v1.2.3")


def name(value: object) -> str:
    return value.name if isinstance(value, Lab) else str(value)


@pytest.fixture(scope="module")
def built() -> dict[str, str]:
    return build_all(read_course())


def test_nothing_has_drifted(built: dict[str, str]) -> None:
    assert drift(built) == []


def test_building_twice_gives_the_same_bytes(built: dict[str, str]) -> None:
    assert build_all(read_course()) == built


def test_drift_names_a_changed_a_missing_and_a_stray_file(built: dict[str, str], tmp_path: Path) -> None:
    build.write(built, tmp_path)
    assert drift(built, tmp_path) == []
    lab = "labs/lab01_lifecycle/lab01_lifecycle.ipynb"
    (tmp_path / lab).write_text("{}", encoding="utf-8")
    (tmp_path / "course/index.ipynb").unlink()
    (tmp_path / "labs/notes.txt").write_text("stray", encoding="utf-8")
    assert drift(built, tmp_path) == [
        "course/index.ipynb is missing",
        f"{lab} is not what its master says",
        "labs/notes.txt has no master",
    ]
    assert list(unexpected(built, tmp_path)) == ["labs/notes.txt"]


@pytest.mark.parametrize("change", ["an answer", "an output", "no notebook any more"])
def test_work_in_a_released_notebook_is_kept_beside_the_new_one(
    built: dict[str, str], tmp_path: Path, change: str
) -> None:
    name = "labs/lab01_lifecycle/lab01_lifecycle.ipynb"
    build.write(built, tmp_path)
    path = tmp_path / name
    notebook = json.loads(built[name])
    answer = next(cell for cell in notebook["cells"] if "".join(cell["source"]).startswith("# lab01/q1"))
    if change == "an answer":
        answer["source"] = ["# lab01/q1\n", "x = 1\n"]
    else:
        answer["outputs"] = [{"output_type": "stream", "name": "stdout", "text": ["hi"]}]
    worked = "{" if change.startswith("no") else json.dumps(notebook)
    for number in (1, 2):
        path.write_text(worked, encoding="utf-8")
        assert build.write(built, tmp_path) == [name]
        assert path.read_text(encoding="utf-8") == built[name]
        assert path.with_name(f"{path.stem}.my-work-{number}.ipynb").read_text(encoding="utf-8") == worked
    assert list(unexpected(built, tmp_path)) == []


def test_writing_again_writes_nothing(built: dict[str, str], tmp_path: Path) -> None:
    assert build.write(built, tmp_path)
    assert build.write(built, tmp_path) == []


# --- notebooks


def notebooks(built: dict[str, str], under: str) -> list[dict[str, Any]]:
    return [
        json.loads(text) for path, text in built.items() if path.startswith(under) and path.endswith(".ipynb")
    ]


def text_of(cell: dict[str, Any]) -> str:
    return "".join(cell["source"])


def test_no_notebook_has_outputs_or_widget_state(built: dict[str, str]) -> None:
    for book in notebooks(built, ""):
        assert "widgets" not in book["metadata"]
        for cell in book["cells"]:
            if cell["cell_type"] == "code":
                assert (cell["outputs"], cell["execution_count"]) == ([], None)


def test_cell_ids_are_unique(built: dict[str, str]) -> None:
    for book in notebooks(built, ""):
        ids = [cell["id"] for cell in book["cells"]]
        assert len(set(ids)) == len(ids)


def test_each_notebook_begins_with_a_set_up_cell_of_at_most_ten_lines(built: dict[str, str]) -> None:
    for book in notebooks(built, "labs/") + notebooks(built, "course/"):
        first = next(cell for cell in book["cells"] if cell["cell_type"] == "code")
        lines = text_of(first).split("\n")
        assert lines[0].startswith("# Set-up.") and len(lines) <= 10
        assert "--no-deps" in text_of(first)


@pytest.mark.parametrize("lab", LABS, ids=name)
def test_a_released_question_is_a_stub_a_check_and_three_hints(lab: Lab) -> None:
    book = json.loads(build_lab(lab, read_course())[f"labs/{lab.name}/{lab.name}.ipynb"])
    by_id = {cell["id"]: cell for cell in book["cells"]}
    for question in lab.checks().questions:
        answer, check = by_id[f"{lab.lab}-{question}-answer"], by_id[f"{lab.lab}-{question}"]
        assert text_of(answer).startswith(f"# {lab.lab}/{question} — keep this line\n")
        assert "# TODO 1" in text_of(answer) and CODE_STUB in text_of(answer)
        assert text_of(check) == f'check("{lab.lab}.{question}")'
        assert check["metadata"]["nbgrader"]["points"] == lab.checks().points(question)
        assert check["metadata"]["nbgrader"]["locked"] is True


@pytest.mark.parametrize("lab", LABS, ids=name)
def test_a_release_has_a_contract_with_a_table_for_each_question(lab: Lab) -> None:
    book = json.loads(build_lab(lab, read_course())[f"labs/{lab.name}/{lab.name}.ipynb"])
    prose = [text_of(cell) for cell in book["cells"] if cell["cell_type"] == "markdown"]
    contracts = [text for text in prose if "**Contract.**" in text]
    assert len(contracts) == len(lab.checks().questions)
    assert all(text.count("\n|") >= 3 for text in contracts)


# --- nothing hidden reaches learners

GIVEN_LATER = {("lab00_orientation", "lab02_metrics")}
"""The two practice answers of lab 00 are given in lab 02, where they are used."""


def hidden_lines(lab: Lab) -> set[str]:
    """Lines of solutions, hidden checks, accept and reject sets and guides that stand nowhere else."""
    course = read_course()
    source = make_notebook(lab.master.read_text(encoding="utf-8"), course, "", lab.checks())
    visible = visible_source(lab, lab.checks())
    texts = [
        path.read_text("utf-8") for part in ("accept", "reject") for path in lab.folder.glob(f"{part}/*.py")
    ]
    texts.append(
        "\n".join(set(lab.checks_file.read_text(encoding="utf-8").split("\n")) - set(visible.split("\n")))
    )
    texts.append((lab.folder / "oracle.py").read_text(encoding="utf-8"))
    for cell in source["cells"]:
        if "### BEGIN SOLUTION" in cell["source"]:
            texts.append(cell["source"].split("### BEGIN SOLUTION")[1].split("### END SOLUTION")[0])
        if cell["id"].endswith("-reflection"):
            texts.append(cell["source"])
    # What the release itself says (signatures, given code) is no secret.
    given = {line.strip() for cell in make_release(source)["cells"] for line in cell["source"].split("\n")}
    lines = {line.strip() for text in texts for line in text.split("\n")}
    return {
        line for line in lines - given if len(line) > 24 and not line.startswith(("#", "from ", "import "))
    }


@pytest.mark.parametrize("lab", LABS, ids=name)
def test_no_line_of_a_solution_or_hidden_check_is_in_labs(lab: Lab) -> None:
    secret = hidden_lines(lab)
    assert len(secret) > 20
    for path in (ROOT / "labs").rglob("*"):
        if path.is_file() and (lab.name, path.parent.name) not in GIVEN_LATER:
            text = path.read_text(encoding="utf-8")
            cells = json.loads(text)["cells"] if path.suffix == ".ipynb" else []
            shown = text + "\n".join(text_of(cell) for cell in cells)
            # Hints may quote single expressions, never a whole line of the solution.
            lines = {line.strip() for line in shown.split("\n")}
            assert secret & lines == set(), path


@pytest.mark.parametrize("lab", LABS, ids=name)
def test_labs_hold_the_notebook_and_nothing_else(lab: Lab) -> None:
    files = [path.name for path in (ROOT / "labs" / lab.name).rglob("*") if path.is_file()]
    assert [file for file in files if ".ipynb_checkpoints" not in file] == [f"{lab.name}.ipynb"]


@pytest.mark.parametrize("lab", LABS, ids=name)
def test_the_visible_file_has_the_visible_checks_and_no_hidden_one(lab: Lab, tmp_path: Path) -> None:
    path = tmp_path / f"{lab.lab}.py"
    path.write_text(visible_source(lab, lab.checks()), encoding="utf-8")
    copied = load_checks(path)
    expected = [check.name for check in lab.checks().checks if check.visible]
    assert [check.name for check in copied.checks] == expected
    for check in lab.checks().checks:
        if not check.visible:
            assert check.name not in path.read_text(encoding="utf-8")


# --- the stock command gives the same release


def test_stock_generate_assignment_gives_the_same_release(tmp_path: Path) -> None:
    config = ROOT / "nbgrader_config.py"
    left_out = shutil.ignore_patterns(
        "__pycache__", ".ipynb_checkpoints", "*.db", "submitted", "autograded", "feedback"
    )
    for part in ("solutions", "inference_kit", "grader"):
        shutil.copytree(ROOT / part, tmp_path / part, ignore=left_out)
    shutil.copy(config, tmp_path / "nbgrader_config.py")
    scripts = str(Path(sys.executable).parent)
    environment = os.environ | {
        "PATH": scripts + os.pathsep + os.environ["PATH"],
        "PYTHONPATH": str(tmp_path),
        "JUPYTER_CONFIG_DIR": str(tmp_path / "jupyter"),
    }
    for lab in LABS:
        command = [sys.executable, "-m", "nbgrader", "generate_assignment", lab.name]
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr[-2000:]
        stock = (tmp_path / "labs" / lab.name / f"{lab.name}.ipynb").read_text(encoding="utf-8")
        ours = (ROOT / "labs" / lab.name / f"{lab.name}.ipynb").read_text(encoding="utf-8")
        assert json.loads(stock) == json.loads(ours)
        files = sorted(path.name for path in (tmp_path / "labs" / lab.name).iterdir())
        assert files == [f"{lab.name}.ipynb"]


# --- @answer and @given


def kit(tmp_path: Path, text: str) -> Path:
    (tmp_path / "pkg").mkdir(exist_ok=True)
    (tmp_path / "pkg" / "part.py").write_text(text, encoding="utf-8")
    return tmp_path


PART = '''
LIMIT: int = 3
_EARLY = {
    "a": 1,
}
TABLE = {"x": _EARLY}


class Box:
    """A box."""

    def push(self, item):
        """Docs."""
        # why
        return [item]


def whole(a, b=2):
    return a + b
'''


def test_a_function_answer_is_its_body_without_the_docstring(tmp_path: Path) -> None:
    source = "class Box:\n    def push(self, item):\n        '''Mine.'''\n        # @answer pkg.part:Box.push"
    filled = fill(source, kit(tmp_path, PART))
    assert filled.endswith("'''Mine.'''\n        # why\n        return [item]")


def test_a_value_answer_returns_the_value_after_what_it_needs(tmp_path: Path) -> None:
    filled = fill("def f():\n    # @answer pkg.part:_EARLY, TABLE", kit(tmp_path, PART))
    namespace: dict[str, Any] = {}
    exec(filled, namespace)
    assert namespace["f"]() == {"x": {"a": 1}}


def test_a_given_line_copies_whole_definitions(tmp_path: Path) -> None:
    filled = fill("# @given pkg.part:LIMIT, whole", kit(tmp_path, PART))
    assert filled == "LIMIT: int = 3\n\n\ndef whole(a, b=2):\n    return a + b"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("# @answer pkg.other:x", "no module"),
        ("# @answer pkg.part:Box.pop", "does not exist"),
        ("def f(self, thing):\n    # @answer pkg.part:Box.push", "different parameters"),
        ("def f():\n    # @answer pkg.part:Box", "cannot stand inside"),
        ("if 1:\n    # @answer pkg.part:whole", "not stand inside a function"),
    ],
)
def test_an_answer_line_that_cannot_be_filled_is_an_error(tmp_path: Path, source: str, message: str) -> None:
    with pytest.raises(MasterError, match=message):
        fill(source, kit(tmp_path, PART))


@pytest.mark.parametrize("lab", LABS, ids=name)
def test_no_master_holds_a_reference_answer_of_its_own(lab: Lab) -> None:
    for region in re.findall(
        r"### BEGIN SOLUTION\n(.*?)### END SOLUTION", lab.master.read_text("utf-8"), re.DOTALL
    ):
        assert all(line.strip().startswith("# @answer ") for line in region.strip().split("\n"))


# --- marks


def small_master(*cells: str) -> str:
    return "\n\n".join(f"# %%\n{cell}" for cell in cells)


ANSWER = '''# lab00/q1 — keep this line
def gap(start, end):
    """Doc."""
    # TODO 1: …
    ### BEGIN SOLUTION
    ### END SOLUTION'''


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ((ANSWER,), "exactly one answer cell and one test cell"),
        ((ANSWER, "x = 1", 'check("lab00.q1")'), "right after"),
        ((ANSWER.replace("# TODO 1: …", "pass"),), "numbered TODO"),
    ],
)
def test_a_master_with_a_wrong_mark_is_refused(cells: tuple[str, ...], message: str) -> None:
    with pytest.raises(MasterError, match=message):
        make_notebook(small_master(*cells), read_course(), "", LABS[0].checks())


def test_a_badge_and_the_wheel_come_from_the_repository_name() -> None:
    text = "# %% [markdown]\n# # T\n#\n# <!-- @badge -->\n\n# %%\n# @setup"
    book = to_text(make_notebook(text, PUBLISHED, "labs/x/x.ipynb"))
    place = "/github/someone/somewhere/blob/v1.2.3/labs/x/x.ipynb"
    assert f"(https://colab.research.google.com{place})" in book
    assert f"(https://modelscope.cn/notebook/share{place})" in book
    assert (
        "github.com/someone/somewhere/releases/download/v1.2.3/inference_kit-1.2.3-py3-none-any.whl" in book
    )


def test_without_a_repository_there_is_no_badge() -> None:
    text = "# %% [markdown]\n# # T\n#\n# <!-- @badge -->"
    book = to_text(make_notebook(text, Course("", "v1"), "labs/x/x.ipynb"))
    assert "colab" not in book and "@badge" not in book


@pytest.mark.parametrize(
    "repository", ["", "name", "a/b/c", "/b", "https://github.com/a/b", "a/b c", 'a/b"', "a/b\n"]
)
def test_a_repository_is_owner_and_name(repository: str) -> None:
    with pytest.raises(MasterError):
        with_repository(read_course(), repository)


def run_setup(source: str, tmp_path: Path, colab: bool) -> list[str]:
    """Run a set-up cell with a recorder in place of pip; return the commands it ran."""
    program = (
        "import subprocess, sys, types, json\n"
        "calls = []\n"
        "subprocess.run = lambda command, **options: calls.append(command)\n"
        + ("sys.modules['google.colab'] = types.ModuleType('google.colab')\n" if colab else "")
        + source
        + "\nprint(json.dumps(calls))"
    )
    environment = os.environ | {"INFERENCE_KIT_WHEEL": "/somewhere/kit.whl"}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    return json.loads(done.stdout)


def test_in_colab_without_a_repository_the_set_up_cell_says_what_to_do(tmp_path: Path) -> None:
    program = "import sys, types\nsys.modules['google.colab'] = types.ModuleType('google.colab')\n"
    environment = {key: value for key, value in os.environ.items() if key != "INFERENCE_KIT_WHEEL"}
    command = [sys.executable, "-c", program + set_up(Course("", "v1"))]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, cwd=tmp_path)
    last = done.stderr.strip().split("\n")[-1]
    assert done.returncode == 1
    assert last.startswith(
        "RuntimeError: This course names no repository yet: set os.environ['INFERENCE_KIT_WHEEL']"
    )


def set_up(course: Course) -> str:
    return str(make_notebook("# %%\n# @setup", course, "x")["cells"][0]["source"])


def test_the_set_up_cell_does_nothing_outside_colab(tmp_path: Path) -> None:
    assert run_setup(set_up(PUBLISHED), tmp_path, colab=False) == []


@pytest.mark.parametrize("course", [PUBLISHED, Course("", "v1")], ids=["published", "not published"])
def test_in_colab_the_set_up_cell_installs_the_wheel_and_nothing_else(course: Course, tmp_path: Path) -> None:
    (command,) = run_setup(set_up(course), tmp_path, colab=True)
    assert command[1:] == ["-m", "pip", "install", "--quiet", "--no-deps", "/somewhere/kit.whl"]


# --- answers as cells


def test_an_answer_takes_the_place_of_the_stub_and_keeps_what_is_given() -> None:
    stub = stub_source(
        answer_cells(make_notebook(LABS[1].master.read_text("utf-8"), read_course(), ""))["q2"]
    )
    cell = splice(stub, "HELP = 1\n\n\ndef next_state(state, event, table):\n    return HELP")
    assert cell.startswith("# lab01/q2 — keep this line\nimport contextlib\n\n\nclass IllegalTransition")
    assert cell.index("HELP = 1") < cell.index("def next_state")
    assert CODE_STUB not in cell


@pytest.mark.parametrize("lab", LABS, ids=name)
def test_every_answer_keeps_the_marker_line(lab: Lab) -> None:
    cells = answer_cells(make_notebook(lab.master.read_text("utf-8"), read_course(), "", lab.checks()))
    stubs = {question: stub_source(cell) for question, cell in cells.items()}
    for answer in read_answers(lab.folder / "accept", stubs) + read_answers(lab.folder / "reject", stubs):
        assert answer.source.startswith(f"# {lab.lab}/{answer.question} — keep this line\n")


def test_the_index_names_the_labs_that_exist_and_no_other() -> None:
    text = (ROOT / "course" / "src" / "index.py").read_text(encoding="utf-8")
    linked = set(re.findall(r"\(\.\./(labs/[^)]+\.ipynb)\)", text))
    assert linked == {f"labs/{lab.name}/{lab.name}.ipynb" for lab in LABS}
    for target in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (ROOT / "course" / target).resolve().is_file(), target
