"""Stops, EOS, length and the text that comes with them (conventions 3–5), driven through the engine."""

from __future__ import annotations

import pytest

from inference_kit import SamplingParams
from inference_kit.engine.core import LiveRequest
from inference_kit.scheduler import StepOutput, StepPlan
from tests.cores import CoreFactory
from tests.engine.run import drain

EOS = 99
PIECES = {
    1: b"Hello",
    2: b" wor",
    3: b"ld",
    4: b"EN",
    5: b"D",
    6: "你".encode()[:2],
    7: "你".encode()[2:],
    EOS: b"</s>",
}


class Pieces:
    """A tokenizer of a few pieces."""

    def token_bytes(self, token_id: int) -> bytes:
        return PIECES[token_id]

    def is_special(self, token_id: int) -> bool:
        return token_id == EOS


class Script:
    """A runner that answers every request with the same ids."""

    ids: tuple[int, ...] = ()

    def __init__(self, num_blocks: int, block_size: int) -> None:
        pass

    def run(self, plan: StepPlan) -> StepOutput:
        return StepOutput({chunk.request_id: self.ids[chunk.num_generated] for chunk in plan.chunks})


def answer(make_core: CoreFactory, ids: list[int], **params: object) -> LiveRequest:
    class Fixed(Script):
        pass

    Fixed.ids = tuple(ids)
    core = make_core(runner=Fixed, tokenizer=Pieces(), size=100, eos=EOS)
    live = core.submit([1], SamplingParams(**{"max_tokens": len(ids), **params}))
    drain(core, take=False)
    return live


def outcome(live: LiveRequest) -> tuple[str, str, str | int | None, int]:
    request = live.request
    return live.text.text, str(request.finish_reason), request.stop_reason, request.num_output_tokens


def test_eos_ends_and_its_text_is_hidden(make_core: CoreFactory) -> None:
    assert outcome(answer(make_core, [1, EOS, 2])) == ("Hello", "stop_eos", None, 2)


def test_ignored_eos_is_an_ordinary_hidden_token(make_core: CoreFactory) -> None:
    assert outcome(answer(make_core, [1, EOS, 2], ignore_eos=True)) == ("Hello wor", "length", None, 3)


def test_eos_beats_length_at_the_last_token(make_core: CoreFactory) -> None:
    assert outcome(answer(make_core, [1, EOS])) == ("Hello", "stop_eos", None, 2)


def test_stop_string_across_tokens(make_core: CoreFactory) -> None:
    assert outcome(answer(make_core, [1, 4, 5, 2], stop=["END"])) == ("Hello", "stop_string", "END", 3)


def test_stop_string_can_be_kept(make_core: CoreFactory) -> None:
    live = answer(make_core, [1, 4, 5, 2], stop=["END"], include_stop=True)
    assert outcome(live) == ("HelloEND", "stop_string", "END", 3)


def test_stop_string_beats_length_at_the_last_token(make_core: CoreFactory) -> None:
    assert outcome(answer(make_core, [1, 4, 5], stop=["END"])) == ("Hello", "stop_string", "END", 3)


@pytest.mark.parametrize(("keep", "text"), [(False, "Hello"), (True, "Hello wor")])
def test_stop_token_is_counted_and_its_text_follows_the_flag(
    make_core: CoreFactory, keep: bool, text: str
) -> None:
    live = answer(make_core, [1, 2, 3], stop_token_ids=[2], include_stop=keep)
    assert outcome(live) == (text, "stop_token", 2, 2)


def test_nothing_stops_before_min_tokens(make_core: CoreFactory) -> None:
    live = answer(make_core, [EOS, 4, 5, EOS, 1], min_tokens=3, stop=["END"], stop_token_ids=[5])
    assert outcome(live) == ("END", "stop_eos", None, 4)


def test_held_text_is_released_at_length_and_dropped_on_cancel(make_core: CoreFactory) -> None:
    assert outcome(answer(make_core, [1, 4], stop=["END"]))[0] == "HelloEN"

    class Fixed(Script):
        ids = (1, 4, 4)

    core = make_core(runner=Fixed, tokenizer=Pieces(), size=100, eos=EOS)
    live = core.submit([1], SamplingParams(max_tokens=9, stop=("END",)))
    core.step()
    core.step()
    core.cancel(live.request.request_id)
    core.step()
    assert live.text.text == "Hello"


def test_a_cut_character_becomes_one_replacement_character(make_core: CoreFactory) -> None:
    assert outcome(answer(make_core, [1, 6]))[0] == "Hello\ufffd"


def test_a_hidden_token_does_not_break_a_character(make_core: CoreFactory) -> None:
    assert outcome(answer(make_core, [6, EOS, 7], ignore_eos=True))[0] == "你"


def test_chunks_join_to_the_text_and_carry_all_ids(make_core: CoreFactory) -> None:
    live = answer(make_core, [6, 7, 1, 4, 2])
    chunks = []
    while (chunk := live.take(1)) is not None:
        chunks.append(chunk)
    assert "".join(chunk.text for chunk in chunks) == live.text.text
    assert [token for chunk in chunks for token in chunk.token_ids] == live.request.output_token_ids
    assert [chunk.finish_reason for chunk in chunks].count("length") == 1
    assert chunks[-1].finish_reason == "length"
