"""Pictures and widgets, drawn from events, tables and snapshots only.

Every picture is SVG text with an alt text and a text form beside it. Nothing asks the network,
and no number that is not finite reaches a picture (convention 14). ipywidgets loads on first
use; where it is missing, a widget is its picture (`still.py`).
"""

from __future__ import annotations

from .grid import grid
from .machine import state_machine
from .picture import Picture
from .states import state_diagram
from .timeline import release_order, timeline

__all__ = ["Picture", "grid", "release_order", "state_diagram", "state_machine", "timeline"]
