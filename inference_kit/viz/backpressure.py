"""The backpressure player: one slow client, unbounded and bounded, tick by tick (C2, C5).

Owns the drawing; the law is `streaming.ticks`, or a policy that is handed in. Invariant: both sides see the
same reader and the same answer, so what differs is the bound and the policy alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..streaming import tick as kit_tick
from ..streaming.ticks import Tick
from .picture import INK, QUIET, Picture, document, element, table, words
from .player import Player, open_player
from .still import Still

BOX = 26.0
LEFT = 150.0
SIDE_H = 84.0
PAD = 14.0
LOOKS = {
    "sent": ("#cfe8d5", "none", INK),
    "waits": ("#ffe9a8", "5 3", INK),
    "to come": ("#ffffff", "1 3", QUIET),
}
"""Fill, dashes and colour of the line, so that no state shows by its colour alone."""


@dataclass(frozen=True)
class Side:
    """Where one stream stands after a tick."""

    name: str
    made: int
    sent: int
    word: str
    """"", "paused", "complete" or "ended"."""

    @property
    def waits(self) -> int:
        return self.made - self.sent


def backpressure(
    drains: Sequence[int],
    tokens: str = "ABCDEFG",
    capacity: int = 3,
    deadline_tick: int | None = None,
    policy: Tick | None = None,
    key: str | None = None,
) -> Player | Still:
    """Play a slow client with and without a bound, side by side.

    Args:
        drains: for each tick, how many tokens the reader would take.
        tokens: the answer, one letter for each token.
        capacity: most tokens that may wait on the bounded side.
        deadline_tick: both requests end before this tick; None: never.
        policy: decides a tick of the bounded side, as `streaming.tick` does; None: the kit's.
        key: the place; a second player for the same place closes the first.

    Raises ValueError for no ticks, or a policy that returns no two whole numbers.
    """
    if not drains:
        raise ValueError("a player needs at least one tick")
    ticks = range(len(drains))
    end = len(drains) if deadline_tick is None else deadline_tick
    left = sides("unbounded", tokens, drains, None, end, kit_tick)
    right = sides(f"bounded, at most {capacity}", tokens, drains, capacity, end, policy or kit_tick)
    moments = [(now, drains[now], left[now], right[now]) for now in ticks]
    pictures = [_frame(tokens, *moment) for moment in moments]
    return open_player(pictures, _whole(tokens, moments), "tick", key)


def sides(
    name: str, tokens: str, drains: Sequence[int], capacity: int | None, end: int, policy: Tick
) -> list[Side]:
    """Where a stream stands after each tick."""
    made = sent = 0
    found: list[Side] = []
    for now, drain in enumerate(drains):
        if now >= end:
            found.append(Side(name, made, sent, "ended"))
            continue
        has_more = made < len(tokens)
        answer = policy(made - sent, drain, capacity, has_more)
        try:
            consumed, produced = (int(part) for part in answer)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"a policy returns (consumed, produced); this one returned {answer!r}"
            ) from error
        # A wrong policy is shown as it is, inside of what can be drawn.
        sent = min(max(sent + consumed, 0), made)
        made = min(max(made + produced, sent), len(tokens))
        word = "paused" if has_more and not produced else "" if has_more else "complete"
        found.append(Side(name, made, sent, word))
    return found


def _frame(tokens: str, now: int, drain: int, left: Side, right: Side) -> Picture:
    width = LEFT + BOX * len(tokens) + 190
    reader = (
        f"tick {now}: the reader takes up to {drain}" if drain else f"tick {now}: the reader takes nothing"
    )
    body = [words(reader, PAD, PAD + 16, 13, text_anchor="start", font_weight="bold")]
    lines = [["side", "sent", "waits", "state"]]
    for index, side in enumerate((left, right)):
        body.append(_draw(tokens, side, PAD + 34 + SIDE_H * index))
        sent, waits = tokens[: side.sent], tokens[side.sent : side.made]
        lines.append([side.name, sent or "–", waits or "–", side.word or "runs"])
    alt = f"{reader}. " + "; ".join(
        f"{side.name}: {side.sent} sent, {side.waits} waiting, {side.word or 'running'}"
        for side in (left, right)
    )
    y = PAD + 34 + 2 * SIDE_H
    body.append(_legend(y))
    return Picture(document(width, y + BOX + PAD, alt, "".join(body)), alt, f"{reader}\n{table(lines)}")


def _box(look: tuple[str, str, str], x: float, y: float) -> str:
    fill, dashes, stroke = look
    return element(
        "rect", x=x, y=y, width=BOX - 4, height=BOX, rx=3, fill=fill,
        stroke=stroke, stroke_width=1.2, stroke_dasharray=dashes,
    )  # fmt: skip


def _legend(y: float) -> str:
    """What the three kinds of boxes mean."""
    parts = []
    for index, (name, look) in enumerate(LOOKS.items()):
        x = PAD + 110 * index
        parts += [_box(look, x, y), words(name, x + BOX + 4, y + 18, 12, text_anchor="start", fill=QUIET)]
    return "".join(parts)


def _draw(tokens: str, side: Side, y: float) -> str:
    parts = [words(side.name, PAD, y + 18, 12, text_anchor="start")]
    for index, letter in enumerate(tokens):
        look = LOOKS["sent" if index < side.sent else "waits" if index < side.made else "to come"]
        x = LEFT + BOX * index
        parts += [_box(look, x, y), words(letter, x + (BOX - 4) / 2, y + 18, 13, fill=look[2])]
    note = f"{side.sent} sent, {side.waits} waiting"
    parts.append(words(note, LEFT, y + 46, 12, text_anchor="start", fill=QUIET))
    if side.word:
        mark = {"paused": "‖ paused", "ended": "■ ended", "complete": "✔ all made"}[side.word]
        parts.append(
            words(mark, LEFT + BOX * len(tokens) + 10, y + 18, 13, text_anchor="start", font_weight="bold")
        )
    return "".join(parts)


def _whole(tokens: str, moments: Sequence[tuple[int, int, Side, Side]]) -> Picture:
    """All ticks in one table."""
    from .grid import grid

    rows: list[list[str | int]] = [
        ["tick", "drain", "unbounded: sent | waits", "bounded: sent | waits", "bounded"]
    ]
    marked = []
    for now, drain, left, right in moments:
        texts = [
            f"{tokens[: side.sent] or '–'} | {tokens[side.sent : side.made] or '–'}" for side in (left, right)
        ]
        if right.word == "paused":
            marked.append((len(rows), 4))
        rows.append([now, drain, *texts, right.word or "runs"])
    last = moments[-1]
    note = f"made for nobody: {last[2].waits} tokens unbounded, {last[3].waits} bounded"
    return grid(rows, "One slow client", marked, note)
