"""W6: from token ids to text that may be shown, with 0, 4 and 64 stop strings, beside two peers.

Owns the text, the stops and the rounds of this measurement; the peers are the `DecodeStream` of
tokenizers and the `TextIteratorStreamer` of transformers. Invariant: all sides get the same ids in the
same run, in turns, and a side whose text is wrong is an error, not a figure.

    python -m inference_kit.bench.streamer --tokens 1000000
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import random
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from pydoc_data.topics import topics
from statistics import median
from typing import TYPE_CHECKING, Any

from ..clock import Clock, MonotonicClock
from ..errors import KitError
from ..streaming import PlainStopMatcher, PlainUtf8Decoder, StreamingText

if TYPE_CHECKING:
    from ..engine.vocabulary import Vocabulary
    from ..model.tokenizer import Tokenizer

ROLES = (
    *("User", "Assistant", "System", "Human", "Question", "Answer", "Observation", "Action"),
    *("Thought", "Input", "Output", "Final", "Result", "Note", "End", "Stop"),
)
STOPS_64 = tuple(form.format(role) for form in ("\n{}:", "<{}>", "[{}]", "{} says:") for role in ROLES)
STOPS = {0: (), 4: ("\nUser:", "</s>", "###", "<|im_end|>"), 64: STOPS_64}
EMOJI = (
    "\U0001f600",
    "\U0001f643",
    "\U0001f680",
    "\u2764\ufe0f",
    "\U0001f469\u200d\U0001f467",
    "\U0001f1e8\U0001f1f3",
)
SLOW_SHARE = 50
"""The slow sides take one of this many tokens: their cost for each token is reported, not for all."""


def mixed_text(seed: int, characters: int) -> str:
    """English from Python's own manual, the common Chinese characters, and emoji; the same for a seed."""
    rng = random.Random(seed)
    words = " ".join(topics[name] for name in sorted(topics)).split()
    chinese = bytes(
        byte for high in range(0xB0, 0xD7) for low in range(0xA1, 0xFF) for byte in (high, low)
    ).decode("gb2312")
    ranks = [1 / rank for rank in range(1, len(chinese) + 1)]
    common = "".join(rng.sample(chinese, len(chinese)))
    parts: list[str] = [""]
    length = 0
    while length < characters:
        kind = rng.random()
        if kind < 0.55:
            begin = rng.randrange(len(words) - 20)
            part = " ".join(words[begin : begin + 20]) + ". "
        elif kind < 0.9:
            part = "".join(rng.choices(common, ranks, k=14)) + "。"
        else:
            part = "".join(rng.choices(EMOJI, k=2)) + "\n"
        # A stop string in the text would end the measurement.
        if not any(stop in parts[-1] + part for stops in STOPS.values() for stop in stops):
            parts.append(part)
            length += len(part)
    return "".join(parts)


def mixed_ids(tokenizer: Tokenizer, tokens: int, seed: int) -> list[int]:
    """`tokens` ids of `mixed_text`."""
    ids: list[int] = []
    while len(ids) < tokens:
        ids += tokenizer.encode(mixed_text(seed, 400_000), add_special_tokens=False)
        seed += 1
    return ids[:tokens]


def find_tokenizer(path: Path | None) -> tuple[str, Tokenizer]:
    """(name, tokenizer): the file at `path`, else the cached smollm2's, else the bytes of `tiny`."""
    from ..model import tiny
    from ..model.sources import cache_folder
    from ..model.tokenizer import Tokenizer

    folder = cache_folder() / "smollm2" if path is None else path.parent if path.is_file() else path
    found = Tokenizer.from_folder(folder) if folder.is_dir() else None
    if found is not None:
        return folder.name, found
    if path is not None:
        raise KitError(f"{path} holds no tokenizer")
    return tiny.NAME, tiny.tokenizer()


@dataclass(frozen=True)
class Side:
    """One way from ids to pieces of text."""

    name: str
    run: Callable[[Sequence[int]], list[str]]
    share: int = 1
    """It gets one of this many tokens."""


def vocabulary_of(tokenizer: Tokenizer) -> Vocabulary:
    """What the engine asks for the bytes of a token."""
    from ..engine.vocabulary import Vocabulary

    return Vocabulary(tokenizer.vocab_size, sys.maxsize, tokenizer=tokenizer)


def kit_side(name: str, vocabulary: Vocabulary, stops: Sequence[str], share: int = 1, **parts: Any) -> Side:
    """The kit's streamer, fed as the engine feeds it."""

    def run(ids: Sequence[int]) -> list[str]:
        streaming, token, pieces = StreamingText(stops, **parts), vocabulary.token, []
        for token_id in ids:
            piece = streaming.push(*token(token_id))
            if piece:
                pieces.append(piece)
        pieces.append(streaming.finish())
        if streaming.stopped:
            raise KitError(f"the text of the measurement holds the stop string {streaming.stop_reason!r}")
        return pieces

    return Side(name, run, share)


def decode_stream_side(tokenizer: Tokenizer) -> Side:
    """The incremental decoder of the tokenizers library. It has no flush and no stop strings."""
    from tokenizers.decoders import DecodeStream

    def run(ids: Sequence[int]) -> list[str]:
        stream, backend, pieces = DecodeStream(skip_special_tokens=True), tokenizer.backend, []
        for token_id in ids:
            piece = stream.step(backend, token_id)
            if piece:
                pieces.append(piece)
        return pieces

    return Side("decode_stream", run)


def text_iterator_side(tokenizer: Tokenizer) -> Side:
    """The streamer of transformers; its queue is emptied by the same thread at the end."""
    import numpy
    from transformers import PreTrainedTokenizerFast, TextIteratorStreamer

    wrapped = PreTrainedTokenizerFast(tokenizer_object=tokenizer.backend)

    def run(ids: Sequence[int]) -> list[str]:
        streamer = TextIteratorStreamer(wrapped, skip_special_tokens=True)
        for token_id in ids:
            streamer.put(numpy.array([token_id]))
        streamer.end()
        return list(streamer)

    return Side("text_iterator_streamer", run, SLOW_SHARE)


def make_sides(tokenizer: Tokenizer) -> list[Side]:
    """All sides, in the order of a round."""
    vocabulary = vocabulary_of(tokenizer)
    plain: dict[str, Any] = {"decoder": PlainUtf8Decoder, "matcher": PlainStopMatcher}
    return [
        kit_side("stops_0", vocabulary, STOPS[0]),
        decode_stream_side(tokenizer),
        kit_side("stops_4", vocabulary, STOPS[4]),
        kit_side("stops_64", vocabulary, STOPS[64]),
        kit_side("plain_stops_0", vocabulary, STOPS[0], SLOW_SHARE, **plain),
        kit_side("plain_stops_64", vocabulary, STOPS[64], SLOW_SHARE, **plain),
        text_iterator_side(tokenizer),
    ]


def check_texts(sides: Sequence[Side], tokenizer: Tokenizer, ids: Sequence[int]) -> dict[str, bool]:
    """For each side: is its text that of all ids? Raises `KitError` where one of the kit's is not."""
    equal = {}
    for side in sides:
        part = ids[: len(ids) // side.share]
        equal[side.name] = "".join(side.run(part)) == tokenizer.decode(part)
        if "stops" in side.name and not equal[side.name]:
            raise KitError(f"the text of {side.name} is wrong")
    return equal


def timed_rounds(
    sides: Sequence[Side], ids: Sequence[int], rounds: int, clock: Clock
) -> dict[str, list[float]]:
    """Microseconds for each token, for each side and round; the sides take turns."""
    costs: dict[str, list[float]] = {side.name: [] for side in sides}
    for _ in range(rounds):
        for side in sides:
            part = ids[: max(1, len(ids) // side.share)]
            start = clock.now()
            side.run(part)
            costs[side.name].append((clock.now() - start) / len(part) * 1e6)
    return costs


def peak_bytes(tokenizer: Tokenizer, stops: Sequence[str], ids: Sequence[int]) -> int:
    """Most bytes that a streamer without a copy of its text held while it read `ids`."""
    pieces = [(tokenizer.token_bytes(token_id), tokenizer.is_special(token_id)) for token_id in ids]
    tracemalloc.start()
    try:
        streaming = StreamingText(stops, keep_text=False)
        for piece in pieces:
            streaming.push(*piece)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def ratios(costs: dict[str, list[float]]) -> dict[str, float]:
    """Medians of the ratios of each round. Above 1, `*_speed_over_*` means that the kit is faster."""

    def of(above: str, below: str) -> float:
        return round(median(a / b for a, b in zip(costs[above], costs[below], strict=True)), 3)

    return {
        "speed_over_decode_stream": of("decode_stream", "stops_0"),
        "speed_over_text_iterator_streamer": of("text_iterator_streamer", "stops_0"),
        "cost_4_stops_over_0": of("stops_4", "stops_0"),
        "cost_64_stops_over_0": of("stops_64", "stops_0"),
        "plain_cost_over_fast_0_stops": of("plain_stops_0", "stops_0"),
        "plain_cost_over_fast_64_stops": of("plain_stops_64", "stops_64"),
    }


def describe_machine() -> dict[str, Any]:
    """The machine, the versions and the commit of a record."""
    folder = Path(__file__).parent
    command = ["git", "-C", str(folder), "describe", "--always", "--dirty", "--abbrev=12"]
    try:
        commit = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        commit = None
    return {
        "machine": {"cpu": _cpu_name(), "cores": os.cpu_count(), "system": platform.system()},
        "versions": {
            "python": platform.python_version(),
            **{name: metadata.version(name) for name in ("tokenizers", "transformers")},
        },
        "commit": commit,
    }


def _cpu_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def measure(
    tokens: int, rounds: int, path: Path | None, seed: int = 0, clock: Clock | None = None
) -> dict[str, Any]:
    """One record of W6. Raises `KitError` for a text of ours that is wrong."""
    name, tokenizer = find_tokenizer(path)
    ids = mixed_ids(tokenizer, tokens, seed)
    sides = make_sides(tokenizer)
    equal = check_texts(sides, tokenizer, ids)
    costs = timed_rounds(sides, ids, rounds, clock or MonotonicClock())
    part = ids[: tokens // 10]
    return {
        "workload": "W6",
        **describe_machine(),
        "threads": 1,
        "tokenizer": name,
        "tokens": tokens,
        "rounds": rounds,
        "ids_sha256": hashlib.sha256(json.dumps(ids).encode()).hexdigest(),
        "tokens_of_side": {side.name: tokens // side.share for side in sides},
        "text_equals_decode_of_all_ids": equal,
        "median_us_per_token": {side: round(median(values), 4) for side, values in costs.items()},
        "ratios": ratios(costs),
        "peak_bytes_without_text": {
            f"{stops}_stops_{len(some)}_tokens": peak_bytes(tokenizer, STOPS[stops], some)
            for stops in STOPS
            for some in (part[: len(part) // 2], part)
        },
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Print one record as JSON."""
    parser = argparse.ArgumentParser(prog="python -m inference_kit.bench.streamer", description=__doc__)
    parser.add_argument("--tokens", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tokenizer", type=Path, default=None, help="a tokenizer.json or its folder")
    options = parser.parse_args(arguments)
    if options.tokens < 10 * SLOW_SHARE or options.rounds < 1:
        parser.error(f"--tokens must be at least {10 * SLOW_SHARE} and --rounds at least 1")
    print(json.dumps(measure(options.tokens, options.rounds, options.tokenizer), indent=2))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
