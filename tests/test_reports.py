"""The handed cases, made from public bug reports. One adapter for each kind of input.

`ADAPTERS` maps (kind, op) to a function that runs a case and asserts what it expects. `LATER` names the
cases whose room is not built yet; they are strict expected failures, so a case that starts to work must
leave the list. Cases of kind `autograde` are run by `tests/grader`.
"""

from __future__ import annotations

import gc
import itertools
import json
import math
import weakref
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from inference_kit import LLM, Deadlines, SamplingParams, viz
from inference_kit.engine.output import output_of
from inference_kit.errors import InvalidField, OutOfBlocks, QueueFull, RequestRefused
from inference_kit.kv import BlockPool, KVManager, PrefixCache
from inference_kit.kv.block_pool import audit
from inference_kit.lifecycle import (
    ClockMarks,
    Event,
    IllegalTransition,
    LoggedEvent,
    Request,
    State,
    engine_metrics,
    first_expired,
    mean_gap,
    next_state,
    replay,
)
from inference_kit.lifecycle.metrics import mean
from inference_kit.model.tokenizer import Tokenizer
from inference_kit.scheduler import StepOutput, StepPlan
from inference_kit.streaming import StreamingText, TokenChannel
from inference_kit.viz.player import _OPEN, Player
from tests.checksum import ChecksumRunner, reference
from tests.cores import check_all_given_back, checksum_core
from tests.engine.run import drain
from tests.model.small_tokenizers import sentencepiece

Case = dict[str, Any]
CASES: list[Case] = [
    json.loads(line)
    for line in (Path(__file__).parent / "cases" / "reports.jsonl").read_text("utf-8").splitlines()
]

NO_SERVER = "the HTTP server is not built yet"
LATER = {
    "X05": NO_SERVER,
    "X08": NO_SERVER,
    "M11": "the Prometheus endpoint is not built yet",
    "A09": "log-probabilities are not built yet",
    "U11": "its event-stream part needs the HTTP server",
    "V03": NO_SERVER,
    "V04": NO_SERVER,
    "V05": NO_SERVER,
    "V07": NO_SERVER,
    "V10": NO_SERVER,
}
ELSEWHERE = {
    "A01": "tests/engine/test_llm.py and tests/model (company, chunking and preemption of a seeded request)",
    "A04": "tests/engine/test_llm.py (absent seed)",
    "A12": "tests/model (padded head)",
}


def number(value: Any) -> Any:
    """The handed files write floats that JSON lacks as text."""
    return (
        {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}.get(value, value)
        if isinstance(value, str)
        else value
    )


def check_stream(given: Case, expected: Case, ends_with: str) -> None:
    """Push the steps, stop where the text stops, flush at the end, compare every expected key."""
    streaming = StreamingText(given["stop"], given["include_stop_str_in_output"], given.get("min_tokens", 0))
    deltas: list[str] = []
    tokens = 0
    for step in given["steps_hex"]:
        delta = ""
        for token in step:
            if not streaming.stopped:
                tokens += 1
                delta += streaming.push(bytes.fromhex(token))
        deltas.append(delta)
        if streaming.stopped:
            break
    flush = streaming.finish()
    got = {
        "text": streaming.text,
        "deltas": deltas,
        "flush": flush,
        "finish_reason": "stop" if streaming.stopped or ends_with == "eos" else "length",
        "stop_reason": streaming.stop_reason,
        "completion_tokens": tokens,
    }
    compared = {key: expected[key] for key in got if key in expected}
    assert {key: got[key] for key in compared} == compared


def stream(case: Case) -> None:
    check_stream(case["input"], case["expected"], case["input"]["ends_with"])


def stream_many(case: Case) -> None:
    common = {"stop": [], "include_stop_str_in_output": False}
    for variant in case["input"]["variants"]:
        check_stream({**common, **variant}, case["expected"][variant["name"]], variant["ends_with"])


def decode_table(case: Case) -> None:
    for row in case["expected"]["rows"]:
        whole = bytes.fromhex(row["hex"])
        for marks in itertools.chain.from_iterable(
            itertools.combinations(range(1, len(whole)), n) for n in range(len(whole))
        ):
            streaming = StreamingText()
            for start, end in itertools.pairwise([0, *marks, len(whole)]):
                streaming.push(whole[start:end])
            streaming.finish()
            assert streaming.text == row["text"]
            assert streaming.text.count("\ufffd") == row["replacements"]


def stream_cycle(case: Case) -> None:
    given, streaming = case["input"], StreamingText()
    tokens = [bytes.fromhex(token) for token in given["cycle_hex"]] * given["repeat"]
    deltas = [streaming.push(token) for token in tokens]
    assert streaming.finish() == ""
    assert streaming.text == ". 你😀\n" * given["repeat"]
    assert sum(map(bool, deltas)) == case["expected"]["nonempty_deltas"]


def stream_special(case: Case) -> None:
    for variant in case["input"]["variants"]:
        streaming = StreamingText(variant["stop"])
        for text, special in variant["tokens"]:
            streaming.push(text.encode(), special=special)
        streaming.finish()
        expected = case["expected"][variant["name"]]
        assert (streaming.text, streaming.stop_reason) == (expected["text"], expected["stop_reason"])


def stream_ids(case: Case) -> None:
    for variant in case["input"]["variants"]:
        expected = case["expected"][variant["name"]]
        tokens = [token for step in variant["steps"] for token in step]
        texts = {token_id: text.encode() for text, token_id in tokens}
        params = SamplingParams(
            stop_token_ids=tuple(case["input"]["stop_token_ids"]),
            include_stop=variant.get("include_stop_str_in_output", False),
            max_tokens=len(tokens),
        )
        live = scripted([token_id for _, token_id in tokens], texts, params)
        assert live.text.text == expected["text"]
        assert live.request.stop_reason == expected["stop_reason"]
        assert live.request.num_output_tokens == expected["completion_tokens"]


def scripted(ids: list[int], texts: dict[int, bytes], params: SamplingParams) -> Any:
    """Run one request whose tokens are given."""

    class Script:
        def __init__(self, num_blocks: int, block_size: int) -> None:
            pass

        def run(self, plan: StepPlan) -> StepOutput:
            return StepOutput({chunk.request_id: ids[chunk.num_generated] for chunk in plan.chunks})

    class Texts:
        def token_bytes(self, token_id: int) -> bytes:
            return texts[token_id]

        def is_special(self, token_id: int) -> bool:
            return False

    core = checksum_core(runner=Script, tokenizer=Texts())
    live = core.submit([1], params)
    drain(core)
    check_all_given_back(core)
    return live


def stop_union(case: Case) -> None:
    given = case["input"]
    for tokens, expected in zip(given["runs"], case["expected"]["runs"], strict=True):
        streaming = StreamingText([*given["model_default_stops"], *given["request_stop"]])
        for token in tokens:
            if isinstance(token, str):
                streaming.push(token.encode())
        streaming.finish()
        assert (streaming.text, streaming.stop_reason) == (expected["text"], expected["stop_reason"])


def stream_after_prompt(case: Case) -> None:
    streaming = StreamingText(case["input"]["stop"])
    pushed = 0
    for token in case["input"]["output_tokens"]:
        if streaming.stopped:
            break
        pushed += 1
        streaming.push(token.encode())
    expected = case["expected"]
    assert (streaming.text, streaming.stop_reason, pushed) == (
        expected["text"],
        expected["stop_reason"],
        expected["completion_tokens"],
    )


def streamed(tokenizer: Tokenizer, pieces: list[str]) -> tuple[str, list[int]]:
    """(joined deltas, ids) of tokens that are given by their pieces."""
    ids = [tokenizer.backend.token_to_id(piece) for piece in pieces]
    streaming = StreamingText()
    deltas = [streaming.push(tokenizer.token_bytes(token_id)) for token_id in ids]
    return "".join(deltas) + streaming.finish(), ids


def byte_pieces(case: Case) -> None:
    given, expected = case["input"], case["expected"]
    variants = {"text": given["pieces"], **{one["name"]: one["pieces"] for one in given["variants"]}}
    for name, pieces in variants.items():
        tokenizer = sentencepiece(pieces)
        text, ids = streamed(tokenizer, pieces)
        assert text == tokenizer.decode(ids) == expected[name]
        assert text not in case["wrong_answers"].values()
    assert expected["invalid_run"] not in expected["invalid_run_alternatives"]


def pieces_with_spaces(case: Case) -> None:
    """The dummy space goes once, at the very start of a sequence; an answer goes on from its prompt."""
    for one in case["input"]["cases"]:
        before = one.get("prompt_pieces", [])
        tokenizer = sentencepiece([*before, *one["pieces"]])
        text, ids = streamed(tokenizer, one["pieces"])
        assert text == tokenizer.decode(ids)
        if one["at_sequence_start"]:
            assert text.startswith(" ")
            text = tokenizer.decode(ids, at_start=True)
        else:
            prompt = [tokenizer.backend.token_to_id(piece) for piece in before]
            assert tokenizer.decode(prompt) + text == tokenizer.decode(prompt + ids)
        assert text == case["expected"][one["name"]] != case["wrong_answers"][one["name"]]


def many_stops(case: Case) -> None:
    """Counts how often the automaton asks for an edge; no clock."""
    stops = ["a" * 63 + chr(0x100 + index) for index in range(32)]
    streaming = StreamingText(stops)
    asked = 0

    class Counted(dict[str, int]):
        def __contains__(self, char: object) -> bool:
            nonlocal asked
            asked += 1
            return super().__contains__(char)

        def get(self, char: str, default: Any = None) -> Any:
            nonlocal asked
            asked += 1
            return super().get(char, default)

    matcher: Any = streaming._matcher
    matcher._next = [Counted(edges) for edges in matcher._next]
    for _ in range(20_000):
        streaming.push(b"a")
        assert matcher.held <= case["expected"]["max_held_chars"]
    assert len(streaming.finish()) == case["expected"]["finish_flush_len"]
    assert streaming.text == "a" * 20_000
    # For each character: one edge taken, at most one failure, one look before each.
    assert 20_000 <= asked <= 3 * 20_000


def merged_backlog(case: Case) -> None:
    given = case["input"]
    channel = TokenChannel(given["puts"] + 1, 0)
    for token_id in range(given["puts"]):
        channel.put("x" * given["each_chars"], (token_id,))
    chunk = channel.take()
    assert chunk is not None
    assert len(chunk.text) == case["expected"]["text_len"]
    assert len(chunk.token_ids) == given["puts"]


def bounded_queue(case: Case) -> None:
    for name in ("spaced", "burst"):
        core = checksum_core(max_running=1, max_waiting=case["input"]["max_waiting"])
        accepted, rejected = [], []
        live: dict[str, Any] = {}
        for event, *who in case["input"][name]:
            if event == "step":
                core.step()
            elif event == "finish":
                core.cancel(who[0])
                core.step()
            else:
                try:
                    live[who[0]] = core.submit([1], SamplingParams(max_tokens=500), request_id=who[0])
                    accepted.append(who[0])
                except QueueFull:
                    rejected.append(who[0])
        assert accepted == case["expected"][name]["accepted"]
        assert rejected == case["expected"][name]["rejected"]
        check_all_given_back(core)


def late_aborts(case: Case) -> None:
    core = checksum_core()
    live = core.submit([1], SamplingParams(max_tokens=1), request_id="r")
    drain(core)
    assert [core.cancel("r"), core.cancel("r"), core.cancel("never-seen")] == [False] * 3
    request = live.request
    before = request.output_token_ids
    assert request.finalize("client_cancel", 9.0) is False
    assert (str(request.state), request.output_token_ids) == (case["expected"]["final_state"], before)
    check_all_given_back(core)


def producer_dies(case: Case) -> None:
    class Dies(ChecksumRunner):
        def run(self, plan: StepPlan) -> StepOutput:
            if plan.chunks[0].num_generated == 2:
                raise RuntimeError("the producer raised")
            return super().run(plan)

    core = checksum_core(runner=Dies)
    live = core.submit([1])
    seen: list[int] = []
    while core.has_work:
        core.step()
        chunk = live.take()
        assert chunk is not None
        seen.extend(chunk.token_ids)
    assert seen == reference([1], 2)
    assert (str(live.request.state), chunk.finish_reason) == (case["expected"]["terminal_state"], "error")
    assert isinstance(live.request.error, RuntimeError)
    check_all_given_back(core)


def lifecycle_events(case: Case) -> None:
    if any(event[0] == "producer_raises" for event in case["input"]["events"]):
        producer_dies(case)
    else:
        late_aborts(case)


def trace_metrics(case: Case) -> None:
    names = {
        "received": "receive",
        "queued": "enqueue",
        "admitted": "admit",
        "preempted": "preempt",
        "finished": "finish",
    }
    events = []
    for at, name in case["input"]["events"]:
        events.append(LoggedEvent(names.get(name, name), at, "r", ""))
        if name == "admitted":
            events.append(LoggedEvent("start_prefill", at, "r", ""))
    metrics, expected = engine_metrics(events), case["expected"]
    ours = {
        "ttft": metrics.ttft,
        "queue_wait": metrics.queue_wait,
        "queue_wait_total_incl_preempted": metrics.queue_wait_total,
        "prefill": metrics.prefill,
        "e2e": metrics.e2e,
        "tpot": metrics.tpot,
        "itl": metrics.inter_token,
        "decode": metrics.token_span,
        "inference": metrics.e2e - metrics.tokenize - metrics.queue_wait,
        "preemptions": metrics.preemptions,
        "completion_tokens": metrics.streamed_tokens,
    }
    assert ours == {key: pytest.approx(value) for key, value in expected.items()}
    wrong = case["wrong_answers"]
    assert ours["ttft"] not in (wrong["reset_on_preempt"]["ttft"], wrong["service_view"]["ttft"])
    assert ours["e2e"] != wrong["e2e_frozen"]


def scheduled(case: Case) -> None:
    if "running" in case["input"]:
        whole_history_must_fit(case)
    else:
        outgrows_the_pool(case)


def whole_history_must_fit(case: Case) -> None:
    given = case["input"]
    core = checksum_core(
        num_kv_blocks=given["pool_blocks"],
        block_size=given["block_size"],
        max_step_tokens=given["token_budget"],
        watermark=0.0,
    )
    first = core.submit([1] * (given["running"][0]["blocks"] * 4 - 3), SamplingParams(max_tokens=4))
    second = core.submit([2] * given["waiting"][0]["tokens_to_recompute"], SamplingParams(max_tokens=1))
    while not first.request.is_terminal:
        core.step()
        assert second.request.state == "queued" or first.request.is_terminal
    plans = drain(core)
    assert second.request.num_preemptions == case["expected"]["preemptions_of_R_after_first"]
    assert sum(plan.num_tokens for plan in plans) == given["waiting"][0]["tokens_to_recompute"]
    check_all_given_back(core)


def cancel_loop(case: Case) -> None:
    given = case["input"]
    core = checksum_core(num_kv_blocks=given["pool_blocks"], block_size=given["block_size"])
    for _ in range(given["repeat"]):
        live = core.submit([1] * 19)
        while live.request.num_output_tokens < 3:
            core.step()
        core.cancel(live.request.request_id)
        core.step()
        assert core.snapshot()["kv_blocks_free"] == case["expected"]["free_blocks_after_each"]
        assert not core.live
    last = core.submit([1] * 19, SamplingParams(max_tokens=4))
    drain(core)
    assert (str(last.request.finish_reason), last.request.num_output_tokens) == ("length", 4)


def outgrows_the_pool(case: Case) -> None:
    given = case["input"]
    core = checksum_core(num_kv_blocks=given["pool_blocks"], block_size=given["block_size"])
    solo = given["requests"][0]
    live = core.submit([1] * solo["prompt"], SamplingParams(max_tokens=solo["max_tokens"]))
    drain(core)
    expected = case["expected"]["policy_admit"]
    assert live.request.finish_reason == expected["finish_reason"]
    assert live.request.num_output_tokens == expected["completion_tokens"]
    assert live.request.num_preemptions == expected["preemptions"]
    check_all_given_back(core)


def shared_budget(case: Case) -> None:
    given, expected = case["input"], case["expected"]
    core = checksum_core(max_step_tokens=given["token_budget"])
    params = SamplingParams(max_tokens=50)
    for name in given["decoding"]:
        core.submit([1], params, request_id=name)
    if given["decoding"]:
        core.step()
    for one in given["waiting"]:
        core.submit([1] * one["prompt"], params, request_id=one["id"])
    plans = [core.step() for _ in range(given["steps"])]
    shares = [{chunk.request_id: len(chunk.token_ids) for chunk in plan.chunks} for plan in plans]
    assert shares == expected["steps"]
    if "sampled_after_step" in expected:
        sampled = [[chunk.request_id for chunk in plan.chunks if chunk.samples] for plan in plans]
        assert sampled == expected["sampled_after_step"]
    for length, chunks in expected.get("also", {}).items():
        alone = checksum_core(max_step_tokens=given["token_budget"])
        alone.submit([1] * int(length), params)
        assert [alone.step().num_tokens for _ in chunks] == chunks


def resume(case: Case) -> None:
    given, expected = case["input"], case["expected"]
    core = checksum_core(block_size=given["block_size"], num_kv_blocks=8)
    live = core.submit(given["prompt"], SamplingParams(max_tokens=20))
    while live.request.num_output_tokens < len(given["outputs_before"]):
        core.step()
    live.take()
    core.scheduler._preempt(live.request, core.clock.now())  # type: ignore[attr-defined]
    plan = core.step()
    chunk = plan.chunks[0]
    positions = list(range(chunk.start, chunk.position + 1))
    assert positions == expected["recomputed_positions"]
    assert len(chunk.block_table) == expected["blocks_after_resume"]
    assert live.request.num_output_tokens == expected["outputs_after_resume_step"]
    resumed = live.take()
    assert resumed is not None
    assert list(resumed.token_ids) == reference(given["prompt"], 3)[2:]
    check_all_given_back(core)


def toy_lm(case: Case) -> None:
    runs = case["input"]["runs"]
    for block_size, budget, roomy in itertools.product([1, 2, 4, 16], [1, 3, 8, 64], [True, False]):
        longest = max(len(run["prompt"]) + run["max_tokens"] - 1 for run in runs.values())
        blocks = 64 if roomy else -(-longest // block_size)
        core = checksum_core(block_size=block_size, num_kv_blocks=blocks, max_step_tokens=budget)
        live = {
            name: core.submit(run["prompt"], SamplingParams(max_tokens=run["max_tokens"]))
            for name, run in runs.items()
        }
        drain(core)
        assert {name: one.request.output_token_ids for name, one in live.items()} == case["expected"][
            "outputs"
        ]
        check_all_given_back(core)


def fsm_table(case: Case) -> None:
    by_states = {(str(a), str(b)) for a, moves in transitions() for b in moves}
    trace = case["input"]["trace"]
    assert all(pair in by_states for pair in itertools.pairwise(trace))
    for before, after in case["expected"]["illegal_examples"]:
        # Ours has no state "rejected": `submit` raises instead.
        assert (before, after) not in by_states
    request = Request("r", [1] * case["input"]["prompt_len"])
    request.token_ids += [5] * case["input"]["outputs_at_preemption"]
    assert request.num_uncomputed_tokens == case["expected"]["second_prefill"]["tokens_to_compute"]
    with pytest.raises(IllegalTransition):
        next_state(State.FINISHED, Event.START_DECODE)


def transitions() -> Iterable[tuple[State, list[State]]]:
    from inference_kit.lifecycle import TRANSITIONS

    return [(state, list(moves.values())) for state, moves in TRANSITIONS.items()]


DEADLINE_FIELDS = {"queue": "queue_s", "ttft": "ttft_s", "itl": "inter_token_s", "overall": "overall_s"}


def limits(run: dict[str, Any]) -> Deadlines:
    return Deadlines(**{DEADLINE_FIELDS[key]: value for key, value in run.items()})


def walk_deadlines(given: Case, run: dict[str, Any]) -> dict[str, Any] | None:
    """Ask the decision at every time at which something happens; events at equality are late."""
    tokens = given["tokens"]
    times = sorted({given["admitted"], given["finished"], *tokens, given.get("readmitted", 0.0)})
    for now in times:
        before = [at for at in tokens if at < now]
        marks = ClockMarks(
            received_at=given["received"],
            queued_at=given["enqueued"],
            admitted_at=given["admitted"] if given["admitted"] < now else None,
            first_token_at=before[0] if before else None,
            last_token_at=before[-1] if before else None,
        )
        expired = first_expired(limits(run), marks, now)
        if expired is not None:
            return {"deadline": str(expired[0]).removesuffix("_deadline"), "at": pytest.approx(expired[1])}
    return None


def deadlines(case: Case) -> None:
    given = case["input"]
    if "rows" in given:
        for row, expected in zip(given["rows"], case["expected"]["rows"], strict=True):
            marks = ClockMarks(received_at=row["received"], queued_at=row["enqueued"])
            expired = first_expired(Deadlines(queue_s=row["queue"]), marks, row["would_be_admitted"])
            if isinstance(expected, str):
                assert expired is None
            else:
                assert expired == ("queue_deadline", expected["at"])
        return
    for run, expected in zip(given["runs"], case["expected"]["runs"], strict=True):
        assert walk_deadlines(given, run) == expected


def validate_deadline(case: Case) -> None:
    accepted = [None, 0.001, 1, 3600]
    for value in case["input"]["values"]:
        # "5" is text on purpose; only the names of floats are turned into floats.
        given = number(value)
        if given in accepted and not isinstance(given, bool):
            Deadlines(overall_s=given)
        else:
            with pytest.raises(InvalidField):
                Deadlines(overall_s=given)


def validate_matrix(case: Case) -> None:
    accept = case["expected"]["accept"]
    for field, raw in case["input"]["rows"]:
        if [field, raw] in accept and not isinstance(raw, bool):
            SamplingParams(**{field: raw})
        else:
            with pytest.raises(InvalidField, match=field):
                SamplingParams(**{field: number(raw)})


def replay_validate(case: Case) -> None:
    for times, result in zip(case["input"]["files"], case["expected"]["result"], strict=True):
        if result.startswith("error at index"):
            index = int(result.split()[3].rstrip(","))
            names = ["arrive", "admit", "input_ready", "first_token"]
            events = [(name, number(at)) for name, at in zip(names, times, strict=False)]
            with pytest.raises(ValueError, match=f"entry {index}"):
                replay(events)


def agg(case: Case) -> None:
    expected = case["expected"]
    times = []
    for request in case["input"]["requests"]:
        gaps = request.get("gaps")
        times.append(
            request["tokens"] if gaps is None else [0.5 + sum(gaps[:n]) for n in range(len(gaps) + 1)]
        )
    tpots = [mean_gap(one) for one in times]
    assert tpots == [None if want is None else pytest.approx(want) for want in expected["tpot"]]
    average, count = mean(tpots)
    assert average == pytest.approx(expected["mean_tpot"])
    assert count == expected.get("tpot_count", count)
    pooled, _ = mean(b - a for one in times for a, b in itertools.pairwise(one))
    assert pooled == pytest.approx(expected.get("mean_itl_pooled", pooled))


def serialise(case: Case) -> None:
    values = [number(value) for value in case["input"]["values"]]
    picture = viz.latency_curve(range(len(values)), {"tpot": values})
    (trace,) = json.loads(picture.figure().to_json(), parse_constant=pytest.fail)["data"]
    assert json.dumps(trace["y"], separators=(",", ":")) == case["expected"]["json"]
    assert case["expected"]["chart_gap"] and trace["connectgaps"] is False
    assert [line.split()[-1] for line in picture.text.splitlines()[2:7]] == ["–", "–", "–", "1.5", "–"]


def count_messages(case: Case) -> None:
    """What a live figure sends: one message for each call of these two methods."""
    names = [f"series {index}" for index in range(case["input"]["traces"])]
    before = viz.latency_curve([1.0, 2.0], {name: [1.0, 2.0] for name in names})
    after = viz.latency_curve([1.0, 3.0], {name: [3.0, 4.0] for name in names}, title="later")
    counted = []
    for batched in case["input"]["batched"]:
        figure, sent = before.figure(), []
        for name in ("_send_restyle_msg", "_send_relayout_msg", "_send_update_msg"):
            setattr(figure, name, lambda *args, sent=sent, **options: sent.append(args))
        if batched:
            viz.redraw(figure, after)
            assert [list(trace.y) for trace in figure.data] == [[3.0, 4.0]] * len(names)
        else:
            for trace in figure.data:
                trace.x, trace.y, trace.name = [1.0, 3.0], [3.0, 4.0], f"{trace.name}, later"
        counted.append(len(sent))
    assert counted == case["expected"]["messages"]


RANKS = {"expire": 0, "finish": 1, "cancel": 2, "arrive": 3, "step": 4}


def in_order(events: list[list[Any]]) -> list[tuple[float, int, str, str]]:
    """(time, rank, name, request) by convention 16. The whole list is checked before it is used."""
    unknown = [event for event in events if event[1] not in RANKS or not math.isfinite(event[0])]
    assert not unknown
    return sorted((at, RANKS[name], name, who) for at, name, who in events)


def play(case: Case, order: Iterable[tuple[float, int, str, str]]) -> dict[str, list[str]]:
    """Drive an engine through the events in the order given; A runs and B fills the queue at the start."""
    given = case["input"]
    core = checksum_core(max_running=given["max_running"], max_waiting=given["max_waiting"])
    core.submit([1], SamplingParams(max_tokens=2), request_id="A")
    core.step()
    core.submit([1], SamplingParams(max_tokens=20), request_id="B")
    done: dict[str, list[str]] = {"order": [], "accepted": [], "rejected": [], "running_after": []}
    for at, _, name, who in order:
        core.clock.advance_to(at)  # type: ignore[attr-defined]
        done["order"].append(f"{name} {who}".strip())
        if name == "finish":
            # Its client has all it wants; what it held is free from this moment on.
            core.live[who].request.finalize("length", at)
        elif name == "cancel":
            core.cancel(who)
            core.boundary()
        elif name == "arrive":
            try:
                core.submit([1], SamplingParams(max_tokens=20), request_id=who)
                done["accepted"].append(who)
            except QueueFull:
                done["rejected"].append(who)
        else:
            core.step()
    done["running_after"] = [request.request_id for request in core.scheduler.running]
    check_all_given_back(core)
    return done


def equal_times(case: Case) -> None:
    for shuffled in itertools.permutations(case["input"]["events"]):
        got = play(case, in_order(list(shuffled)))
        assert got == {key: case["expected"][key] for key in got}
    # In the order of the list the queue is still full when C comes.
    as_listed = [(at, 0, name, who) for at, name, who in case["input"]["events"]]
    assert play(case, as_listed)["rejected"] == ["C"]


def tokens_in_chunks(case: Case) -> None:
    """A reader that takes several tokens at once: the figures come from tokens, not from chunks."""
    given = case["input"]
    core = checksum_core()
    live = core.submit([1], SamplingParams(max_tokens=given["usage_completion_tokens"]))
    start, last = given["chunks"][0][0], given["chunks"][-1][0]
    gap = (last - start) / (given["usage_completion_tokens"] - 1)
    core.clock.advance(start)  # type: ignore[attr-defined]
    taken = []
    for _, tokens in given["chunks"]:
        for _ in range(tokens):
            core.step()
            core.clock.advance(gap)  # type: ignore[attr-defined]
        chunk = live.take()
        assert chunk is not None
        taken.append(len(chunk.token_ids))
    assert taken == [tokens for _, tokens in given["chunks"]]
    output = output_of(live)
    assert output.usage.completion_tokens == given["usage_completion_tokens"]
    assert output.metrics.tpot == pytest.approx(case["expected"]["tpot"])
    client = (last - start) / (output.usage.completion_tokens - 1)
    assert client == pytest.approx(case["expected"]["tpot"])
    assert output.metrics.tpot not in [pytest.approx(wrong) for wrong in case["wrong_answers"].values()]


def counted_once(case: Case) -> None:
    """Each request of the case through one engine; a preempted one loses its blocks as often as it says."""
    core = checksum_core(max_waiting=1, max_prefill_chunk=1)
    lives = []
    for given in case["input"]["requests"]:
        if given["end"] == "rejected":
            waiter = core.submit([1], request_id="waiter")
            with pytest.raises(QueueFull):
                core.submit([1])
            # Only fills the queue; it is no request of the case.
            core.cancel(waiter.request.request_id)
            core.step()
            continue
        most = given["tokens"] if given["end"] == "stop" else 50
        live = core.submit([1, 2], SamplingParams(max_tokens=most))
        lives.append(live)
        while live.request.num_output_tokens < given["tokens"] and not live.request.is_terminal:
            core.step()
            core.clock.advance(1.0)  # type: ignore[attr-defined]
            # Once before the first token and once after it.
            allowed = min(given.get("preempted", 0), live.request.num_output_tokens + 1)
            if live.request.num_preemptions < allowed and not live.request.is_terminal:
                core.scheduler._preempt(live.request, core.clock.now())  # type: ignore[attr-defined]
        if given["end"] == "abort":
            core.cancel(live.request.request_id)
            core.step()
    expected, snapshot = case["expected"], core.snapshot()
    metrics = [output_of(live).metrics for live in lives]
    observed = [line.request_id for live in lives for line in live.request.events if line.event == "token"]
    assert sum(item.ttft is not None for item in metrics) == expected["ttft_count"] == len(set(observed))
    assert snapshot["finished"]["length"] == expected["completed"]
    assert snapshot["rejected"] == 1
    assert snapshot["received"] == len(lives) + 1
    resumed = lives[-1].request
    assert resumed.num_preemptions == case["input"]["requests"][-1]["preempted"]
    assert metrics[-1].ttft == resumed.first_token_at - resumed.received_at
    check_all_given_back(core)


def block_ops(case: Case) -> None:
    given, expected = case["input"], case["expected"]
    pool = BlockPool(given["pool_blocks"], given["block_size"])
    cache = PrefixCache(pool)
    held: dict[str, list[int]] = {}
    lookups, hits = [], {}
    for op, *rest in given["ops"]:
        tokens = rest[-1]
        if op == "lookup":
            lookups.append(len(cache.match(tokens, 1)))
        elif op == "free":
            pool.free(held.pop(rest[0]))
        else:
            blocks = cache.match(tokens, 1)
            hits[rest[0]] = len(blocks)
            pool.retain(blocks)
            held[rest[0]] = blocks or pool.allocate(1)
            cache.publish(tokens, held[rest[0]], 0, 1)
        assert len(cache) <= expected["hash_table_size_max"]
        pool.check_integrity(held.values())
        cache.check_integrity()
    assert lookups == expected["lookup_results"] != case["wrong_answers"]["stale"]
    assert hits["X2"] == expected["X2_hit_blocks"]


def can_allocate(case: Case) -> None:
    for variant in case["input"]["variants"]:
        hits_free_and_as_space(variant, case["expected"][variant["name"]], case["input"]["block_size"])


def hits_free_and_as_space(variant: Case, expected: Case, block_size: int) -> None:
    hits, pinned = variant["hits_in_free_list"] + variant["hits_pinned"], variant["hits_pinned"]
    pool = BlockPool(variant["free_blocks"] + pinned, block_size)
    kv = KVManager(pool, PrefixCache(pool))
    tokens = list(range(1, (hits + variant["new_blocks_needed"]) * block_size + 1))
    first = Request("first", tokens[: hits * block_size])
    kv.admit(first)
    first.num_computed_tokens = hits * block_size
    kv.publish(first)
    if not pinned:
        kv.release(first)
    late = Request("late", tokens)
    before = ([pool.references(block) for block in range(pool.num_blocks)], pool.num_free)
    assert before[1] == variant["free_blocks"]
    assert kv.can_admit(late) is expected["ok"]
    if expected["ok"]:
        kv.admit(late)
        assert (pool.num_free, late.num_computed_tokens) == (expected["free_after"], hits * block_size)
    else:
        with pytest.raises(OutOfBlocks):
            kv.admit(late)
        assert ([pool.references(block) for block in range(pool.num_blocks)], pool.num_free) == before
        assert len(kv.cache.match(tokens, hits)) == hits  # type: ignore[union-attr]
        assert late.block_table == []
    kv.check_integrity([first, late])


def account(case: Case) -> None:
    given = case["input"]
    verdicts = [
        audit(given["total"], one["available"], one["evictable"], one["protected"])
        for one in given["samples"]
    ]
    assert verdicts == case["expected"]["verdicts"]


def forced_samples(case: Case) -> None:
    given, expected = case["input"], case["expected"]
    seen: dict[tuple[int, int], int] = {}

    class Forced(ChecksumRunner):
        def run(self, plan: StepPlan) -> StepOutput:
            honest = super().run(plan).token_ids
            forced = dict(honest)
            for chunk in plan.chunks:
                seen[chunk.sample_index, chunk.position] = honest.get(chunk.request_id, 0)
                if chunk.num_generated < len(given["forced_tokens"][0]):
                    forced[chunk.request_id] = given["forced_tokens"][chunk.sample_index][chunk.num_generated]
            return StepOutput(forced)

    core = checksum_core(runner=Forced, block_size=given["block_size"])
    live = core.submit(given["prompt"], SamplingParams(n=given["n"], max_tokens=9))
    for computed in (7, 9):
        while min(one.request.num_computed_tokens for one in live.samples) < computed:
            core.step()
            core.check_integrity()
        tables = [one.request.block_table for one in live.samples]
        if computed == 7:
            assert core.kv.pool.references(tables[0][0]) == expected["refcount_full_block"]
            assert len({*tables[0], *tables[1]}) == expected["blocks_min_with_sharing"]
    assert len({*tables[0], *tables[1]}) == expected["blocks_after_9_positions_with_sharing"]
    # The checksums are those over all nine positions: the prompt and three forced tokens.
    assert [seen[0, 8], seen[1, 8]] == [expected["checksum_child0"], expected["checksum_child1"]]
    check_all_given_back(core)


def prefix_lookup(case: Case) -> None:
    given = case["input"]
    core = checksum_core(block_size=given["block_size"], prefix_caching=True)
    once = SamplingParams(max_tokens=1)
    core.submit(given["cached_prompt"], once)
    drain(core)
    hits = []
    for query in given["queries"]:
        live = core.submit(query, once)
        drain(core)
        hits.append(live.request.num_cached_tokens)
        assert live.request.output_token_ids == reference(query, 1)
    assert hits == case["expected"]["hit_tokens"]
    check_all_given_back(core)


def published_in_time(case: Case) -> None:
    given, expected = case["input"], case["expected"]
    core = checksum_core(
        block_size=given["block_size"], max_step_tokens=given["token_budget"], prefix_caching=True
    )
    core.submit(given["R1"]["prompt"])
    hits = {}
    for name, last in (("R2", 99), ("R3", 77)):
        core.step()
        cache = core.kv.cache
        assert cache is not None
        hits[f"{name}_hit_tokens"] = len(cache.match([*range(1, 9), last], 1)) * given["block_size"]
    assert hits == expected
    assert hits["R2_hit_tokens"] != case["wrong_answers"]["publish_at_alloc"]["R2_hit_tokens"]
    check_all_given_back(core)


def cached_runs(case: Case) -> None:
    given, expected = case["input"], case["expected"]
    for budget in (1, 5, 64):
        core = checksum_core(
            block_size=given["block_size"], max_step_tokens=budget, prefix_caching=True, num_kv_blocks=32
        )
        outputs, cached = [], []
        for run in given["sequence"]:
            live = core.submit(run["prompt"], SamplingParams(max_tokens=run["max_tokens"]))
            drain(core)
            outputs.append(live.request.output_token_ids)
            cached.append(live.request.num_cached_tokens)
        assert (outputs, cached) == (expected["outputs"], expected["cached_tokens"])
        check_all_given_back(core)


def abort_parent(case: Case) -> None:
    given, expected = case["input"], case["expected"]
    # With one slot, two of the samples have not started when the parent is cancelled.
    for slots in (given["n"], 1):
        core = checksum_core(block_size=given["block_size"], max_running=slots)
        params = SamplingParams(n=given["n"], max_tokens=50)
        live = core.submit([1] * given["prompt_len"], params, request_id="parent")
        samples = [one.request for one in live.samples]
        while min(request.num_output_tokens for request in samples[:slots]) < 2:
            core.step()
        assert core.cancel("parent")
        core.step()
        cancelled = sum(request.state == "cancelled" for request in samples)
        assert cancelled == expected["children_cancelled"]
        assert core.kv.pool.num_blocks - core.kv.pool.num_free == expected["blocks_held"]
        assert (not core.live and not core.families) is expected["id_maps_empty"]
        ends = [entry for entry in live.request.events if entry.state in ("cancelled", "finished")]
        assert len(ends) == expected["terminal_events_parent"]
        assert core.cancel("parent") is False
        check_all_given_back(core)


def seeded_n(case: Case) -> None:
    given, expected = case["input"], case["expected"]
    options = {"seed": given["seed"], "temperature": given["temperature"], "max_tokens": given["max_tokens"]}
    llm = LLM("tiny", progress=False, num_kv_blocks=64)
    seeds: dict[int, int] = {}
    run = llm.core.runner.run

    def spy(plan: StepPlan) -> StepOutput:
        seeds.update({chunk.sample_index: chunk.seed + chunk.sample_index for chunk in plan.chunks})
        return run(plan)

    llm.core.runner.run = spy  # type: ignore[method-assign]
    params = SamplingParams(n=given["n"], **options)
    first, again = (
        [sample.token_ids for sample in llm.generate(given["prompt"], params)[0].samples] for _ in range(2)
    )
    assert [seeds[index] for index in range(given["n"])] == expected["child_seeds"]
    assert (first == again) is expected["reproducible"]
    alone = llm.generate(given["prompt"], SamplingParams(**options))[0]
    assert (alone.token_ids == first[0]) is expected["child0_equals_n1_with_seed_42"]
    assert len(set(first)) == given["n"]


def decode_rounds(case: Case) -> None:
    """A limit holds whatever the rounds of a step are. Rounds are steps here; the prompt is in the first."""
    per_round = case["input"]["tokens_per_round"]
    for most in case["input"]["max_tokens_list"]:
        core = checksum_core(decode_rounds=per_round, block_size=64)
        live = core.submit([1, 2, 3], SamplingParams(max_tokens=most))
        plans = [core.step()]
        ends_seen = []
        while core.has_work:
            plans.append(core.step())
        while (chunk := live.take()) is not None:
            ends_seen += [chunk.finish_reason] if chunk.finish_reason else []
        assert live.request.num_output_tokens == case["expected"]["completion_tokens"][str(most)]
        assert live.request.output_token_ids == reference([1, 2, 3], most)
        assert len(plans) == case["expected"]["rounds"][str(most)]
        assert len(ends_seen) == case["expected"]["terminal_chunks_each"]
        assert ends_seen == [case["expected"]["finish_reason"]]


def live_players() -> int:
    gc.collect()
    return sum(type(one) is Player for one in gc.get_objects())


def rerun(case: Case) -> None:
    """Running a cell again replaces the player that it made before, with its callbacks and widgets."""
    # Other tests of this process may have a player of their own, at another place.
    before = live_players()
    for _ in range(case["input"]["times"]):
        player = viz.backpressure(drains=[1, 0, 1], key="case")
    moves: list[int] = []
    go = Player.go
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Player, "go", lambda self, position: (moves.append(position), go(self, position))[1])
        player.slider.value = 2
    assert len(moves) == case["expected"]["callback_calls"]
    alive = weakref.ref(player)
    player.close()
    _OPEN.pop("case")
    del player
    gc.collect()
    assert (alive() is None) is case["expected"]["weakref_dead"]
    assert live_players() - before == case["expected"]["live_instances"]


ADAPTERS: dict[tuple[str, str], Callable[[Case], None]] = {
    ("utf8", "stream"): stream,
    ("stop-string", "stream"): stream,
    ("utf8", "stream_many"): stream_many,
    ("utf8", "decode_table"): decode_table,
    ("streamer", "stream_cycle"): stream_cycle,
    ("stop-string", "stream_special"): stream_special,
    ("stop-string", "stream_ids"): stream_ids,
    ("stop-string", "stop_union"): stop_union,
    ("stop-string", "stream_after_prompt"): stream_after_prompt,
    ("utf8", "pieces"): byte_pieces,
    ("streamer", "pieces_stream"): pieces_with_spaces,
    ("stop-string", "perf"): many_stops,
    ("backpressure", "perf"): merged_backlog,
    ("backpressure", "events"): bounded_queue,
    ("lifecycle", "events"): lifecycle_events,
    ("cancel", "loop"): cancel_loop,
    ("cancel", "abort_parent"): abort_parent,
    ("kv", "block_ops"): block_ops,
    ("kv", "can_allocate"): can_allocate,
    ("kv", "account"): account,
    ("kv", "toy_lm_n"): forced_samples,
    ("prefix-cache", "prefix_lookup"): prefix_lookup,
    ("prefix-cache", "timeline"): published_in_time,
    ("prefix-cache", "toy_lm"): cached_runs,
    ("sampling", "seeded_n"): seeded_n,
    ("scheduler", "schedule"): scheduled,
    ("scheduler", "plan"): shared_budget,
    ("scheduler", "resume"): resume,
    ("scheduler", "toy_lm"): toy_lm,
    ("lifecycle", "fsm_table"): fsm_table,
    ("lifecycle", "decode_rounds"): decode_rounds,
    ("widget", "rerun"): rerun,
    ("timeout", "deadlines"): deadlines,
    ("timeout", "validate"): validate_deadline,
    ("sampling", "validate_matrix"): validate_matrix,
    ("trace", "replay"): equal_times,
    ("trace", "replay_validate"): replay_validate,
    ("metrics", "client_metrics"): tokens_in_chunks,
    ("metrics", "counts"): counted_once,
    ("metrics", "agg"): agg,
    ("metrics", "trace_metrics"): trace_metrics,
    ("widget", "serialise"): serialise,
    ("widget", "count_messages"): count_messages,
}


def parameters() -> list[Any]:
    rows = []
    for case in CASES:
        if case["kind"] == "autograde" or case["id"] in ELSEWHERE:
            continue
        reason = LATER.get(case["id"])
        marks = [pytest.mark.xfail(strict=True, reason=reason)] if reason else []
        rows.append(pytest.param(case, id=f"{case['id']}-{case['kind']}", marks=marks))
    return rows


@pytest.mark.parametrize("case", parameters())
def test_case(case: Case) -> None:
    adapter = ADAPTERS.get((case["kind"], case["input"]["op"]))
    if adapter is None:
        pytest.fail(f"no adapter for {case['kind']}/{case['input']['op']}")
    adapter(case)


def test_the_text_of_a_byte_order_mark_is_content() -> None:
    """The part of case U11 that needs no event stream."""
    case = next(case for case in CASES if case["id"] == "U11")
    streaming = StreamingText()
    deltas = [
        "".join(streaming.push(bytes.fromhex(token)) for token in step)
        for step in case["input"]["token_steps_hex"]
    ]
    assert deltas == case["expected"]["deltas"]
    assert streaming.finish() == ""
    assert streaming.text == case["expected"]["text"]


def test_every_case_is_run_here_or_says_where() -> None:
    known = {case["id"] for case in CASES}
    assert set(LATER) | set(ELSEWHERE) <= known
    assert not set(LATER) & set(ELSEWHERE)


@pytest.mark.parametrize(
    "case", [c for c in CASES if "wrong_answers" in c and c["input"]["op"] == "stream"], ids=lambda c: c["id"]
)
def test_wrong_answers_are_not_ours(case: Case) -> None:
    for wrong in case["wrong_answers"].values():
        key = "deltas" if isinstance(wrong, list) else "text"
        with pytest.raises(AssertionError):
            check_stream(case["input"], {key: wrong}, case["input"]["ends_with"])


def test_a_request_that_can_never_fit_is_refused_by_name() -> None:
    core = checksum_core(num_kv_blocks=2, block_size=4)
    with pytest.raises(RequestRefused, match="prompt"):
        core.submit([1] * 9)
