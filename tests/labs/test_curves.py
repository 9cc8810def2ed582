"""Latency and goodput curves, spans and flipbooks: what they draw, and what they refuse."""

from __future__ import annotations

import gc
import json
import math
import weakref
import xml.etree.ElementTree as ET
from typing import Any

import pytest

from inference_kit import LLM, SamplingParams, viz
from inference_kit.lifecycle import replay
from inference_kit.viz.curves import STYLES, CurvePicture

SVG = "{http://www.w3.org/2000/svg}"
LOG = [
    ("arrive", 0.0),
    ("admit", 2.0),
    ("input_ready", 3.0),
    ("first_token", 7.0),
    ("token", 9.0),
    ("complete", 12.0),
]


def curve_of(picture: CurvePicture, name: str) -> ET.Element:
    return next(
        node for node in ET.fromstring(picture.svg).iter(f"{SVG}g") if node.get("data-series") == name
    )


def line_of(picture: CurvePicture, name: str) -> str:
    paths = [node for node in curve_of(picture, name) if node.get("data-marker") is None]
    return paths[0].get("d", "") if paths else ""


def markers_of(picture: CurvePicture, name: str) -> list[str]:
    return [node.get("data-marker", "") for node in curve_of(picture, name) if node.get("data-marker")]


# --- gaps


def test_a_missing_value_breaks_the_line_and_has_no_marker() -> None:
    picture = viz.latency_curve([1, 2, 3, 4, 5], {"p95": [1.0, 2.0, None, 4.0, 5.0]})
    assert [part[0] for part in line_of(picture, "p95").split() if part[0].isalpha()] == ["M", "L", "M", "L"]
    assert len(markers_of(picture, "p95")) == 4


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_value_that_is_not_finite_is_a_gap_everywhere(bad: float) -> None:
    picture = viz.goodput_curve([1, 2], {"good": [1.0, bad]}, offered=False)
    assert picture.series == {"good": (1.0, None)}
    assert not {"nan", "inf"} & set(picture.svg.lower().replace(">", " ").split())
    json.loads(picture.figure().to_json(), parse_constant=pytest.fail)


def test_a_series_without_any_value_is_named_and_has_no_line() -> None:
    picture = viz.latency_curve([1, 2], {"p95": [None, None], "mean": [1.0, 1.0]})
    assert line_of(picture, "p95") == "" and "p95: no value." in picture.alt


@pytest.mark.parametrize("x", [[math.nan], [math.inf], [None], ["1"]])
def test_an_x_that_is_no_finite_number_is_refused(x: list[Any]) -> None:
    with pytest.raises(ValueError, match="x="):
        viz.latency_curve(x, {"p95": [1.0]})


def test_lengths_that_differ_are_refused() -> None:
    with pytest.raises(ValueError, match="'p95' has 1 values for 2 x"):
        viz.latency_curve([1, 2], {"p95": [1.0]})


def test_a_value_that_is_no_number_is_refused() -> None:
    with pytest.raises(ValueError, match="True"):
        viz.latency_curve([1], {"p95": [True]})


def test_more_curves_than_there_are_styles_are_refused() -> None:
    with pytest.raises(ValueError, match="too many"):
        viz.latency_curve([1], {str(number): [1.0] for number in range(len(STYLES) + 1)})


# --- readable without colour, and as a table


def test_every_curve_has_a_marker_of_its_own() -> None:
    names = [str(number) for number in range(len(STYLES))]
    picture = viz.latency_curve([1, 2], {name: [1.0, 2.0] for name in names})
    assert len({markers_of(picture, name)[0] for name in names}) == len(STYLES)
    assert len({trace.marker.symbol for trace in picture.figure().data}) == len(STYLES)


def test_the_text_has_every_number_and_says_what_a_dash_is() -> None:
    picture = viz.latency_curve([4, 8], {"p95": [2.5, None]}, slo_s=2.0)
    rows = [line.split() for line in picture.text.splitlines()]
    assert rows[2] == ["4", "2.5"] and rows[3] == ["8", "–"]
    assert "SLO: 2" in picture.text and "gap" in picture.text


def test_one_point_and_equal_values_are_drawn() -> None:
    picture = viz.latency_curve([3.0], {"p95": [0.0]})
    assert len(markers_of(picture, "p95")) == 1


def test_values_keep_their_order_on_the_axis() -> None:
    picture = viz.latency_curve([1, 2, 3], {"p95": [-1.0, 0.0, 4.0]})
    numbers = [float(part) for part in line_of(picture, "p95").replace("M", "").replace("L", "").split()]
    assert numbers[0::2] == sorted(numbers[0::2]) and numbers[1::2] == sorted(numbers[1::2], reverse=True)


def test_offered_is_the_line_of_all_that_came() -> None:
    picture = viz.goodput_curve([4, 8], {"good": [3.0, 5.0]})
    assert picture.series["offered"] == (4.0, 8.0)


# --- from an event log


@pytest.fixture(scope="module")
def events() -> list[Any]:
    outputs = LLM("tiny", progress=False).generate(["a", "b", "c"], SamplingParams(max_tokens=3))
    return [event for output in outputs for event in output.events]


def test_latencies_of_an_event_log(events: list[Any]) -> None:
    picture = viz.latency_curve(events)
    assert len(picture.x) == 3 and list(picture.x) == sorted(picture.x)
    firsts, ends = picture.series["TTFT"], picture.series["end to end"]
    assert all(
        first is not None and end is not None and first <= end
        for first, end in zip(firsts, ends, strict=True)
    )


def test_a_request_that_still_runs_has_no_end_to_end_time(events: list[Any]) -> None:
    unfinished = [event for event in events if event.request_id == events[0].request_id][:-1]
    assert viz.latency_curve(unfinished).series["end to end"] == (None,)


def test_good_and_ended_requests_of_an_event_log(events: list[Any]) -> None:
    all_good = viz.goodput_curve(events, ttft_slo_s=1e6)
    assert all_good.series["ended"] == all_good.series["good"] == (0.0, 1.0, 2.0, 3.0)
    assert viz.goodput_curve(events, ttft_slo_s=0.0).series["good"] == (0.0, 0.0, 0.0, 0.0)


def test_numbers_without_series_are_refused() -> None:
    with pytest.raises(ValueError, match="series"):
        viz.latency_curve([1.0, 2.0])
    with pytest.raises(ValueError, match="no events"):
        viz.goodput_curve([])


def test_objectives_beside_counted_series_are_refused() -> None:
    with pytest.raises(ValueError, match="ttft_slo_s"):
        viz.goodput_curve([1], {"good": [1.0]}, ttft_slo_s=2.0)


def test_a_figure_of_other_series_is_not_redrawn() -> None:
    figure = viz.latency_curve([1], {"p95": [1.0]}).figure()
    with pytest.raises(ValueError, match="other series"):
        viz.redraw(figure, viz.latency_curve([1], {"p99": [1.0]}))


# --- spans


def test_a_span_for_each_metric_that_has_its_boundaries() -> None:
    drawn = [
        node.get("data-metric") for node in ET.fromstring(viz.metric_spans(replay(LOG)).svg).iter(f"{SVG}g")
    ]
    assert drawn == ["queue_wait", "preprocessing", "prefill", "ttft", "token_span", "decode_time", "e2e"]


def test_a_missing_boundary_is_said_and_not_drawn() -> None:
    picture = viz.metric_spans(replay([*LOG[:2], ("cancel", 5.0)]))
    drawn = {node.get("data-metric") for node in ET.fromstring(picture.svg).iter(f"{SVG}g")} - {None}
    assert drawn == {"queue_wait", "e2e"}
    assert "ttft           arrive       first_token  None" in picture.text


def test_the_numbers_on_the_spans_are_those_of_the_caller() -> None:
    assert (
        "queue_wait     arrive       admit        77"
        in viz.metric_spans(replay(LOG), {"queue_wait": 77.0}).text
    )


def test_a_request_without_any_duration_is_drawn() -> None:
    viz.metric_spans(replay([(name, 1.0) for name, _ in LOG]))


# --- flipbook


def book(key: str) -> Any:
    return viz.flipbook({"one": viz.metric_spans(replay(LOG)), "two": viz.grid([["a"], [1]], "T")}, key=key)


def test_the_slider_changes_the_picture_in_one_message() -> None:
    shown = book("change")
    seen: list[Any] = []
    shown.view.observe(seen.append)
    shown.slider.value = "two"
    assert len(seen) == 1 and shown.view.value == shown.pictures["two"].html(folded=False)
    shown.close()


def test_running_the_cell_again_closes_the_first_book() -> None:
    first = book("again")
    second = book("again")
    assert first.slider.comm is None and second.slider.comm is not None
    dead = weakref.ref(first)
    del first
    gc.collect()
    assert dead() is None
    second.close()


def test_a_book_without_pictures_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one"):
        viz.flipbook({})
