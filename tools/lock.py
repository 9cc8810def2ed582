"""Writes requirements.lock: one exact pin for each package that `make lab` and `make test` install.

The pins come from a clean resolve of pyproject.toml by pip, never from the packages that happen to be
installed. Only names and versions are written, so the file holds no index, no host and no local path.
Run it with the oldest supported Python: `python3.11 tools/lock.py > requirements.lock`.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXTRAS = ("course", "grader", "dev", "serve")
TORCH = "torch==2.13.0"
# torch pins its own GPU packages exactly, so the lock leaves them to it.
LEFT_TO_TORCH = ("nvidia-", "cuda-", "triton")

HEADER = f"""\
# Exact versions of everything that `make lab` and `make test` install.
# Written by tools/lock.py from pyproject.toml (extras: {", ".join(EXTRAS)}). Do not edit by hand.
# Install: pip install -r requirements.lock && pip install --no-deps --no-build-isolation -e .
"""


def resolve() -> dict[str, str]:
    """Package name to version, as pip resolves pyproject.toml into an empty environment."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        target = f"{ROOT}[{','.join(EXTRAS)}]"
        options = ["--quiet", "--dry-run", "--ignore-installed", "--report", str(report)]
        command = [sys.executable, "-m", "pip", "install", *options, target, TORCH]
        subprocess.run(command, check=True, stdout=sys.stderr)
        items = json.loads(report.read_text(encoding="utf-8"))["install"]
    versions = {item["metadata"]["name"]: item["metadata"]["version"] for item in items}
    # The installer's progress needs a recent pip, whatever Python brought along.
    return versions | {"pip": pip_version()}


def pip_version() -> str:
    """The version of the pip that resolves."""
    command = [sys.executable, "-m", "pip", "--version"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[1]


def render(versions: dict[str, str]) -> str:
    """The text of the lock file. A local version such as `+cpu` names a build, not a release: dropped."""
    pins = []
    for name, version in sorted(versions.items(), key=lambda item: item[0].lower()):
        lowered = name.lower()
        if lowered == "inference-kit" or lowered.startswith(LEFT_TO_TORCH):
            continue
        pins.append(f"{lowered.replace('_', '-')}=={version.partition('+')[0]}")
    return HEADER + "\n".join(pins) + "\n"


if __name__ == "__main__":
    sys.stdout.write(render(resolve()))
