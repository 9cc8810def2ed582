"""Plain data as text: how an answer's results cross from the learner's side to the judge's.

This file owns the one encoding. It imports the standard library only, so that a sandboxed
worker can load it alone. It keeps one invariant: what `decode_plain` returns is built from
exact builtin types, so no foreign `__eq__`, `__repr__` or `__hash__` ever reaches a check.

Plain data is None, bool, int, float, str, bytes, list, tuple, dict and set of plain data.
"""

from __future__ import annotations

import enum
import json
import math
from collections.abc import Callable
from typing import Any

MAX_DEPTH = 64
MAX_ITEMS = 1_000_000
MAX_CHARS = 32 * 1024 * 1024
MAX_INT_BITS = 8192

Plain = Any
"""Documentation for the reader: a value of the types above. The type checker sees Any."""


class PlainTooLarge(ValueError):
    """The value is plain but deeper or larger than the limits of this module."""


class _Budget:
    """Counts items and characters while a value is walked."""

    __slots__ = ("chars", "items")

    def __init__(self) -> None:
        self.items = 1
        self.chars = 0

    def enter(self, depth: int, items: int) -> None:
        """Count the items of a container at that depth, before it is walked."""
        self.items += items
        if items and depth >= MAX_DEPTH:
            raise PlainTooLarge(f"the value is nested deeper than {MAX_DEPTH} levels")
        if self.items > MAX_ITEMS:
            raise PlainTooLarge(f"the value has more than {MAX_ITEMS} items")

    def read(self, chars: int) -> None:
        """Count the characters of a text."""
        self.chars += chars
        if self.chars > MAX_CHARS:
            raise PlainTooLarge(f"the value has more than {MAX_CHARS} characters")


def encode_plain(value: Plain) -> str:
    """Return `value` as one line of JSON.

    Subclasses of the plain types become the plain type; an enum member becomes its value.
    Raises TypeError naming the type of a value that is not plain, and `PlainTooLarge`.
    """
    return text_of(tree_of(value))


def tree_of(value: Plain) -> Any:
    """The value as what JSON can say: a copy that nobody else can change. Errors as `encode_plain`."""
    return _to_tree(value, 0, _Budget())


def text_of(tree: Any) -> str:
    """The text of a tree, or of a list of trees as that of a list of values."""
    return _ENCODER.encode(tree)


def decode_plain(text: str) -> Plain:
    """Return the value that `encode_plain` wrote. Raises ValueError for any other text."""
    if not isinstance(text, str) or len(text) > 8 * MAX_CHARS:
        raise ValueError("not the text of a plain value")
    try:
        tree, end = _DECODER.raw_decode(text)
        if end != len(text):
            raise ValueError("not the text of a plain value: something follows it")
        return _from_tree(tree, 0, _Budget())
    except RecursionError as error:
        raise PlainTooLarge("the text is nested too deeply") from error
    except TypeError as error:
        raise ValueError(f"not the text of a plain value: {error}") from error


def plain(value: Plain) -> Plain:
    """A copy of `value` made of exact builtin types. Errors as `encode_plain`."""
    return decode_plain(encode_plain(value))


# --- encoding ---------------------------------------------------------------------------------


def _to_tree(value: Any, depth: int, budget: _Budget) -> Any:
    exact = _ENCODER_OF.get(type(value))
    if exact is not None:
        return exact(value, depth, budget)
    if isinstance(value, enum.Enum):
        budget.enter(depth, 1)
        return _to_tree(value.value, depth + 1, budget)
    for kind, encode in _ENCODERS:
        if isinstance(value, kind):
            return encode(value, depth, budget)
    raise TypeError(f"{type(value).__name__} is not plain data")


# The unbound methods of the builtin types are used on purpose: a subclass that overrides
# `__iter__`, `items` or `__str__` is read through its real content.


def _encode_itself(value: bool | None, depth: int, budget: _Budget) -> Any:
    return value


def _encode_int(value: int, depth: int, budget: _Budget) -> Any:
    number = int.__add__(value, 0)
    if number.bit_length() > MAX_INT_BITS:
        raise PlainTooLarge(f"the number has more than {MAX_INT_BITS} bits")
    return number


def _encode_float(value: float, depth: int, budget: _Budget) -> Any:
    number = float.__float__(value)
    if math.isfinite(number):
        return number
    return {"t": "float", "v": "nan" if math.isnan(number) else "inf" if number > 0 else "-inf"}


def _encode_str(value: str, depth: int, budget: _Budget) -> Any:
    text = str.__str__(value)
    budget.read(len(text))
    return text


def _encode_bytes(value: bytes, depth: int, budget: _Budget) -> Any:
    data = b"".join([value])
    budget.read(2 * len(data))
    return {"t": "bytes", "v": data.hex()}


def _encode_list(value: list[Any], depth: int, budget: _Budget) -> Any:
    budget.enter(depth, list.__len__(value))
    return [_to_tree(item, depth + 1, budget) for item in list.__iter__(value)]


def _encode_tuple(value: tuple[Any, ...], depth: int, budget: _Budget) -> Any:
    budget.enter(depth, tuple.__len__(value))
    return {"t": "tuple", "v": [_to_tree(item, depth + 1, budget) for item in tuple.__iter__(value)]}


def _encode_dict(value: dict[Any, Any], depth: int, budget: _Budget) -> Any:
    budget.enter(depth, 2 * dict.__len__(value))
    pairs = []
    seen = set()
    for key, item in dict.items(value):
        key_tree = _key_tree(key, depth + 1, budget)
        mark = json.dumps(key_tree)
        if mark in seen:
            raise TypeError("a dict with two keys of the same plain value is not plain data")
        seen.add(mark)
        pairs.append([key_tree, _to_tree(item, depth + 1, budget)])
    return {"t": "dict", "v": pairs}


def _encode_set(value: set[Any] | frozenset[Any], depth: int, budget: _Budget) -> Any:
    if isinstance(value, set):
        length, items = set.__len__(value), set.__iter__(value)
    else:
        length, items = frozenset.__len__(value), frozenset.__iter__(value)
    budget.enter(depth, length)
    marks = {json.dumps(_key_tree(item, depth + 1, budget)) for item in items}
    return {"t": "set", "v": [json.loads(mark) for mark in sorted(marks)]}


def _key_tree(key: Any, depth: int, budget: _Budget) -> Any:
    if isinstance(key, enum.Enum):
        key = key.value
    if key is not None and not isinstance(key, (bool, int, float, str, bytes, tuple)):
        raise TypeError(f"{type(key).__name__} as a key or set element is not plain data")
    return _to_tree(key, depth, budget)


_ENCODERS: tuple[tuple[Any, Callable[[Any, int, _Budget], Any]], ...] = (
    (int, _encode_int),
    (float, _encode_float),
    (str, _encode_str),
    (bytes, _encode_bytes),
    (list, _encode_list),
    (tuple, _encode_tuple),
    (dict, _encode_dict),
    ((set, frozenset), _encode_set),
)
_ENCODER_OF: dict[type, Callable[[Any, int, _Budget], Any]] = {
    type(None): _encode_itself,
    bool: _encode_itself,
    int: _encode_int,
    float: _encode_float,
    str: _encode_str,
    bytes: _encode_bytes,
    list: _encode_list,
    tuple: _encode_tuple,
    dict: _encode_dict,
    set: _encode_set,
    frozenset: _encode_set,
}
"""The same, for a value whose type is exactly one of these: most are."""

# --- decoding ---------------------------------------------------------------------------------


class _Tagged:
    """One `{"t": tag, "v": content}` object."""

    __slots__ = ("content", "tag")

    def __init__(self, tag: str, content: Any) -> None:
        self.tag = tag
        self.content = content


def _tagged(pairs: list[tuple[str, Any]]) -> _Tagged:
    if [name for name, _ in pairs] != ["t", "v"] or not isinstance(pairs[0][1], str):
        raise ValueError("not the text of a plain value: unknown object")
    return _Tagged(pairs[0][1], pairs[1][1])


def _no_constant(name: str) -> Any:
    raise ValueError(f"not the text of a plain value: bare {name}")


def _from_tree(tree: Any, depth: int, budget: _Budget) -> Plain:
    kind = type(tree)
    if kind is str:
        budget.read(len(tree))
        return tree
    if kind is list:
        budget.enter(depth, len(tree))
        return [_from_tree(item, depth + 1, budget) for item in tree]
    if kind is _Tagged:
        decode = _DECODERS.get(tree.tag)
        if decode is None:
            raise ValueError(f"not the text of a plain value: unknown tag {tree.tag!r}")
        return decode(tree.content, depth, budget)
    if kind is float and not math.isfinite(tree):
        raise ValueError("not the text of a plain value: a number out of range")
    return tree


def _list_of(content: Any, depth: int, budget: _Budget) -> list[Any]:
    if not isinstance(content, list):
        raise ValueError("not the text of a plain value: a list was expected")
    budget.enter(depth, len(content))
    return content


def _decode_float(content: Any, depth: int, budget: _Budget) -> Plain:
    if content not in ("nan", "inf", "-inf"):
        raise ValueError("not the text of a plain value: unknown float")
    return float(content)


def _decode_bytes(content: Any, depth: int, budget: _Budget) -> Plain:
    if not isinstance(content, str):
        raise ValueError("not the text of a plain value: bytes are hex text")
    return bytes.fromhex(content)


def _decode_tuple(content: Any, depth: int, budget: _Budget) -> Plain:
    return tuple(_from_tree(item, depth + 1, budget) for item in _list_of(content, depth, budget))


def _decode_dict(content: Any, depth: int, budget: _Budget) -> Plain:
    result: dict[Any, Any] = {}
    for pair in _list_of(content, depth, budget):
        if not isinstance(pair, list) or len(pair) != 2:
            raise ValueError("not the text of a plain value: a key and a value were expected")
        result[_from_tree(pair[0], depth + 1, budget)] = _from_tree(pair[1], depth + 1, budget)
    return result


def _decode_set(content: Any, depth: int, budget: _Budget) -> Plain:
    return {_from_tree(item, depth + 1, budget) for item in _list_of(content, depth, budget)}


# Made once: `json.dumps` and `json.loads` make one for each text when they are given options.
_ENCODER = json.JSONEncoder(allow_nan=False, separators=(",", ":"))
_DECODER = json.JSONDecoder(object_pairs_hook=_tagged, parse_constant=_no_constant)

_DECODERS: dict[str, Callable[[Any, int, _Budget], Plain]] = {
    "float": _decode_float,
    "bytes": _decode_bytes,
    "tuple": _decode_tuple,
    "dict": _decode_dict,
    "set": _decode_set,
}
