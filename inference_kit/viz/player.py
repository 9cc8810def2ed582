"""A player: pictures in order, with play, back, forward and a slider.

Core ipywidgets only (7.7 and 8), with no Output widget and no JavaScript of our own. Invariants: one move of
any control shows one picture; running the cell again closes the widgets of the run before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .machine import _cell_key
from .picture import Picture
from .still import Still, has_widgets, live_bundle

_OPEN: dict[str, Player] = {}


class Player:
    """The widgets around some pictures. A notebook shows it by itself.

    Attributes:
        pictures: one for each moment.
        whole: all moments in one picture, for where nothing can be pressed.
        position: the moment that is shown, from 0.
    """

    def __init__(self, pictures: Sequence[Picture], whole: Picture, label: str) -> None:
        import ipywidgets as w

        self.pictures = list(pictures)
        self.whole = whole
        self.position = 0
        last = len(self.pictures) - 1
        self.view = w.HTML()
        self.play = w.Play(min=0, max=last, interval=900)
        self.back = w.Button(description="◀ back", tooltip="one moment back", layout=w.Layout(width="auto"))
        self.forward = w.Button(
            description="forward ▶", tooltip="one moment forward", layout=w.Layout(width="auto")
        )
        self.slider = w.IntSlider(min=0, max=last, description=label, layout=w.Layout(width="280px"))
        self.row = w.HBox(
            [self.play, self.back, self.forward, self.slider], layout=w.Layout(flex_flow="row wrap")
        )
        self.root = w.VBox([self.row, self.view])
        self.back.on_click(lambda _: self.go(self.position - 1))
        self.forward.on_click(lambda _: self.go(self.position + 1))
        self.play.observe(self._moved, names="value")
        self.slider.observe(self._moved, names="value")
        self._show()

    def _moved(self, change: Any) -> None:
        if change["new"] != self.position:
            self.go(change["new"])

    def go(self, position: int) -> None:
        """Show another moment; positions outside are cut to the first or the last."""
        self.position = min(max(position, 0), len(self.pictures) - 1)
        self._show()

    def _show(self) -> None:
        self.play.value = self.slider.value = self.position
        self.back.disabled = self.position == 0
        self.forward.disabled = self.position == len(self.pictures) - 1
        self.view.value = self.pictures[self.position].html(folded=False)

    def close(self) -> None:
        """Close every widget, with its layout and style, so that nothing stays in the kernel."""
        self.play.unobserve_all()
        self.slider.unobserve_all()
        for widget in (*self.row.children, self.row, self.view, self.root):
            for part in (getattr(widget, "layout", None), getattr(widget, "style", None)):
                if part is not None:
                    part.close()
            widget.close()

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return live_bundle(self.root, self.whole)


def open_player(
    pictures: Sequence[Picture], whole: Picture, label: str, key: str | None = None
) -> Player | Still:
    """Make a player for a place, and close the one that was there before.

    `key` names the place; by default it is the notebook cell that runs. Without ipywidgets it is `whole`.
    """
    if not has_widgets():
        return Still.of(whole)
    place = key or _cell_key()
    before = _OPEN.pop(place, None)
    if before is not None:
        before.close()
    _OPEN[place] = player = Player(pictures, whole, label)
    return player
