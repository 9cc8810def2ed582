"""A player for block maps: one snapshot of the pool for each moment, with back and forward.

`Frames` is the pure part; `block_player` puts core ipywidgets around it (7.7 and 8), with no Output widget
and no JavaScript of our own. Invariant: running the cell again closes the widgets of the run before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..kv import CountedPool, prepare_write
from ..kv.snapshot import block_snapshot
from .block_map import block_map
from .machine import _cell_key
from .picture import Picture
from .still import Still, has_widgets, live_bundle

Frame = tuple[str, Mapping[str, Any]]
"""What has just happened, and the snapshot after it (`block_snapshot`)."""


class Frames:
    """Snapshots in order, and the one that is shown."""

    def __init__(self, frames: Sequence[Frame]) -> None:
        if not frames:
            raise ValueError("there are no moments to show")
        self.frames = list(frames)
        self.position = 0

    def go(self, position: int) -> None:
        """Show another moment; positions outside are cut to the first or the last."""
        self.position = min(max(position, 0), len(self.frames) - 1)

    def picture(self) -> Picture:
        """The block map of the moment that is shown."""
        caption, state = self.frames[self.position]
        drawn = block_map(state, title=f"{self.position + 1} of {len(self.frames)}: {caption}")
        counts = " ".join(f"{block}×{count}" for block, count in enumerate(state["references"]) if count)
        lines = [caption, f"references: {counts or 'none'}"]
        lines += [f"{name}: {' '.join(map(str, ids))}" for name, ids in state["tables"].items()]
        return Picture(drawn.svg, drawn.alt, "\n".join(lines))


def story() -> list[Frame]:
    """Two drafts of one prompt of 6 tokens, in blocks of 4: share, copy before the write, cancel, reuse."""
    pool = CountedPool(8, 4)
    frames: list[Frame] = []
    tables: dict[str, list[int]] = {}
    tokens: dict[str, int] = {}

    def moment(caption: str) -> None:
        frames.append((caption, block_snapshot(pool, tables, tokens)))

    moment("all blocks are free")
    tables["draft A"], tokens["draft A"] = pool.allocate(2), 6
    moment("the prompt of 6 tokens is computed for draft A")
    pool.retain(tables["draft A"])
    tables["draft B"], tokens["draft B"] = list(tables["draft A"]), 6
    moment("draft B begins to share: one reference more for both blocks")
    tables["draft A"], _ = prepare_write(pool, tables["draft A"], 6, 7)
    tokens["draft A"] = 7
    moment("draft A writes position 6: it takes a copy of the part-filled block")
    tables["draft B"], _ = prepare_write(pool, tables["draft B"], 6, 7)
    tokens["draft B"] = 7
    moment("draft B writes position 6: the old block is its own now, no copy")
    tables["draft A"], _ = prepare_write(pool, tables["draft A"], 7, 9)
    tokens["draft A"] = 9
    moment("draft A needs position 8: one more block")
    pool.free(tables.pop("draft A"))
    moment("draft A is cancelled: one reference fewer for each of its blocks")
    tables["stranger"], tokens["stranger"] = pool.allocate(2), 5
    moment("the next request gets free blocks, none of draft B's")
    for name in list(tables):
        pool.free(tables.pop(name))
    moment("all have ended: all blocks are free again")
    return frames


_OPEN: dict[str, BlockPlayer] = {}


class BlockPlayer:
    """The widgets around `Frames`. A notebook shows it by itself."""

    def __init__(self, frames: Frames) -> None:
        import ipywidgets as w

        self.frames = frames
        self.view = w.HTML()
        self.back = w.Button(description="◀ back", tooltip="one moment back")
        self.forward = w.Button(description="forward ▶", tooltip="one moment forward")
        last = len(frames.frames) - 1
        self.slider = w.IntSlider(min=0, max=last, description="moment", readout=False)
        self.root = w.VBox([w.HBox([self.back, self.forward, self.slider]), self.view])
        self.back.on_click(lambda _: self._go(self.frames.position - 1))
        self.forward.on_click(lambda _: self._go(self.frames.position + 1))
        self.slider.observe(lambda change: self._go(change["new"]), names="value")
        self._go(0)

    def _go(self, position: int) -> None:
        self.frames.go(position)
        self.back.disabled = self.frames.position == 0
        self.forward.disabled = self.frames.position == len(self.frames.frames) - 1
        self.slider.value = self.frames.position
        self.view.value = self.frames.picture().html(folded=False)

    def close(self) -> None:
        """Close every widget, with its layout and style, so that nothing stays in the kernel."""
        self.slider.unobserve_all()
        row = self.root.children[0]
        for widget in (self.back, self.forward, self.slider, row, self.view, self.root):
            for part in (getattr(widget, "layout", None), getattr(widget, "style", None)):
                if part is not None:
                    part.close()
            widget.close()

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return live_bundle(self.root, self.frames.picture())


def block_player(frames: Sequence[Frame] | None = None, key: str | None = None) -> BlockPlayer | Still:
    """Step through the moments of a pool; without `frames`, through the life of two drafts (`story`).

    `key` names the place: a second call for the same place closes the first; by default the notebook cell.
    """
    moments = Frames(story() if frames is None else frames)
    if not has_widgets():
        return Still.of(moments.picture())
    place = key or _cell_key()
    before = _OPEN.pop(place, None)
    if before is not None:
        before.close()
    player = BlockPlayer(moments)
    _OPEN[place] = player
    return player
