"""What every measurement says about itself: machine, versions, commit, hash of its input."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import statistics
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np


def origin(workload: str, trace: Any) -> dict[str, Any]:
    """The fields that tell one record from another. `trace`: plain data, the exact input."""
    return {
        "workload": workload,
        "trace_sha256": hashlib.sha256(json.dumps(trace, sort_keys=True).encode()).hexdigest(),
        "commit": commit_of(Path(__file__).parent),
        "machine": {"processor": _processor(), "cores": os.cpu_count(), "system": platform.platform()},
        "versions": {"python": platform.python_version(), "numpy": np.__version__},
    }


def commit_of(folder: Path) -> str | None:
    """Commit of the checkout that holds `folder`, with `+` when files differ; None outside of git."""
    command = ["git", "-C", str(folder), "describe", "--always", "--abbrev=40", "--dirty=+", "--exclude=*"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def spread(seconds: Sequence[float]) -> dict[str, float]:
    """Median, mean and 99th percentile in microseconds."""
    ordered = sorted(seconds)
    figures = {
        "median_us": statistics.median(ordered),
        "mean_us": statistics.fmean(ordered),
        "p99_us": ordered[min(len(ordered) - 1, int(0.99 * len(ordered)))],
    }
    return {name: round(value * 1e6, 1) for name, value in figures.items()}


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text("utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()
