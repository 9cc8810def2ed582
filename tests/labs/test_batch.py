"""Batch composition: who computed what in each step, drawn from step plans."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference_kit import SamplingParams, viz
from inference_kit.viz.batch import shares_of
from tests.cores import CoreFactory
from tests.engine.run import drain

SVG = "{http://www.w3.org/2000/svg}"


def kinds(picture: viz.Picture) -> list[list[str]]:
    """By step, the kinds of its shares."""
    return [
        [node.get("data-kind", "") for node in group.iter(f"{SVG}rect") if node.get("data-kind")]
        for group in ET.fromstring(picture.svg).iter(f"{SVG}g")
        if group.get("data-step")
    ]


def test_chunks_of_a_prompt_are_prefill_and_later_tokens_decode(make_core: CoreFactory) -> None:
    core = make_core(max_step_tokens=8)
    core.submit(list(range(1, 13)), SamplingParams(max_tokens=3), request_id="long")
    core.submit([1, 2], SamplingParams(max_tokens=4), request_id="short")
    picture = viz.batch_composition(drain(core), budget=8)
    assert kinds(picture)[0] == ["prefill"]
    assert ["decode", "decode"] in kinds(picture)
    assert "14 prefill tokens, 5 decode tokens" in picture.alt
    assert "A = long" in picture.text and "B = short" in picture.text
    assert "budget 8" in picture.svg


def test_a_recomputation_is_prefill_although_there_are_outputs(make_core: CoreFactory) -> None:
    core = make_core(num_kv_blocks=4, watermark=0.0)
    for name in ("a", "b"):
        core.submit([1, 2, 3, 4], SamplingParams(max_tokens=9), request_id=name)
    plans = drain(core)
    resumed = [plan for plan in plans if plan.admitted][-1]
    assert any(plan.preempted for plan in plans)
    (share,) = [share for share in shares_of(resumed) if share[0] in resumed.admitted]
    assert share[1] == "prefill" and share[2] > 1


def test_no_work_is_refused() -> None:
    with pytest.raises(ValueError, match="no step computed"):
        viz.batch_composition([{"chunks": []}])


chunks = st.fixed_dictionaries(
    {
        "request_id": st.text(max_size=30),
        "token_ids": st.lists(st.integers(0, 9), min_size=1, max_size=70),
        "samples": st.booleans(),
        "num_generated": st.integers(0, 3),
    }
)


@given(st.lists(st.lists(chunks, min_size=1, max_size=12), min_size=1, max_size=80), st.integers(1, 200))
def test_any_plans_draw_as_xml_inside_the_picture(plans: list[list[Any]], budget: int) -> None:
    picture = viz.batch_composition([{"chunks": plan} for plan in plans], budget=budget)
    root = ET.fromstring(picture.svg)
    height = float(root.get("height", "0"))
    for node in root.iter(f"{SVG}rect"):
        assert float(node.get("y", "0")) >= 0
        assert float(node.get("y", "0")) + float(node.get("height", "0")) <= height + 0.1
    assert not re.search(r'="(nan|inf)"', picture.svg)
