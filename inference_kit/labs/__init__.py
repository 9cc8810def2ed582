"""What a lab notebook calls: `check`, `hint`, `plug`, `show`.

The names load on first use, so importing this package costs a few milliseconds and never
imports torch, transformers or ipywidgets.
"""

from __future__ import annotations

from typing import Any

__all__ = ["check", "hint", "plug", "show"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from . import notebook

        return getattr(notebook, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
