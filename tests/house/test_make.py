"""The two commands: their order, their one clear line on failure, and what `make lab` starts.

The recipes run against stand-ins for Python, pip and JupyterLab in a folder of their own, so nothing is
installed. The installer's own failures are provoked for real, with an index that cannot be reached.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house.tree import ROOT
from tools import install, lock, no_skips

RECORD = """#!/bin/sh
echo "$(basename "$0")" "$@" >> "{log}"
env | grep -E '^(JUPYTER_|IPYTHONDIR)' >> "{log}"
case "$(basename "$0")" in {failing}) exit 1;; esac
"""


def targets() -> set[str]:
    """The targets a person may call: those declared phony, but for the inner check of the base Python."""
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    (names,) = re.findall(r"^\.PHONY: (.*)$", text, flags=re.MULTILINE)
    return set(names.split()) - {"python"}


def make(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run make in `folder`, without what this test run itself inherited from make."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("MAKE", "MFLAGS"))}
    clean = {key: value for key, value in clean.items() if key not in ("CI", "DISPLAY", "WAYLAND_DISPLAY")}
    command = ["make", "-C", str(folder), *arguments]
    return subprocess.run(
        command, env=clean | environment, capture_output=True, text=True, check=False, timeout=120
    )


def clear_lines(done: subprocess.CompletedProcess[str]) -> list[str]:
    """The lines in which the house itself says what is wrong."""
    return [line for line in done.stderr.splitlines() if line.startswith("inference-kit: ")]


FETCHED = ("colab", "cluster")
"""What `make` fetches for tests, each into a folder of its own."""


class Stage:
    """A folder with the Makefile and stand-ins for what it calls; `calls` are their command lines."""

    def __init__(self, folder: Path, failing: str = "nothing") -> None:
        self.folder, self._log = folder, folder / "calls.log"
        for name in ("Makefile", *(f"requirements-{name}.lock" for name in FETCHED)):
            shutil.copy(ROOT / name, folder)
        (folder / "tools").mkdir()
        (folder / "tools" / "install.py").write_text("print('installed')\n", encoding="utf-8")
        tools = folder / ".venv" / "bin"
        tools.mkdir(parents=True)
        for name in ("python", "jupyter-lab", "ruff", "mypy", "lint-imports"):
            (tools / name).write_text(RECORD.format(log=self._log, failing=failing), encoding="utf-8")
            (tools / name).chmod(0o755)

    def lines(self) -> list[str]:
        """Everything the stand-ins wrote down."""
        return self._log.read_text(encoding="utf-8").splitlines() if self._log.exists() else []

    def calls(self) -> list[str]:
        """Their command lines, in order."""
        return [line for line in self.lines() if "=" not in line.split(" ")[0]]


def test_help_lists_every_target() -> None:
    done = make(ROOT, "help", "--no-print-directory")
    listed = set(re.findall(r"^  make ([a-z-]+)", done.stdout, flags=re.MULTILINE))
    assert listed == targets()


def test_the_asked_for_targets_exist() -> None:
    wanted = {"lab", "test", "labs", "lint", "checks-report", "grade-demo", "clean", "help"}
    assert wanted <= targets()


def test_a_missing_python_is_one_clear_line(tmp_path: Path) -> None:
    shutil.copy(ROOT / "Makefile", tmp_path)
    done = make(tmp_path, "test", "PYTHON=no-such-python")
    (line,) = clear_lines(done)
    assert done.returncode != 0
    assert "'no-such-python' was not found" in line


@pytest.mark.parametrize(
    ("refuses", "says"),
    [("version_info", "Python 3.11 or newer is needed"), ("ensurepip", "cannot make virtual environments")],
)
def test_an_unfit_python_is_one_clear_line(tmp_path: Path, refuses: str, says: str) -> None:
    shutil.copy(ROOT / "Makefile", tmp_path)
    unfit = tmp_path / "unfit-python"
    unfit.write_text(f'#!/bin/sh\ncase "$*" in *{refuses}*) exit 1;; esac\n', encoding="utf-8")
    unfit.chmod(0o755)
    done = make(tmp_path, "lab", f"PYTHON={unfit}")
    (line,) = clear_lines(done)
    assert done.returncode != 0
    assert says in line


def test_make_test_installs_fetches_lints_and_then_tests(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    done = make(tmp_path, "test", f"PYTHON={sys.executable}")
    steps = [
        "hub smollm2",
        "requirements-colab.lock",
        "requirements-cluster.lock",
        "ruff check",
        "ruff format",
        "mypy",
        "lint-imports",
        "labs.build --check",
        "-m pytest",
    ]
    assert done.returncode == 0, done.stderr
    assert "installed" in done.stdout
    assert [step for call, step in zip(stage.calls(), steps, strict=True) if step not in call] == []


def test_a_failing_lint_stops_make_test(tmp_path: Path) -> None:
    stage = Stage(tmp_path, failing="mypy")
    done = make(tmp_path, "test", f"PYTHON={sys.executable}")
    assert done.returncode != 0
    assert not any("-m pytest" in call for call in stage.calls())


def test_make_test_runs_every_chapter_and_solution_with_nbval(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    make(tmp_path, "test", f"PYTHON={sys.executable}")
    words = next(call for call in stage.calls() if "-m pytest" in call).split()
    assert {"tests", "course", "solutions", "--nbval-lax"} <= set(words)


@pytest.mark.parametrize("name", FETCHED)
def test_packages_are_fetched_once_into_a_folder_of_their_own(tmp_path: Path, name: str) -> None:
    stage = Stage(tmp_path)
    for _ in range(2):
        assert make(tmp_path, name, f"PYTHON={sys.executable}").returncode == 0
    (call,) = [call for call in stage.calls() if "pip" in call]
    assert f"--no-deps --target {tmp_path}/.venv/var/{name} --requirement requirements-{name}.lock" in call


@pytest.mark.parametrize("name", FETCHED)
def test_packages_that_cannot_be_fetched_are_one_clear_line(tmp_path: Path, name: str) -> None:
    Stage(tmp_path, failing="python")
    done = make(tmp_path, name, f"PYTHON={sys.executable}")
    (line,) = clear_lines(done)
    assert done.returncode != 0
    assert f"requirements-{name}.lock could not be fetched" in line


def test_make_badges_hands_the_name_on(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    make(tmp_path, "badges", f"PYTHON={sys.executable}", "REPO=someone/course")
    make(tmp_path, "badges", f"PYTHON={sys.executable}")
    named, unnamed = stage.calls()
    assert named.endswith("inference_kit.labs.build --badges someone/course")
    assert unnamed.endswith("--badges ")


def test_continuous_integration_allows_no_skip_of_a_test_that_it_prepares() -> None:
    text = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    (markers,) = re.findall(r"--no-skips ([a-z,]+)", text)
    assert set(markers.split(",")) == {"browser", "sandbox", *FETCHED}


def test_make_lab_opens_the_course_without_a_browser_where_there_is_none(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    done = make(tmp_path, "lab", f"PYTHON={sys.executable}", "PORT=8899")
    call = stage.calls()[-1]
    assert done.returncode == 0, done.stderr
    assert "--LabApp.default_url=/lab/tree/course/index.ipynb" in call
    assert f"--ServerApp.root_dir={tmp_path}" in call
    assert "--port=8899" in call
    assert "--no-browser" in call


def test_make_lab_opens_a_browser_on_a_display_but_not_in_ci(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    make(tmp_path, "lab", f"PYTHON={sys.executable}", DISPLAY=":0")
    make(tmp_path, "lab", f"PYTHON={sys.executable}", DISPLAY=":0", CI="true")
    on_display, in_ci = (call for call in stage.calls() if call.startswith("jupyter-lab"))
    assert ("--no-browser" in on_display) is False
    assert "--no-browser" in in_ci


def test_jupyter_keeps_its_own_files_in_the_environment(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    make(tmp_path, "lab", f"PYTHON={sys.executable}")
    settings = dict(line.split("=", 1) for line in stage.lines() if "=" in line.split(" ")[0])
    names = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
    assert [name for name in names if not settings[name].startswith(f"{tmp_path}/.venv/")] == []


def test_an_unreachable_index_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "tools").mkdir()
    shutil.copy(ROOT / "tools" / "install.py", tmp_path / "tools")
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / "requirements.lock").write_text("pip==0.0.1\n", encoding="utf-8")
    kept = {key: value for key, value in os.environ.items() if not key.startswith("PIP_")}
    nowhere = {
        "PIP_INDEX_URL": "http://127.0.0.1:9/simple",
        "PIP_RETRIES": "1",
        "PIP_CONFIG_FILE": os.devnull,
    }
    done = subprocess.run(
        [sys.executable, str(tmp_path / "tools" / "install.py")],
        env=kept | nowhere,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert "installing pip failed: the package index cannot be reached" in line
    assert not (tmp_path / ".venv" / "installed.stamp").exists()


@pytest.mark.parametrize(
    ("log", "reason"),
    [
        (
            "ERROR: Could not install packages: [Errno 28] No space left on device",
            "no space left on the disk",
        ),
        ("WARNING: ...\nERROR: No matching distribution found for nonesuch==1\n", "No matching distribution"),
        ("", "pip stopped without a message"),
    ],
)
def test_the_reason_of_a_failed_pip_is_named(log: str, reason: str) -> None:
    assert reason in install.reason_of(log)


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("Collecting Jinja2==3.1.6 (from -r requirements.lock (line 3))", "jinja2"),
        ("Requirement already satisfied: pip==26.3 in ./lib", "pip"),
        ("Processing /wheels/annotated_types-0.8.0-py3-none-any.whl", "annotated-types"),
        ("Installing collected packages: a, b", ""),
    ],
)
def test_progress_reads_the_package_from_a_line_of_pip(line: str, name: str) -> None:
    assert install.package_of(line) == name


def test_the_lock_drops_builds_and_what_torch_pins_itself() -> None:
    text = lock.render(
        {"torch": "2.13.0+cpu", "nvidia-cublas": "13.0", "Jinja2": "3.1.6", "inference-kit": "0.1.0"}
    )
    assert text.removeprefix(lock.HEADER).split() == ["jinja2==3.1.6", "torch==2.13.0"]


def test_a_skipped_browser_test_fails_a_run_that_must_not_skip(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nmarkers =\n    browser: b\n    model: m\n")
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.{marker}
        def test_needs_it():
            pytest.skip("not here")
        """.replace("{marker}", "browser")
    )
    run = pytester.runpytest("-p", no_skips.__name__, "--no-skips", "browser,sandbox")
    assert run.ret == pytest.ExitCode.TESTS_FAILED
    run.stdout.fnmatch_lines(["skipped, but must run here (browser, sandbox): *test_needs_it"])


def test_other_skips_are_allowed(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nmarkers =\n    gpu: g\n")
    pytester.makepyfile("import pytest\n\n@pytest.mark.gpu\ndef test_g():\n    pytest.skip('none')\n")
    run = pytester.runpytest("-p", no_skips.__name__, "--no-skips", "browser,sandbox")
    assert run.ret == pytest.ExitCode.OK
