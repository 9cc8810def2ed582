"""The W5 measurement runs and says what it measured; no figure is asserted."""

from __future__ import annotations

import json

import pytest

from inference_kit.bench.control_plane import main


def test_the_record_names_its_origin_and_has_a_row_for_each_size(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--sizes", "3", "5", "--rounds", "1", "--steps", "8"])
    record = json.loads(capsys.readouterr().out)
    assert {"workload", "trace_sha256", "commit", "machine", "versions"} <= set(record)
    assert [row["running"] for row in record["rows"]] == [3, 5]
    assert all(row["ours"]["median_us"] > 0 for row in record["rows"])
