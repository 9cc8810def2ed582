"""Every slot of `Components` is really called by the running engine, and a wrong part shows."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch

from inference_kit import LLM, Components, Deadlines, SamplingParams
from inference_kit.engine.core import LiveRequest
from inference_kit.errors import OutOfBlocks
from inference_kit.kv import BlockPool, PrefixCache
from inference_kit.lifecycle import FinishReason, LoggedEvent, TableLifecycle
from inference_kit.scheduler import Scheduler, StepOutput, StepPlan
from inference_kit.streaming import StopMatcher, TokenChannel, Utf8Decoder
from inference_kit.telemetry import EventLog
from tests.checksum import ChecksumRunner, reference
from tests.cores import CoreFactory
from tests.engine.run import drain, ends


class Letters:
    """Token n is the character 48 + n."""

    def token_bytes(self, token_id: int) -> bytes:
        return chr(48 + token_id).encode()

    def is_special(self, token_id: int) -> bool:
        return False


class CancelsForTimeouts(TableLifecycle):
    def finalize(self, request: Any, reason: FinishReason, at: float) -> bool:
        wrong = FinishReason.CLIENT_CANCEL if reason is FinishReason.OVERALL_DEADLINE else reason
        return super().finalize(request, wrong, at)


class ForgetsTokens(EventLog):
    def append(self, entry: LoggedEvent) -> None:
        if entry.event != "token":
            super().append(entry)


class Shouts(Utf8Decoder):
    def push(self, data: bytes) -> str:
        return super().push(data) + "!"


class NeverMatches(StopMatcher):
    def push(self, text: str, armed: bool = True) -> None:
        return None


class AlwaysPaused(TokenChannel):
    paused = property(lambda self: self.unsent > 0)  # type: ignore[assignment]


class Miserly(BlockPool):
    """Lends only when asked for less than five blocks at once."""

    def allocate(self, n: int) -> list[int]:
        if n >= 5:
            raise OutOfBlocks("too many at once")
        return super().allocate(n)


class LastFirst(Scheduler):
    def add(self, request: Any, now: float) -> None:
        super().add(request, now)
        self.waiting.reverse()


class OffByOne(ChecksumRunner):
    def run(self, plan: StepPlan) -> StepOutput:
        ids = super().run(plan).token_ids
        return StepOutput({name: token % 63 + 1 for name, token in ids.items()})


def answer(core: Any, **params: Any) -> LiveRequest:
    live: LiveRequest = core.submit([1, 2], SamplingParams(max_tokens=6, **params))
    drain(core, take=False)
    return live


def test_lifecycle(make_core: CoreFactory) -> None:
    core = make_core(components=Components(lifecycle=CancelsForTimeouts()))
    live = core.submit([1], deadlines=Deadlines(overall_s=1.0))
    core.clock.advance(1.0)
    core.step()
    assert live.request.finish_reason == "client_cancel"


def test_telemetry(make_core: CoreFactory) -> None:
    core = make_core(components=Components(telemetry=ForgetsTokens))
    answer(core)
    assert core.snapshot()["committed_tokens"] == 0


def test_utf8_decoder(make_core: CoreFactory) -> None:
    live = answer(make_core(components=Components(utf8_decoder=Shouts), tokenizer=Letters()))
    assert live.text.text == "".join(f"{chr(48 + token)}!" for token in reference([1, 2], 6))


def test_stop_matcher(make_core: CoreFactory) -> None:
    stop = chr(48 + reference([1, 2], 3)[2])
    right = answer(make_core(tokenizer=Letters()), stop=(stop,))
    wrong = answer(
        make_core(components=Components(stop_matcher=NeverMatches), tokenizer=Letters()), stop=(stop,)
    )
    assert (right.request.finish_reason, wrong.request.finish_reason) == ("stop_string", "length")


def test_endings(make_core: CoreFactory) -> None:
    core = make_core(components=Components(endings=lambda *_: (FinishReason.QUEUE_DEADLINE, 0.0)))
    assert answer(core).request.finish_reason == "queue_deadline"


def test_channel(make_core: CoreFactory) -> None:
    core = make_core(components=Components(channel=AlwaysPaused), slow_consumer_s=5.0)
    live = core.submit([1], SamplingParams(max_tokens=6))
    for _ in range(10):
        core.step()
    assert (str(live.request.state), live.request.num_output_tokens) == ("streaming", 1)


def test_block_pool(make_core: CoreFactory) -> None:
    core = make_core(components=Components(block_pool=Miserly), block_size=1)
    long, short = core.submit([1] * 5), core.submit([1, 2], SamplingParams(max_tokens=6))
    drain(core)
    assert (str(long.request.finish_reason), str(long.request.error)) == ("error", "too many at once")
    assert ends(short) == (reference([1, 2], 6), "length")


def test_prefix_cache(make_core: CoreFactory) -> None:
    class Forgets(PrefixCache):
        def match(self, *_: object) -> list[int]:  # type: ignore[override]
            return []

    found = []
    for parts in (Components(), Components(prefix_cache=Forgets)):
        core = make_core(components=parts, prefix_caching=True)
        for _ in range(2):
            live = core.submit([1] * 9, SamplingParams(max_tokens=1))
            drain(core)
        found.append(live.request.num_cached_tokens)
    assert found == [8, 0]


def test_scheduler(make_core: CoreFactory) -> None:
    core = make_core(components=Components(scheduler=LastFirst), max_running=1)
    core.submit([1], request_id="first")
    core.submit([2], request_id="second")
    assert core.step().admitted == ("second",)


def test_runner(make_core: CoreFactory) -> None:
    wrong: Callable[..., Any] = OffByOne
    assert ends(answer(make_core(runner=wrong)))[0] != reference([1, 2], 6)


def test_runner_of_an_engine_over_a_model() -> None:
    llm = LLM("tiny", components=Components(runner=ChecksumRunner), progress=False)
    assert list(llm.generate([[1, 2]], SamplingParams(max_tokens=6))[0].token_ids) == reference([1, 2], 6)


def test_sampler() -> None:
    class AlwaysSeven:
        def sample(self, logits: torch.Tensor, rows: Sequence[Any]) -> list[int]:
            return [7] * len(rows)

    llm = LLM("tiny", components=Components(sampler=AlwaysSeven()), progress=False)
    assert llm.generate([[1, 2]], SamplingParams(max_tokens=3))[0].token_ids == (7, 7, 7)


def test_every_slot_has_its_test_here() -> None:
    slots = {field.name for field in dataclasses.fields(Components)}
    tested = {name.removeprefix("test_") for name in globals() if name.startswith("test_")}
    assert slots <= tested, slots - tested


@pytest.mark.parametrize("name", ["speculator", "sse", "no_such_part"])
def test_a_slot_that_nothing_calls_does_not_exist(name: str) -> None:
    with pytest.raises(TypeError, match=name):
        Components(**{name: object()})
