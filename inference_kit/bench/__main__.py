"""`make bench`: every measurement of the kit's own side, one record each into `bench/results/`.

Owns the list of workloads and the file names. Each workload runs in a fresh process, so that none sees what
another one left in memory. A record is written only when its run ended well.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

from tqdm.auto import tqdm

from .record import commit_of

WORKLOADS = {"w5": "control_plane", "w6": "streamer"}
"""Name in performance records to the module that measures it."""


def run(workload: str, options: list[str]) -> str:
    """The JSON text that a workload prints. Raises `CalledProcessError` when it fails."""
    command = [sys.executable, "-m", f"{__package__}.{WORKLOADS[workload]}", *options]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m inference_kit.bench", description=__doc__)
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help=", ".join(WORKLOADS))
    parser.add_argument("--out", type=Path, default=Path("bench/results"), help="folder of the records")
    parser.add_argument("--peer", help="w5: a checkout of nano-vllm, measured in the same run")
    chosen = parser.parse_args(arguments)
    unknown = [name for name in chosen.workloads if name not in WORKLOADS]
    if unknown:
        parser.error(f"unknown workload {unknown[0]!r}; known: {', '.join(WORKLOADS)}")
    commit = (commit_of(Path(__file__).parent) or "unknown")[:7]
    chosen.out.mkdir(parents=True, exist_ok=True)
    for workload in tqdm(chosen.workloads or WORKLOADS, desc="bench"):
        options = ["--peer", chosen.peer] if workload == "w5" and chosen.peer else []
        record = json.loads(run(workload, options))
        path = chosen.out / f"{workload}_{commit}.json"
        path.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
        tqdm.write(f"wrote {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
