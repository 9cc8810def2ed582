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
from traitlets import default

TEMPLATES = Path(__file__).with_name("templates")
NBGRADER_TEMPLATES = Path(formgrader.__file__).with_name("templates")

TAGS = frozenset(
    "a abbr b blockquote br code dd del details div dl dt em h1 h2 h3 h4 h5 h6 hr i img kbd li ol p pre s small "
    "span strong sub summary sup table tbody td th thead tr u ul".split()
)


def safe_markdown(source: str) -> str:
    """HTML of a Markdown text, with every tag and attribute off the list made harmless."""
    return str(bleach.clean(markdown2html(source), tags=TAGS, attributes=_allowed, protocols=_PROTOCOLS))


_PROTOCOLS = frozenset({"http", "https", "mailto", "data"})


def _allowed(tag: str, name: str, value: str) -> bool:
    if tag == "img":
        return name == "alt" or (name == "src" and value.startswith("data:image/"))
    if tag == "a" and name == "href":
        return not value.lstrip().lower().startswith("data:")
    return name in ("class", "id", "title", "align", "colspan", "rowspan")


class OfflineFeedbackExporter(HTMLExporter):  # type: ignore[misc]
    """nbgrader's feedback page without MathJax, jQuery and require.js from a CDN."""

    @default("template_name")
    def _template_name_default(self) -> str:
        return "feedback_offline"

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        # nbgrader sets its own template on HTMLExporter, which a default would not override.
        self.template_name = "feedback_offline"
        self.extra_template_basedirs = [str(TEMPLATES), str(NBGRADER_TEMPLATES)]
