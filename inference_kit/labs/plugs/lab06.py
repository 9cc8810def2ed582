"""Puts the parts of lab 06 into the engine: a block pool, and a slot mapping on the checksum model.

A wrong part never reaches the engine. The small machine of `two_drafts` tries it all the same: its number of
steps is fixed, so nothing can wait for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from ... import viz
from ...clock import MonotonicClock
from ...errors import OutOfBlocks
from ...kv import CountedPool, PlainBlockPool, audit_blocks, blocks_for, longest_total, prepare_write
from ...kv import slot_mapping as kit_slot_mapping
from ...kv.snapshot import block_snapshot
from ...viz import Picture
from ...viz.block_player import BlockPlayer
from ...viz.still import Still
from ..checksum import ChecksumMemory, ChecksumRunner, continuation
from . import Parts

if TYPE_CHECKING:
    from ...engine import Components

PROMPT = [11, 12, 13, 14, 15, 16]
FIRST_WORDS = {"draft A": 21, "draft B": 22}
STEPS = 6
CANCEL_AFTER = 3
ROUNDS = 2000


class LabPool:
    """A learner's pool as the kit's `Counting`; a lack of blocks becomes the kit's own error."""

    def __init__(self, make: Callable[[int, int], Any], num_blocks: int, block_size: int) -> None:
        self._pool = make(num_blocks, block_size)

    @property
    def num_free(self) -> int:
        return int(self._pool.num_free)

    def references(self, block_id: int) -> int:
        return int(self._pool.references(block_id))

    def allocate(self, n: int) -> list[int]:
        if n > self.num_free:
            raise OutOfBlocks(f"{n} blocks asked for, {self.num_free} are free")
        return list(self._pool.allocate(n))

    def retain(self, ids: Sequence[int]) -> None:
        self._pool.retain(list(ids))

    def free(self, ids: Sequence[int]) -> None:
        self._pool.free(list(ids))


class Lab06(Parts):
    """The parts of lab 06.

    Attributes:
        make_pool: makes the engine's pool from (num_blocks, block_size); its counts are the learner's.
    """

    lab = "lab06"
    questions: ClassVar = {
        "q1": "longest_total",
        "q2": "slot_mapping",
        "q3": "BlockPool",
        "q4": "prepare_write",
        "q5": "audit_blocks",
    }

    def __init__(self, names: Mapping[str, Any]) -> None:
        super().__init__(names)
        self._counts = self.part("q3", CountedPool)
        self._slot_mapping = self.part("q2", kit_slot_mapping)
        self._longest_total = self.part("q1", longest_total)
        self._blocks_for = names["blocks_for"] if self._longest_total is not longest_total else blocks_for
        self.make_pool = partial(PlainBlockPool, counts=partial(LabPool, self._counts))

    @property
    def components(self) -> Components:
        """For `LLM(model, components=…)` or `Engine(…, components=…)`."""
        from ...engine import Components

        return Components(block_pool=self.make_pool)

    def in_company(self) -> Picture:
        """Two requests in one checksum memory, by the slot mapping: each must get its own answer."""
        memory = ChecksumMemory(6, 4, self._slot_mapping)
        tables = {"first": [0, 3], "second": [1]}
        prompts = {"first": [11, 12, 13, 14, 15], "second": [41, 42]}
        rows: list[list[Any]] = [["request", "blocks", "token", "expected"]]
        known = {name: list(prompt) for name, prompt in prompts.items()}
        for name in ("first", "second", "first"):
            start = 0 if known[name] == prompts[name] else len(known[name]) - 1
            token = memory.step(tables[name], start, known[name][start:])
            rows.append([name, tables[name], token, continuation(known[name], 1)[0]])
            known[name].append(token)
        same = all(row[2] == row[3] for row in rows[1:])
        note = "every token is the right one" if same else "a token is WRONG"
        return viz.grid(rows, "In company", [(row, 2) for row in range(1, len(rows))], note)

    def story(self) -> Picture:
        """Draft A ends, a stranger comes, draft B goes on: on the learner's pool."""
        pool = self._counts(6, 4)
        prompt = pool.allocate(2)
        pool.retain(prompt)
        draft_a, draft_b = [*prompt, *pool.allocate(1)], [*prompt, *pool.allocate(1)]
        pool.free(draft_a)
        tables = {"draft B": draft_b, "stranger": pool.allocate(2)}
        return viz.block_map(pool, tables, title="Draft A has ended, a stranger has come")

    def price_of_a_block(self) -> Picture:
        """Microseconds for one block, allocated and freed, in a small and in a large pool."""
        clock = MonotonicClock()
        rows: list[list[Any]] = [["blocks in the pool", "allocate + free, for one block"]]
        for num_blocks in (1_000, 100_000):
            pool = self._counts(num_blocks, 16)
            started_s = clock.now()
            for _ in range(ROUNDS):
                pool.free(pool.allocate(4))
            each = (clock.now() - started_s) / (4 * ROUNDS)
            rows.append([f"{num_blocks:,}", f"{each * 1e6:.2f} µs"])
        return viz.grid(rows, "The price of a block", [(1, 1), (2, 1)])

    def on_the_checksum_model(self) -> Picture:
        """The whole engine without weights: pool and slot mapping of the learner, more work than room.

        Each answer is compared with the one that is computed without paging.
        """
        from ... import LLM, SamplingParams
        from ...engine import Components

        runner = partial(ChecksumRunner, slot_mapping=self._slot_mapping)
        parts = Components(block_pool=self.make_pool, runner=runner)
        llm = LLM("tiny", components=parts, num_kv_blocks=8, block_size=4, watermark=0.0, progress=False)
        prompts = [[1, 2, 3], [5] * 8, [7, 1, 4, 9, 9], list(range(1, 18))]
        outputs = llm.generate(prompts, SamplingParams(max_tokens=12, ignore_eos=True))
        rows: list[list[Any]] = [["prompt tokens", "blocks of its longest time", "preempted", "answer"]]
        for prompt, output in zip(prompts, outputs, strict=True):
            right = list(output.token_ids) == continuation(prompt, 12)
            blocks = self._blocks_for(len(prompt) + 11, 4)
            paused = sum(event.event == "preempt" for event in output.events)
            rows.append([len(prompt), blocks, paused, "right" if right else "WRONG"])
        llm.core.check_integrity()
        snapshot = llm.core.snapshot()
        most = self._longest_total(8, 4)
        note = f"a pool of 8 blocks of 4 slots: no answer can be longer than {most} tokens in all; "
        note += f"at the end {snapshot['kv_blocks_free']} of {snapshot['kv_blocks']} blocks are free"
        return viz.grid(rows, "The engine on the checksum model", [(row, 3) for row in range(1, 5)], note)

    def two_drafts(self) -> Picture:
        """Two drafts share a part-filled block, write different words, and one is cancelled on the way.

        Wrong parts of question 4 and 5 are tried here. An exception of theirs is shown.
        """
        machine, _ = self._machine()
        marked = [(row, 4) for row in range(1, len(machine.rows))]
        return viz.grid(machine.rows, "Two drafts", marked, machine.note)

    def player(self) -> BlockPlayer | Still:
        """The same machine, moment by moment. It stops where a part raises."""
        return viz.block_player(self._machine()[1])

    def _machine(self) -> tuple[TwoDrafts, list[tuple[str, Mapping[str, Any]]]]:
        """The small machine after its run, and what it was like at each moment."""
        machine = TwoDrafts(
            self._counts(8, 4),
            self._slot_mapping,
            self.part("q4", prepare_write, also_wrong=True),
            self.part("q5", audit_blocks, also_wrong=True),
        )
        try:
            machine.run()
        except Exception as error:
            machine.rows.append(["–", "–", "–", "–", "WRONG", f"raised {type(error).__name__}: {error}"])
        return machine, machine.moments


class TwoDrafts:
    """A machine of a few steps: a shared prompt, two drafts, one cancel, and the audit after each step."""

    def __init__(
        self,
        pool: Any,
        slot_mapping: Callable[..., Any],
        prepare: Callable[..., Any],
        audit: Callable[..., Any],
    ) -> None:
        self._pool = pool
        self._memory = ChecksumMemory(8, 4, slot_mapping)
        self._prepare = prepare
        self._audit = audit
        self.tables: dict[str, list[int]] = {}
        self.moments: list[tuple[str, Mapping[str, Any]]] = []
        self.known = {name: [*PROMPT, word] for name, word in FIRST_WORDS.items()}
        self.rows: list[list[Any]] = [["step", "draft", "token", "expected", "answer", "the audit says"]]

    def run(self) -> None:
        """Prefill once, share, then one token for each draft in turn."""
        prompt = self._pool.allocate(2)
        self._memory.step(prompt, 0, PROMPT)
        self._pool.retain(prompt)
        self.tables = {name: list(prompt) for name in FIRST_WORDS}
        self._moment("the prompt is computed, and both drafts share it")
        for step in range(STEPS):
            for name in list(self.tables):
                self._decode(step, name)
            if step == CANCEL_AFTER - 1:
                self._pool.free(self.tables.pop("draft A"))
                self._moment("draft A is cancelled")
        for name in list(self.tables):
            self._pool.free(self.tables.pop(name))
        self._moment("both have ended")

    def _moment(self, caption: str) -> None:
        # The newest token of a draft is known and not written yet.
        tokens = {name: len(self.known[name]) - 1 for name in self.tables}
        self.moments.append((caption, block_snapshot(self._pool, self.tables, tokens)))

    @property
    def note(self) -> str:
        wrong = sum(row[4] == "WRONG" for row in self.rows[1:])
        free = f"{self._pool.num_free} of 8 blocks are free at the end"
        return f"draft A is cancelled after {CANCEL_AFTER} steps; {wrong} tokens are wrong; {free}"

    def _decode(self, step: int, name: str) -> None:
        """Write the newest token of a draft, and see which one follows."""
        known = self.known[name]
        start = len(known) - 1
        table, copies = self._prepare(self._pool, list(self.tables[name]), start, start + 1)
        self.tables[name] = list(table)
        self._memory.copy(copies)
        token = self._memory.step(table, start, known[start:])
        expected = continuation(known, 1)[0]
        answer = "right" if token == expected else "WRONG"
        self.rows.append([step + 1, name, token, expected, answer, self._books()])
        known.append(token)
        copied = "".join(f", after a copy {source} → {destination}" for source, destination in copies)
        self._moment(f"{name} writes position {start}{copied}")

    def _books(self) -> str:
        references = [self._pool.references(block_id) for block_id in range(8)]
        free = [block_id for block_id, count in enumerate(references) if count == 0]
        faults = self._audit(free, references, [list(table) for table in self.tables.values()])
        return "right" if not faults else str(dict(faults))


PLUG = Lab06
