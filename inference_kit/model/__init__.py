"""The model room: from a name to a network that runs a step. The only room below the engine with torch.

It owns weights, the paged cache's contents, tokenizers and sampling; it does not decide who runs
(`scheduler`) nor which block is whose (`kv`). Names are imported on first use, so that `import
inference_kit.model` alone costs no torch.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .config import ModelConfig as ModelConfig
    from .fast_sampler import FastSampler as FastSampler
    from .loaded_model import LoadedModel as LoadedModel
    from .loader import export_model as export_model
    from .loader import load as load
    from .plain_sampler import PlainSampler as PlainSampler
    from .runner import ModelRunner as ModelRunner
    from .sampler import Sampler as Sampler
    from .sampler import SampleRow as SampleRow
    from .tokenizer import Tokenizer as Tokenizer

HOME = {
    "FastSampler": "fast_sampler",
    "LoadedModel": "loaded_model",
    "ModelConfig": "config",
    "ModelRunner": "runner",
    "PlainSampler": "plain_sampler",
    "SampleRow": "sampler",
    "Sampler": "sampler",
    "Tokenizer": "tokenizer",
    "export_model": "loader",
    "load": "loader",
}
"""Public names and the module that holds each."""

__all__ = [
    "FastSampler",
    "LoadedModel",
    "ModelConfig",
    "ModelRunner",
    "PlainSampler",
    "SampleRow",
    "Sampler",
    "Tokenizer",
    "export_model",
    "load",
]


def __getattr__(name: str) -> Any:
    if name not in HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{HOME[name]}", __name__), name)
