"""The bounded channel: never drops, never blocks, pauses at the high mark (C2–C4, convention 8)."""

from __future__ import annotations

import random
import threading

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


@given(data=st.data(), high=st.integers(1, 8))
def test_steps_of_many_tokens_overshoot_the_high_mark_by_one_step_at_most(
    data: st.DataObject, high: int
) -> None:
    """Speculation commits several tokens in one step (C4, convention 8)."""
    channel = TokenChannel(high, data.draw(st.integers(0, high - 1)))
    committed: list[int] = []
    taken: list[int] = []
    for step, limit in data.draw(st.lists(st.tuples(st.integers(0, 5), st.integers(1, 4)), max_size=30)):
        if not channel.paused:
            ids = tuple(range(len(committed), len(committed) + step))
            channel.put("x" * step, ids)
            committed.extend(ids)
            assert channel.unsent <= high - 1 + step
        else:
            chunk = channel.take(limit)
            assert chunk is not None
            assert len(chunk.token_ids) <= max(limit, 5)
            assert len(chunk.text) == len(chunk.token_ids)
            taken.extend(chunk.token_ids)
        assert (channel.unsent, channel.sent) == (len(committed) - len(taken), len(taken))
    rest = channel.take()
    assert taken + list(rest.token_ids if rest else ()) == committed


def test_a_step_larger_than_the_limit_comes_whole() -> None:
    channel = TokenChannel(8, 1)
    channel.put("abc", (1, 2, 3))
    channel.put("d", (4,))
    assert channel.take(1) == Chunk("abc", (1, 2, 3))
    assert channel.take(1) == Chunk("d", (4,))


def test_text_that_is_released_at_the_end_comes_with_the_last_token() -> None:
    channel = TokenChannel(8, 1)
    channel.put("a", (1,))
    channel.put("held", ())
    channel.close("length")
    assert channel.take(1) == Chunk("aheld", (1,), "length")


@pytest.mark.parametrize("limit", [0, -1, True, 1.0])
def test_a_limit_must_let_something_through(limit: object) -> None:
    with pytest.raises(InvalidField, match="max_tokens"):
        TokenChannel(2, 1).take(limit)  # type: ignore[arg-type]


NUM_TOKENS = 100_000
PATIENCE_S = 60.0


class Stream:
    """A producer that obeys `paused` and a consumer that waits for a signal, each on its own thread."""

    def __init__(self, high: int, low: int, seed: int) -> None:
        self.credit, self.news = threading.Event(), threading.Event()
        self.channel = TokenChannel(high, low, self.credit.set)
        self.seed = seed
        self.high = high
        self.most_unsent = 0
        self.faults: list[str] = []
        self.taken: list[int] = []
        self.text: list[str] = []
        self.reasons: list[str | None] = []

    def produce(self) -> None:
        rng, done = random.Random(self.seed), 0
        while done < NUM_TOKENS:
            self.credit.clear()
            if self.channel.paused and not self.credit.wait(PATIENCE_S):
                self.faults.append("the credit never came back")
                break
            step = min(rng.randint(1, 4), NUM_TOKENS - done)
            self.channel.put(
                "".join(chr(97 + n % 26) for n in range(done, done + step)), (*range(done, done + step),)
            )
            self.most_unsent = max(self.most_unsent, self.channel.unsent)
            done += step
            self.news.set()
        self.channel.close("length")
        self.news.set()

    def consume(self) -> None:
        rng = random.Random(self.seed + 1)
        while not (self.reasons and self.reasons[-1]):
            self.news.clear()
            chunk = self.channel.take(rng.choice([None, 1, 3, 50]))
            if chunk is not None:
                self.taken.extend(chunk.token_ids)
                self.text.append(chunk.text)
                self.reasons.append(chunk.finish_reason)
            elif not self.news.wait(PATIENCE_S):
                self.faults.append("the tokens never came")
                return


@pytest.mark.parametrize(("high", "low"), [(1, 0), (8, 2), (1000, 10)])
def test_two_threads_lose_repeat_and_reorder_nothing(high: int, low: int) -> None:
    stream = Stream(high, low, seed=high)
    threads = [threading.Thread(target=stream.produce), threading.Thread(target=stream.consume)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert stream.faults == []
    assert stream.taken == list(range(NUM_TOKENS))
    assert "".join(stream.text) == "".join(chr(97 + n % 26) for n in range(NUM_TOKENS))
    assert (stream.channel.unsent, stream.channel.sent) == (0, NUM_TOKENS)
    assert [reason for reason in stream.reasons if reason] == ["length"]
    assert stream.most_unsent <= high - 1 + 4


def test_a_stalled_reader_blocks_no_writer() -> None:
    channel = TokenChannel(2, 1)
    for token_id in range(1000):
        channel.put("x", (token_id,))
    assert (channel.paused, channel.unsent) == (True, 1000)
