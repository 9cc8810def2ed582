"""The running decodes as columns, so that a step costs little Python for each of them (B5, W5).

Owns one row for each request that decodes: how far it is, the slots left in its blocks, and how many
tokens may come before somebody must look at it. It plans nothing and ends nothing. Invariants: a
request is in here only while it is in DECODE with one uncomputed token; the token list of a request is
always up to date; who is in a plan and leaves before the commit gets no token.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import repeat
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..lifecycle.request import Request
from .plan import ScheduledChunk

Ints = NDArray[np.int64]
Rows = slice | Ints

LOOK_AT_ALL = -1
"""All bits: every token is looked at."""


@dataclass(eq=False)
class DecodeBatch:
    """The decodes of one plan, all fields in the same order. Later steps do not change it."""

    requests: Sequence[Request]
    request_ids: Sequence[str]
    block_tables: Sequence[list[int]]
    token_lists: Sequence[list[int]]
    time_lists: Sequence[list[float]]
    starts: Ints
    """int64 [n]: the position that each computes."""
    rows: Rows
    """Where they stand in the table as long as it has `version`."""
    version: int
    block_size: int
    table: DecodeTable

    def __len__(self) -> int:
        return len(self.requests)

    def chunks(self) -> tuple[ScheduledChunk, ...]:
        """One object for each decode."""
        parts = zip(self.requests, self.starts.tolist(), self.block_tables, self.token_lists, strict=True)
        return tuple(
            ScheduledChunk(
                request_id=request.request_id,
                token_ids=(token_ids[start],),
                start=start,
                block_table=tuple(table[: start // self.block_size + 1]),
                samples=True,
                sampling=request.sampling,
                seed=request.seed,
                sample_index=request.sample_index,
                num_generated=start + 1 - len(request.prompt_token_ids),
                num_left=len(request.prompt_token_ids) + request.max_new_tokens - start - 1,
            )
            for request, start, table, token_ids in parts
        )


def longest_unserved(rows: Iterable[tuple[str, bool, int, int]], budget: int) -> list[str]:
    """Whom a step serves when there are more streams than places: `DecodeTable.choose` in plain words.

    Args:
        rows: (name, whether its reader has used up its credit, step that served it last, arrival).
        budget: most names to return.

    A stream without credit is passed over and takes no place, so a slow reader stalls nobody else.
    """
    ready = [row for row in rows if not row[1]]
    ready.sort(key=lambda row: (row[2], row[3]))
    return [row[0] for row in ready[:budget]]


class DecodeTable:
    """Rows 0 .. n − 1 without holes: the last row moves to the place of one that leaves."""

    def __init__(self, block_size: int, on_leave: Callable[[Request], None]) -> None:
        self.requests: list[Request] = []
        self._lists: tuple[list[Any], ...] = (self.requests, [], [], [], [])
        self._block_size = block_size
        self._on_leave = on_leave
        self._version = 0
        self._frozen_version = -1
        self._frozen: tuple[Sequence[Any], ...] = ()
        self._set_columns(np.zeros((6, 64), np.int64))

    def _set_columns(self, columns: Ints) -> None:
        self._columns = columns
        self._start, self._room, self._left, self._looks, self._planned, self._arrival = columns

    def __len__(self) -> int:
        return len(self.requests)

    def join(self, request: Request) -> None:
        """Take in a request that decodes. Its next token is looked at; then `look_again` says more."""
        row = len(self.requests)
        if row == self._columns.shape[1]:
            self._set_columns(np.concatenate((self._columns, np.zeros_like(self._columns)), axis=1))
        start = request.num_computed_tokens
        room = len(request.block_table) * self._block_size - start
        self._columns[:, row] = (start, room, 1, LOOK_AT_ALL, request.last_planned_step, request.arrival)
        values = (request, request.request_id, request.block_table, request.token_ids, request.token_times)
        for one, value in zip(self._lists, values, strict=True):
            one.append(value)
        request.table, request.row = self, row
        self._version += 1

    def leave(self, request: Request) -> None:
        """Give a request its own counts back."""
        row, computed = request.row, request.num_computed_tokens
        request.last_planned_step = int(self._planned[row])
        self.requests[-1].row = row
        self._columns[:, row] = self._columns[:, len(self.requests) - 1]
        for one in self._lists:
            one[row] = one[-1]
            one.pop()
        request.table = None
        request.num_computed_tokens = computed
        self._version += 1
        # The last plan must not keep an ended request in memory.
        self._frozen, self._frozen_version = (), -1
        self._on_leave(request)

    def look_again(self, request: Request, after: int, looks: int) -> None:
        """Say which tokens of a member matter.

        Args:
            request: a member.
            after: its token so many from now is looked at in any case, >= 1.
            looks: bits; a token that has one of them is looked at too.
        """
        self._left[request.row] = after
        self._looks[request.row] = looks

    def choose(self, budget: int) -> Rows:
        """The rows to plan: all, or the `budget` longest unserved ones."""
        count = len(self.requests)
        if count <= budget:
            return slice(0, count)
        return np.lexsort((self._arrival[:count], self._planned[:count]))[:budget]

    def without_room(self, rows: Rows) -> list[Request]:
        """Those of `rows` whose blocks are full, in order of arrival."""
        (short,) = (self._room[rows] < 1).nonzero()
        if not short.size:
            return []
        found = [self.requests[row] for row in (short if isinstance(rows, slice) else rows[short])]
        return sorted(found, key=attrgetter("arrival"))

    def grown(self, requests: Sequence[Request]) -> None:
        """Each of `requests` has got one more block."""
        for request in requests:
            self._room[request.row] += self._block_size

    def plan(self, rows: Rows, step: int) -> DecodeBatch:
        """Plan one token for each of `rows`. All of them must have room."""
        self._room[rows] -= 1
        self._planned[rows] = step
        if self._frozen_version != self._version:
            self._frozen, self._frozen_version = tuple(map(tuple, self._lists)), self._version
        parts = self._frozen
        if not isinstance(rows, slice):
            order = rows.tolist()
            parts = tuple([part[row] for row in order] for part in parts)
        return self._batch(parts, self._start[rows].copy(), rows)

    def members(self, batch: DecodeBatch) -> DecodeBatch:
        """`batch` without those that left since it was planned."""
        if batch.version == self._version:
            return batch
        kept = [index for index, request in enumerate(batch.requests) if request.table is self]
        parts = (batch.requests, batch.request_ids, batch.block_tables, batch.token_lists, batch.time_lists)
        rows = np.fromiter((batch.requests[index].row for index in kept), np.int64, len(kept))
        return self._batch(tuple([part[index] for index in kept] for part in parts), batch.starts[kept], rows)

    def to_look_at(self, batch: DecodeBatch, bits: Ints) -> list[int]:
        """Indices into `batch` of those whose next token must be looked at.

        Args:
            batch: as `members` gave it.
            bits: int64 [n], the bits of each token; see `look_again`.
        """
        rows = batch.rows
        (looked,) = ((self._left[rows] < 2) | ((self._looks[rows] & bits) != 0)).nonzero()
        return looked.tolist()

    def commit(self, batch: DecodeBatch, ids: Sequence[int], now: float) -> None:
        """Give each request of `batch` its token.

        Args:
            batch: as `members` gave it.
            ids: one token for each of them.
            now: time of the commit in seconds.
        """
        _append_each(batch.token_lists, ids)
        _append_each(batch.time_lists, repeat(now))
        self._start[batch.rows] += 1
        self._left[batch.rows] -= 1

    def _batch(self, parts: tuple[Sequence[Any], ...], starts: Ints, rows: Rows) -> DecodeBatch:
        requests, request_ids, block_tables, token_lists, time_lists = parts
        return DecodeBatch(
            requests=requests,
            request_ids=request_ids,
            block_tables=block_tables,
            token_lists=token_lists,
            time_lists=time_lists,
            starts=starts,
            rows=rows,
            version=self._version,
            block_size=self._block_size,
            table=self,
        )


def _append_each(lists: Iterable[list[Any]], values: Iterable[Any]) -> None:
    # A deque of length 0 is the shortest loop that runs in C.
    deque(map(list.append, lists, values), maxlen=0)
