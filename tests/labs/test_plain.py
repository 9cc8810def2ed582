"""Plain data crosses from the answer's side to the judge's and back without a change."""

from __future__ import annotations

import enum
import importlib.util
import math
import subprocess
import sys
from collections import OrderedDict, deque, namedtuple
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference_kit.labs import plain as plain_module
from inference_kit.labs.plain import (
    MAX_ITEMS,
    PlainTooLarge,
    decode_plain,
    encode_plain,
    plain,
)

numbers = st.floats(allow_nan=False) | st.integers(min_value=-(2**200), max_value=2**200)
leaves = st.none() | st.booleans() | numbers | st.text() | st.binary()
keys = st.none() | st.booleans() | st.integers() | st.text() | st.tuples(st.integers(), st.text())


def extend(children: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return (
        st.lists(children, max_size=4)
        | st.lists(children, max_size=4).map(tuple)
        | st.dictionaries(keys, children, max_size=4)
        | st.sets(keys, max_size=4)
    )


def same(left: Any, right: Any) -> bool:
    """Equal, and of exactly the same types all the way down."""
    if type(left) is not type(right):
        return False
    if isinstance(left, (list, tuple)):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    return left == right


@given(st.recursive(leaves, extend, max_leaves=20))
def test_round_trip_keeps_value_and_types(value: Any) -> None:
    assert same(decode_plain(encode_plain(value)), value)


@given(st.recursive(leaves, extend, max_leaves=20))
def test_encoding_is_one_line_of_ascii(value: Any) -> None:
    text = encode_plain(value)
    assert "\n" not in text
    assert text.isascii()


@pytest.mark.parametrize("value", [math.inf, -math.inf])
def test_infinities_cross(value: float) -> None:
    assert plain(value) == value


def test_nan_crosses_without_a_bare_word_in_the_text() -> None:
    assert math.isnan(plain(math.nan))
    assert encode_plain(math.nan) == '{"t":"float","v":"nan"}'


class Colour(enum.Enum):
    RED = "red"


class Loud(str):
    def __str__(self) -> str:
        return "something else"


class Sly(int):
    def __index__(self) -> int:
        return 7


class Hollow(list):  # type: ignore[type-arg]
    def __iter__(self) -> Any:
        return iter(())


Pair = namedtuple("Pair", "left right")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Colour.RED, "red"),
        ({Colour.RED: Colour.RED}, {"red": "red"}),
        (Loud("real"), "real"),
        (Sly(3), 3),
        (Hollow([1, 2]), [1, 2]),
        (Pair(1, 2), (1, 2)),
        (OrderedDict(a=1), {"a": 1}),
        (frozenset({1}), {1}),
    ],
)
def test_subclasses_become_the_plain_type_with_their_real_content(value: Any, expected: Any) -> None:
    assert same(plain(value), expected)


@pytest.mark.parametrize("value", [object(), deque(), iter([]), len, 1j, bytearray(b"x"), {1: [print]}])
def test_other_values_are_refused_by_type_name(value: Any) -> None:
    name = "builtin_function_or_method" if isinstance(value, dict) else type(value).__name__
    with pytest.raises(TypeError, match=name):
        encode_plain(value)


def test_a_spoofed_class_is_refused() -> None:
    class Impostor:
        __class__ = int  # type: ignore[assignment]

    with pytest.raises(TypeError):
        encode_plain(Impostor())


def test_two_keys_of_one_plain_value_are_refused() -> None:
    with pytest.raises(TypeError, match="two keys"):
        encode_plain({Colour.RED: 1, "red": 2})


def test_a_list_that_holds_itself_is_refused() -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(PlainTooLarge):
        encode_plain(loop)


@pytest.mark.parametrize("value", [2**10_000, [[0] * 1_001] * 1_000])
def test_sizes_are_limited(value: Any) -> None:
    with pytest.raises(PlainTooLarge):
        encode_plain(value)


@pytest.mark.parametrize("kind", [list, tuple, set, frozenset, dict.fromkeys])
def test_a_container_too_large_is_refused_before_it_is_walked(kind: Any) -> None:
    items = [object() for _ in range(MAX_ITEMS + 1)]  # the first one that is looked at is a TypeError
    with pytest.raises(PlainTooLarge, match="more than"):
        encode_plain(kind(items))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "NaN",
        "1e999",
        "{}",
        '{"t":"set","v":[[1]]}',
        '{"t":"dict","v":[[1]]}',
        '{"t":"float","v":"7"}',
        '{"t":"code","v":"1"}',
        '{"v":[],"t":"set"}',
        '{"t":"bytes","v":"zz"}',
        "[" * 100_000,
        "9" * 5_000,
    ],
)
def test_any_other_text_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        decode_plain(text)


def test_the_file_loads_alone_without_the_kit() -> None:
    source = Path(plain_module.__file__)
    program = (
        "import importlib.util, sys\n"
        f"spec = importlib.util.spec_from_file_location('alone', {str(source)!r})\n"
        "module = importlib.util.module_from_spec(spec)\n"
        "spec.loader.exec_module(module)\n"
        "print(module.decode_plain(module.encode_plain([1])), any('inference' in n for n in sys.modules))\n"
    )
    result = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.split() == ["[1]", "False"]
    assert importlib.util.find_spec("inference_kit.labs.plain") is not None
