"""The learner's own log of attempts: off until switched on, on this computer only, shown and deletable.

Owns one file of JSON lines. A line holds the time, the question, the word that `check` said and how many
visible checks passed: no code, no name, no input. The log is on as long as the file is there. Invariant:
nothing that goes wrong with the file ever stops a check.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ..clock import wall_time

FOLDER_VARIABLE = "INFERENCE_KIT_DATA"
FOLDER = "inference_kit"
FILE = "attempts.jsonl"
WORDS = ("done", "wrong", "not done yet")


@dataclass(frozen=True)
class Attempt:
    """One run of a check."""

    at: float
    """Seconds since 1970, UTC."""
    question: str
    word: str
    """"done", "wrong" or "not done yet"."""
    passed: int
    """Visible checks that passed, of `visible`."""
    visible: int


def data_folder() -> Path:
    """`$INFERENCE_KIT_DATA`, or where this system keeps the data of a user's programs."""
    named = os.environ.get(FOLDER_VARIABLE)
    if named:
        return Path(named).expanduser()
    home = Path.home()
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = home / "Library" / "Application Support"
    else:
        base = os.environ.get("XDG_DATA_HOME") or home / ".local" / "share"
    return Path(base) / FOLDER


def log_file() -> Path:
    return data_folder() / FILE


def log_attempts(on: bool = True) -> None:
    """Switch the log on, or off; switching it off deletes it. Says where the file is."""
    if not on:
        forget_attempts()
        return
    try:
        path = log_file()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    except (OSError, RuntimeError) as error:
        print(f"the log cannot be kept here: {error}")
        return
    print(f"attempts are written to {path}; forget_attempts() deletes the file and ends this")


def forget_attempts() -> None:
    """Delete the log. Nothing is written until it is switched on again."""
    path = log_file()
    existed = path.exists()
    path.unlink(missing_ok=True)
    print(f"deleted {path}" if existed else "there is no log")


def note(question: str, word: str, passed: int, visible: int) -> None:
    """Write one line when the log is on. A fault of the file is not the learner's problem."""
    try:
        path = log_file()
        if not path.exists():
            return
        line = {"at": wall_time(), "question": question, "word": word, "passed": passed, "visible": visible}
        with path.open("a+b") as file:
            # A line that a crash cut short must not swallow this one.
            cut = file.tell() > 0 and file.seek(-1, os.SEEK_END) >= 0 and file.read(1) != b"\n"
            file.write(("\n" * cut + json.dumps(line) + "\n").encode())
    except (OSError, RuntimeError):
        return


def read_attempts() -> tuple[list[Attempt], int]:
    """(the attempts, oldest first; how many lines could not be read)."""
    try:
        lines = log_file().read_text(encoding="utf-8", errors="replace").splitlines()
    except (OSError, RuntimeError):
        return [], 0
    found = [_attempt(line) for line in lines if line.strip()]
    return [attempt for attempt in found if attempt is not None], found.count(None)


def attempts() -> Any:
    """The log as a table, newest last; a sentence when it is off or empty."""
    from ..viz import grid

    found, broken = read_attempts()
    if not found:
        state = "on and empty" if log_file().exists() else "off; log_attempts() switches it on"
        print(f"the log of attempts is {state}")
        return None
    rows: list[list[Any]] = [["when (UTC)", "question", "check said", "visible checks"]]
    for one in found[-40:]:
        when = f"{datetime.fromtimestamp(one.at, UTC):%Y-%m-%d %H:%M}"
        rows.append([when, one.question, one.word, f"{one.passed} of {one.visible}"])
    notes = [f"{len(found)} attempts" if len(found) > 1 else "1 attempt"]
    notes += [f"{broken} lines could not be read"] * bool(broken)
    done = [(row, 2) for row in range(1, len(rows)) if rows[row][2] == "done"]
    return grid(rows, "Your attempts", done, "; ".join(notes))


def _attempt(line: str) -> Attempt | None:
    try:
        entry = json.loads(line)
        attempt = Attempt(
            float(entry["at"]), str(entry["question"]), str(entry["word"]),
            int(entry["passed"]), int(entry["visible"]),
        )  # fmt: skip
        datetime.fromtimestamp(attempt.at, UTC)
    except (ValueError, KeyError, TypeError, OverflowError, OSError):
        return None
    return attempt if attempt.word in WORDS else None
