"""The KV block map: who holds which block, how often, and how full it is; and memory in one piece beside it.

Pure functions from a snapshot of a pool and its block tables to a picture. A holder is a letter as well
as a colour; a shared block has a second frame and its count; a block whose count is not that of its
holders is marked with a sign. Invariant: every block of the pool is drawn or counted in the last line.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..kv.snapshot import block_snapshot
from .picture import INK, QUIET, Picture, document, element, table, words

WIDTH = 940.0
CELL_W, CELL_H, PAD = 68.0, 58.0, 18.0
COLUMNS, FEW_COLUMNS, FEW = 9, 6, 24
"""Blocks in a row; a small pool gets a narrower picture, whose letters stay larger on a narrow screen."""
PANEL_W = 236.0
LINE_CHARS = 34
MAX_NAME = 15
MAX_DRAWN = 72
MAX_TICKS = 16
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
# Light tints of the Okabe-Ito colours: black letters read on each of them.
TINTS = ("#b3dcf5", "#f7d58b", "#9fe0cc", "#f3c4dc", "#f4ec9a", "#f2b995", "#a9c9e6", "#d9d9d9")
BROKEN = "#b30000"


@dataclass(frozen=True)
class Block:
    """One block as the picture shows it."""

    block_id: int
    references: int
    holders: tuple[str, ...]
    kept: bool
    filled: int | None
    """Slots written; None: nobody says."""

    @property
    def fault(self) -> str:
        """What is wrong with its count, in words; empty when nothing is."""
        if self.references > len(self.holders):
            return f"{self.references} references, {len(self.holders)} holders: a leak"
        if self.references < len(self.holders):
            return f"{self.references} references, {len(self.holders)} holders: counted twice"
        return ""

    @property
    def state(self) -> str:
        if self.holders or self.references:
            return "shared" if max(self.references, len(self.holders)) > 1 else "held"
        return "kept" if self.kept else "free"


def block_map(
    pool: Any,
    tables: Mapping[str, Sequence[int]] | None = None,
    num_tokens: Mapping[str, int] | None = None,
    title: str = "KV blocks",
) -> Picture:
    """Draw a pool as a grid of blocks, with the block tables beside it.

    Args:
        pool: a pool (`num_blocks`, `block_size`, `references(id)`), or a snapshot such as
            `llm.core.kv_snapshot()` gives; then the other two are in it.
        tables: block table by the name of its holder.
        num_tokens: tokens that each holder has written; shows how full the blocks are.

    Raises ValueError for a table with a block that is not in the pool.
    """
    state = pool if isinstance(pool, Mapping) else block_snapshot(pool, tables or {}, num_tokens)
    letters = _letters(state["tables"])
    blocks = _blocks(state, letters)
    drawn = blocks if len(blocks) <= MAX_DRAWN else [b for b in blocks if b.state != "free"][:MAX_DRAWN]
    columns = FEW_COLUMNS if len(blocks) <= FEW else COLUMNS
    rows = max(1, -(-len(drawn) // columns))
    panel_x = PAD + columns * CELL_W + 22
    width = panel_x + PANEL_W
    lines = _panel_lines(state, letters, blocks)
    top = 70.0
    height = max(top + rows * CELL_H + 40, top + 17.0 * len(lines) + 30)
    size = min(15.0, (width - 2 * PAD) / (0.68 * max(len(title), 1)))
    body = [_hatch(), words(title, PAD, 26, size, text_anchor="start", font_weight="bold")]
    body.append(words(_counts(state, blocks), PAD, 43, 12, fill=QUIET, text_anchor="start"))
    for place, block in enumerate(drawn):
        x, y = PAD + (place % columns) * CELL_W, top + (place // columns) * CELL_H
        body.append(_draw(block, x, y, state["block_size"], letters))
    body.append(_panel(lines, panel_x, top))
    left_out = len(blocks) - len(drawn)
    body.append(_legend(height - 14, left_out))
    alt = f"{title}: {_counts(state, blocks)}."
    faults = [f"block {block.block_id}: {block.fault}" for block in blocks if block.fault]
    if faults:
        alt += " " + "; ".join(faults[:4]) + "."
    return Picture(document(width, height, alt, "".join(body)), alt, _text(state, blocks, letters))


def _letters(tables: Mapping[str, Sequence[int]]) -> dict[str, str]:
    return {
        name: LETTERS[index] if index < len(LETTERS) else str(index + 1) for index, name in enumerate(tables)
    }


def _blocks(state: Mapping[str, Any], letters: Mapping[str, str]) -> list[Block]:
    size, count = state["block_size"], state["num_blocks"]
    holders: list[list[str]] = [[] for _ in range(count)]
    filled: list[int | None] = [None] * count
    for name, ids in state["tables"].items():
        for index, block_id in enumerate(ids):
            if not 0 <= block_id < count:
                raise ValueError(f"the table of {name!r} holds block {block_id}; the pool has 0..{count - 1}")
            holders[block_id].append(letters[name])
            if name in state["num_tokens"]:
                here = min(max(state["num_tokens"][name] - index * size, 0), size)
                filled[block_id] = max(here, filled[block_id] or 0)
    kept = set(state["kept"])
    return [
        Block(block_id, state["references"][block_id], tuple(holders[block_id]), block_id in kept, full)
        for block_id, full in enumerate(filled)
    ]


def _counts(state: Mapping[str, Any], blocks: Sequence[Block]) -> str:
    states = [block.state for block in blocks]
    held, shared = states.count("held") + states.count("shared"), states.count("shared")
    text = f"{len(blocks)} blocks of {state['block_size']} slots: {held} held, {shared} of them shared, "
    text += f"{states.count('free')} free"
    return text + (f", {states.count('kept')} kept for a later hit" if "kept" in states else "")


def _draw(block: Block, x: float, y: float, size: int, letters: Mapping[str, str]) -> str:
    width, height = CELL_W - 8, CELL_H - 8
    box: dict[str, Any] = {"x": x, "y": y, "width": width, "height": height, "rx": 4}
    free = block.state in ("free", "kept")
    tint = "#ffffff" if free or not block.holders else _tint(block.holders[0], letters)
    frame: dict[str, Any] = {"stroke": QUIET if free else INK, "stroke_width": 1.0 if free else 1.6}
    if block.state == "free":
        frame["stroke_dasharray"] = "4 3"
    if block.fault:
        frame = {"stroke": BROKEN, "stroke_width": 3.2}
    parts = [element("rect", fill=tint, **box, **frame)]
    if block.state == "kept":
        parts.append(element("rect", fill="url(#kept)", opacity=0.5, **box))
    if block.state == "shared":
        inner: dict[str, Any] = {
            "x": x + 3.5,
            "y": y + 3.5,
            "width": width - 7,
            "height": height - 7,
            "rx": 3,
        }
        parts.append(element("rect", fill="none", stroke=INK, stroke_width=1, **inner))
    parts.append(words(str(block.block_id), x + 7, y + 16, 11, text_anchor="start", fill=INK))
    if block.references > 1 or block.fault:
        sign = "⚠" if block.fault else ""
        parts.append(words(f"{sign}×{block.references}", x + width - 7, y + 16, 11, text_anchor="end"))
    label = _who(block.holders) if not free else block.state
    size_of_label = 11 if free or len(label) > 5 else 12 if len(label) > 3 else 14
    heavy: dict[str, Any] = {"fill": QUIET} if free else {"font_weight": "bold"}
    parts.append(words(label, x + width / 2, y + 33, size_of_label, **heavy))
    if block.filled is not None:
        parts.append(_ticks(block.filled, size, x + 7, y + height - 12, width - 14))
    return element("g", "".join(parts), data_block=block.block_id, data_state=block.state)


def _tint(letter: str, letters: Mapping[str, str]) -> str:
    return TINTS[list(letters.values()).index(letter) % len(TINTS)]


def _who(holders: Sequence[str]) -> str:
    if not holders:
        return "nobody"
    return "+".join(holders) if len(holders) <= 3 else f"{holders[0]}+{len(holders) - 1}"


def _ticks(filled: int, size: int, x: float, y: float, width: float) -> str:
    """One small box for each slot, dark when it is written; a bar when there are too many slots."""
    if size > MAX_TICKS:
        outline = element("rect", x=x, y=y, width=width, height=6, fill="#ffffff", stroke=INK)
        return outline + element("rect", x=x, y=y, width=width * filled / size, height=6, fill=INK)
    step = width / size
    return "".join(
        element(
            "rect", x=x + step * slot, y=y, width=max(step - 1, 0.5), height=6,
            fill=INK if slot < filled else "#ffffff", stroke=INK, stroke_width=0.6,
        )
        for slot in range(size)
    )  # fmt: skip


def _panel_lines(
    state: Mapping[str, Any], letters: Mapping[str, str], blocks: Sequence[Block]
) -> list[tuple[str, bool]]:
    """(text, heading?) lines of the block tables and of the free blocks."""
    lines: list[tuple[str, bool]] = []
    for name, ids in state["tables"].items():
        tokens = state["num_tokens"].get(name)
        head = f"{letters[name]} = {_short(name)}" + (f", {tokens} tokens" if tokens is not None else "")
        lines.append((head, True))
        lines += _wrapped(ids)
    free = [block.block_id for block in blocks if block.state == "free"]
    lines.append((f"free: {len(free)}", True))
    lines += _wrapped(free)
    return lines


def _short(name: str) -> str:
    """A long name without its middle: ids of samples differ at the end."""
    return name if len(name) <= MAX_NAME else f"{name[:7]}…{name[-7:]}"


def _wrapped(ids: Sequence[int]) -> list[tuple[str, bool]]:
    found = textwrap.wrap(" ".join(map(str, ids)) or "–", LINE_CHARS)
    if len(found) > 3:
        found = [*found[:2], found[2][: LINE_CHARS - 2] + " …"]
    return [(f"  {line}", False) for line in found]


def _panel(lines: Sequence[tuple[str, bool]], left: float, top: float) -> str:
    parts = [words("block tables", left, top - 9, 12, fill=QUIET, text_anchor="start")]
    for row, (line, heading) in enumerate(lines):
        weight = "bold" if heading else "normal"
        x = left + (0 if heading else 12)
        parts.append(words(line.strip(), x, top + 12 + 17 * row, 12, text_anchor="start", font_weight=weight))
    return "".join(parts)


def _legend(y: float, left_out: int) -> str:
    text = "letter = holder · ×2 and a second frame = shared · dashed = free · dark ticks = slots written"
    if left_out:
        text = f"and {left_out} more blocks that are not drawn · " + text
    return words(text, PAD, y, 10.5, fill=QUIET, text_anchor="start")


def _hatch() -> str:
    line = element("path", d="M0 8 L8 0", stroke=QUIET, stroke_width=1.2)
    return element(
        "defs", element("pattern", line, id="kept", width=8, height=8, patternUnits="userSpaceOnUse")
    )


def _text(state: Mapping[str, Any], blocks: Sequence[Block], letters: Mapping[str, str]) -> str:
    rows = [["block", "state", "references", "holders", "slots written", "fault"]]
    for block in blocks:
        if block.state != "free":
            full = "" if block.filled is None else f"{block.filled} of {state['block_size']}"
            who = " ".join(block.holders)
            rows.append([str(block.block_id), block.state, str(block.references), who, full, block.fault])
    lines = [_counts(state, blocks), table(rows)]
    for name, ids in state["tables"].items():
        lines.append(f"{letters[name]} = {name}: {' '.join(map(str, ids)) or 'no blocks'}")
    return "\n".join(lines)


# --- memory in one piece ------------------------------------------------------------------------------


def memory_strip(
    spans: Sequence[tuple[str, int, int, int]], num_slots: int, title: str = "Memory in one piece"
) -> Picture:
    """Draw contiguous reservations in one line of slots.

    Args:
        spans: (owner, first slot, slots reserved, slots written) of each reservation.
        num_slots: size of the memory.

    Raises ValueError for a span that is not inside the memory.
    """
    scale = (WIDTH - 2 * PAD) / num_slots
    y, height = 52.0, 46.0
    body = [_hatch(), words(title, PAD, 26, 15, text_anchor="start", font_weight="bold")]
    body.append(
        element(
            "rect", x=PAD, y=y, width=WIDTH - 2 * PAD, height=height, fill="#ffffff", stroke=QUIET,
            stroke_dasharray="4 3",
        )
    )  # fmt: skip
    for owner, start, reserved, written in spans:
        if not (start >= 0 and start + reserved <= num_slots and 0 <= written <= reserved):
            raise ValueError(f"the span of {owner!r} is not inside the {num_slots} slots")
        x, width = PAD + start * scale, reserved * scale
        box: dict[str, Any] = {"x": x, "y": y, "width": width, "height": height}
        body.append(element("rect", fill="#ffffff", stroke=INK, stroke_width=1.4, **box))
        body.append(element("rect", fill="url(#kept)", opacity=0.6, **box))
        # By name, so that an owner keeps its colour when another one leaves.
        tint = TINTS[sum(map(ord, owner)) % len(TINTS)]
        body.append(element("rect", fill=tint, stroke=INK, **(box | {"width": written * scale})))
        body.append(words(owner, x + max(written * scale, 16) / 2, y + 28, 13, font_weight="bold"))
    used = sum(span[3] for span in spans)
    unused = sum(span[2] - span[3] for span in spans)
    free = num_slots - used - unused
    note = f"{num_slots} slots: {used} written, {unused} reserved and not written, {free} free"
    body.append(words(note, PAD, 43, 12, fill=QUIET, text_anchor="start"))
    legend = "plain = written · hatched = reserved, nobody else may use it · dashed frame = free"
    body.append(words(legend, PAD, y + height + 20, 11, fill=QUIET, text_anchor="start"))
    rows = [["owner", "first slot", "reserved", "written"]]
    rows += [[owner, str(start), str(size), str(written)] for owner, start, size, written in spans]
    alt = f"{title}: {note}."
    return Picture(document(WIDTH, y + height + 34, alt, "".join(body)), alt, f"{note}\n{table(rows)}")
