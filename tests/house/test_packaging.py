"""Packaging: the ranges, the pins, conda's file and the wheel say the same."""

from __future__ import annotations

import ast
import importlib.metadata
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.house.tree import ROOT, modules, pyproject, where

INSTALLED_EXTRAS = ("course", "grader", "dev", "serve")
PIN = re.compile(r"([a-z0-9.-]+)==([0-9][0-9a-z.]*)")


def ranges() -> set[str]:
    """The requirements that `make test` installs, as pyproject.toml writes them."""
    project = pyproject()["project"]
    extras = (project["optional-dependencies"][name] for name in INSTALLED_EXTRAS)
    return set(project["dependencies"]).union(*extras)


def pins() -> dict[str, str]:
    """Name to version of the lock file."""
    lines = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    kept = [line for line in lines if line and not line.startswith("#")]
    return dict(line.split("==") for line in kept)


def test_every_line_of_the_lock_is_one_exact_public_version() -> None:
    lines = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    odd = [line for line in lines if line and not line.startswith("#") and not PIN.fullmatch(line)]
    assert odd == []


@pytest.mark.parametrize("requirement", sorted(ranges()))
def test_the_lock_satisfies_the_range(requirement: str) -> None:
    wanted = Requirement(requirement)
    version = pins()[canonicalize_name(wanted.name)]
    assert wanted.specifier.contains(version), f"{wanted.name}=={version} is outside {wanted.specifier}"


def test_torch_is_a_range_in_pyproject_and_one_version_in_the_lock() -> None:
    torch = next(
        Requirement(text) for text in pyproject()["project"]["dependencies"] if text.startswith("torch")
    )
    assert pins()["torch"] == "2.13.0"
    assert torch.specifier.contains("2.9.1")


def test_conda_installs_what_pip_installs() -> None:
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    conda = [item for item in environment["dependencies"] if isinstance(item, str)]
    pip = next(item["pip"] for item in environment["dependencies"] if isinstance(item, dict))
    assert pip[-1] == "-e ."
    assert set(pip[:-1]) == ranges()
    assert f"python{pyproject()['project']['requires-python']}" in conda


@pytest.mark.parametrize("folder", ["inference_kit", "grader", "tests", "solutions", "tools"])
def test_every_imported_package_is_a_requirement(folder: str) -> None:
    cluster = pyproject()["project"]["optional-dependencies"]["cluster"]
    declared = {canonicalize_name(Requirement(text).name) for text in [*ranges(), *cluster]}
    declared.add("inference-kit")
    owners = importlib.metadata.packages_distributions()
    own = {"inference_kit", "grader", "solutions", "tests", "tools"}
    missing = {
        f"{where(path, node)} {name}"
        for path, tree in modules(folder)
        for node, name in imported(tree)
        if name not in sys.stdlib_module_names | own
        and not declared & {canonicalize_name(owner) for owner in owners.get(name, [name])}
    }
    assert missing == set()


def imported(tree: ast.Module) -> Iterator[tuple[ast.AST, str]]:
    """Each absolute import with the name of its top package."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node, alias.name.split(".")[0]) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node, (node.module or "").split(".")[0]


def test_the_extras_are_the_documented_ones() -> None:
    extras = set(pyproject()["project"]["optional-dependencies"])
    assert extras == {"serve", "course", "grader", "cluster", "bench", "dev"}


@pytest.fixture(scope="module")
def wheel_names(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Names of the files in a freshly built wheel."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


def test_the_wheel_holds_the_kit_and_nothing_else(wheel_names: list[str]) -> None:
    tops = {Path(name).parts[0] for name in wheel_names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"inference_kit"}
    assert [name for name in wheel_names if name.endswith(".ipynb")] == []


def test_the_wheel_holds_every_module_of_the_kit(wheel_names: list[str]) -> None:
    sources = {path.relative_to(ROOT).as_posix() for path in (ROOT / "inference_kit").rglob("*.py")}
    assert sources <= set(wheel_names)


def test_the_wheel_holds_the_visible_checks_of_each_lab(wheel_names: list[str]) -> None:
    labs = {path.parent.name.split("_")[0] for path in (ROOT / "solutions").glob("lab*/checks.py")}
    assert labs, "no lab has checks"
    assert {f"inference_kit/labs/visible/{lab}.py" for lab in labs} <= set(wheel_names)
