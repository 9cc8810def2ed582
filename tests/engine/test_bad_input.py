"""Bad input names the field, the value and what is allowed, and disturbs nothing that runs."""

from __future__ import annotations

import math

import pytest

from inference_kit import LLM, EngineConfig, SamplingParams
from inference_kit.errors import InvalidField, RequestRefused, UnknownOption
from inference_kit.kv import BlockPool
from inference_kit.lifecycle import goodput, replay
from tests.checksum import reference
from tests.cores import CoreFactory
from tests.engine.run import drain, ends

HUGE = 10**400
BAD = [
    ("temperature", HUGE),
    ("top_p", HUGE),
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


def test_other_bad_arguments_are_named_and_counted(make_core: CoreFactory) -> None:
    core = make_core(max_waiting_tokens=8)
    bad: list[tuple[str, dict[str, object]]] = [
        ("params", {"params": {"max_tokens": 3}}),
        ("deadlines", {"deadlines": 5}),
        ("overall_s", {"deadlines": {"overall_s": HUGE}}),
        ("priority", {"priority": 1.5}),
    ]
    for field, arguments in bad:
        with pytest.raises(InvalidField, match=field):
            core.submit([1], **arguments)
    with pytest.raises(RequestRefused, match="prompt"):
        core.submit([1] * 9)
    assert core.snapshot()["rejected"] == len(bad) + 1


def test_a_length_beyond_the_context_is_refused_at_the_start(make_core: CoreFactory) -> None:
    with pytest.raises(InvalidField, match="max_model_len"):
        make_core(max_model_len=4096, context=2048)


def test_a_pool_beyond_the_memory_is_named() -> None:
    pytest.importorskip("torch")
    with pytest.raises(InvalidField, match="num_kv_blocks"):
        LLM("tiny", num_kv_blocks=10**10, progress=False)


@pytest.mark.parametrize("slo", ["ttft_slo_s", "tpot_slo_s", "e2e_slo_s"])
@pytest.mark.parametrize("value", [math.nan, -1.0, HUGE])
def test_an_objective_must_be_a_number(slo: str, value: float) -> None:
    with pytest.raises(InvalidField, match=slo):
        goodput([], window_s=1.0, **{slo: value})


def test_a_time_too_large_for_a_float_is_an_illegal_history() -> None:
    with pytest.raises(ValueError, match="entry 0"):
        replay([("arrive", HUGE)])


def test_an_integrity_check_names_a_block_that_does_not_exist() -> None:
    with pytest.raises(InvalidField, match="block id"):
        BlockPool(4, 2).check_integrity([[99]])


def test_a_number_too_long_to_print_is_still_refused_by_name() -> None:
    with pytest.raises(InvalidField, match="seed=<int with too many digits>"):
        SamplingParams(seed=10**5000)
