"""Texts as sets of shingles: the runs of k tokens that they hold.

Owns the two ways to cut a text into tokens. Two texts that share a shingle share a passage.
Invariant: spaces, line breaks and the way a file quotes them change nothing.
"""

from __future__ import annotations

import io
import json
import keyword
import re
import tokenize
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

WORD = re.compile(r"\w+|[^\w\s]")
_LEFT_OUT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}


def words(text: str) -> list[str]:
    """The words and signs of any text."""
    return WORD.findall(text)


def blind_tokens(source: str) -> list[str]:
    """Tokens of Python code without its names, values and comments; of other text, its words.

    Code in which things were renamed, laid out or commented anew has the same tokens.
    """
    try:
        found = list(tokenize.generate_tokens(io.StringIO(source).readline))
    except (tokenize.TokenError, SyntaxError):
        return words(source)
    return [_blind(token) for token in found if token.type not in _LEFT_OUT]


def _blind(token: tokenize.TokenInfo) -> str:
    if token.type == tokenize.NAME and not keyword.iskeyword(token.string):
        return "name"
    if token.type in (tokenize.NUMBER, tokenize.STRING):
        return "value"
    return token.string


def shingles(tokens: Sequence[str], size: int) -> set[tuple[str, ...]]:
    """Every run of `size` tokens. A shorter text has none."""
    return {tuple(tokens[start : start + size]) for start in range(len(tokens) - size + 1)}


def text_of_notebook(text: str) -> str:
    """Every text in a notebook's file, as a reader would see it. Raises ValueError when it is no JSON."""
    return "\n".join(_strings(json.loads(text)))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from _of_all(value.values())
    elif isinstance(value, list):
        if all(isinstance(item, str) for item in value):
            yield "".join(value)
        else:
            yield from _of_all(value)


def _of_all(values: Iterable[Any]) -> Iterator[str]:
    for value in values:
        yield from _strings(value)
