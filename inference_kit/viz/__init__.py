"""Pictures and widgets, drawn from events, tables and snapshots only.

Every picture is SVG text with an alt text and a text form beside it. Nothing asks the network,
and no number that is not finite reaches a picture (convention 14). ipywidgets loads on first
use; where it is missing, a widget is its picture (`still.py`).
"""

from __future__ import annotations

from .backpressure import backpressure
from .batch import batch_composition
from .block_map import block_map, memory_strip
from .block_player import block_player
from .clocks import deadline_clocks
from .curves import goodput_curve, latency_curve, redraw
from .flipbook import flipbook
from .grid import grid
from .hold_back import hold_back
from .machine import state_machine
from .picture import Picture
from .spans import metric_spans
from .states import state_diagram
from .timeline import release_order, timeline

__all__ = [
    "Picture",
    "backpressure",
    "batch_composition",
    "block_map",
    "block_player",
    "deadline_clocks",
    "flipbook",
    "goodput_curve",
    "grid",
    "hold_back",
    "latency_curve",
    "memory_strip",
    "metric_spans",
    "redraw",
    "release_order",
    "state_diagram",
    "state_machine",
    "timeline",
]
