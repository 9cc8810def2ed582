"""A machine like Colab's, as far as a notebook can see it from its kernel.

Owns one folder. In it stands a virtual environment that sees the packages of this test run, with the versions
of `requirements-colab.lock` in place of those that Colab has older, and without the kit. Its kernel has a
`google.colab` module, starts in an empty folder and cannot reach a package index. Invariant: what a notebook
installs lands in that folder; the environment of the test run is not changed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
from packaging.utils import canonicalize_name

from inference_kit.labs.build import ROOT
from tests.labs.notebooks import run

PACKAGES = Path(sys.prefix) / "var" / "colab"
"""Where `make test` puts the packages of `requirements-colab.lock`."""
KIT = "inference-kit"
KERNEL = "colab"
LAUNCHER = """\
import sys
import types

sys.modules["google.colab"] = types.ModuleType("google.colab")

from ipykernel import kernelapp

kernelapp.launch_new_instance()
"""
PROBE = """\
import importlib.metadata, importlib.util, json, os
every = importlib.metadata.distributions()
found = {str(one.metadata["Name"]).lower().replace("_", "-"): one.version for one in every}
kit = importlib.util.find_spec("inference_kit")
print(json.dumps({
    "packages": found,
    "kit": kit and kit.origin,
    "files": os.listdir(),
}))
"""


def pins() -> dict[str, str]:
    """Package to version of `requirements-colab.lock`."""
    lines = (ROOT / "requirements-colab.lock").read_text(encoding="utf-8").splitlines()
    return dict(line.split("==") for line in lines if line and not line.startswith("#"))


def missing() -> str:
    """What is not there of the packages that Colab has, in one line; empty when all are."""
    wanted = {f"{package.replace('-', '_')}-{version}.dist-info" for package, version in pins().items()}
    there = {path.name.lower() for path in PACKAGES.glob("*.dist-info")}
    lost = sorted(wanted - there)
    return f"{', '.join(lost)} not in {PACKAGES}; `make colab` fetches them" if lost else ""


def build_wheel(folder: Path) -> Path:
    """The kit's wheel, built from this tree."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


def package_of(entry: Path) -> str:
    """`numpy` for `numpy-2.4.6.dist-info`; empty for anything else."""
    return canonicalize_name(entry.name.split("-")[0]) if entry.name.endswith(".dist-info") else ""


def entries() -> Iterator[Path]:
    """What the machine's Python finds: Colab's own versions first, then the rest of this environment."""
    old = {package_of(entry) for entry in PACKAGES.iterdir()} - {""}
    yield from PACKAGES.iterdir()
    for place in [Path(item) for item in sys.path if item.endswith(("site-packages", "dist-packages"))]:
        for entry in place.iterdir():
            # A .pth file would bring the editable kit; a second dist-info would name a second version.
            if entry.suffix != ".pth" and package_of(entry) not in {*old, KIT}:
                yield entry


class Colab:
    """One machine. Each notebook gets its own, fresh as after *Disconnect and delete runtime*."""

    def __init__(self, folder: Path, wheel: Path) -> None:
        self._folder, self._wheel = folder, wheel
        self.content = folder / "content"
        self.content.mkdir()
        venv.EnvBuilder(symlinks=True).create(folder / "python")
        packages = folder / "packages"
        packages.mkdir()
        for entry in entries():
            if not (packages / entry.name).exists():
                (packages / entry.name).symlink_to(entry)
        (packages / "colab_kernel_launcher.py").write_text(LAUNCHER, encoding="utf-8")
        python = str(folder / "python" / "bin" / "python")
        ask = [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
        own = subprocess.run(ask, check=True, capture_output=True, text=True).stdout.strip()
        (Path(own) / "packages.pth").write_text(f"{packages}\n", encoding="utf-8")
        spec = {
            "argv": [python, "-m", "colab_kernel_launcher", "-f", "{connection_file}"],
            "display_name": KERNEL,
            "language": "python",
            "env": self.environment(),
        }
        place = folder / "jupyter" / "kernels" / KERNEL / "kernel.json"
        place.parent.mkdir(parents=True)
        place.write_text(json.dumps(spec), encoding="utf-8")

    def environment(self) -> dict[str, str]:
        """What the kernel sees beside the variables of the test run."""
        return {
            "PYTHONPATH": "",
            "IPYTHONDIR": str(self._folder / "ipython"),
            "INFERENCE_KIT_MODEL": "tiny",
            "INFERENCE_KIT_WHEEL": str(self._wheel),
            "OMP_NUM_THREADS": "1",
            # A set-up cell that asked an index for anything would fail here.
            "PIP_NO_INDEX": "1",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        }

    def run(self, book: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Run `book` as Colab would; its cells get their outputs. What the machine held before and after.

        The notebook is on no disk, and its cells have neither metadata nor ids.
        """
        plain = nbformat.v4.new_notebook(metadata=book.metadata, nbformat_minor=4)
        probes = [nbformat.v4.new_code_cell(PROBE) for _ in range(2)]
        plain.cells = [probes[0], *(stripped(cell) for cell in book.cells), probes[1]]
        before = os.environ.get("JUPYTER_PATH")
        os.environ["JUPYTER_PATH"] = str(self._folder / "jupyter")
        try:
            run(plain, self.content, kernel=KERNEL)
        finally:
            os.environ.pop("JUPYTER_PATH") if before is None else os.environ.update(JUPYTER_PATH=before)
        for cell, done in zip(book.cells, plain.cells[1:-1], strict=True):
            if cell.cell_type == "code":
                cell.outputs, cell.execution_count = done.outputs, done.execution_count
        first, last = (json.loads(probe.outputs[0].text) for probe in (plain.cells[0], plain.cells[-1]))
        return first, last


def stripped(cell: Any) -> Any:
    """A copy of a cell with its type and its source only."""
    made = {"code": nbformat.v4.new_code_cell, "markdown": nbformat.v4.new_markdown_cell}
    fresh = made[cell.cell_type](cell.source)
    del fresh["id"]
    return fresh
