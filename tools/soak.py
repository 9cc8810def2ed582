"""`make soak`: the random machine of the tests for a long time, over engines that live on.

Owns the loop, the figures it prints and the bound on memory. The moves and the checks are those of
`tests/engine/machine.py`. Invariant: it stops at the first wrong answer, and fails when memory grows.
"""

from __future__ import annotations

import argparse
import gc
import os
import random
import sys
from dataclasses import dataclass
from pathlib import Path

from inference_kit.clock import Clock, MonotonicClock
from inference_kit.engine.components import Components
from inference_kit.lifecycle import Request
from inference_kit.telemetry import EventLog
from tests.engine.machine import EngineMachine, random_move, random_options

ENGINES = 8
MOVES_A_ROUND = 200
BOUND_MIB = 16.0
"""Most that memory may grow after the warm-up: the first tenth of the run."""
LOG_LINES = 2_000


@dataclass(frozen=True)
class Report:
    """What a soak did."""

    requests: int
    steps: int
    preempted: int
    elapsed_s: float
    growth_mib: float
    """Resident memory at the end less that after the warm-up."""
    left: int
    """Ended requests that something still refers to."""
    bound_mib: float = BOUND_MIB


def resident_mib() -> float:
    """Memory of this process in MiB: what is resident now or, where /proc is missing, the peak."""
    statm = Path("/proc/self/statm")
    if statm.exists():
        return int(statm.read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20


def requests_in_memory() -> int:
    """How many `Request` objects are alive after a collection."""
    gc.collect()
    return sum(type(one) is Request for one in gc.get_objects())


def make_engines(rng: random.Random) -> list[EngineMachine]:
    """Engines of different sizes, with short event logs so that they are full after the warm-up."""
    parts = Components(telemetry=lambda: EventLog(LOG_LINES))
    return [EngineMachine(components=parts, **random_options(rng)) for _ in range(ENGINES)]


def soak(
    requests: int,
    at_least_s: float = 0.0,
    seed: int = 0,
    every_s: float | None = None,
    clock: Clock | None = None,
) -> Report:
    """Run until `requests` have ended and `at_least_s` have passed; every request is checked.

    Args:
        every_s: print a line of figures this often; None: print nothing.

    Raises AssertionError when something that must hold does not.
    """
    clock = clock or MonotonicClock()
    rng = random.Random(seed)
    engines = make_engines(rng)
    before = requests_in_memory()
    start, warm, shown_s, done, elapsed_s = clock.now(), None, 0.0, 0, 0.0
    while done < requests or elapsed_s < at_least_s:
        for engine in engines:
            for _ in range(MOVES_A_ROUND):
                random_move(engine, rng)
            engine.finish()
        done = sum(engine.ended for engine in engines)
        elapsed_s = clock.now() - start
        if warm is None and done >= requests / 10 and elapsed_s >= at_least_s / 10:
            gc.collect()
            warm = resident_mib()
        if every_s is not None and elapsed_s >= shown_s:
            shown_s = elapsed_s + every_s
            print(f"{elapsed_s:7.1f} s  {done:9,} requests  {resident_mib():7.1f} MiB", flush=True)
    left = requests_in_memory() - before
    return Report(
        requests=done,
        steps=sum(engine.steps for engine in engines),
        preempted=sum(engine.core.metrics.preempted for engine in engines),
        elapsed_s=elapsed_s,
        growth_mib=resident_mib() - (resident_mib() if warm is None else warm),
        left=left,
    )


def main(arguments: list[str] | None = None) -> int:
    """Command line: 0 when all held and memory stayed flat, 1 when memory grew."""
    parser = argparse.ArgumentParser(description="Random requests, readers, clocks and faults, for long.")
    parser.add_argument("--minutes", type=float, default=10.0, help="run at least this long")
    parser.add_argument("--requests", type=int, default=100_000, help="end at least this many requests")
    parser.add_argument("--seed", type=int, default=random.randrange(2**32), help="default: a new one")
    chosen = parser.parse_args(arguments)
    print(f"soak: seed {chosen.seed}")
    report = soak(chosen.requests, chosen.minutes * 60, chosen.seed, every_s=15.0)
    flat = report.growth_mib <= report.bound_mib and report.left <= 0
    print(
        f"soak: {report.requests:,} requests, {report.steps:,} steps, {report.preempted:,} preemptions, "
        f"{report.elapsed_s:.0f} s; memory after the warm-up {report.growth_mib:+.1f} MiB "
        f"(bound {report.bound_mib:g}), "
        f"{max(report.left, 0)} ended requests still referred to: {'flat' if flat else 'IT GREW'}"
    )
    return 0 if flat else 1


if __name__ == "__main__":
    sys.exit(main())
