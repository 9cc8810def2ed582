"""The pictures of lab 06: what an answer did with slots, blocks and references."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ... import viz
from ...kv import (
    CountedPool,
    audit_blocks,
    blocks_for,
    longest_total,
    prepare_write,
    slot_mapping,
    slots_needed,
)
from ...kv.table import shared_writes
from ...viz import Picture
from ..checking import Callback, Handle, Subject

SIZE = 4


def draw_arithmetic(s: Subject) -> Picture:
    rows: list[list[Any]] = [["prompt", "answer", "slots", "blocks of 16"]]
    for prompt, outputs in ((60, 1), (60, 5), (60, 6), (7, 100), (1, 1)):
        slots = s.call("slots_needed", prompt, outputs)
        rows.append([prompt, outputs, slots, s.call("blocks_for", slots, 16)])
    note = f"4 blocks of 16 slots carry {s.call('longest_total', 4, 16)} tokens, prompt and answer together"
    return viz.grid(rows, "Slots and blocks", [(row, 3) for row in range(1, len(rows))], note)


def draw_slots(s: Subject) -> Picture:
    table = [7, 2]
    found = s.call("slot_mapping", table, 0, 7, SIZE)
    rows: list[list[Any]] = [["position", *range(7)], ["block", *(table[p // SIZE] for p in range(7))]]
    rows += [["offset", *(p % SIZE for p in range(7))], ["slot", *found]]
    marked = [(3, column) for column in range(1, 8)]
    return viz.grid(rows, "Slots of the table [7, 2]", marked, "blocks of 4 slots")


class PoolView:
    """An answer's pool, as `viz.block_map` looks at it."""

    def __init__(self, s: Subject, handle: Handle, num_blocks: int) -> None:
        self.num_blocks = num_blocks
        self.block_size = SIZE
        self._s = s
        self._handle = handle

    def references(self, block_id: int) -> int:
        return int(self._s.method(self._handle, "references", block_id))


def draw_pool(s: Subject) -> Picture:
    """Three drafts share the prompt's blocks; the first one has ended."""
    pool = s.new("BlockPool", 9, SIZE)
    prompt = list(s.method(pool, "allocate", 2))
    tables = {}
    for number, name in enumerate(("draft A", "draft B", "draft C")):
        if number:
            s.method(pool, "retain", prompt)
        tables[name] = [*prompt, *s.method(pool, "allocate", 1)]
    s.method(pool, "free", tables.pop("draft A"))
    return viz.block_map(PoolView(s, pool, 9), tables, title="Draft A has ended, B and C go on")


def draw_copy(s: Subject) -> Picture:
    """Draft B writes position 6 into a part-filled block that it shares with draft A."""
    pool = CountedPool(9, SIZE)
    first = pool.allocate(2)
    pool.retain(first)

    def free(ids: Sequence[int]) -> None:
        pool.free(ids)

    callbacks = [Callback(function) for function in (pool.references, pool.allocate, free)]
    table, copies = s.call("prepare_write", s.new("DemoPool", SIZE, *callbacks), first, 6, 7)
    copied = ", ".join(f"{source} → {destination}" for source, destination in copies) or "none"
    tables = {"draft A": first, "draft B": list(table)}
    title = f"Draft B writes position 6. Blocks copied first: {copied}"
    return viz.block_map(pool, tables, {"draft A": 6, "draft B": 7}, title=title)


def draw_audit(s: Subject) -> Picture:
    """The books of the server in the story."""
    free, references = [5, 4, 0], [0, 1, 1, 1, 0, 0]
    tables = {"draft B": [0, 1, 3], "stranger": [2, 1]}
    faults = s.call("audit_blocks", free, references, list(tables.values()))
    rows: list[list[Any]] = [["block", "times free", "references", "used by", "audit"]]
    marked = []
    for block_id, count in enumerate(references):
        users = ", ".join(name for name, table in tables.items() if block_id in table)
        number = faults.get(block_id, 0)
        if number:
            marked.append((len(rows), 4))
        rows.append(
            [block_id, free.count(block_id), count, users or "–", f"{number:+d}" if number else "right"]
        )
    return viz.grid(rows, "The audit of the story", marked, "+ counted too often, − lost")


class _Demo:
    """The pool of question 4 for the expected picture: calls go to the drawing."""

    def __init__(self, block_size: int, references: Any, allocate: Any, free: Any) -> None:
        self.block_size = block_size
        self.references = references
        self.allocate = allocate
        self.free = free


REFERENCE: dict[str, Any] = {
    "slots_needed": slots_needed,
    "blocks_for": blocks_for,
    "longest_total": longest_total,
    "slot_mapping": slot_mapping,
    "BlockPool": CountedPool,
    "DemoPool": _Demo,
    "shared_writes": shared_writes,
    "prepare_write": prepare_write,
    "audit_blocks": audit_blocks,
}


DRAWINGS: dict[str, Callable[[Subject], Picture]] = {
    "q1": draw_arithmetic,
    "q2": draw_slots,
    "q3": draw_pool,
    "q4": draw_copy,
    "q5": draw_audit,
}
