"""W5: what one step of schedule and commit costs, without a model.

Every request decodes, with all features on: four deadlines, a stop string, a stop id, EOS, credit, events.
The runner answers with a constant id and its time is not counted. With `--peer DIR`, a checkout of nano-vllm,
its `schedule` and `postprocess` do the same work in the same run, in turns with ours.

    python -m inference_kit.bench.control_plane [--sizes 64 256 512 4096] [--peer DIR]
"""

from __future__ import annotations

import argparse
import gc
import importlib
import json
import random
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..clock import MonotonicClock, VirtualClock
from ..config import Deadlines, EngineConfig
from ..engine.core import EngineCore
from ..engine.vocabulary import Vocabulary
from ..sampling import SamplingParams
from ..scheduler.plan import StepOutput, StepPlan
from . import watermark
from .record import commit_of, origin, spread

TOKEN = 100
STEP_S = 0.03
"""Engine time that passes in one step."""
BLOCK_SIZE = 16
PEER_BLOCK_SIZE = 256
"""The smallest that the peer accepts."""
CLOCK = MonotonicClock()


class Bytes:
    """A tokenizer whose ids are bytes."""

    def token_bytes(self, token_id: int) -> bytes:
        return bytes([token_id])

    def is_special(self, token_id: int) -> bool:
        return False


class Constant:
    """A runner that gives every request the same id."""

    def run(self, plan: StepPlan) -> StepOutput:
        return StepOutput(dict.fromkeys(plan.request_ids, TOKEN))


class Ours:
    """The kit's side. `step` returns the seconds of schedule + commit."""

    def __init__(self, prompts: list[int], steps: int) -> None:
        blocks = sum(-(-(prompt + steps) // BLOCK_SIZE) for prompt in prompts)
        config = EngineConfig(
            num_kv_blocks=blocks,
            block_size=BLOCK_SIZE,
            max_running=len(prompts),
            max_waiting=len(prompts),
            max_waiting_tokens=sum(prompts),
            max_step_tokens=sum(prompts),
            watermark=0.0,
            channel_high=2 * steps,
        )
        self.clock = VirtualClock()
        vocabulary = Vocabulary(128, 1 << 20, frozenset({0}), Bytes())
        self.core = EngineCore(config, Constant(), vocabulary, self.clock)
        deadlines = Deadlines(queue_s=60.0, ttft_s=60.0, inter_token_s=10.0, overall_s=3600.0)
        params = SamplingParams(max_tokens=2 * steps, stop=("\n\nUser:",), stop_token_ids=(1,))
        for prompt in prompts:
            self.core.submit([2] * prompt, params, deadlines)
        self.core.step()

    def step(self) -> float:
        core = self.core
        self.clock.advance(STEP_S)
        start = CLOCK.now()
        plan = core.scheduler.schedule(core.boundary())
        planned = CLOCK.now()
        output = core.runner.run(plan)
        back = CLOCK.now()
        core.commit(plan, output)
        return CLOCK.now() - back + planned - start

    def deliver(self) -> float:
        """Seconds to hand all new tokens of a step to their readers, as text and ids."""
        start = CLOCK.now()
        for live in self.core.take_touched():
            live.take()
        return CLOCK.now() - start

    def chunks(self) -> float:
        """Seconds to make the chunk objects of a step, for a runner that wants them; the step is run."""
        plan = self.core.scheduler.schedule(self.core.boundary())
        start = CLOCK.now()
        plan.chunks[0]
        seconds = CLOCK.now() - start
        self.core.commit(plan, self.core.runner.run(plan))
        return seconds


class Peer:
    """nano-vllm's scheduler, from its own files; torch and its model are not needed for it."""

    def __init__(self, folder: Path, prompts: list[int], steps: int) -> None:
        scheduler, sequence, params = _peer_modules(folder)
        sequence.Sequence.block_size = PEER_BLOCK_SIZE
        config = types.SimpleNamespace(
            max_num_seqs=len(prompts),
            max_num_batched_tokens=sum(prompts),
            eos=0,
            kvcache_block_size=PEER_BLOCK_SIZE,
            num_kvcache_blocks=sum(-(-(prompt + steps) // PEER_BLOCK_SIZE) for prompt in prompts),
        )
        self.scheduler = scheduler.Scheduler(config)
        for index, prompt in enumerate(prompts):
            # A first token of its own keeps the peer's prefix cache from sharing blocks.
            ids = [index + 1000] + [2] * (prompt - 1)
            self.scheduler.add(sequence.Sequence(ids, params.SamplingParams(max_tokens=2 * steps)))
        self.step()

    def step(self) -> float:
        start = CLOCK.now()
        seqs, is_prefill = self.scheduler.schedule()
        planned = CLOCK.now()
        ids = [TOKEN] * len(seqs)
        back = CLOCK.now()
        self.scheduler.postprocess(seqs, ids, is_prefill)
        return CLOCK.now() - back + planned - start


def _peer_modules(folder: Path) -> tuple[Any, Any, Any]:
    """(scheduler, sequence, sampling_params) of nano-vllm, past its imports of torch and transformers."""
    for name, path in (
        ("nanovllm", folder / "nanovllm"),
        ("nanovllm.engine", folder / "nanovllm" / "engine"),
    ):
        package = types.ModuleType(name)
        package.__path__ = [str(path)]
        sys.modules[name] = package
    config = types.ModuleType("nanovllm.config")
    config.Config = object  # type: ignore[attr-defined]
    sys.modules["nanovllm.config"] = config
    names = ("nanovllm.engine.scheduler", "nanovllm.engine.sequence", "nanovllm.sampling_params")
    scheduler, sequence, params = (importlib.import_module(name) for name in names)
    return scheduler, sequence, params


def measure(size: int, rounds: int, steps: int, peer: Path | None) -> dict[str, Any]:
    """One row: both sides in turns over the same prompts."""
    prompts = prompt_lengths(size)
    total = (rounds + 3) * steps
    ours = Ours(prompts, total)
    other = None if peer is None else Peer(peer, prompts, total)
    our_s: list[float] = []
    peer_s: list[float] = []
    gc.collect()
    _repeat(ours.step, steps)
    for _ in range(rounds):
        our_s += _repeat(ours.step, steps)
        if other is not None:
            peer_s += _repeat(other.step, steps)
    row: dict[str, Any] = {"running": size, "ours": spread(our_s)}
    if other is not None:
        row["peer"] = spread(peer_s)
        row["ratio"] = round(row["peer"]["median_us"] / row["ours"]["median_us"], 2)
    row["chunk_objects"] = spread([ours.chunks() for _ in range(5)])
    ours.deliver()
    row["delivery"] = spread([ours.deliver() for _ in range(steps // 4) if ours.step()])
    return row


def prompt_lengths(size: int) -> list[int]:
    """Lengths of W1, seed 0."""
    draw = random.Random(0)
    return [draw.randint(16, 160) for _ in range(size)]


def _repeat(step: Callable[[], float], times: int) -> list[float]:
    return [step() for _ in range(times)]


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=[64, 256, 512, 4096], help="running requests")
    parser.add_argument("--rounds", type=int, default=20, help="turns of each side")
    parser.add_argument("--steps", type=int, default=100, help="steps in one turn")
    parser.add_argument("--peer", type=Path, help="a checkout of nano-vllm")
    parser.add_argument(
        "--watermarks", action="store_true", help="add the table behind the default watermark"
    )
    options = parser.parse_args(argv)
    trace = {str(size): prompt_lengths(size) for size in options.sizes}
    record = origin("W5", trace)
    record["settings"] = {
        "rounds": options.rounds,
        "steps": options.steps,
        "block_size": BLOCK_SIZE,
        "peer_block_size": PEER_BLOCK_SIZE,
    }
    if options.peer is not None:
        record["peer"] = {"name": "nano-vllm", "commit": commit_of(options.peer)}
    if options.watermarks:
        record["watermarks"] = watermark.table()
    record["rows"] = [measure(size, options.rounds, options.steps, options.peer) for size in options.sizes]
    print(json.dumps(record, indent=2))


if __name__ == "__main__":
    main()
