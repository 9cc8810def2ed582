"""What each step computed: tokens by request, prefill and decode told apart.

Pure functions from step plans to a picture. A request is a letter and a colour, prefill is hatched, and the
number on top of a bar is the sum. Small shares get a least height, so a bar is read by its numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .block_map import LETTERS, TINTS
from .picture import INK, QUIET, Picture, document, element, finite, table, words

WIDTH, LEFT, TOP, TALL = 940.0, 70.0, 68.0, 190.0
MAX_STEPS = 64
LEAST = 7.0
PREFILL, DECODE = "prefill", "decode"

Share = tuple[str, str, int]
"""(request id, "prefill" or "decode", tokens)."""


def shares_of(plan: Any) -> list[Share]:
    """Who computed how many tokens in one step.

    Args:
        plan: a `StepPlan`, or a mapping with `chunks` whose items have the fields of a `ScheduledChunk`.

    A decode computes one token, samples, and the request has an output already; all else is prefill, also
    what is computed again after a preemption (case L08).
    """
    found = []
    for chunk in _field(plan, "chunks"):
        tokens = len(_field(chunk, "token_ids"))
        decodes = tokens == 1 and _field(chunk, "samples") and _field(chunk, "num_generated") > 0
        found.append((str(_field(chunk, "request_id")), DECODE if decodes else PREFILL, tokens))
    return found


def batch_composition(
    plans: Iterable[Any], title: str = "Batch composition", budget: int | None = None
) -> Picture:
    """One bar for each step that computed something: its tokens, by request.

    Args:
        plans: step plans in order, as `core.step()` returns them. Only the first 64 busy steps are drawn.
        budget: most tokens of a step; drawn as a line.

    Raises ValueError when no step computed anything.
    """
    steps = [(number, shares) for number, plan in enumerate(plans, 1) if (shares := shares_of(plan))]
    if not steps:
        raise ValueError("no step computed anything")
    names = list(dict.fromkeys(name for _, shares in steps for name, _, _ in shares))
    letters = {
        name: LETTERS[index] if index < len(LETTERS) else str(index + 1) for index, name in enumerate(names)
    }
    drawn = steps[:MAX_STEPS]
    most = max(sum(tokens for _, _, tokens in shares) for _, shares in drawn)
    most = max(most, budget or 0)
    legend_rows = -(-len(names) // 4)
    height = TOP + TALL + 46 + 18 * legend_rows + 22
    body = [_hatch(), words(title, LEFT - 52, 26, 15, text_anchor="start", font_weight="bold")]
    note = _note(steps, len(drawn))
    body.append(words(note, LEFT - 52, 43, 12, fill=QUIET, text_anchor="start"))
    wide = min(46.0, (WIDTH - LEFT - 20) / len(drawn))
    for place, (number, shares) in enumerate(drawn):
        body.append(_bar(number, shares, LEFT + place * wide, wide, most, letters))
    body.append(_axis(len(drawn) * wide, most, budget))
    body.append(_legend(letters, TOP + TALL + 46))
    alt = f"{title}: {note}."
    return Picture(document(WIDTH, height, alt, "".join(body)), alt, _text(steps, letters))


def _field(item: Any, name: str) -> Any:
    return item[name] if isinstance(item, Mapping) else getattr(item, name)


def _note(steps: Sequence[tuple[int, Sequence[Share]]], drawn: int) -> str:
    kinds = {PREFILL: 0, DECODE: 0}
    mixed = 0
    for _, shares in steps:
        for _, kind, tokens in shares:
            kinds[kind] += tokens
        mixed += len({kind for _, kind, _ in shares}) == 2
    text = f"{len(steps)} busy steps, {mixed} of them mixed: {kinds[PREFILL]} prefill tokens, "
    text += f"{kinds[DECODE]} decode tokens"
    return text + (f"; the first {drawn} are drawn" if drawn < len(steps) else "")


def _heights(shares: Sequence[Share], most: int) -> list[float]:
    """Pixels of each share; the sum stays inside the picture although small ones are drawn larger."""
    scale = (TALL - LEAST * len(shares)) / most if LEAST * len(shares) < TALL else 0.0
    least = min(LEAST, TALL / len(shares))
    return [least + tokens * scale for _, _, tokens in shares]


def _bar(
    number: int, shares: Sequence[Share], x: float, wide: float, most: int, letters: Mapping[str, str]
) -> str:
    parts, y = [], TOP + TALL
    places = list(letters)
    for (name, kind, tokens), height in zip(shares, _heights(shares, most), strict=True):
        y -= height
        box: dict[str, Any] = {"x": x + 1.5, "y": y, "width": max(wide - 3, 1.0), "height": height}
        tint = TINTS[places.index(name) % len(TINTS)]
        parts.append(element("rect", fill=tint, stroke=INK, stroke_width=0.8, data_kind=kind, **box))
        if kind == PREFILL:
            parts.append(element("rect", fill="url(#prefill)", opacity=0.45, **box))
        if height >= 13 and wide >= 11:
            text = f"{letters[name]} {tokens}" if wide >= 34 and tokens > 1 else letters[name]
            parts.append(words(text, x + wide / 2, y + height / 2 + 4, 11, font_weight="bold"))
    total = sum(tokens for _, _, tokens in shares)
    if wide >= 18:
        parts.append(words(str(total), x + wide / 2, y - 4, 11))
    if wide >= 18 or number % 5 == 0:
        parts.append(words(str(number), x + wide / 2, TOP + TALL + 15, 10, fill=QUIET))
    return element("g", "".join(parts), data_step=number)


def _axis(length: float, most: int, budget: int | None) -> str:
    base = TOP + TALL
    parts = [element("path", d=f"M{LEFT} {base} H{LEFT + length:.2f}", stroke=INK, stroke_width=1)]
    parts.append(words("step", LEFT - 8, base + 15, 10, fill=QUIET, text_anchor="end"))
    parts.append(words("tokens", LEFT - 8, base - 4, 10, fill=QUIET, text_anchor="end"))
    if budget is not None:
        y = base - TALL * finite("budget", budget) / most
        line: dict[str, Any] = {"stroke": INK, "stroke_width": 1.4, "stroke_dasharray": "6 4"}
        parts.append(element("path", d=f"M{LEFT} {y:.2f} H{LEFT + length:.2f}", **line))
        parts.append(words(f"budget {budget}", LEFT - 4, y + 4, 10, text_anchor="end"))
    return "".join(parts)


def _legend(letters: Mapping[str, str], y: float) -> str:
    parts = []
    for index, (name, letter) in enumerate(letters.items()):
        x, line = LEFT - 52 + (index % 4) * 225, y + 18 * (index // 4)
        tint = TINTS[index % len(TINTS)]
        parts.append(element("rect", x=x, y=line - 10, width=14, height=12, fill=tint, stroke=INK))
        parts.append(words(f"{letter} = {name[:24]}", x + 19, line, 11, text_anchor="start"))
    line = y + 18 * -(-len(letters) // 4) + 4
    text = "hatched = prefill · plain = decode · the number on top is the tokens of the step"
    parts.append(words(text, LEFT - 52, line, 11, fill=QUIET, text_anchor="start"))
    return "".join(parts)


def _hatch() -> str:
    line = element("path", d="M0 6 L6 0", stroke=INK, stroke_width=1)
    return element(
        "defs", element("pattern", line, id="prefill", width=6, height=6, patternUnits="userSpaceOnUse")
    )


def _text(steps: Sequence[tuple[int, Sequence[Share]]], letters: Mapping[str, str]) -> str:
    rows = [["step", "tokens", "prefill", "decode"]]
    for number, shares in steps:
        by_kind = {
            kind: " ".join(f"{letters[name]}:{tokens}" for name, this, tokens in shares if this == kind)
            for kind in (PREFILL, DECODE)
        }
        total = str(sum(tokens for _, _, tokens in shares))
        rows.append([str(number), total, by_kind[PREFILL], by_kind[DECODE]])
    names = "\n".join(f"{letter} = {name}" for name, letter in letters.items())
    return f"{table(rows)}\n{names}"
