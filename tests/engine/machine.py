"""A machine that drives an `EngineCore` with the checksum model and checks it after every move.

Hypothesis drives it in `test_machine.py`, and a random generator in `tools/soak.py`. It knows the right
answer of every request beforehand, so a lost, repeated, misplaced or late token is an error at once.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import pytest

from inference_kit import Deadlines, EngineConfig, SamplingParams
from inference_kit.engine.core import EngineCore, LiveRequest
from inference_kit.errors import InvalidField, QueueFull, RequestRefused
from inference_kit.lifecycle import TRANSITIONS, Event, FinishReason, LoggedEvent, State
from inference_kit.scheduler import StepOutput, StepPlan
from tests.checksum import ChecksumRunner, stored
from tests.cores import checksum_core

POLICIES = ("fcfs", "priority", "skip_blocked", "reserve")
NORMAL_ENDS = {"length", "stop_token", "stop_eos", "stop_string"}
CANCELS = {"client_cancel", "shutdown"}
END_EVENTS = {"finish", "cancel", "time_out", "fail"}
MOST_STEPS_TO_END = 3_000


def supported(**option: Any) -> bool:
    """True when this version of the engine takes the option."""
    try:
        EngineConfig(**option)
    except InvalidField:
        return False
    return True


SUPPORTED_POLICIES = [policy for policy in POLICIES if supported(policy=policy)]
SUPPORTED_CACHING = [caching for caching in (False, True) if supported(prefix_caching=caching)]


class RowFailed(RuntimeError):
    """What a faulty step raises."""


class FaultyRunner(ChecksumRunner):
    """A checksum runner that can be told to fail its next step, or one row of it, or to take long."""

    fail_next: str | None = None
    takes_s = 0.0
    proposed = 0
    """Tokens that it has handed in."""
    core: EngineCore

    def run(self, plan: StepPlan) -> StepOutput:
        output = self.compute(plan)
        self.proposed += len(output.token_ids)
        return output

    def compute(self, plan: StepPlan) -> StepOutput:
        fault, self.fail_next = self.fail_next, None
        takes_s, self.takes_s = self.takes_s, 0.0
        self.core.clock.advance(takes_s)  # type: ignore[attr-defined]
        if fault == "before":
            raise RowFailed("nothing was computed")
        output = super().run(plan)
        # A plan of decodes refers to its requests: none is kept.
        self.plans.clear()
        if fault == "after":
            raise RowFailed("all was computed, then it raised")
        if fault == "row" and plan.chunks:
            bad = plan.chunks[len(plan.chunks) // 2].request_id
            good = {key: token for key, token in output.token_ids.items() if key != bad}
            return StepOutput(good, {bad: "NaN in the logits"})
        if fault == "lost" and output.token_ids:
            return StepOutput(dict(list(output.token_ids.items())[1:]))
        return output


class Letters:
    """Token n is the character 48 + n, so a text has one letter for each token."""

    def token_bytes(self, token_id: int) -> bytes:
        return letter(token_id).encode()

    def is_special(self, token_id: int) -> bool:
        return False


def letter(token_id: int) -> str:
    return chr(48 + token_id)


@dataclass(frozen=True)
class Answer:
    """A whole answer, computed without any paging."""

    token_ids: list[int]
    reason: str
    text: str
    """What the reader sees: without the stop string, and without the letter of a stop token."""


def answer(prompt: list[int], params: SamplingParams, most: int) -> Answer:
    """The whole answer to `prompt`, at most `most` tokens long. O(length)."""
    total = sum(stored(token, position) * (position + 1) for position, token in enumerate(prompt))
    tokens: list[int] = []
    text = ""
    while len(tokens) < most:
        token = (total % 2**32 >> 7) % 63 + 1
        position = len(prompt) + len(tokens)
        total += stored(token, position) * (position + 1)
        tokens.append(token)
        counts = len(tokens) > params.min_tokens
        if counts and token in params.stop_token_ids:
            return Answer(tokens, "stop_token", text)
        text += letter(token)
        ended = [stop for stop in params.stop if counts and text.endswith(stop)]
        if ended:
            return Answer(tokens, "stop_string", text.removesuffix(max(ended, key=len)))
    return Answer(tokens, "length", text)


@dataclass(eq=False)
class Reader:
    """One caller: what it should get, what it got, and whether it reads."""

    live: LiveRequest
    expected: Answer
    reads: bool = True
    got: list[int] = field(default_factory=list)
    text: str = ""
    finish_reasons: list[str] = field(default_factory=list)

    def take(self, most: int | None = None) -> None:
        chunk = self.live.take(most)
        if chunk is None:
            return
        assert not self.finish_reasons, "something was sent after the end"
        self.got.extend(chunk.token_ids)
        self.text += chunk.text
        if chunk.finish_reason is not None:
            self.finish_reasons.append(chunk.finish_reason)


class EngineMachine:
    """The moves, and what must hold after each of them."""

    def __init__(self, context: int = 64, **options: Any) -> None:
        self.core = checksum_core(runner=FaultyRunner, context=context, tokenizer=Letters(), **options)
        self.config = self.core.config
        self.runner: FaultyRunner = self.core.runner  # type: ignore[assignment]
        self.runner.core = self.core
        self.advance(10.0)
        self.readers: list[Reader] = []
        self.accepted = self.rejected = self.ended = 0
        self.steps = 0

    def submit(
        self,
        prompt: list[int],
        params: SamplingParams,
        deadlines: Deadlines | None = None,
        priority: int = 0,
        reads: bool = True,
        tokenize_s: float = 0.0,
    ) -> None:
        received_at = self.core.clock.now() - tokenize_s
        try:
            live = self.core.submit(prompt, params, deadlines, priority=priority, received_at=received_at)
        except (QueueFull, RequestRefused):
            self.rejected += 1
            self.check_bounds()
            return
        self.accepted += params.n
        # The checksum model draws nothing, so all samples of a prompt say the same.
        expected = answer(prompt, params, live.request.max_new_tokens)
        self.readers += [Reader(member, expected, reads) for member in live.members]
        self.check_bounds()

    def pick(self, index: int) -> Reader | None:
        return self.readers[index % len(self.readers)] if self.readers else None

    def cancel(self, index: int) -> None:
        reader = self.pick(index)
        if reader is not None:
            # The id of sample 0 is the id of them all.
            first = reader.live is reader.live.members[0]
            concerned = reader.live.members if first else (reader.live,)
            was_live = not all(member.request.is_terminal for member in concerned)
            assert self.core.cancel(reader.live.request.request_id) is was_live

    def toggle(self, index: int) -> None:
        """A reader stalls, or comes back."""
        reader = self.pick(index)
        if reader is not None:
            reader.reads = not reader.reads

    def take(self, index: int, most: int) -> None:
        """A reader takes a little, also one that has stalled."""
        reader = self.pick(index)
        if reader is not None:
            reader.take(most)

    def advance(self, seconds: float) -> None:
        self.core.clock.advance(seconds)  # type: ignore[attr-defined]

    def fail_next(self, how: str) -> None:
        self.runner.fail_next = how

    def slow_next(self, seconds: float) -> None:
        self.runner.takes_s = seconds

    def step(self) -> StepPlan:
        plan = self.core.step()
        self.steps += 1
        self.check_plan(plan)
        self.check_bounds()
        self.core.take_touched()
        for reader in self.readers:
            if reader.reads:
                reader.take()
        self.settle()
        return plan

    def settle(self) -> None:
        """Check the requests that have ended and been read to the end; forget them."""
        done = [reader for reader in self.readers if reader.live.request.is_terminal and reader.reads]
        for reader in done:
            check_ended(reader)
            self.ended += 1
        if done:
            self.readers = [reader for reader in self.readers if reader not in done]

    def check_plan(self, plan: StepPlan) -> None:
        assert plan.num_tokens <= self.config.max_step_tokens
        assert not (plan.preempted and plan.admitted), "admitted in a step that preempted"
        assert len({chunk.request_id for chunk in plan.chunks}) == len(plan.chunks)

    def check_bounds(self) -> None:
        """The bounds of convention 8, and that blocks and references agree."""
        self.core.check_integrity()
        waiting = list(self.core.scheduler.waiting)
        fresh = [request for request in waiting if request.admitted_at is None]
        assert len(fresh) <= self.config.max_waiting
        assert len(waiting) <= self.config.max_waiting + self.config.max_running
        assert sum(len(request.prompt_token_ids) for request in fresh) <= self.config.max_waiting_tokens
        assert len(list(self.core.scheduler.running)) <= self.config.max_running
        for live in self.core.live.values():
            assert live.channel.unsent <= self.config.channel_high + self.config.decode_rounds
            counts = live.token_counts
            assert counts.proposed >= counts.committed == live.channel.unsent + live.channel.sent
            assert counts.unsent == live.channel.unsent
        for reader in self.readers:
            output = reader.live.request.output_token_ids
            assert output == reader.expected.token_ids[: len(output)]

    def finish(self) -> None:
        """Let all readers read, run to the end, and check the whole."""
        self.runner.fail_next, self.runner.takes_s = None, 0.0
        for reader in self.readers:
            reader.reads = True
            reader.take()
        steps = 0
        while self.core.has_work:
            self.step()
            steps += 1
            assert steps < MOST_STEPS_TO_END, f"no end in sight: {self.core.snapshot()}"
        self.settle()
        assert self.readers == []
        snapshot = self.core.snapshot()
        assert self.ended == self.accepted == snapshot["received"] == sum(snapshot["finished"].values())
        assert snapshot["rejected"] == self.rejected
        assert snapshot["proposed_tokens"] == self.runner.proposed
        assert snapshot["sent_tokens"] == snapshot["committed_tokens"]
        assert snapshot["kv_blocks_free"] == snapshot["kv_blocks"]
        assert (snapshot["waiting"], snapshot["running"], snapshot["states"]) == (0, 0, {})
        self.core.check_integrity()


def check_ended(reader: Reader) -> None:
    """One end, everything committed was sent once and in order, nothing is held, the history is legal."""
    request = reader.live.request
    reader.take()
    output, reason = request.output_token_ids, str(request.finish_reason)
    assert reader.finish_reasons == [reason]
    assert reader.got == output
    assert request.block_table == []
    assert request.release_errors == []
    assert reader.live.take() is None
    if reason in NORMAL_ENDS:
        assert Answer(output, reason, reader.text) == reader.expected
    else:
        assert output == reader.expected.token_ids[: len(output)]
        # Only what was held back may be missing, and only after a cancel (convention 3).
        whole = "".join(map(letter, output))
        kept_back = max(map(len, request.sampling.stop), default=1) - 1 if reason in CANCELS else 0
        assert whole.startswith(reader.text)
        assert len(whole) - len(reader.text) <= kept_back
    # A deadline that passed while the failing step ran is the earlier cause.
    assert request.error is not None or reason != FinishReason.ERROR
    assert request.finalize(FinishReason.ERROR, 1e9) is False
    check_history(request.events)
    check_deadlines(reader)


def check_history(events: list[LoggedEvent]) -> None:
    """Legal by TRANSITIONS, times never go back, exactly one end, and it is the last line."""
    assert events[0].event == "receive"
    assert all(before.timestamp <= after.timestamp for before, after in pairwise(events))
    assert [line.event for line in events if line.event in END_EVENTS] == [events[-1].event]
    state = State.RECEIVED
    for line in events[1:]:
        if line.event == "token":
            assert state is State.DECODE, f"a token in {state}"
        else:
            state = TRANSITIONS[state][Event(line.event)]
        assert line.state == state


def check_deadlines(reader: Reader) -> None:
    """A request that came through met every limit; one that did not is dated start + limit."""
    request, limits = reader.live.request, reader.live.request.deadlines
    starts = {
        "queue_deadline": (request.queued_at, limits.queue_s),
        "ttft_deadline": (request.received_at, limits.ttft_s),
        "inter_token_deadline": (request.gap_started_at, limits.inter_token_s),
        "overall_deadline": (request.received_at, limits.overall_s),
    }
    reason = str(request.finish_reason)
    if reason in starts:
        start, limit = starts[reason]
        assert start is not None and limit is not None
        assert request.finished_at == start + limit
    at = {line.event: line.timestamp for line in reversed(request.events)}
    first, admitted, end = at.get("token"), at.get("admit"), request.events[-1].timestamp
    if reason == "inter_token_deadline":
        check_gap(request.events, limits.inter_token_s or 0.0)
    if limits.overall_s is not None and reason in NORMAL_ENDS:
        assert end < request.received_at + limits.overall_s
    if limits.ttft_s is not None and first is not None:
        assert first < request.received_at + limits.ttft_s
    if limits.queue_s is not None and admitted is not None:
        assert admitted < at["enqueue"] + limits.queue_s


def check_gap(events: list[LoggedEvent], limit_s: float) -> None:
    """The gap that broke the limit is time in which the request had credit (convention 6)."""
    last = max(index for index, line in enumerate(events) if line.event == "token")
    start, names = events[last].timestamp, [line.event for line in events[last:]]
    if "preempt" in names:
        return
    for line in events[last + 1 :]:
        if line.event == "pause":
            start -= line.timestamp
        elif line.event == "resume":
            start += line.timestamp
    assert names.count("pause") == names.count("resume"), "ended for a gap while it waited for credit"
    assert events[-1].timestamp == pytest.approx(start + limit_s)


def random_options(rng: random.Random) -> dict[str, Any]:
    """Sizes of one engine, from roomy to hardly able to run one request."""
    high, block_size = rng.randint(1, 8), rng.randint(1, 8)
    return {
        "context": rng.choice([8, 24, 64, 64]),
        "block_size": block_size,
        "num_kv_blocks": max(2, rng.choice([10, 20, 30, 45]) // block_size),
        "max_step_tokens": rng.choice([1, 2, 3, 8, 16, 64]),
        "max_running": rng.choice([1, 2, 4, 8]),
        "max_waiting": rng.choice([1, 3, 16]),
        "max_waiting_tokens": rng.choice([12, 40, 1_000]),
        "max_prefill_chunk": rng.choice([None, 1, 3, 8]),
        "watermark": rng.choice([0.0, 0.02, 0.25, 0.5]),
        "channel_high": high,
        "channel_low": rng.randint(0, high - 1),
        "slow_consumer_s": rng.choice([None, 1.0, 5.0]),
        "policy": rng.choice(SUPPORTED_POLICIES),
        "prefix_caching": rng.choice(SUPPORTED_CACHING),
        "decode_rounds": rng.choice([1, 1, 2, 4]),
        "offload_blocks": rng.choice([0, 0, 3, 30]),
    }


def stops_in(prompt: list[int], places: list[tuple[int, int]]) -> tuple[str, ...]:
    """Stop strings that may really come: (start, length) cut out of the endless answer to `prompt`."""
    text = answer(prompt, SamplingParams(), 24).text
    return tuple(text[start : start + length] for start, length in places)


def random_submit(machine: EngineMachine, rng: random.Random) -> None:
    """Submit one request of a random shape; a few can never fit."""
    prompt = [rng.randint(1, 4)] * rng.choice([0, 4]) + rng.choices(range(1, 64), k=rng.choice([1, 2, 5, 11]))
    most = rng.choice([1, 5, 12, 30, 30])
    limits = None
    if rng.random() < 0.4:
        names = rng.sample(["queue_s", "ttft_s", "inter_token_s", "overall_s"], rng.randint(1, 2))
        limits = Deadlines(**{name: rng.choice([0.5, 2.0, 8.0]) for name in names})
    params = SamplingParams(
        max_tokens=rng.choice([most, most, None]),
        stop_token_ids=tuple(rng.choices(range(1, 64), k=rng.choice([0, 0, 3, 20]))),
        stop=stops_in(
            prompt, [(rng.randint(0, 20), rng.randint(1, 3)) for _ in range(rng.choice([0, 0, 1, 3]))]
        ),
        min_tokens=rng.randint(0, min(most, 4)),
        n=rng.choice([1, 1, 1, 2, 3]),
    )
    reads, tokenize_s = rng.random() < 0.85, rng.choice([0.0, 0.0, 0.0, 0.6])
    machine.submit(prompt, params, limits, rng.choice([0, 0, -1, 2]), reads, tokenize_s)


def random_move(machine: EngineMachine, rng: random.Random) -> None:
    """One move; steps are the most frequent."""
    roll = rng.random()
    if roll < 0.25:
        random_submit(machine, rng)
    elif roll < 0.80:
        machine.step()
    elif roll < 0.85:
        machine.cancel(rng.randrange(64))
    elif roll < 0.90:
        machine.toggle(rng.randrange(64))
    elif roll < 0.95:
        machine.advance(rng.choice([0.1, 0.5, 1.0, 5.0]))
    elif roll < 0.97:
        machine.slow_next(rng.choice([0.5, 2.0]))
    else:
        machine.fail_next(rng.choice(["before", "after", "row", "lost"]))
