"""Feedback pages that ask nothing of the network and run nothing a learner wrote.

Owns the exporter of `nbgrader generate_feedback` and the Markdown filter that the feedback
page and formgrader share. Invariant: raw HTML in a learner's text reaches no page unless its
tag is on the list below, and pictures come from the page itself.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bleach
import nbgrader.server_extensions.formgrader as formgrader
from nbconvert.exporters import HTMLExporter
from nbconvert.filters import markdown2html
from traitlets.config import Config

TEMPLATES = Path(__file__).with_name("templates")
NBGRADER_TEMPLATES = Path(formgrader.__file__).with_name("templates")

_TEXT_TAGS = ("a", "abbr", "b", "br", "code", "del", "em", "i", "img", "kbd", "s", "small", "span", "strong")
_BLOCK_TAGS = (
    "blockquote",
    "details",
    "div",
    "dd",
    "dl",
    "dt",
    "hr",
    "li",
    "ol",
    "p",
    "pre",
    "summary",
    "ul",
)
_TITLE_TAGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_TABLE_TAGS = ("sub", "sup", "table", "tbody", "td", "th", "thead", "tr", "u")
TAGS = frozenset(_TEXT_TAGS + _BLOCK_TAGS + _TITLE_TAGS + _TABLE_TAGS)


PROTOCOLS = frozenset({"http", "https", "mailto", "data"})


def safe_markdown(source: str) -> str:
    """HTML of a Markdown text, with every tag and attribute off the list made harmless."""
    return str(bleach.clean(markdown2html(source), tags=TAGS, attributes=_allowed, protocols=PROTOCOLS))


def _allowed(tag: str, name: str, value: str) -> bool:
    if tag == "img":
        return name == "alt" or (name == "src" and value.startswith("data:image/"))
    if tag == "a" and name == "href":
        return not value.lstrip().lower().startswith("data:")
    return name in ("class", "id", "title", "align", "colspan", "rowspan")


class OfflineFeedbackExporter(HTMLExporter):
    """nbgrader's feedback page without MathJax, jQuery and require.js from a CDN."""

    def __init__(self, config: Config | None = None, **kwargs: Any) -> None:
        # nbgrader sets its own template in the HTMLExporter section; this class's section wins.
        own = Config(config or {})
        own.OfflineFeedbackExporter.template_name = "feedback_offline"
        own.OfflineFeedbackExporter.extra_template_basedirs = [str(TEMPLATES), str(NBGRADER_TEMPLATES)]
        own.OfflineFeedbackExporter.extra_template_paths = [str(NBGRADER_TEMPLATES)]
        super().__init__(config=own, **kwargs)
