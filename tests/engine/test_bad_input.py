"""Bad input names the field, the value and what is allowed, and disturbs nothing that runs."""

from __future__ import annotations

import math

import pytest

from inference_kit import EngineConfig, SamplingParams
from inference_kit.errors import InvalidField, UnknownOption
from tests.checksum import reference
from tests.cores import CoreFactory
from tests.engine.run import drain, ends

BAD = [
    ("temperature", math.nan),
    ("temperature", math.inf),
    ("temperature", -0.1),
    ("temperature", 2.1),
    ("temperature", "1"),
    ("top_p", math.nan),
    ("top_p", 0),
    ("top_p", 1.0001),
    ("min_p", math.nan),
    ("top_k", -1),
    ("presence_penalty", math.inf),
    ("frequency_penalty", math.nan),
    ("repetition_penalty", 0),
    ("repetition_penalty", math.nan),
    ("max_tokens", -1),
    ("max_tokens", 0),
    ("max_tokens", 1.5),
    ("max_tokens", True),
    ("n", 0),
    ("n", 1.5),
    ("seed", math.nan),
    ("seed", -1),
    ("stop", [""]),
    ("stop", ["\ud83d"]),
    ("stop", 7),
    ("stop", [7]),
    ("stop_token_ids", [-1]),
    ("min_tokens", -1),
    ("logprobs", 3),
    ("logit_bias", {1: 2.0}),
    ("ignore_eos", 1),
]


@pytest.mark.parametrize(("field", "value"), BAD)
def test_a_bad_sampling_value_is_named(field: str, value: object) -> None:
    with pytest.raises(InvalidField, match=field) as refused:
        SamplingParams(**{field: value})
    assert "allowed" in str(refused.value)


@pytest.mark.parametrize(
    ("field", "value"), [("temperature", 0), ("temperature", 2.0), ("top_p", 1.0), ("min_p", 0)]
)
def test_the_ends_of_the_ranges_are_accepted(field: str, value: float) -> None:
    assert getattr(SamplingParams(**{field: value}), field) == value


@pytest.mark.parametrize("owner", [SamplingParams, EngineConfig])
def test_an_unknown_option_lists_the_known_ones(owner: type[SamplingParams] | type[EngineConfig]) -> None:
    with pytest.raises(UnknownOption, match=r"tempratur.*known options: "):
        owner(tempratur=1.0)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("block_size", 0),
        ("max_step_tokens", 0),
        ("max_running", True),
        ("dtype", "int8"),
        ("device", "tpu"),
        ("policy", "lottery"),
        ("prefix_caching", 1),
        ("watermark", math.nan),
        ("channel_low", 64),
        ("slow_consumer_s", -1.0),
        ("model", ""),
        ("deadlines", 5),
    ],
)
def test_a_bad_configuration_value_is_named(field: str, value: object) -> None:
    with pytest.raises(InvalidField, match=field):
        EngineConfig(**{field: value})


@pytest.mark.parametrize(
    ("prompt", "field"),
    [([], "prompt"), ([64], "prompt_token_ids"), ([-1], "prompt_token_ids"), ([1.0], "prompt_token_ids")],
)
def test_a_bad_prompt_is_refused_and_the_others_run_on(
    make_core: CoreFactory, prompt: list[int], field: str
) -> None:
    core = make_core()
    good = core.submit([1, 2], SamplingParams(max_tokens=5))
    core.step()
    with pytest.raises(InvalidField, match=field):
        core.submit(prompt)
    with pytest.raises(InvalidField, match="request_id"):
        core.submit([1], request_id=good.request.request_id)
    with pytest.raises(InvalidField, match="stop_token_ids"):
        core.submit([1], SamplingParams(stop_token_ids=(64,)))
    drain(core)
    assert ends(good) == (reference([1, 2], 5), "length")
    assert core.snapshot()["received"] == 1
