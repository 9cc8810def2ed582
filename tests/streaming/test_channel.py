"""The bounded channel: never drops, never blocks, pauses at the high mark (C2–C4, convention 8)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference_kit.errors import InvalidField
from inference_kit.streaming import Chunk, TokenChannel


@given(data=st.data(), high=st.integers(1, 6))
def test_everything_put_before_the_close_arrives_once_and_in_order(data: st.DataObject, high: int) -> None:
    low = data.draw(st.integers(0, high - 1))
    resumes: list[int] = []
    channel = TokenChannel(high, low, lambda: resumes.append(channel.unsent))
    sent: list[int] = []
    taken: list[int] = []
    text = ""
    paused = False
    for move in data.draw(st.lists(st.sampled_from(["put", "take", "take one"]), max_size=40)):
        if move == "put":
            # The scheduler plans nothing while the channel is paused.
            if channel.paused:
                continue
            channel.put(chr(97 + len(sent) % 26), (len(sent),))
            sent.append(len(sent))
        else:
            chunk = channel.take(1 if move == "take one" else None)
            if chunk is not None:
                taken.extend(chunk.token_ids)
                text += chunk.text
        unsent = len(sent) - len(taken)
        paused = unsent >= high or (paused and unsent > low)
        assert (channel.paused, channel.unsent, channel.sent) == (paused, unsent, len(taken))
        assert unsent <= high
    channel.close("length")
    last = channel.take()
    assert last is not None
    assert (taken + list(last.token_ids), last.finish_reason) == (sent, "length")
    assert text + last.text == "".join(chr(97 + n % 26) for n in sent)
    assert channel.take() is None
    assert all(unsent <= low for unsent in resumes)


def test_the_first_reason_stays_and_nothing_enters_after_the_close() -> None:
    channel = TokenChannel(4, 1)
    channel.close("client_cancel")
    channel.close("length")
    channel.put("late", (1,))
    assert channel.take() == Chunk("", (), "client_cancel")


def test_the_finish_reason_comes_with_the_last_tokens_only() -> None:
    channel = TokenChannel(4, 1)
    channel.put("a", (1,))
    channel.put("b", (2,))
    channel.close("length")
    assert channel.take(1) == Chunk("a", (1,))
    assert channel.take(1) == Chunk("b", (2,), "length")


@pytest.mark.parametrize(("high", "low"), [(0, 0), (2, 2), (2, -1), (True, 0)])
def test_marks_must_make_sense(high: int, low: int) -> None:
    with pytest.raises(InvalidField):
        TokenChannel(high, low)
