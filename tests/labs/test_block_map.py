"""The block map: every block is drawn or counted, faults are marked by sign, and memory in one piece."""

from __future__ import annotations

import importlib
import re
import xml.etree.ElementTree as ET
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference_kit import LLM, SamplingParams, viz
from inference_kit.kv import BlockPool, CountedPool
from inference_kit.viz import Picture

# The package exports the function under the name of its module.
block_player = importlib.import_module("inference_kit.viz.block_player")
SVG = "{http://www.w3.org/2000/svg}"


def blocks(picture: Picture) -> dict[int, str]:
    found = {}
    for node in ET.fromstring(picture.svg).iter(f"{SVG}g"):
        if node.get("data-block"):
            found[int(node.get("data-block", ""))] = node.get("data-state", "")
    return found


def shared_pool() -> tuple[BlockPool, dict[str, list[int]]]:
    pool = BlockPool(6, 4)
    first = pool.allocate(2)
    pool.retain(first[:1])
    return pool, {"draft A": first, "draft B": [first[0], *pool.allocate(1)]}


def test_the_state_of_each_block_is_drawn() -> None:
    pool, tables = shared_pool()
    (kept,) = pool.allocate(1)
    pool.keep(kept)
    pool.free([kept])
    picture = viz.block_map(pool, tables, {"draft A": 6, "draft B": 5})
    assert blocks(picture) == {0: "shared", 1: "held", 2: "held", 3: "kept", 4: "free", 5: "free"}
    assert "1 of them shared, 2 free, 1 kept" in picture.alt
    assert re.search(r"0 +shared +2 +A B +4 of 4", picture.text)
    assert re.search(r"1 +held +1 +A +2 of 4", picture.text)
    assert "A = draft A: 0 1" in picture.text and "B = draft B: 0 2" in picture.text


def test_a_count_that_is_not_that_of_the_holders_is_marked() -> None:
    pool, tables = shared_pool()
    picture = viz.block_map(pool, {"draft A": tables["draft A"], "thief": [1]})
    assert "block 0: 2 references, 1 holders: a leak" in picture.alt
    assert "block 1: 1 references, 2 holders: counted twice" in picture.alt
    assert picture.svg.count("⚠") == 3


def test_right_books_carry_no_warning() -> None:
    pool, tables = shared_pool()
    assert "⚠" not in viz.block_map(pool, tables).svg


def test_a_pool_without_kept_contents_draws_too() -> None:
    pool = CountedPool(3, 4)
    assert blocks(viz.block_map(pool, {"a": pool.allocate(1)})) == {0: "held", 1: "free", 2: "free"}


def test_a_large_pool_shows_what_is_used_and_counts_the_rest() -> None:
    pool = BlockPool(4000, 16)
    picture = viz.block_map(pool, {f"r{number}": pool.allocate(5) for number in range(3)})
    assert set(blocks(picture)) == set(range(15))
    assert "and 3985 more blocks that are not drawn" in picture.svg


def test_a_block_outside_the_pool_is_refused() -> None:
    with pytest.raises(ValueError, match="block 7"):
        viz.block_map(CountedPool(3, 4), {"a": [7]})


def test_a_running_engine_draws_from_its_snapshot() -> None:
    llm = LLM("tiny", block_size=4, num_kv_blocks=16, progress=False)
    stream = llm.stream(list(range(1, 9)), SamplingParams(max_tokens=8, n=2))
    for _ in range(4):
        next(stream)
    picture = viz.block_map(llm.core.kv_snapshot())
    assert list(blocks(picture).values()).count("shared") == 1
    stream.close()  # type: ignore[attr-defined]
    assert set(blocks(viz.block_map(llm.core.kv_snapshot())).values()) == {"free"}


@given(st.integers(1, 90), st.integers(1, 40), st.lists(st.tuples(st.text(), st.integers(0, 9)), max_size=8))
def test_any_pool_draws_as_xml(num_blocks: int, size: int, holders: Any) -> None:
    pool = BlockPool(num_blocks, size)
    tables = {name: pool.allocate(min(count, pool.num_free)) for name, count in dict(holders).items()}
    picture = viz.block_map(pool, tables, {name: len(table) * size // 2 for name, table in tables.items()})
    ET.fromstring(picture.svg)
    assert not re.search(r"\b(nan|inf)\b", picture.svg.split("</title>")[1].split("block tables")[0])


# --- memory in one piece


def test_a_strip_counts_what_is_written_reserved_and_free() -> None:
    picture = viz.memory_strip([("A", 0, 40, 12), ("B", 48, 30, 30)], 100)
    assert "100 slots: 42 written, 28 reserved and not written, 30 free" in picture.alt
    ET.fromstring(picture.svg)


@pytest.mark.parametrize("span", [("A", -1, 4, 1), ("A", 98, 4, 1), ("A", 0, 4, 5)])
def test_a_span_outside_the_memory_is_refused(span: Any) -> None:
    with pytest.raises(ValueError, match="not inside"):
        viz.memory_strip([span], 100)


# --- the player


def open_widgets() -> int:
    """Live widgets of this process; the place of the registry differs between 7.7 and 8."""
    module = pytest.importorskip("ipywidgets", reason="ipywidgets is in the `course` extra").widgets.widget
    registry = getattr(module, "_instances", None)
    return len(module.Widget.widgets if registry is None else registry)


def test_the_story_is_right_at_every_moment() -> None:
    for caption, state in block_player.story():
        picture = viz.block_map(state)
        assert "⚠" not in picture.svg, caption
    captions = [caption for caption, _ in block_player.story()]
    assert captions[0].startswith("all blocks are free") and "free again" in captions[-1]
    shared = [state for caption, state in block_player.story() if "begins to share" in caption]
    assert max(shared[0]["references"]) == 2


def test_the_player_steps_and_stops_at_both_ends() -> None:
    player = viz.block_player(key="test")
    assert player.back.disabled and not player.forward.disabled
    last = len(player.frames.frames) - 1
    for _ in range(last):
        player.forward.click()
    assert player.forward.disabled and player.slider.value == last
    assert f"{last + 1} of {last + 1}" in player.view.value or "free again" in player.view.value
    player.slider.value = 2
    assert player.frames.position == 2 and "begins to share" in player.view.value
    player.back.click()
    assert player.frames.position == 1
    player.close()


def test_running_the_cell_again_leaks_nothing() -> None:
    viz.block_player(key="test").close()
    viz.block_player(key="test")
    once = open_widgets()
    for _ in range(3):
        player = viz.block_player(key="test")
    assert open_widgets() == once
    player.close()


def test_no_moments_are_refused() -> None:
    with pytest.raises(ValueError, match="no moments"):
        block_player.Frames([])
