"""What the sandbox stops, tried out; and how its level is chosen."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader import sandbox as sandbox_module
from grader.doctor import Probe, probes, succeeds
from grader.remote import ProgramCell, Runner
from grader.sandbox import (
    AUTO,
    BUBBLEWRAP,
    REPOSITORY,
    RLIMITS,
    Limits,
    Sandbox,
    SandboxUnavailable,
    bubblewrap_candidates,
    choose,
    works,
)
from inference_kit.errors import InvalidField

HOLDS_AT_RLIMITS = (
    "read the environment's secrets",
    "take 3 GB of memory",
    "write 64 MB into one file",
    "hold up the grader for ever",
    "end the grader's process",
)
NAMES = [probe.name for probe in probes(REPOSITORY)]


def probe_named(name: str) -> Probe:
    return next(probe for probe in probes(REPOSITORY) if probe.name == name)


@pytest.mark.sandbox
@pytest.mark.parametrize("name", NAMES)
def test_bubblewrap_stops(name: str, bubblewrap: Sandbox) -> None:
    assert not succeeds(probe_named(name), bubblewrap)


@pytest.mark.parametrize("name", HOLDS_AT_RLIMITS)
def test_rlimits_stops(name: str, rlimits: Sandbox) -> None:
    assert not succeeds(probe_named(name), rlimits)


@pytest.mark.sandbox
def test_every_way_to_use_bubblewrap_hides_the_course(bubblewrap: Sandbox) -> None:
    ways = [way for way in bubblewrap_candidates() if works(way)]
    assert ways
    assert not any(succeeds(probe_named("read the hidden checks"), way) for way in ways)


@pytest.mark.sandbox
def test_a_gradebook_can_neither_be_read_nor_written(bubblewrap: Sandbox, tmp_path: Path) -> None:
    gradebook = tmp_path / "gradebook.db"
    gradebook.write_bytes(b"grades")
    source = (
        "import os\n"
        "def try_all(path):\n"
        "    done = []\n"
        "    for mode in ('rb', 'r+b', 'ab', 'wb'):\n"
        "        try:\n"
        "            open(path, mode).close()\n"
        "            done.append(mode)\n"
        "        except OSError:\n"
        "            pass\n"
        "    try:\n"
        "        os.remove(path)\n"
        "        done.append('remove')\n"
        "    except OSError:\n"
        "        pass\n"
        "    return done\n"
    )
    subject = Runner((ProgramCell("spy", source, answer=True),), bubblewrap, Limits()).start()
    subject.begin(5)
    try:
        assert subject.call("try_all", str(gradebook)) == []
    finally:
        subject.close()
    assert gradebook.read_bytes() == b"grades"


@pytest.mark.sandbox
def test_one_answer_finds_nothing_of_another(bubblewrap: Sandbox) -> None:
    source = (
        "import os\n"
        "def leave(): open('note', 'w').close()\n"
        "def look(): return os.listdir('.') + os.listdir('/tmp')\n"
    )
    runner = Runner((ProgramCell("notes", source, answer=True),), bubblewrap, Limits())
    first, second = runner.start(), runner.start()
    try:
        first.begin(5)
        first.call("leave")
        second.begin(5)
        assert second.call("look") == []
    finally:
        first.close()
        second.close()


def test_the_working_folder_of_rlimits_is_removed(rlimits: Sandbox) -> None:
    subject = Runner(
        (ProgramCell("where", "import os\ndef here(): return os.getcwd()", True),), rlimits, Limits()
    ).start()
    subject.begin(5)
    folder = Path(subject.call("here"))
    assert folder.is_dir()
    subject.close()
    assert not folder.exists()


def test_auto_takes_rlimits_where_bubblewrap_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox_module, "bubblewrap_candidates", list)
    choose.cache_clear()
    assert choose(AUTO).level == RLIMITS
    with pytest.raises(SandboxUnavailable, match="bubblewrap"):
        choose(BUBBLEWRAP)
    choose.cache_clear()


def test_an_unknown_level_is_refused() -> None:
    with pytest.raises(InvalidField, match="docker"):
        choose("docker")
