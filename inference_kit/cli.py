"""The console command `inference-kit`. It parses, calls the kit, and prints; it decides nothing.

A wrong input ends with exit code 2 and one clear line; a fault while running with exit code 1.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence
from importlib import metadata, util
from pathlib import Path

from . import __version__
from .errors import EngineFailed, InvalidField, KitError


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code."""
    arguments = _parser().parse_args(argv)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # An answer may hold any character; a terminal that cannot show one gets "?".
        sys.stdout.reconfigure(errors="replace")
    try:
        code: int = arguments.run(arguments)
    except EngineFailed as error:
        print(f"inference-kit: {error}: {error.__cause__}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        # The reader of our output left, as `head` does. Keep Python from writing again at its exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except (KitError, OSError) as error:
        print(f"inference-kit: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="inference-kit", description="An inference engine to read and to use."
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    generate = commands.add_parser("generate", help="answer one prompt, token by token")
    generate.add_argument("prompt", help="the text to answer")
    generate.add_argument("--model", default="smollm2", help="tiny, smollm2, a folder or a Hugging Face id")
    generate.add_argument("--max-tokens", type=int, default=256, help="longest answer in tokens")
    generate.add_argument("--temperature", type=float, default=0.0, help="0 is greedy")
    generate.add_argument("--top-p", type=float, default=1.0)
    generate.add_argument("--seed", type=int, default=None, help="fixes the random draws")
    generate.add_argument("--stop", action="append", default=[], help="text that ends the answer; repeatable")
    generate.add_argument("--dtype", default="auto", help="auto, float32, bfloat16 or float16")
    generate.add_argument("--device", default="auto", help="auto, cpu or cuda")
    generate.add_argument("--raw", action="store_true", help="continue the text; use no chat template")
    generate.add_argument("--quiet", action="store_true", help="no progress bars and no figures")
    generate.set_defaults(run=_generate)

    export = commands.add_parser("export", help="write a model as a Hugging Face folder")
    export.add_argument("model", help="tiny, smollm2 or a Hugging Face id")
    export.add_argument("folder", type=Path, help="a folder that does not exist yet or is empty")
    export.set_defaults(run=_export)

    doctor = commands.add_parser("doctor", help="say what this machine offers")
    doctor.set_defaults(run=_doctor)
    return parser


def _generate(arguments: argparse.Namespace) -> int:
    from .clock import MonotonicClock
    from .engine import LLM
    from .sampling import SamplingParams

    if not arguments.prompt:
        raise InvalidField("prompt", arguments.prompt, "at least one character")
    params = SamplingParams(
        max_tokens=arguments.max_tokens,
        temperature=arguments.temperature,
        top_p=arguments.top_p,
        seed=arguments.seed,
        stop=tuple(arguments.stop),
    )
    clock = MonotonicClock()
    began = clock.now()
    llm = LLM(
        arguments.model,
        dtype=arguments.dtype,
        device=arguments.device,
        progress=not arguments.quiet,
        clock=clock,
    )
    tokenizer = llm.model.tokenizer
    chats = not arguments.raw and tokenizer is not None and tokenizer.chat_template is not None
    prompt = llm.chat_prompt([{"role": "user", "content": arguments.prompt}]) if chats else arguments.prompt
    started, tokens, first_s = clock.now(), 0, 0.0
    loading_s = started - began
    for chunk in llm.stream(prompt, params):
        first_s = first_s or clock.now() - started
        tokens += len(chunk.token_ids)
        print(chunk.text, end="", flush=True)
    print()
    if not arguments.quiet:
        total_s = clock.now() - started
        print(
            f"[loading {loading_s:.2f} s, first token {first_s:.2f} s later; "
            f"{tokens} tokens, {tokens / total_s:.1f} tokens/s]",
            file=sys.stderr,
        )
    return 0


def _export(arguments: argparse.Namespace) -> int:
    from .model import export_model

    export_model(arguments.model, arguments.folder)
    print(f"{arguments.model} was written to {arguments.folder}")
    return 0


def _doctor(_: argparse.Namespace) -> int:
    print(f"inference-kit {__version__}, Python {sys.version.split()[0]}")
    for package in ("torch", "transformers", "jupyterlab", "nbgrader", "ipywidgets", "plotly"):
        found = metadata.version(package) if util.find_spec(package) else "not installed"
        print(f"  {package:13} {found}")
    if util.find_spec("torch"):
        from .engine.machine import describe

        for name, value in describe().items():
            print(f"  {name:13} {value}")
    return 0
