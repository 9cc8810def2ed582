"""What an import brings along: the control plane and the labs start without torch and web packages."""

from __future__ import annotations

import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.house.tree import ROOT

HEAVY = ("torch", "transformers", "tokenizers", "ipywidgets", "fastapi", "plotly", "nbgrader")
LIGHT_ROOMS = ("lifecycle", "telemetry", "kv", "streaming", "scheduler", "labs", "viz")
PUBLIC = ("LLM", "Engine", "EngineConfig", "SamplingParams", "Deadlines", "Components")


def run_python(code: str) -> subprocess.CompletedProcess[str]:
    """Run `code` in a fresh interpreter at the repository root."""
    command = [sys.executable, "-c", textwrap.dedent(code)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)


def test_lifecycle_imports_where_torch_is_not_installed() -> None:
    done = run_python(f"""
        import sys

        class Blocker:
            def find_spec(self, name, path=None, target=None):
                if name.split(".")[0] in {HEAVY!r}:
                    raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

        sys.meta_path.insert(0, Blocker())
        from inference_kit.lifecycle import TRANSITIONS, replay
        print(len(TRANSITIONS))
    """)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 0


@pytest.mark.parametrize("room", LIGHT_ROOMS)
def test_a_light_room_imports_no_heavy_package(room: str) -> None:
    done = run_python(f"""
        import sys
        import inference_kit.{room}
        print(sorted(set({HEAVY!r}) & set(sys.modules)))
    """)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"


def test_the_package_itself_is_lazy() -> None:
    done = run_python(f"import sys, inference_kit; print(sorted(set({HEAVY!r}) & set(sys.modules)))")
    assert done.stdout.strip() == "[]", done.stderr


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_name_imports(name: str) -> None:
    done = run_python(f"from inference_kit import {name}; print({name}.__name__)")
    assert done.stdout.strip() == name, done.stderr


def small_house(folder: Path, *, module: str, line: str) -> subprocess.CompletedProcess[str]:
    """Run the contracts of pyproject.toml over a house of empty rooms, with `line` added to `module`."""
    shutil.copy(ROOT / "pyproject.toml", folder)
    for room in ("inference_kit", "inference_kit/kv", "inference_kit/engine", "inference_kit/labs", "grader"):
        (folder / room).mkdir(parents=True)
        (folder / room / "__init__.py").write_text("", encoding="utf-8")
    (folder / module).write_text(line + "\n", encoding="utf-8")
    code = "from importlinter.cli import lint_imports; raise SystemExit(lint_imports(no_cache=True))"
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(folder), "COLUMNS": "200"}
    command = [sys.executable, "-c", code]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=120
    )


@pytest.mark.parametrize(
    ("module", "line", "kept"),
    [
        ("inference_kit/engine/core.py", "import inference_kit.kv", True),
        ("inference_kit/kv/pool.py", "import inference_kit.engine", False),
        ("inference_kit/engine/core.py", "import torch", True),
        ("inference_kit/kv/pool.py", "import torch", False),
        ("inference_kit/labs/show.py", "import ipywidgets", True),
        ("inference_kit/engine/core.py", "import ipywidgets", False),
        ("inference_kit/engine/core.py", "import fastapi", False),
        ("inference_kit/labs/show.py", "import grader", False),
    ],
)
def test_the_floors_contract_tells_up_from_down(tmp_path: Path, module: str, line: str, kept: bool) -> None:
    done = small_house(tmp_path, module=module, line=line)
    assert (done.returncode == 0) is kept, done.stdout + done.stderr
