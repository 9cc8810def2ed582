"""The list of learners: who is meant by an id, an address or a name that another system wrote.

Owns the reading of a roster file and the search in it. It changes nothing. Invariant: a search
names one learner or nobody; a name that two learners share finds neither.

A roster is a CSV file with a line of column names. `id` is the name that nbgrader uses. The other
columns are optional: first_name, last_name, name, email, section, canvas_id, sis_user_id,
sis_login_id, moodle_id, idnumber. The file that Canvas exports from its gradebook and the grading
worksheet and list of participants of Moodle are rosters as they are.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path

from inference_kit.errors import KitError

ALIASES = {
    "student_id": "id",
    "student id": "id",
    "username": "id",
    "student": "name",
    "full name": "name",
    "first name": "first_name",
    "last name": "last_name",
    "surname": "last_name",
    "email address": "email",
    "sis user id": "sis_user_id",
    "sis login id": "sis_login_id",
    "identifier": "moodle_id",
    "id number": "idnumber",
}
ID_FROM = ("id", "sis_login_id", "idnumber", "sis_user_id", "email")
"""Columns that name a learner when there is no `id`, the best first."""
MAX_ID = 100


class RosterError(KitError):
    """A roster that cannot be used; the message names the file, the line and what is allowed."""


@dataclass(frozen=True)
class Student:
    """One learner. Everything but `id` may be empty."""

    id: str
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    section: str = ""
    canvas_id: str = ""
    sis_user_id: str = ""
    sis_login_id: str = ""
    moodle_id: str = ""
    idnumber: str = ""


class Roster:
    """All learners of a course."""

    def __init__(self, students: Iterable[Student]) -> None:
        self.students = {student.id: student for student in students}
        self._by: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
        for student in self.students.values():
            for kind, key in keys_of(student):
                self._by[kind][key].add(student.id)

    def find(self, kind: str, key: str) -> Student | None:
        """The one learner with this key. `kind`: id, canvas_id, moodle_id or name."""
        if kind == "id" and key in self.students:
            return self.students[key]
        found = self._by[kind].get(plain(key), set())
        return self.students[next(iter(found))] if len(found) == 1 else None

    def is_shared(self, name: str) -> bool:
        """True when several learners have this name."""
        return len(self._by["name"].get(plain(name), ())) > 1


def keys_of(student: Student) -> Iterator[tuple[str, str]]:
    """(kind, key) of everything that may stand for a learner."""
    for text in (student.id, student.email, student.sis_user_id, student.sis_login_id, student.idnumber):
        if text:
            yield "id", plain(text)
    for kind in ("canvas_id", "moodle_id"):
        if getattr(student, kind):
            yield kind, plain(getattr(student, kind))
    if student.first_name or student.last_name:
        yield "name", plain(student.first_name + student.last_name)
        yield "name", plain(student.last_name + student.first_name)


def plain(text: str) -> str:
    """A text without case, accents' spelling, spaces and signs, as file names often lose them."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return "".join(sign for sign in folded if sign.isalnum())


def is_valid_id(text: str) -> bool:
    """True for a text that can be the name of one folder."""
    fits = 0 < len(text) <= MAX_ID and text == text.strip() and not text.startswith(".")
    return fits and not re.search(r"[/\\:*?\"<>|\x00-\x1f\x7f]", text) and text.isprintable()


# --- reading --------------------------------------------------------------------------------------


def read_roster(path: Path) -> Roster:
    """The learners of a CSV file in UTF-8. Raises `RosterError`."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise RosterError(f"{path} cannot be read as UTF-8 text: {error}") from error
    first = text.split("\n", 1)[0]
    delimiter = max(",;\t", key=first.count)
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter)
    columns = columns_of([name or "" for name in reader.fieldnames or ()])
    if not set(columns.values()) & set(ID_FROM):
        raise RosterError(f"{path} needs a column 'id' in its first line, which is: {first.strip()!r}")
    students: dict[str, Student] = {}
    for row in reader:
        record = {columns[key]: (row[key] or "").strip() for key in columns}
        if not any(record.values()) or "points possible" in record.get("name", "").lower():
            continue
        student = student_of(record)
        where = f"{path}, line {reader.line_num}"
        if not is_valid_id(student.id):
            raise RosterError(f"{where}: the id {student.id!r} cannot name a folder")
        if student.id.casefold() in students:
            raise RosterError(f"{where}: the id {student.id!r} is there twice")
        students[student.id.casefold()] = student
    return Roster(students.values())


def columns_of(names: list[str]) -> dict[str, str]:
    """Column name in the file to field, for the columns that are used."""
    known = {field.name for field in fields(Student)} | {"name"}
    wanted = {name: name.strip().lower() for name in names}
    is_canvas = {"student", "id", "section"} <= set(wanted.values())
    mapped = {name: ALIASES.get(low, low) for name, low in wanted.items()}
    if is_canvas:
        mapped = {name: "canvas_id" if wanted[name] == "id" else field for name, field in mapped.items()}
    return {name: field for name, field in mapped.items() if field in known}


def student_of(record: dict[str, str]) -> Student:
    """The learner of one line."""
    values = dict(record)
    full = values.pop("name", "")
    if full and not values.get("last_name"):
        last, comma, first = full.partition(",")
        if not comma:
            first, _, last = full.rpartition(" ")
        values |= {"first_name": first.strip(), "last_name": last.strip()}
    values["id"] = next((values[key] for key in ID_FROM if values.get(key)), "")
    values["moodle_id"] = "".join(re.findall(r"\d+", values.get("moodle_id", "")))
    return Student(**values)
