"""Reading a submission: texts and ids come out, and a broken file gives a reason."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from grader.submission import MAX_CELLS, MAX_FILE_BYTES, Ungradable, parse_submission, read_submission


def as_bytes(*cells: object, **more: object) -> bytes:
    return json.dumps({"cells": list(cells), "nbformat": 4, **more}).encode()


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"),
        (b"   \n", "empty"),
        (b"not json", "not JSON"),
        (b'{"cells": [', "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"[1, 2]", "no list of cells"),
        (b'{"nbformat": 4}', "no list of cells"),
        (b'{"cells": {"a": 1}}', "no list of cells"),
        (b'{"cells": []}', "has no cells"),
        (b'{"cells": [1, null, "x"]}', "has no cells"),
        (json.dumps({"cells": [{}] * (MAX_CELLS + 1)}).encode(), "more than"),
    ],
)
def test_a_file_without_cells_is_ungradable_with_a_reason(data: bytes, reason: str) -> None:
    with pytest.raises(Ungradable, match=reason):
        parse_submission(data)


def test_source_may_be_text_or_a_list_of_lines() -> None:
    cells = parse_submission(
        as_bytes({"cell_type": "code", "source": "a\nb"}, {"cell_type": "code", "source": ["a\n", "b"]})
    )
    assert [cell.source for cell in cells] == ["a\nb", "a\nb"]


def test_format_3_is_read() -> None:
    old = {"worksheets": [{"cells": [{"cell_type": "code", "input": ["x = 1\n", "y = 2"]}]}], "nbformat": 3}
    assert parse_submission(json.dumps(old).encode())[0].source == "x = 1\ny = 2"


def test_metadata_of_any_shape_is_survived() -> None:
    shapes: list[object] = [
        None,
        3,
        "x",
        [],
        {"nbgrader": None},
        {"nbgrader": []},
        {"nbgrader": {"grade_id": 7}},
    ]
    cells = parse_submission(
        as_bytes(*({"cell_type": "code", "source": "", "metadata": shape} for shape in shapes))
    )
    assert {cell.grade_id for cell in cells} == {""}


def test_a_byte_order_mark_and_bad_bytes_are_survived() -> None:
    data = b"\xef\xbb\xbf" + as_bytes({"cell_type": "code", "source": "caf_"}).replace(b"_", b"\xe9")
    assert parse_submission(data)[0].source == "caf\N{REPLACEMENT CHARACTER}"


def test_an_unpaired_surrogate_becomes_writable_text() -> None:
    cell = parse_submission(b'{"cells": [{"cell_type": "code", "source": "x = \\"\\ud800\\""}]}')[0]
    assert cell.source.encode("utf-8")


def test_outputs_are_not_read() -> None:
    big = {"cell_type": "code", "source": "x", "outputs": [{"text": "y" * 1000}]}
    assert not hasattr(parse_submission(as_bytes(big))[0], "outputs")


def test_a_huge_file_is_ungradable(tmp_path: Path) -> None:
    path = tmp_path / "big.ipynb"
    with path.open("wb") as file:
        os.truncate(file.fileno(), MAX_FILE_BYTES + 1)
    with pytest.raises(Ungradable, match="larger than"):
        read_submission(path)


def test_a_link_is_ungradable(tmp_path: Path) -> None:
    target = tmp_path / "other.ipynb"
    target.write_bytes(as_bytes({"cell_type": "code", "source": "secret"}))
    link = tmp_path / "link.ipynb"
    link.symlink_to(target)
    with pytest.raises(Ungradable, match="link"):
        read_submission(link)


def test_a_folder_in_place_of_the_file_is_ungradable(tmp_path: Path) -> None:
    with pytest.raises(Ungradable, match="cannot be read"):
        read_submission(tmp_path)
