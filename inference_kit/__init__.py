"""An inference engine for language models, small enough to read, in replaceable parts.

    from inference_kit import LLM
    print(LLM("smollm2").generate("The capital of France is")[0].text)

Names are imported when they are first used, so that a notebook kernel starts without torch.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .config import Deadlines, EngineConfig
    from .engine import LLM, Components, Engine, RequestOutput, Stream
    from .sampling import SamplingParams

__version__ = "0.1.0"

_HOMES = {
    "LLM": "engine",
    "Components": "engine",
    "Engine": "engine",
    "RequestOutput": "engine",
    "Stream": "engine",
    "Deadlines": "config",
    "EngineConfig": "config",
    "SamplingParams": "sampling",
}

__all__ = [
    "LLM",
    "Components",
    "Deadlines",
    "Engine",
    "EngineConfig",
    "RequestOutput",
    "SamplingParams",
    "Stream",
    "__version__",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'inference_kit' has no name {name!r}; it has: {', '.join(__all__)}")
    return getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted(__all__)
