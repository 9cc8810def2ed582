"""What a widget shows where it cannot live: its picture, and one line that says why it stands still.

Owns that line, the question whether widgets can be made here, and what a notebook stores of a widget. It
draws nothing itself. Invariant: a notebook runs the same with and without ipywidgets, and a stored one still
shows the picture; only the buttons are missing.
"""

from __future__ import annotations

import sys
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


RESTING = "This picture stands still, because its kernel is gone; run the cell, and it has buttons."
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"


def live_bundle(root: Any, picture: Picture) -> dict[str, Any]:
    """What a notebook stores of a live widget: the view of `root`, and `picture` for where it is dead.

    A notebook that is not trusted and offline HTML show the picture. Works with ipywidgets 7.7 and 8.
    """
    view = {"version_major": 2, "version_minor": 0, "model_id": root.model_id}
    bundle = {WIDGET_VIEW: view, "text/plain": f"{picture.alt}\n{picture.text}"}
    # In Colab the widget comes alone: a page that preferred the HTML would show it without buttons.
    if "google.colab" not in sys.modules:
        bundle["text/html"] = f"{picture.html()}<p>{RESTING}</p>"
    return bundle


def has_widgets() -> bool:
    """True where ipywidgets can be imported. A widget asks before it builds anything."""
    try:
        import ipywidgets  # noqa: F401
    except ImportError:
        return False
    return True
