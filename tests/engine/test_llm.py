"""The offline front door and the console command, on the `tiny` model."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from inference_kit import LLM, Components, EngineConfig, SamplingParams
from inference_kit.cli import main
from inference_kit.engine import build
from inference_kit.errors import InvalidField, RequestRefused, UnknownOption
from inference_kit.lifecycle import replay, request_metrics, trace_of
from inference_kit.scheduler import StepOutput, StepPlan
from tests.checksum import ChecksumRunner, reference
from tests.cores import check_all_given_back

pytest.importorskip("torch")


@pytest.fixture
def llm():  # type: ignore[no-untyped-def]
    made = LLM("tiny", dtype="float32", progress=False)
    yield made
    check_all_given_back(made.core)


def test_prompts_may_be_text_ids_or_a_list_of_either(llm: LLM) -> None:
    params = SamplingParams(max_tokens=4)
    alone = llm.generate("Hi", params)
    mixed = llm.generate(["Hi", list(b"Hi"), "Other"], params)
    assert len(alone) == 1
    assert len(mixed) == 3
    assert alone[0].token_ids == mixed[0].token_ids
    assert llm.generate([], params) == []
    assert llm.generate(list(mixed[1].prompt_token_ids), params)[0].token_ids == mixed[1].token_ids


def test_more_prompts_than_the_queue_holds_are_all_answered() -> None:
    llm = LLM(
        "tiny", components=Components(runner=ChecksumRunner), max_waiting=2, max_running=2, progress=False
    )
    prompts = [[n + 1, 2] for n in range(15)]
    outputs = llm.generate(prompts, SamplingParams(max_tokens=3))
    assert [list(out.token_ids) for out in outputs] == [reference(prompt, 3) for prompt in prompts]


@pytest.mark.parametrize("bad", ["", [10**6], 5, [[]], [1.5], "\ud800"])
def test_one_bad_prompt_refuses_the_batch_before_anything_runs(llm: LLM, bad: object) -> None:
    with pytest.raises(InvalidField):
        llm.generate(["good", bad])  # type: ignore[list-item]
    assert not llm.core.has_work
    assert llm.generate("good", SamplingParams(max_tokens=2))[0].finish_reason in ("length", "stop_eos")


def test_a_prompt_beyond_the_context_is_refused(llm: LLM) -> None:
    with pytest.raises(RequestRefused, match="prompt"):
        llm.generate([[5] * 5000])


def test_an_unknown_option_is_an_error() -> None:
    with pytest.raises(UnknownOption, match="max_runing"):
        LLM("tiny", max_runing=3)


def test_params_must_be_sampling_params(llm: LLM) -> None:
    with pytest.raises(InvalidField, match="params"):
        llm.generate("x", {"max_tokens": 3})  # type: ignore[arg-type]


def test_a_stream_joins_to_the_answer_and_leaving_it_cancels(llm: LLM) -> None:
    params = SamplingParams(max_tokens=20, ignore_eos=True)
    whole = llm.generate("Hello", params)[0]
    assert "".join(chunk.text for chunk in llm.stream("Hello", params)) == whole.text
    for _ in llm.stream("Hello", params):
        break
    assert not llm.core.has_work


def test_streams_and_batches_share_an_engine_and_lose_nothing() -> None:
    llm = LLM("tiny", components=Components(runner=ChecksumRunner), progress=False)
    params = SamplingParams(max_tokens=12)
    one, two = llm.stream([1, 2], params), llm.stream([3, 4], params)
    first = next(one)
    answer = llm.generate([[5, 6]], params)[0]
    seen = {"one": [first, *one], "two": [*two]}
    for name, prompt in (("one", [1, 2]), ("two", [3, 4])):
        ids = [token for chunk in seen[name] for token in chunk.token_ids]
        assert ids == reference(prompt, 12)
        assert [chunk.finish_reason for chunk in seen[name]][-1] == "length"
    assert list(answer.token_ids) == reference([5, 6], 12)


def test_batches_from_several_threads_are_all_answered() -> None:
    llm = LLM("tiny", components=Components(runner=ChecksumRunner), progress=False)
    prompts = [[1 + n, 2] for n in range(6)]
    with ThreadPoolExecutor(6) as pool:
        outputs = list(
            pool.map(lambda prompt: llm.generate([prompt], SamplingParams(max_tokens=20)), prompts)
        )
    assert [list(out[0].token_ids) for out in outputs] == [reference(prompt, 20) for prompt in prompts]


def test_the_command_exports_and_names_a_folder_that_is_in_the_way(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", "tiny", str(tmp_path / "tiny")]) == 0
    assert LLM(str(tmp_path / "tiny"), progress=False).generate("Hi", SamplingParams(max_tokens=2))
    assert main(["export", "tiny", str(tmp_path / "tiny")]) == 2
    assert str(tmp_path / "tiny") in capsys.readouterr().err


def test_metrics_of_an_answer_add_up(llm: LLM) -> None:
    output = llm.generate("Hello", SamplingParams(max_tokens=5, ignore_eos=True))[0]
    metrics = output.metrics
    assert metrics.streamed_tokens == 5
    assert metrics.ttft == pytest.approx(
        metrics.tokenize + metrics.queue_wait + metrics.preprocessing + metrics.prefill
    )
    assert metrics.e2e == pytest.approx(metrics.ttft + metrics.decode_time)
    replayed = request_metrics(replay(trace_of(output.events)))
    assert (replayed.ttft, replayed.tpot, replayed.e2e) == (metrics.ttft, metrics.tpot, metrics.e2e)


def test_a_request_that_fails_is_reported_and_the_others_are_answered() -> None:
    class FailsOnNine(ChecksumRunner):
        def run(self, plan: StepPlan) -> StepOutput:
            output = super().run(plan)
            errors = {chunk.request_id: "row is NaN" for chunk in plan.chunks if chunk.token_ids[0] == 9}
            return StepOutput(output.token_ids, errors)

    llm = LLM("tiny", components=Components(runner=FailsOnNine), progress=False)
    bad, good = llm.generate([[9], [1, 2]], SamplingParams(max_tokens=3))
    assert (bad.finish_reason, str(bad.error)) == ("error", "row is NaN")
    assert list(good.token_ids) == reference([1, 2], 3)


def test_a_seeded_answer_does_not_depend_on_company(llm: LLM) -> None:
    # Case A01.
    params = SamplingParams(temperature=0.8, seed=42, max_tokens=16, ignore_eos=True)
    alone = llm.generate([[1, 2, 3]], params)[0].token_ids
    assert llm.generate([[7] * 9, [1, 2, 3], [8]], params)[1].token_ids == alone
    chunked = LLM("tiny", dtype="float32", max_step_tokens=2, progress=False)
    assert chunked.generate([[1, 2, 3], [4]], params)[0].token_ids == alone


def test_no_seed_is_not_seed_zero(llm: LLM) -> None:
    # Case A04.
    free = SamplingParams(temperature=0.7, max_tokens=16, ignore_eos=True)
    zero = SamplingParams(temperature=0.7, max_tokens=16, ignore_eos=True, seed=0)
    assert len({out.token_ids for out in llm.generate([[1, 2, 3]] * 8, free)}) >= 2
    assert len({out.token_ids for out in llm.generate([[1, 2, 3]] * 3, zero)}) == 1


def test_the_command_streams_an_answer(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["generate", "--model", "tiny", "--dtype", "float32", "--max-tokens", "5", "--quiet"]
    assert main([*command, "--raw", "Hello"]) == 0
    shown = capsys.readouterr().out
    llm = LLM("tiny", dtype="float32", progress=False)
    assert shown == llm.generate("Hello", SamplingParams(max_tokens=5))[0].text + "\n"


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["generate", "--model", "tiny", ""], "prompt"),
        (["generate", "--model", "tiny", "--max-tokens", "-1", "x"], "max_tokens=-1"),
        (["generate", "--model", "tiny", "--temperature", "nan", "x"], "temperature=nan"),
        (["generate", "--model", "tiny", "--stop", "", "x"], "stop"),
        (["generate", "--model", "./no-such-folder", "x"], "no-such-folder"),
    ],
)
def test_the_command_names_what_was_wrong_in_one_line(
    arguments: list[str], named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert named in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    "fault", [ValueError("unrecognized configuration name"), OSError(), AttributeError()]
)
def test_a_system_that_does_not_tell_its_free_memory_gets_the_fixed_limit(
    fault: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(name: str) -> int:
        raise fault

    monkeypatch.setattr(build.os, "sysconf", unknown)
    blocks = build.default_num_blocks(EngineConfig(max_running=10**6), 2048, 1024)
    assert blocks == build.MAX_POOL_BYTES // 1024 // 16
