"""A flipbook: one of several pictures at a time, chosen with a slider.

Core ipywidgets only (7.7 and 8): a slider and an HTML value that is swapped in place, so one move sends
one message. Invariant: running the cell again closes the widgets of the run before.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .machine import _cell_key
from .picture import Picture
from .still import Still, has_widgets, live_bundle

_OPEN: dict[str, Flipbook] = {}


class Flipbook:
    """The widgets around some pictures. A notebook shows it by itself."""

    def __init__(self, pictures: Mapping[str, Picture], label: str) -> None:
        import ipywidgets as w

        self.pictures = {str(name): picture for name, picture in pictures.items()}
        wide = w.Layout(width="min(620px, 100%)")
        self.slider = w.SelectionSlider(
            options=list(self.pictures),
            description=label,
            style={"description_width": "initial"},
            layout=wide,
        )
        self.view = w.HTML()
        self.root = w.VBox([self.slider, self.view])
        self.slider.observe(self._show, names="value")
        self._show()

    @property
    def picture(self) -> Picture:
        """The one that is shown."""
        return self.pictures[self.slider.value]

    def _show(self, _: Any = None) -> None:
        self.view.value = self.picture.html(folded=False)

    def close(self) -> None:
        """Close every widget, with its layout and style, so that nothing stays in the kernel."""
        self.slider.unobserve(self._show, names="value")
        for widget in (self.slider, self.view, self.root):
            for part in (getattr(widget, "layout", None), getattr(widget, "style", None)):
                if part is not None:
                    part.close()
            widget.close()

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return live_bundle(self.root, self.picture)


def flipbook(
    pictures: Mapping[str, Picture], label: str = "show", key: str | None = None
) -> Flipbook | Still:
    """Several pictures behind one slider, which the arrow keys move too.

    `key` names the place: a second call for the same place closes the first; by default the place is the
    notebook cell. Raises ValueError for no pictures.
    """
    if not pictures:
        raise ValueError("a flipbook needs at least one picture")
    if not has_widgets():
        return Still.of(next(iter(pictures.values())))
    place = key or _cell_key()
    before = _OPEN.pop(place, None)
    if before is not None:
        before.close()
    book = Flipbook(pictures, label)
    _OPEN[place] = book
    return book
