"""Submissions from anywhere, put where nbgrader and the grader look for them.

Owns three decisions about each notebook: whose it is, of which assignment, and whether it takes
the place of one that is there already. Invariants: it writes below `submitted/` only; a notebook
is replaced by a newer one only; and whatever is not placed is listed with a reason.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from nbgrader.utils import parse_utc

from inference_kit.errors import KitError

from .course import Course
from .intake import ARCHIVE, NOTEBOOK, TIMESTAMP, Found, Refused, read_source
from .roster import Roster, Student, is_valid_id

EXCHANGE = re.compile(r"(?P<student>.+?)\+(?P<assignment>[^+]+)\+(?P<at>[^+]+)(?:\+[^+]*)?")
"""A folder of nbgrader's exchange: student, assignment, time, and sometimes random signs."""
MOODLE = re.compile(r"(?P<name>.+)_(?P<id>\d+)_assignsubmission_[a-z]+(?:_(?P<file>.*))?")
CANVAS = re.compile(r"(?P<name>\w+?)_(?P<late>LATE_)?(?P<id>\d+)_(?P<attachment>\d+)_(?P<file>.+)")
CANVAS_ANONYMOUS = re.compile(r"anon_\w+?_(?P<attachment>\d+)_(?P<file>.+)")
COPY_MARKS = re.compile(r"(?i)\b(copy of|copy|copie de|kopie von|copia de)\b|\(\d+\)|-\d+$")
MARKER = re.compile(rb"# (lab\d\d)/q\d+\b")
TIME_FORM = "%Y-%m-%d %H:%M:%S.%f UTC"


class NotPlaced(KitError):
    """One notebook cannot be placed; the message is the reason."""


class CollectError(KitError):
    """An option that cannot be used; the message says what is allowed."""


@dataclass(frozen=True)
class Place:
    """Where a notebook belongs, and what is known of the time it was handed in."""

    student: str
    assignment: str
    at: datetime | None
    """Time that decides which of two notebooks is newer."""
    is_known: bool
    """Whether `at` is when it was handed in. If not, nobody is late by it."""
    note: str = ""


@dataclass(frozen=True)
class Options:
    """What the instructor said beside the sources."""

    student: str = ""
    assignment: str = ""
    at: datetime | None = None


@dataclass
class Report:
    """What was done with each notebook."""

    placed: list[str] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)
    same: list[str] = field(default_factory=list)
    older: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    not_placed: list[tuple[str, str]] = field(default_factory=list)
    """(where it stood, why)."""


def collect(
    course: Course, sources: Iterable[Path], roster: Roster | None = None, options: Options | None = None
) -> Report:
    """Place every notebook of the sources. Raises `CollectError` for options that cannot be used."""
    rules = Rules(course.assignments(), roster, options or Options())
    report = Report()
    for source in sources:
        for item in read_source(source):
            if isinstance(item, Refused):
                report.not_placed.append((item.name, item.reason))
                continue
            try:
                place = rules.place_of(item)
                done = put(course, place, item.data)
            except NotPlaced as error:
                report.not_placed.append((item.name, str(error)))
            except OSError as error:
                report.not_placed.append((item.name, f"cannot be written ({error.strerror})"))
            else:
                getattr(report, done).append(f"{place.student}/{place.assignment}: {item.name}")
                if place.note:
                    report.notes.append(f"{place.student}/{place.assignment}: {place.note}")
    return report


# --- whose it is, and of what -----------------------------------------------------------------------


class Rules:
    """The rules by which a notebook finds its place, the surest first."""

    def __init__(self, assignments: list[str], roster: Roster | None, options: Options) -> None:
        self._assignments = assignments
        self._roster = roster
        self._options = options
        if options.assignment and options.assignment not in assignments:
            raise CollectError(f"assignment is {options.assignment!r}; one of {', '.join(assignments)}")
        if options.student and not is_valid_id(options.student):
            raise CollectError(f"student is {options.student!r}; it must be able to name a folder")
        if options.student and roster is not None and options.student not in roster.students:
            raise CollectError(f"student is {options.student!r}, who is not in the roster")

    def place_of(self, found: Found) -> Place:
        """Where a notebook belongs. Raises `NotPlaced`."""
        for rule in (self._said, self._exchange, self._moodle, self._canvas, self._tree, self._loose):
            place = rule(found)
            if place is not None:
                self._same_lab(found, place.assignment)
                return place
        if self._roster is None:
            raise NotPlaced("nothing says whose it is; use --roster or --student")
        raise NotPlaced("no folder or file name on the way to it is that of a learner in the roster")

    def _said(self, found: Found) -> Place | None:
        """The learner that the instructor named."""
        if not self._options.student:
            return None
        assignment = self._assignment(found, found.parts[-1])
        return self._place(found, self._options.student, assignment, time_of(found.timestamp))

    def _exchange(self, found: Found) -> Place | None:
        """`STUDENT+ASSIGNMENT+TIME+RANDOM/ASSIGNMENT.ipynb`, nbgrader's inbound folder."""
        match = EXCHANGE.fullmatch(found.parts[-2]) if len(found.parts) > 1 else None
        if match is None or match["assignment"] not in self._assignments:
            return None
        if found.parts[-1] != f"{match['assignment']}{NOTEBOOK}":
            raise NotPlaced(f"another notebook in a folder of {match['assignment']}")
        at = time_of(match["at"]) or time_of(found.timestamp)
        return self._place(found, self._known(match["student"]), match["assignment"], at)

    def _tree(self, found: Found) -> Place | None:
        """`STUDENT/ASSIGNMENT/ASSIGNMENT.ipynb`, nbgrader's submitted tree."""
        if len(found.parts) < 3 or found.parts[-1] != f"{found.parts[-2]}{NOTEBOOK}":
            return None
        top, (name, assignment) = found.parts[:-3], found.parts[-3:-1]
        if assignment not in self._assignments:
            return None
        if self._roster is None and not top:  # is it a learner's folder, or a folder of labs?
            raise NotPlaced(f"is {name!r} a learner? Collect the folder above it, or use --student")
        student = self._find(name)
        if self._roster is not None and student is None:
            return None
        known = self._known(name) if student is None else student.id
        return self._place(found, known, assignment, time_of(found.timestamp))

    def _moodle(self, found: Found) -> Place | None:
        """`Full Name_12345_assignsubmission_file_/lab01.ipynb`, or all of it in the file's name."""
        for part in reversed(found.parts):
            match = MOODLE.fullmatch(part)
            if match is not None:
                student = self._by("moodle_id", match["id"], match["name"], "Moodle")
                return self._place(found, student, self._assignment(found, match["file"] or ""), None)
        return None

    def _canvas(self, found: Found) -> Place | None:
        """`lastnamefirstname_LATE_123_456_lab01.ipynb`. Canvas says late, and not by how much."""
        for part in reversed(found.parts):
            if part.endswith(NOTEBOOK) and CANVAS_ANONYMOUS.fullmatch(part):
                raise NotPlaced("Canvas hides the names of this assignment; download it again with names")
            match = CANVAS.fullmatch(part) if part.endswith((NOTEBOOK, ARCHIVE)) else None
            is_download = len(found.parts) > 1 and part is found.parts[0]
            if match is not None and not is_download:
                student = self._by("canvas_id", match["id"], match["name"], "Canvas")
                note = "late, says Canvas, and not by how much" if match["late"] else ""
                assignment = self._assignment(found, match["file"])
                given = self._options.at
                # The times in Canvas' archive are those of the download.
                return Place(student, assignment, given or found.at, given is not None, note)
        return None

    def _loose(self, found: Found) -> Place | None:
        """A folder or a file name that names a learner of the roster."""
        if self._roster is None:
            return None
        stem = found.parts[-1].removesuffix(NOTEBOOK)
        names = [*reversed(found.parts[:-1]), self._without_assignment(stem)]
        for name in names:
            student = self._find(name)
            if student is not None:
                return self._place(found, student.id, self._assignment(found, stem), None)
        return None

    # --- parts of the rules

    def _place(self, found: Found, student: str, assignment: str, at: datetime | None) -> Place:
        """With the time that is known, or the time that was said, or the time of the file."""
        at = at or self._options.at or found.at
        return Place(student, assignment, at, at is not None)

    def _known(self, student: str) -> str:
        """A name of nbgrader's that may be used. Raises `NotPlaced`."""
        if not is_valid_id(student):
            raise NotPlaced(f"{student!r} cannot name a folder")
        if self._roster is not None and student not in self._roster.students:
            raise NotPlaced(f"{student!r} is not in the roster")
        return student

    def _by(self, kind: str, key: str, name: str, system: str) -> str:
        """The learner that a system's number or name means. Raises `NotPlaced`."""
        if self._roster is None:
            raise NotPlaced(f"a file from {system} needs a roster that says whose it is: --roster FILE")
        student = self._roster.find(kind, key) or self._find(name)
        if student is None:
            why = "several learners have this name" if self._roster.is_shared(name) else "not in the roster"
            raise NotPlaced(f"{name}, number {key} in {system}: {why}; put {kind} into the roster")
        return student.id

    def _find(self, name: str) -> Student | None:
        if self._roster is None or not name.strip():
            return None
        return self._roster.find("id", name) or self._roster.find("name", name)

    def _assignment(self, found: Found, file: str) -> str:
        """The assignment that was said, that a name names, or whose cells it holds. Raises `NotPlaced`."""
        if self._options.assignment:
            return self._options.assignment
        for name in (file, *reversed(found.parts)):
            named = [item for item in self._assignments if mentions(name, item)]
            if len(named) == 1:
                return named[0]
            if named:
                raise NotPlaced(f"{name!r} names several assignments: {', '.join(named)}")
        held = [item for item in self._assignments if lab_of(item) in labs_in(found.data)]
        if len(held) == 1:
            return held[0]
        raise NotPlaced("neither its name nor its cells say which assignment it is; use --assignment")

    def _same_lab(self, found: Found, assignment: str) -> None:
        """Raise `NotPlaced` for a notebook that holds the cells of another lab only."""
        held = labs_in(found.data)
        if held and lab_of(assignment) not in held:
            raise NotPlaced(f"it holds the cells of {', '.join(sorted(held))}, not of {assignment}")

    def _without_assignment(self, stem: str) -> str:
        """What a file's name says beside the assignment and that it is a copy."""
        for item in sorted(self._assignments, key=len, reverse=True):
            stem = re.sub(rf"(?i){re.escape(item)}", " ", stem)
        labs = "|".join(re.escape(lab_of(item)) for item in self._assignments)
        stem = re.sub(rf"(?i)(?<![a-z0-9])(?:{labs})(?![a-z0-9])", " ", stem) if labs else stem
        return COPY_MARKS.sub(" ", stem)


def mentions(name: str, assignment: str) -> bool:
    """True when a file's or folder's name has the assignment's name, or its `labNN`, as a word."""
    low = name.lower()
    return any(
        re.search(rf"(?<![a-z0-9]){re.escape(word.lower())}(?![a-z0-9])", low)
        for word in (assignment, lab_of(assignment))
    )


def lab_of(assignment: str) -> str:
    """`lab01` of `lab01_lifecycle`."""
    return assignment.split("_", 1)[0]


def labs_in(data: bytes) -> set[str]:
    """The labs whose answer cells a notebook holds."""
    return {match.decode() for match in MARKER.findall(data)}


def time_of(text: str) -> datetime | None:
    """A time as nbgrader writes it. None for anything else."""
    try:
        parsed = parse_utc(text) if text else None
    except (ValueError, OverflowError):
        return None
    return None if parsed is None else parsed.replace(tzinfo=UTC)


# --- writing ----------------------------------------------------------------------------------------


def put(course: Course, place: Place, data: bytes) -> str:
    """Write one notebook; returns the list of the report it belongs to. Raises `NotPlaced`."""
    folder = course.folder("submitted", place.student, place.assignment)
    path = folder / f"{place.assignment}{NOTEBOOK}"
    refuse_links(course, folder)
    refuse_twin(folder.parent)
    before = time_in_place(path)
    if before is not None:
        if not path.is_symlink() and path.read_bytes() == data:
            return "same"
        if place.at is None:
            raise NotPlaced("another one is in place, and no time says which is newer")
        if place.at == before:
            raise NotPlaced("another one with the same time is in place")
        if place.at < before:
            return "older"
    folder.mkdir(parents=True, exist_ok=True)
    write(path, data, place.at)
    if place.is_known and place.at is not None:
        write(folder / TIMESTAMP, place.at.strftime(TIME_FORM).encode(), place.at)
    else:
        (folder / TIMESTAMP).unlink(missing_ok=True)
    return "placed" if before is None else "replaced"


def refuse_links(course: Course, folder: Path) -> None:
    """Raise `NotPlaced` when a part of the way to the folder is a link: it may lead elsewhere."""
    top = course.root / course.directory.submitted_directory
    for part in (folder, *folder.parents):
        if part.is_symlink():
            raise NotPlaced(f"{part} is a link")
        if part == top:
            return
    raise NotPlaced(f"{folder} is not below {top}")


def refuse_twin(folder: Path) -> None:
    """Raise `NotPlaced` for a learner whose name differs from another's in case only."""
    if not folder.exists() and folder.parent.is_dir():
        for other in os.listdir(folder.parent):
            if other.casefold() == folder.name.casefold():
                raise NotPlaced(f"{folder.name!r} and {other!r} differ in case only")


def time_in_place(path: Path) -> datetime | None:
    """When the notebook that is in place was handed in, or else written. None when there is none."""
    if not os.path.lexists(path):
        return None
    beside = path.with_name(TIMESTAMP)
    told = None
    if beside.is_file() and not beside.is_symlink():
        told = time_of(beside.read_text(encoding="utf-8", errors="replace").strip())
    return told or datetime.fromtimestamp(path.lstat().st_mtime, UTC)


def write(path: Path, data: bytes, at: datetime | None) -> None:
    """Write a file so that it is whole or absent, with that time."""
    draft = path.with_name(f".{path.name}.draft")
    draft.unlink(missing_ok=True)
    draft.write_bytes(data)
    if at is not None:
        os.utime(draft, (at.timestamp(), at.timestamp()))
    draft.replace(path)
