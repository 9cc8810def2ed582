"""Pictures: well-formed, complete, readable without colour, and free of bad numbers."""

from __future__ import annotations

import base64
import math
import re
import xml.etree.ElementTree as ET
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference_kit import viz
from inference_kit.lifecycle import TERMINAL_STATES, TRANSITIONS, LoggedEvent
from inference_kit.viz import Picture
from inference_kit.viz.picture import document, element, words

D5 = [
    ("arrive", 0.0), ("admit", 2.0), ("input_ready", 3.0), ("first_token", 7.0),
    ("token", 9.0), ("token", 11.0), ("complete", 12.0),
]  # fmt: skip
SVG = "{http://www.w3.org/2000/svg}"


def tree(picture: Picture) -> ET.Element:
    return ET.fromstring(picture.svg)


def edges_drawn(picture: Picture) -> set[tuple[str, ...]]:
    found = [node.get("data-edge") for node in tree(picture).iter(f"{SVG}g")]
    return {tuple(edge.split("|")) for edge in found if edge}


def edges_of(table: Any) -> set[tuple[str, ...]]:
    return {(str(s), str(e), str(t)) for s, moves in table.items() for e, t in moves.items()}


ALL = [
    viz.state_diagram(),
    viz.state_diagram(current="decode"),
    viz.timeline(D5),
    viz.release_order(["a", "b"], ["b", "a"]),
    viz.grid([["a", "b"], [1, None]], "T", [(1, 0)], "note"),
]


@pytest.mark.parametrize("picture", ALL)
def test_a_picture_is_xml_with_a_title_and_shows_as_an_image_with_alt_text(picture: Picture) -> None:
    assert tree(picture).find(f"{SVG}title") is not None
    shown = picture._repr_mimebundle_()
    match = re.search(r'<img alt="([^"]+)"[^>]* src="data:image/svg\+xml;base64,([^"]+)"', shown["text/html"])
    assert match is not None and match[1]
    assert base64.b64decode(match[2]).decode() == picture.svg
    assert picture.text in shown["text/plain"]


@pytest.mark.parametrize("picture", ALL)
def test_a_picture_asks_nothing_of_the_network(picture: Picture) -> None:
    links = re.findall(r"(?:href|src)\s*=|https?://(?!www\.w3\.org/2000/svg)", picture.svg)
    assert links == []


@pytest.mark.parametrize("picture", ALL)
def test_no_bad_number_is_in_a_picture(picture: Picture) -> None:
    assert not re.search(r"\b(nan|inf|infinity)\b", picture.svg, re.IGNORECASE)


# --- the state diagram


def test_the_edges_drawn_are_exactly_those_of_the_table() -> None:
    assert edges_drawn(viz.state_diagram()) == edges_of(TRANSITIONS)


def test_an_edge_taken_out_or_put_in_is_drawn_so() -> None:
    table = {state: dict(moves) for state, moves in viz.states.plain_table(TRANSITIONS).items()}
    del table["decode"]["pause"]
    table["prefill"]["finish"] = "finished"
    table["streaming"]["pause"] = "streaming"
    assert edges_drawn(viz.state_diagram(table)) == edges_of(table)


def test_a_state_of_ones_own_gets_a_place() -> None:
    picture = viz.state_diagram({"received": {"tokenize": "thinking"}, "thinking": {}})
    boxes = {node.get("data-state") for node in tree(picture).iter(f"{SVG}g")}
    assert {"received", "thinking"} <= boxes


@pytest.mark.parametrize("state", [str(state) for state in TRANSITIONS])
def test_the_current_state_is_marked_by_frame_and_sign(state: str) -> None:
    picture = viz.state_diagram(current=state)
    current = [node for node in tree(picture).iter(f"{SVG}g") if node.get("data-current") == "true"]
    assert [node.get("data-state") for node in current] == [state]
    assert float(current[0].find(f"{SVG}rect").get("stroke-width")) > 3  # type: ignore[union-attr, arg-type]
    assert f"▶ {state}" in "".join(current[0].itertext())
    assert f"The request is in {state}" in picture.alt


def test_an_end_has_a_second_frame() -> None:
    for node in tree(viz.state_diagram()).iter(f"{SVG}g"):
        if node.get("data-state"):
            frames = len(node.findall(f"{SVG}rect"))
            assert (frames == 2) == (node.get("data-state") in {str(state) for state in TERMINAL_STATES})


def test_an_unknown_current_state_is_refused() -> None:
    with pytest.raises(ValueError, match="asleep"):
        viz.state_diagram(current="asleep")


def test_the_text_form_has_every_edge() -> None:
    text = viz.state_diagram().text
    for _, event, target in edges_of(TRANSITIONS):
        assert f"{event} → {target}" in text


# --- the timeline


def phases(picture: Picture) -> list[str]:
    found = [node.get("data-phase") for node in tree(picture).iter(f"{SVG}rect")]
    return [phase for phase in found if phase]


def test_the_phases_of_the_worked_trace() -> None:
    picture = viz.timeline(D5)
    assert phases(picture) == ["queued", "preprocessing", "prefill", "decode"]
    assert "3 tokens" in picture.text and "completed" in picture.text


def test_mappings_and_engine_events_draw_like_pairs() -> None:
    mappings = [{"event": event, "timestamp": at} for event, at in D5]
    assert viz.timeline(mappings).svg == viz.timeline(D5).svg
    events = [
        LoggedEvent("receive", 1.0, "a", "received"),
        LoggedEvent("tokenize", 2.0, "a", "tokenized"),
        LoggedEvent("enqueue", 3.0, "a", "queued"),
        LoggedEvent("receive", 3.5, "b", "received"),
        LoggedEvent("cancel", 5.0, "a", "cancelled"),
    ]
    picture = viz.timeline(events)
    rows = [node.get("data-request") for node in tree(picture).iter(f"{SVG}g") if node.get("data-request")]
    assert rows == ["a", "b"]
    assert phases(picture) == ["received", "tokenized", "queued", "received"]
    assert "cancelled" in picture.text


def served(name: str, at: float, end: str = "finished") -> list[LoggedEvent]:
    """A short life with one preemption; `end` is its last state, "" for one that still decodes."""
    moves = [
        ("receive", "received"), ("tokenize", "tokenized"), ("enqueue", "queued"), ("admit", "admitted"),
        ("start_prefill", "prefill"), ("start_decode", "decode"), ("token", "decode"),
        ("preempt", "preempted"), ("requeue", "queued"), ("admit", "admitted"), ("start_prefill", "prefill"),
        ("start_decode", "decode"), ("token", "decode"), (end or "token", end or "decode"),
    ]  # fmt: skip
    times = [at + (index if event != "requeue" else index - 1) for index, (event, _) in enumerate(moves)]
    return [LoggedEvent(event, time, name, state) for (event, state), time in zip(moves, times, strict=True)]


def marks(picture: Picture, name: str) -> int:
    return sum(1 for node in tree(picture).iter() if node.get("data-mark") == name)


@pytest.mark.parametrize("count", [1, 8, 40])
def test_each_request_has_its_row_and_each_preemption_its_sign(count: int) -> None:
    picture = viz.timeline([event for n in range(count) for event in served(f"r{n}", float(n))])
    rows = [node for node in tree(picture).iter(f"{SVG}g") if node.get("data-request")]
    assert [row.get("data-request") for row in rows] == [f"r{n}" for n in range(count)]
    assert marks(picture, "preempted") == count
    assert all("✔ finished" in "".join(row.itertext()) for row in rows)


@pytest.mark.parametrize("count", [1, 8, 40])
def test_rows_do_not_overlap_and_nothing_lies_outside_the_picture(count: int) -> None:
    picture = viz.timeline([event for n in range(count) for event in served(f"r{n}", float(n))])
    root = tree(picture)
    bars = [node for node in root.iter(f"{SVG}rect") if node.get("data-phase")]
    tops = sorted({float(bar.get("y", 0)) for bar in bars})
    height = float(bars[0].get("height", 0))
    assert all(lower - upper > height for upper, lower in pairwise(tops))
    assert all(
        float(bar.get("x", 0)) + float(bar.get("width", 0)) <= float(root.get("width", 0)) for bar in bars
    )
    assert tops[-1] + height < float(root.get("height", 0))


def test_a_request_that_has_not_ended_is_drawn_as_far_as_the_log_goes() -> None:
    picture = viz.timeline([*served("a", 0.0, ""), *served("b", 9.0)])
    assert "… not ended" in picture.svg
    a_rows = [line.split()[1:] for line in picture.text.splitlines() if line.startswith("a ")]
    assert a_rows[-2:] == [
        ["decode", "11", "s", "22", "s", "11", "s"],
        ["not", "ended", "22", "s", "3", "tokens"],
    ]
    assert "end not yet" in picture.alt and "b: " in picture.alt


def test_the_alt_text_of_many_requests_counts_them() -> None:
    log = [event for n in range(40) for event in served(f"r{n}", float(n), "failed" if n % 4 else "finished")]
    alt = viz.timeline(log, "A busy hour").alt
    assert alt == "A busy hour: 40 requests in 52 s: 10 finished, 30 failed; 80 tokens, 40 preemptions."


@pytest.mark.parametrize("at", [math.nan, math.inf, None, "1", True])
def test_a_time_that_is_not_finite_is_refused(at: Any) -> None:
    with pytest.raises(ValueError, match="finite"):
        viz.timeline([("arrive", 0.0), ("cancel", at)])


def test_no_events_is_an_error() -> None:
    with pytest.raises(ValueError, match="no events"):
        viz.timeline([])


@given(
    st.lists(
        st.tuples(st.sampled_from([event for event, _ in D5]), st.floats(-1e12, 1e12)), min_size=1, max_size=9
    )
)
def test_any_log_draws_as_xml(log: list[tuple[str, float]]) -> None:
    tree(viz.timeline(log))


@given(st.text(), st.text())
def test_any_text_draws_as_xml(first: str, second: str) -> None:
    tree(viz.release_order([first], [second]))
    tree(viz.grid([["head"], [first]], second))
    tree(viz.state_diagram({first: {second: "end"}}))


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_an_element_refuses_a_number_that_is_not_finite(value: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        element("rect", x=value)
    with pytest.raises(ValueError, match="finite"):
        document(value, 1, "t", words("a", 1, 1))
