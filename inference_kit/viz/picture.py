"""A picture: SVG text, its alt text, and the same facts as plain text.

Owns how a picture is shown: as an `<img>` with a data URI, the one form that shows live, in a
notebook that is not trusted, and in offline HTML. Invariant: the SVG is well-formed XML.
"""

from __future__ import annotations

import base64
import html
import math
from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import escape, quoteattr

INK = "#1f2933"
PAPER = "#ffffff"
QUIET = "#66727f"
MAX_RULE = 60
FONT = "font-family='DejaVu Sans, Verdana, sans-serif'"


@dataclass(frozen=True)
class Picture:
    """What a renderer returns; a notebook shows it by itself.

    Attributes:
        svg: the picture as one SVG document.
        alt: one sentence for those who do not see it.
        text: the same facts as a text table or trace.
    """

    svg: str
    alt: str
    text: str

    def html(self, folded: bool = True) -> str:
        """The picture with its text form below, as one piece of HTML; `folded`: shown on request."""
        data = base64.b64encode(self.svg.encode("utf-8")).decode("ascii")
        image = (
            f'<img alt="{html.escape(self.alt, quote=True)}" style="max-width:100%;height:auto" '
            f'src="data:image/svg+xml;base64,{data}"/>'
        )
        text = f"<pre>{html.escape(self.text)}</pre>"
        return image + (f"<details><summary>as text</summary>{text}</details>" if folded else text)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/html": self.html(), "text/plain": f"{self.alt}\n{self.text}"}

    def _repr_html_(self) -> str:
        return self.html()


def finite(name: str, value: Any) -> float:
    """`value` as a float. Raises ValueError naming it when it is not a finite number."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not number or not math.isfinite(value):
        raise ValueError(f"{name}={value!r} is not allowed in a picture; allowed: a finite number")
    return float(value)


def attributes(**values: Any) -> str:
    """XML attributes: `stroke_width=2` gives ` stroke-width="2"`. Numbers must be finite."""
    parts = []
    for name, value in values.items():
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            text = f"{finite(name, value):.2f}".rstrip("0").rstrip(".")
        else:
            text = _printable(value)
        parts.append(f" {name.rstrip('_').replace('_', '-')}={quoteattr(text)}")
    return "".join(parts)


def element(tag: str, content: str = "", **values: Any) -> str:
    """One SVG element. `content` is SVG text already."""
    start = f"<{tag}{attributes(**values)}"
    return f"{start}>{content}</{tag}>" if content else f"{start}/>"


def words(text: str, x: float, y: float, size: float = 12, **values: Any) -> str:
    """A line of text in the picture, centred at x unless `text_anchor` says otherwise."""
    settings = {"text_anchor": "middle", "font_size": size, "fill": INK} | values
    return element("text", escape(_printable(text)), x=x, y=y, **settings)


def _printable(text: Any) -> str:
    # XML 1.0 allows no control characters and no lone surrogates.
    return "".join(ch if ch.isprintable() else "\N{REPLACEMENT CHARACTER}" for ch in str(text))


def document(width: float, height: float, title: str, body: str) -> str:
    """A whole SVG document on white paper, so that it reads in light and dark themes."""
    paper = element("rect", x=0, y=0, width=width, height=height, rx=6, fill=PAPER)
    label = element("title", escape(_printable(title)))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {FONT}'
        f"{attributes(viewBox=f'0 0 {width:g} {height:g}', width=width, height=height)}>"
        f"{label}{paper}{body}</svg>"
    )


def table(rows: list[list[str]]) -> str:
    """Rows of text in aligned columns, the first row as the heading."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    rule = "  ".join("-" * min(width, MAX_RULE) for width in widths)
    return "\n".join(line.rstrip() for line in [lines[0], rule, *lines[1:]])
