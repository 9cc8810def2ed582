"""Lab 06: the oracle agrees with the kit, right parts drive the engine, wrong ones are kept out and named."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference_kit import LLM, Components, SamplingParams
from inference_kit.errors import IntegrityError, OutOfBlocks
from inference_kit.kv import (
    CountedPool,
    PlainBlockPool,
    audit_blocks,
    blocks_for,
    longest_total,
    prepare_write,
    slot_mapping,
    slots_needed,
)
from inference_kit.kv.table import shared_writes
from inference_kit.labs.answers import reference_source
from inference_kit.labs.build import ROOT, find_labs
from inference_kit.labs.checksum import ChecksumRunner, continuation
from inference_kit.labs.gates import LabFiles
from inference_kit.labs.plugs import DONE, WRONG, parts_of
from solutions.lab06_paged_kv import oracle
from tests import checksum

LAB = next(lab for lab in find_labs() if lab.lab == "lab06")
FILES = LabFiles.read(LAB)
Names = dict[str, Any]


def names_with(**instead: str) -> Names:
    """The names of a notebook with the reference answers, or the given text for a question."""
    names: Names = {"__name__": "notebook"}
    for question, cell in FILES.cells.items():
        exec(instead.get(question, reference_source(cell)), names)
    return names


def wrong(question: str, name: str) -> str:
    return next(
        answer.source for answer in FILES.rejects if (answer.question, answer.name) == (question, name)
    )


# --- the oracle


@given(st.integers(1, 200), st.integers(1, 60), st.integers(0, 12), st.integers(1, 20))
def test_the_arithmetic_agrees(prompt: int, outputs: int, blocks: int, size: int) -> None:
    assert slots_needed(prompt, outputs) == oracle.slots_needed(prompt, outputs)
    assert blocks_for(prompt, size) == oracle.blocks_for(prompt, size)
    assert longest_total(blocks, size) == oracle.longest_total(blocks, size)


@given(st.lists(st.integers(0, 30), unique=True, max_size=5), st.integers(1, 6), st.data())
def test_slot_mappings_agree(table: list[int], size: int, data: st.DataObject) -> None:
    start = data.draw(st.integers(-2, 32))
    end = data.draw(st.integers(start, 34))
    expected = oracle.slot_mapping(table, start, end, size)
    if expected is None:
        with pytest.raises(IntegrityError):
            slot_mapping(table, start, end, size)
    else:
        assert slot_mapping(table, start, end, size) == expected


@given(st.integers(0, 2**32), st.integers(1, 8))
def test_pools_agree_step_by_step(seed: int, num_blocks: int) -> None:
    rng = random.Random(seed)
    pool, ledger = CountedPool(num_blocks, 4), oracle.Ledger(num_blocks)
    for _ in range(40):
        ids = [rng.randrange(num_blocks) for _ in range(rng.randint(0, 3))]
        move = rng.choice(["allocate", "retain", "free"])
        if move == "allocate":
            n = rng.randint(0, num_blocks)
            if n > ledger.num_free:
                with pytest.raises(OutOfBlocks):
                    pool.allocate(n)
            else:
                ledger.take(pool.allocate(n))
        elif move == "retain":
            if ledger.may_retain(ids):
                pool.retain(ids)
                ledger.take(ids)
            else:
                with pytest.raises(IntegrityError):
                    pool.retain(ids)
        elif ledger.may_free(ids):
            pool.free(ids)
            ledger.drop(ids)
        else:
            with pytest.raises(IntegrityError):
                pool.free(ids)
        assert pool.num_free == ledger.num_free
        assert [pool.references(block) for block in range(num_blocks)] == [
            ledger.references(block) for block in range(num_blocks)
        ]


@given(st.integers(0, 2**32))
def test_shared_writes_agree(seed: int) -> None:
    rng = random.Random(seed)
    size, count = rng.randint(1, 5), rng.randint(1, 6)
    pool = CountedPool(count, size)
    table = pool.allocate(count)
    pool.retain([block for block in table if rng.random() < 0.5])
    counts = {block: pool.references(block) for block in table}
    start = rng.randrange(count * size)
    end = rng.randint(start + 1, (count + 2) * size)
    assert shared_writes(pool, table, start, end) == oracle.writes(table, counts, start, end, size)


@given(st.integers(0, 2**32))
def test_audits_agree_on_any_books(seed: int) -> None:
    rng = random.Random(seed)
    count = rng.randint(1, 6)
    free = [rng.randrange(count) for _ in range(rng.randint(0, count))]
    references = [rng.randint(0, 2) for _ in range(count)]
    tables = [[rng.randrange(count) for _ in range(rng.randint(0, 3))] for _ in range(rng.randint(0, 3))]
    assert audit_blocks(free, references, tables) == oracle.audit(free, references, tables)


@given(st.integers(0, 2**32))
def test_writers_never_touch_what_others_hold(seed: int) -> None:
    """Any number of holders write and leave in any order; the books stay right, tables stay apart."""
    rng = random.Random(seed)
    pool = CountedPool(12, 2)
    tables = [pool.allocate(2)]
    for _ in range(25):
        table = rng.choice(tables)
        if rng.random() < 0.3 and len(tables) < 5:
            pool.retain(table)
            tables.append(list(table))
        elif rng.random() < 0.2 and len(tables) > 1:
            tables.remove(table)
            pool.free(table)
        else:
            start = rng.randrange(len(table) * 2)
            try:
                table[:], _ = prepare_write(pool, table, start, start + rng.randint(1, 3))
            except OutOfBlocks:
                continue
            assert pool.references(table[start // 2]) == 1
        free = [block for block in range(12) if pool.references(block) == 0]
        references = [pool.references(block) for block in range(12)]
        assert audit_blocks(free, references, tables) == {}


# --- the checksum memory


def test_the_checksum_memory_gives_the_outputs_of_the_specification() -> None:
    assert continuation([1, 2, 3], 12) == [27, 35, 24, 56, 61, 12, 47, 20, 58, 58, 14, 33]
    assert continuation([5] * 8, 8) == [61, 36, 8, 60, 58, 13, 25, 61]
    for prompt in ([7, 1, 4, 9, 9], list(range(1, 18))):
        assert continuation(prompt, 6) == checksum.reference(prompt, 6)


def test_the_engine_on_the_checksum_runner_gives_them_too() -> None:
    llm = LLM("tiny", components=Components(runner=ChecksumRunner), block_size=4, progress=False)
    output = llm.generate([1, 2, 3], SamplingParams(max_tokens=12, n=2))[0]
    assert [list(sample.token_ids) for sample in output.samples] == [continuation([1, 2, 3], 12)] * 2


# --- the plug


@pytest.fixture(scope="module")
def done() -> Iterator[Any]:
    yield parts_of("lab06", names_with())


def test_all_parts_are_done(done: Any) -> None:
    assert set(done.words.values()) == {DONE}


def test_the_real_model_runs_on_the_learners_pages() -> None:
    calls = []
    names = names_with()

    class Watched(names["BlockPool"]):  # type: ignore[misc]
        def allocate(self, n: int) -> Any:
            calls.append(n)
            return super().allocate(n)

    parts = parts_of("lab06", names | {"BlockPool": Watched})
    calls.clear()
    params = SamplingParams(max_tokens=9, n=2, seed=3, temperature=1.0)
    outputs = []
    for components in (Components(), parts.components):
        llm = LLM("tiny", components=components, num_kv_blocks=32, block_size=4, progress=False)
        output = llm.generate([5, 6, 7, 8, 9, 10], params)[0]
        outputs.append([sample.token_ids for sample in output.samples])
        llm.core.check_integrity()
        assert llm.core.snapshot()["kv_blocks_free"] == 32
    assert outputs[0] == outputs[1]
    assert calls


def test_the_learners_pool_carries_the_prefix_cache(done: Any) -> None:
    llm = LLM("tiny", components=done.components, prefix_caching=True, block_size=4, progress=False)
    for _ in range(2):
        llm.generate(list(range(1, 14)), SamplingParams(max_tokens=3))
    assert llm.core.kv.num_cached_tokens == 12
    llm.core.check_integrity()


@pytest.mark.parametrize(
    ("question", "name"), [("q3", "a cancel takes it from all"), ("q2", "the table is sorted")]
)
def test_a_wrong_part_is_kept_out_of_the_engine_and_named(question: str, name: str) -> None:
    parts = parts_of("lab06", names_with(**{question: wrong(question, name)}))
    assert parts.words[question] == WRONG
    assert f'wrong, so the engine gets the one of the kit; check("lab06.{question}")' in str(parts).replace(
        "'", '"'
    )
    assert isinstance(parts.make_pool(4, 2), PlainBlockPool)
    assert "WRONG" not in parts.on_the_checksum_model().text


def test_a_wrong_pool_would_change_the_output_of_the_engine() -> None:
    """What the plug protects from: the same pool, put into the engine all the same."""
    names = names_with(q3=wrong("q3", "a cancel takes it from all"))

    def make(num_blocks: int, block_size: int) -> PlainBlockPool:
        return PlainBlockPool(num_blocks, block_size, counts=names["BlockPool"])

    llm = LLM("tiny", components=Components(block_pool=make), block_size=4, num_kv_blocks=32, progress=False)
    llm.generate([1, 2, 3, 4, 5, 6], SamplingParams(max_tokens=6, n=2))
    with pytest.raises(IntegrityError):
        llm.core.check_integrity()


def test_the_engine_on_the_checksum_model_is_short_of_blocks_and_right(done: Any) -> None:
    text = done.on_the_checksum_model().text
    rows = [line.split() for line in text.split("\n")[2:6]]
    assert {row[3] for row in rows} == {"right"}
    assert any(int(row[2]) > 0 for row in rows), "nothing was preempted, so nothing was proved"
    assert "8 of 8 blocks are free" in text and "33 tokens" in text


def test_the_price_of_a_block_is_shown_for_two_pools(done: Any) -> None:
    assert done.price_of_a_block().text.count("µs") == 2


# --- what the text says


def cells() -> list[Any]:
    found: list[Any] = nbformat.read(ROOT / "labs" / LAB.name / f"{LAB.name}.ipynb", 4).cells
    return found


def run_cell(last_line: str, names: Names) -> str:
    """What the cell that ends so prints."""
    import contextlib
    import io

    (source,) = [cell.source for cell in cells() if cell.source.endswith(last_line)]
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(source, names)
    return said.getvalue()


def imports() -> Names:
    names: Names = {}
    exec("from inference_kit import viz\n", names)
    exec("from inference_kit.labs.checksum import ChecksumMemory, continuation\n", names)
    return names


def test_the_incident_shows_what_the_text_says() -> None:
    names = imports()
    lines = run_cell("continuation([*prompt, 22], 2))", names).split("\n")
    said, right = (eval(line[line.index("[") :]) for line in lines[:2])
    assert said[0] == right[0] and said[1] != right[1]
    assert names["draft_b"][1] in names["stranger"] and names["draft_b"][1] == 1
    run_cell('title="What the server believes, and who is there",\n)', names)
    picture = names["viz"].block_map(
        {
            "num_blocks": 6, "block_size": 4, "references": names["believed"], "kept": [],
            "tables": names["tables"], "num_tokens": {},
        }
    )  # fmt: skip
    assert "block 0: 0 references, 1 holders" in picture.alt
    assert "block 1: 1 references, 2 holders" in picture.alt


def test_one_piece_is_refused_though_enough_slots_are_free() -> None:
    names = imports()
    (source,) = [cell.source for cell in cells() if "def first_gap" in cell.source]
    exec(source, names)
    said = run_cell('viz.memory_strip(spans, 128, "After B: two gaps")', names)
    assert said == "free slots: 27; the first place for 26 in one piece: None\n"


def test_a_mapping_that_ignores_the_table_shows_only_in_company() -> None:
    said = run_cell('"expected", continuation([11, 12, 13, 14, 15], 2)[1])', imports())
    alone, company = said.strip().split("\n")
    assert alone.split()[1] == alone.split()[3]
    assert company.split()[2] != company.split()[4]


def test_the_fault_of_the_last_part_shows_where_the_text_says() -> None:
    text = next(cell.source for cell in cells() if cell.source.startswith("Try a fault."))
    assert "write `return []` as the first line of `shared_writes`" in text
    source = reference_source(FILES.cells["q4"])
    head = "    touched = range("
    assert source.count(head) == 1
    parts = parts_of("lab06", names_with(q4=source.replace(head, "    return []\n" + head)))
    assert parts.words["q4"] == WRONG
    rows = [line.split() for line in parts.two_drafts().text.split("\n")[2:-1]]
    wrong_rows = [(row[0], row[2]) for row in rows if row[3] != row[4]]
    assert wrong_rows == [("2", "A"), ("3", "A")]
    assert {row[6] for row in rows} == {"right"}


def test_a_part_that_raises_is_shown_in_the_small_machine() -> None:
    broken = FILES.cells["q4"].split("def shared_writes")[0]
    broken += "def shared_writes(pool, block_table, start, end):\n    return []\n\n"
    broken += "def prepare_write(pool, block_table, start, end):\n    return 1 / 0\n"
    assert "raised ZeroDivisionError" in parts_of("lab06", names_with(q4=broken)).two_drafts().text
