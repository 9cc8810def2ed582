"""What a widget shows where ipywidgets is missing: its picture, and one line that says why it stands still.

Owns that one line and the question whether widgets can be made here. It draws nothing itself.
Invariant: a notebook runs the same with and without ipywidgets; only the buttons are missing.
"""

from __future__ import annotations

from typing import Any

from .picture import Picture

STILL = "This picture stands still, because ipywidgets is not installed here; with it, it has buttons."


class Still(Picture):
    """A picture in the place of a widget: the first one that the widget would show."""

    @classmethod
    def of(cls, picture: Picture) -> Still:
        """`picture`, to be shown with the line below it."""
        return cls(picture.svg, picture.alt, picture.text)

    def html(self, folded: bool = True) -> str:
        return f"{super().html(folded)}<p>{STILL}</p>"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        bundle = super()._repr_mimebundle_(include, exclude)
        return bundle | {"text/plain": f"{bundle['text/plain']}\n{STILL}"}


def has_widgets() -> bool:
    """True where ipywidgets can be imported. A widget asks before it builds anything."""
    try:
        import ipywidgets  # noqa: F401
    except ImportError:
        return False
    return True
