"""The log of verdicts: what was judged, signed, and never changed afterwards.

Owns one SQLite file beside the gradebook and the key that signs its rows. Rows are only added.
Invariant: a verdict whose signature does not fit is not returned, so it is not counted; a
verdict whose transaction was committed survives whatever ends the process.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import hmac
import json
import os
import secrets
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, String, create_engine, select
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

from inference_kit.clock import wall_time
from inference_kit.errors import KitError
from inference_kit.labs.checking import CheckResult

from .verdict import Verdict

LOG_NAME = "verdicts.db"
KEY_NAME = "verdicts.key"
KEY_BYTES = 32
LOCK_WAIT_S = 60


class VerdictKeyUnreadable(KitError):
    """The signing key is there and cannot be used; the message says what to do."""


class _Base(DeclarativeBase):
    """Tables of this file only."""


class JudgementRow(_Base):
    """The verdicts on one program under one version of the checks."""

    __tablename__ = "judgement"
    key: Mapped[str] = mapped_column(String(64), primary_key=True)
    assignment: Mapped[str]
    payload: Mapped[str]
    signature: Mapped[str] = mapped_column(String(64))


class GradingRow(_Base):
    """That a submission got the verdicts of a judgement, and when."""

    __tablename__ = "grading"
    id: Mapped[int] = mapped_column(primary_key=True)
    student: Mapped[str] = mapped_column(index=True)
    assignment: Mapped[str] = mapped_column(index=True)
    payload: Mapped[str]
    signature: Mapped[str] = mapped_column(String(64))


@dataclass(frozen=True)
class Grading:
    """One grading of one submission. A submission that was graded twice has two."""

    student: str
    assignment: str
    notebook: str
    key: str
    """Names the judgement: the program, the checks and the limits."""
    version: str
    """Changes with everything but the submission that the judgement depends on."""
    earned: float
    max_points: float
    sandbox: str
    reason: str
    """Why nothing could be judged; empty otherwise."""
    flags: tuple[str, ...]
    """What grading noticed about the file."""
    file_digest: str
    """SHA-256 of the submitted file."""
    graded_at: str
    """UTC, ISO 8601."""


def utc_now() -> str:
    """The time of day for the log's readers. Nothing is computed from it."""
    return datetime.fromtimestamp(wall_time(), UTC).isoformat(timespec="seconds")


class VerdictLog:
    """The log in a folder. Several processes may read while one writes."""

    def __init__(self, folder: Path) -> None:
        """Open or make the log. Raises `VerdictKeyUnreadable`."""
        self._key = read_key(folder / KEY_NAME)
        self._engine = open_database(folder / LOG_NAME)
        make_tables(self._engine, folder / KEY_NAME)

    def close(self) -> None:
        """Let go of the file."""
        self._engine.dispose()

    def find(self, key: str) -> tuple[Verdict, ...] | None:
        """The verdicts of a judgement; None when there is none with a valid signature."""
        with Session(self._engine) as session:
            row = session.get(JudgementRow, key)
        if row is None or not self._fits(row.signature, "judgement", row.key, row.assignment, row.payload):
            return None
        return tuple(verdict_from(record) for record in json.loads(row.payload))

    def add(self, grading: Grading, verdicts: tuple[Verdict, ...]) -> None:
        """Write a judgement (once) and a grading that refers to it, in one transaction."""
        payload = json.dumps([asdict(verdict) for verdict in verdicts], sort_keys=True)
        text = json.dumps(asdict(grading), sort_keys=True)
        with Session(self._engine) as session, session.begin():
            # merge: a row with this key and a wrong signature is replaced by the right one.
            session.merge(
                JudgementRow(
                    key=grading.key,
                    assignment=grading.assignment,
                    payload=payload,
                    signature=self._sign("judgement", grading.key, grading.assignment, payload),
                )
            )
            session.add(
                GradingRow(
                    student=grading.student,
                    assignment=grading.assignment,
                    payload=text,
                    signature=self._sign("grading", grading.student, grading.assignment, text),
                )
            )

    def gradings(self, assignment: str | None = None) -> list[Grading]:
        """Every grading with a valid signature, oldest first."""
        query = select(GradingRow).order_by(GradingRow.id)
        if assignment is not None:
            query = query.where(GradingRow.assignment == assignment)
        with Session(self._engine) as session:
            rows = list(session.scalars(query))
        return [grading_from(json.loads(row.payload)) for row in rows if self._grading_fits(row)]

    def latest(self, assignment: str) -> dict[str, Grading]:
        """The last grading of each student's submission."""
        return {grading.student: grading for grading in self.gradings(assignment)}

    def unsigned(self) -> int:
        """How many rows have no valid signature. Somebody wrote them who has no key."""
        with Session(self._engine) as session:
            gradings = sum(not self._grading_fits(row) for row in session.scalars(select(GradingRow)))
            judgements = sum(
                not self._fits(row.signature, "judgement", row.key, row.assignment, row.payload)
                for row in session.scalars(select(JudgementRow))
            )
        return gradings + judgements

    def _grading_fits(self, row: GradingRow) -> bool:
        return self._fits(row.signature, "grading", row.student, row.assignment, row.payload)

    def _sign(self, *parts: str) -> str:
        message = json.dumps(parts).encode()
        return hmac.new(self._key, message, hashlib.sha256).hexdigest()

    def _fits(self, signature: str, *parts: str) -> bool:
        return hmac.compare_digest(signature.encode(), self._sign(*parts).encode())


def verdict_from(record: dict[str, Any]) -> Verdict:
    """The verdict that `asdict` wrote."""
    results = tuple(CheckResult(**result) for result in record["results"])
    return Verdict(**{**record, "results": results})


def grading_from(record: dict[str, Any]) -> Grading:
    """The grading that `asdict` wrote."""
    return Grading(**{**record, "flags": tuple(record["flags"])})


def open_database(path: Path) -> Engine:
    """An SQLite file that readers and one writer share, and that survives the end of any of them."""
    return create_engine(f"sqlite:///{path}", connect_args={"timeout": LOCK_WAIT_S})


def make_tables(engine: Engine, lock: Path) -> None:
    """Make what is not there yet. Several processes may do so at once: the file `lock` lets in one.

    SQLite does not wait for others when the way of writing is changed, so its own lock is not enough.
    """
    with open(lock, "rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with engine.connect() as connection:
            connection.exec_driver_sql("PRAGMA journal_mode=WAL")
        _Base.metadata.create_all(engine)


def read_key(path: Path) -> bytes:
    """The key of the log, made on first use and readable by its owner only."""
    with contextlib.suppress(FileExistsError):
        _make_key(path)
    try:
        key = path.read_bytes()
    except OSError as error:
        raise VerdictKeyUnreadable(f"{path} cannot be read ({error.strerror}); grade as its owner") from error
    if len(key) != KEY_BYTES:
        raise VerdictKeyUnreadable(
            f"{path} is damaged: {len(key)} bytes instead of {KEY_BYTES}; restore it from a backup, "
            f"or remove it together with {LOG_NAME} and grade again"
        )
    return key


def _make_key(path: Path) -> None:
    """Write a new key under a name of its own, then give it the right name if nobody was faster."""
    if path.exists():
        return
    draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(secrets.token_bytes(KEY_BYTES))
            file.flush()
            os.fsync(file.fileno())
        os.link(draft, path)
    finally:
        draft.unlink()
