"""The live state machine: press an event, see where the request goes, step back and forward.

`MachineModel` is the pure part; `state_machine` puts core ipywidgets around it (7.7 and 8), with
no Output widget and no JavaScript of our own. Invariant: only legal events can be pressed, and
running the cell again closes the widgets of the run before.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import KitError
from ..lifecycle import TRANSITIONS
from .picture import Picture
from .states import plain_table, state_diagram
from .still import Still, has_widgets, live_bundle


class NotLegal(KitError, ValueError):
    """An event that the current state of the widget does not allow."""


class MachineModel:
    """A table, a path through it, and a position on the path."""

    def __init__(self, table: Mapping[Any, Mapping[Any, Any]], start: str) -> None:
        self.moves = plain_table(table)
        if start not in self.moves:
            raise ValueError(f"start={start!r} is not a state of the table")
        self.path: list[tuple[str, str]] = [("", start)]
        """(event, state after it); the first entry has no event."""
        self.position = 0

    @property
    def state(self) -> str:
        return self.path[self.position][1]

    @property
    def events(self) -> list[str]:
        """Every event of the table, in order of first use."""
        return list(dict.fromkeys(event for moves in self.moves.values() for event in moves))

    @property
    def legal(self) -> list[str]:
        return list(self.moves.get(self.state, {}))

    def fire(self, event: str) -> str:
        """Move by a legal event and forget what lay ahead. Raises `NotLegal`."""
        if event not in self.legal:
            raise NotLegal(
                f"{event!r} is not legal in {self.state!r}; legal: {', '.join(self.legal) or 'none'}"
            )
        self.path = [*self.path[: self.position + 1], (event, self.moves[self.state][event])]
        self.position += 1
        return self.state

    def back(self) -> bool:
        """Show the state before; False at the start."""
        if self.position == 0:
            return False
        self.position -= 1
        return True

    def forward(self) -> bool:
        """Show the state after again; False at the end of the path."""
        if self.position == len(self.path) - 1:
            return False
        self.position += 1
        return True

    def restart(self) -> None:
        self.path, self.position = self.path[:1], 0

    def trace(self) -> str:
        """The path as text, the shown state in brackets."""
        parts = []
        for index, (event, state) in enumerate(self.path):
            shown = f"[{state}]" if index == self.position else state
            parts.append(f" –{event}→ {shown}" if event else shown)
        return "".join(parts)

    def picture(self) -> Picture:
        drawn = state_diagram(self.moves, self.state)
        return Picture(drawn.svg, drawn.alt, self.trace())


_OPEN: dict[str, StateMachine] = {}


class StateMachine:
    """The widgets around a `MachineModel`. A notebook shows it by itself."""

    def __init__(self, model: MachineModel) -> None:
        import ipywidgets as w

        self.model = model
        self.view = w.HTML()
        self.buttons = {
            name: w.Button(description=name, layout=w.Layout(width="auto")) for name in model.events
        }
        self.back = w.Button(description="◀ back", tooltip="one step back in the history")
        self.forward = w.Button(description="forward ▶", tooltip="one step forward in the history")
        self.restart = w.Button(description="restart", tooltip="a new request")
        wrap = w.Layout(flex_flow="row wrap")
        self.root = w.VBox(
            [
                w.HBox(list(self.buttons.values()), layout=wrap),
                w.HBox([self.back, self.forward, self.restart]),
                self.view,
            ]
        )
        for name, button in self.buttons.items():
            button.on_click(lambda _, event=name: self._then(lambda: self.model.fire(event)))
        self.back.on_click(lambda _: self._then(self.model.back))
        self.forward.on_click(lambda _: self._then(self.model.forward))
        self.restart.on_click(lambda _: self._then(self.model.restart))
        self._refresh()

    def _then(self, action: Any) -> None:
        try:
            action()
        except NotLegal:
            # A click that was under way while the state changed: the picture stays as it is.
            return
        self._refresh()

    def _refresh(self) -> None:
        legal = self.model.legal
        for name, button in self.buttons.items():
            button.disabled = name not in legal
            button.button_style = "info" if name in legal else ""
        self.back.disabled = self.model.position == 0
        self.forward.disabled = self.model.position == len(self.model.path) - 1
        self.view.value = self.model.picture().html(folded=False)

    def close(self) -> None:
        """Close every widget, with its layout and style, so that nothing stays in the kernel."""
        boxes = [child for child in self.root.children if hasattr(child, "children")]
        leaves = [leaf for box in boxes for leaf in box.children]
        for widget in [*leaves, *self.root.children, self.root]:
            for part in (getattr(widget, "layout", None), getattr(widget, "style", None)):
                if part is not None:
                    part.close()
            widget.close()

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return live_bundle(self.root, self.model.picture())


def _cell_key() -> str:
    """Which notebook cell is running, so that its next run can close what this one opened."""
    try:
        from IPython import get_ipython
    except ImportError:
        return "plain"
    shell = get_ipython()
    parent = shell.get_parent() if hasattr(shell, "get_parent") else {}
    return str((parent or {}).get("metadata", {}).get("cellId", "plain"))


def state_machine(
    table: Mapping[Any, Mapping[Any, Any]] | None = None, start: str = "received", key: str | None = None
) -> StateMachine | Still:
    """The live state diagram of a table (the kit's `TRANSITIONS` when none is given).

    Legal events are buttons to press; the others are disabled. `key` names the place: a second
    call for the same place closes the first; by default the place is the notebook cell.
    Without ipywidgets it is the picture of the start state.
    """
    model = MachineModel(TRANSITIONS if table is None else table, start)
    if not has_widgets():
        return Still.of(model.picture())
    place = key or _cell_key()
    before = _OPEN.pop(place, None)
    if before is not None:
        before.close()
    machine = StateMachine(model)
    _OPEN[place] = machine
    return machine
