"""`python -m inference_kit.bench` writes one record for each workload, and none for a failed one."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from inference_kit.bench import __main__ as bench


def test_each_workload_gets_a_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def run(workload: str, options: list[str]) -> str:
        asked.append((workload, options))
        return json.dumps({"workload": workload})

    monkeypatch.setattr(bench, "run", run)
    assert bench.main(["--out", str(tmp_path / "new"), "--peer", "somewhere"]) == 0
    assert asked == [("w5", ["--peer", "somewhere"]), ("w6", [])]
    records = sorted(tmp_path.glob("new/*.json"))
    assert [json.loads(path.read_text("utf-8"))["workload"] for path in records] == ["w5", "w6"]


def test_an_unknown_workload_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as refused:
        bench.main(["w77"])
    assert refused.value.code == 2
    assert "unknown workload 'w77'; known: w5, w6" in capsys.readouterr().err


def test_a_workload_that_fails_leaves_no_record(tmp_path: Path) -> None:
    with pytest.raises(subprocess.CalledProcessError):
        bench.main(["w5", "--out", str(tmp_path), "--peer", str(tmp_path / "missing")])
    assert list(tmp_path.glob("*.json")) == []
