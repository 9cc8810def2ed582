"""Collecting from every form that submissions come in, and from files that mean harm."""

from __future__ import annotations

import io
import json
import os
import shutil
import stat
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from grader import intake
from grader.cli import main
from grader.collect import CollectError, Options, Report, collect
from grader.course import Course
from grader.intake import Found, Refused, read_source
from grader.roster import Roster, Student
from tests.grader import fake_lab
from tests.grader.fake_lab import ASSIGNMENT

OTHER = "lab91_other"
EARLY = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)
LATE = datetime(2026, 3, 2, 12, 0, 0, tzinfo=UTC)
ROSTER = Roster(
    [
        Student("ada", "Ada", "Lovelace", "ada@x.org", canvas_id="101", moodle_id="7"),
        Student("bob", "Bob", "Ross", "bob@x.org", canvas_id="102", moodle_id="8"),
        Student("kim1", "Kim", "Lee"),
        Student("kim2", "Kim", "Lee"),
    ]
)


def book(text: str = "") -> bytes:
    """A submission of the fake lab that differs by `text`."""
    return json.dumps(fake_lab.submission(q1=f"# {text}\n{fake_lab.REFERENCE['q1']}")).encode()


WORK = book("work")


@pytest.fixture
def course(tmp_path: Path) -> Course:
    root = fake_lab.make_course(tmp_path / "root")
    shutil.copytree(root / "solutions" / ASSIGNMENT, root / "solutions" / OTHER)
    (root / "solutions" / OTHER / f"{ASSIGNMENT}.ipynb").rename(root / "solutions" / OTHER / f"{OTHER}.ipynb")
    return Course(root)


def source(tmp_path: Path, *names: str, data: bytes = WORK, at: datetime = EARLY) -> Path:
    """A folder with these files."""
    folder = tmp_path / "in"
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        os.utime(path, (at.timestamp(), at.timestamp()))
    return folder


def archive(path: Path, members: dict[str, bytes], at: datetime = EARLY) -> Path:
    """A zip file with these members."""
    path.parent.mkdir(parents=True, exist_ok=True)
    local = at.astimezone().timetuple()[:6]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in members.items():
            file.writestr(zipfile.ZipInfo(name, local), data)
    return path


def placed(course: Course) -> dict[str, bytes]:
    """`student/assignment` to notebook, of everything below submitted/."""
    top = course.root / "grader" / "submitted"
    return {p.parent.relative_to(top).as_posix(): p.read_bytes() for p in sorted(top.rglob("*.ipynb"))}


def time_told(course: Course, student: str) -> str:
    path = course.folder("submitted", student, ASSIGNMENT) / "timestamp.txt"
    return path.read_text() if path.exists() else ""


def one(report: Report) -> str:
    """The reason for the only notebook that was not placed."""
    ((_, reason),) = report.not_placed
    return reason


# --- the forms


ADA = {f"ada/{ASSIGNMENT}": WORK}
FORMS = [
    f"in/ada/{ASSIGNMENT}/{ASSIGNMENT}.ipynb",
    f"ada+{ASSIGNMENT}+2026-03-01 12:00:00.000000 UTC/{ASSIGNMENT}.ipynb",
    f"ada+{ASSIGNMENT}+2026-03-01 12:00:00.000000 UTC+Xy12/{ASSIGNMENT}.ipynb",
    f"lovelaceada_101_5001_{ASSIGNMENT}.ipynb",
    "lovelaceada_LATE_101_5001_lab90.ipynb",
    "somebody_101_5001_Copy of lab90_fake-1.ipynb",
    "lovelaceada_999_5001_lab90.ipynb",
    "Ada Lovelace_7_assignsubmission_file_/lab90.ipynb",
    "Ada Lovelace_12345_assignsubmission_file/Lab90 (2).ipynb",
    f"Ada Lovelace_12345_assignsubmission_file_{ASSIGNMENT}.ipynb",
    "Participant_7_assignsubmission_file_/lab90.ipynb",
    "ada/Copy of lab90_fake.ipynb",
    "Ada Lovelace/lab90_fake (1).ipynb",
    "ada@x.org/Untitled7.ipynb",
    "Kopie von lab90_fake ada.ipynb",
    "lab90_fake_ada.ipynb",
    "Ada Lovelace - lab90 - Copy.ipynb",
    "lab90/Lovelace, Ada.ipynb",
    f"Ada Lovelace/{ASSIGNMENT}/{ASSIGNMENT}.ipynb",
]  # fmt: skip


@pytest.mark.parametrize("name", FORMS)
def test_each_form_finds_its_place(name: str, course: Course, tmp_path: Path) -> None:
    report = collect(course, [source(tmp_path, name)], ROSTER)
    assert report.not_placed == []
    assert placed(course) == ADA


@pytest.mark.parametrize("name", FORMS)
def test_each_form_finds_its_place_from_an_archive(name: str, course: Course, tmp_path: Path) -> None:
    path = archive(tmp_path / "cs_2026_1_submissions.zip", {name: WORK})
    report = collect(course, [path], ROSTER)
    assert report.not_placed == []
    assert placed(course) == ADA


def test_an_archive_that_a_learner_handed_in_is_opened(course: Course, tmp_path: Path) -> None:
    inner = archive(tmp_path / "inner.zip", {"work/lab90_fake.ipynb": WORK, "work/notes.txt": b"x"})
    outer = archive(tmp_path / "all.zip", {"lovelaceada_101_5001_my.zip": inner.read_bytes()})
    assert collect(course, [outer], ROSTER).not_placed == []
    assert placed(course) == ADA


def test_nbgraders_own_trees_need_no_roster(course: Course, tmp_path: Path) -> None:
    names = [FORMS[0], f"bob+{ASSIGNMENT}+2026-03-01 12:00:00.000000 UTC/{ASSIGNMENT}.ipynb"]
    assert collect(course, [source(tmp_path, *names)]).not_placed == []
    assert set(placed(course)) == {f"ada/{ASSIGNMENT}", f"bob/{ASSIGNMENT}"}


def test_a_single_notebook_with_a_name_that_was_said(course: Course, tmp_path: Path) -> None:
    path = source(tmp_path, "Untitled.ipynb") / "Untitled.ipynb"
    collect(course, [path], None, Options(student="ada"))
    assert placed(course) == ADA


def test_two_assignments_in_one_run(course: Course, tmp_path: Path) -> None:
    other = WORK.replace(b"# lab90/", b"# lab91/")
    folder = source(tmp_path, "ada/lab90.ipynb")
    (folder / "ada" / "lab91.ipynb").write_bytes(other)
    assert collect(course, [folder], ROSTER).not_placed == []
    assert placed(course) == {f"ada/{ASSIGNMENT}": WORK, f"ada/{OTHER}": other}


# --- times


@pytest.mark.parametrize(
    ("name", "told"),
    [
        (FORMS[1], "2026-03-01 12:00:00.000000 UTC"),
        ("Ada Lovelace_7_assignsubmission_file_/lab90.ipynb", "2026-03-01 12:00:00.000000 UTC"),
        ("ada/lab90.ipynb", "2026-03-01 12:00:00.000000 UTC"),
        ("lovelaceada_101_5001_lab90.ipynb", ""),
    ],
)
def test_the_time_is_told_where_it_is_known(name: str, told: str, course: Course, tmp_path: Path) -> None:
    collect(course, [archive(tmp_path / "x.zip", {name: WORK})], ROSTER)
    assert time_told(course, "ada") == told


def test_nbgrader_reads_the_time(course: Course, tmp_path: Path) -> None:
    collect(course, [source(tmp_path, "ada/lab90.ipynb")], ROSTER)
    folder = course.folder("submitted", "ada", ASSIGNMENT)
    assert course.directory.get_existing_timestamp(str(folder)) == EARLY.replace(tzinfo=None)


def test_a_timestamp_beside_the_notebook_counts(course: Course, tmp_path: Path) -> None:
    folder = source(tmp_path, FORMS[0], at=LATE)
    (folder / FORMS[0]).with_name("timestamp.txt").write_text("2026-03-01 13:00:00 +0100")
    collect(course, [folder])
    assert time_told(course, "ada").startswith("2026-03-0")


def test_a_time_that_was_said_counts_where_none_is_known(course: Course, tmp_path: Path) -> None:
    path = archive(tmp_path / "x.zip", {"lovelaceada_LATE_101_5001_lab90.ipynb": WORK})
    report = collect(course, [path], ROSTER, Options(at=LATE))
    assert time_told(course, "ada").startswith("2026-03-02 12:00:00")
    assert "late" in report.notes[0]


# --- what is in place already


def twice(course: Course, tmp_path: Path, first: datetime, second: datetime, data: bytes) -> Report:
    collect(course, [source(tmp_path, "ada/lab90.ipynb", at=first)], ROSTER)
    return collect(course, [source(tmp_path, "ada/lab90.ipynb", data=data, at=second)], ROSTER)


def test_a_newer_one_replaces_with_its_time(course: Course, tmp_path: Path) -> None:
    report = twice(course, tmp_path, EARLY, LATE, book("newer"))
    assert len(report.replaced) == 1
    assert placed(course) == {f"ada/{ASSIGNMENT}": book("newer")}
    assert time_told(course, "ada").startswith("2026-03-02")


def test_an_older_one_is_left_out(course: Course, tmp_path: Path) -> None:
    report = twice(course, tmp_path, LATE, EARLY, book("older"))
    assert len(report.older) == 1
    assert placed(course) == ADA
    assert time_told(course, "ada").startswith("2026-03-02")


def test_the_same_one_changes_nothing(course: Course, tmp_path: Path) -> None:
    report = twice(course, tmp_path, EARLY, LATE, WORK)
    assert len(report.same) == 1
    assert time_told(course, "ada").startswith("2026-03-01")


def test_one_of_the_same_age_is_not_placed(course: Course, tmp_path: Path) -> None:
    report = twice(course, tmp_path, EARLY, EARLY, book("twin"))
    assert "same time" in one(report)
    assert placed(course) == ADA


def test_of_two_in_one_run_the_newer_counts(course: Course, tmp_path: Path) -> None:
    source(tmp_path, "ada/a lab90.ipynb", data=book("newer"), at=LATE)
    folder = source(tmp_path, "ada/b lab90.ipynb", data=book("older"), at=EARLY)
    collect(course, [folder], ROSTER)
    assert placed(course) == {f"ada/{ASSIGNMENT}": book("newer")}


def test_the_sources_stay_as_they_are(course: Course, tmp_path: Path) -> None:
    folder = source(tmp_path, *FORMS)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    collect(course, [folder], ROSTER)
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


# --- what is not placed


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("lab90.ipynb", "no folder or file name"),
        ("eve/lab90.ipynb", "no folder or file name"),
        ("Kim Lee_55_assignsubmission_file_/lab90.ipynb", "several learners have this name"),
        ("nobody_555_1_lab90.ipynb", "not in the roster"),
        ("anon_x7Yz1_5001_lab90.ipynb", "hides the names"),
        (f"eve+{ASSIGNMENT}+2026-03-01 12:00:00 UTC/{ASSIGNMENT}.ipynb", "'eve' is not in the roster"),
        (f"ada+{ASSIGNMENT}+2026-03-01 12:00:00 UTC/other.ipynb", "another notebook"),
        ("ada/lab90 and lab91.ipynb", "several assignments"),
        ("ada/lab91.ipynb", "holds the cells of lab90"),
    ],
)
def test_what_cannot_be_placed_is_listed_with_a_reason(
    name: str, words: str, course: Course, tmp_path: Path
) -> None:
    report = collect(course, [source(tmp_path, name)], ROSTER)
    assert words in one(report)
    assert placed(course) == {}


@pytest.mark.parametrize("name", ["lovelaceada_101_5001_lab90.ipynb", "ada/lab90.ipynb", "lab90.ipynb"])
def test_without_a_roster_nobody_is_guessed(name: str, course: Course, tmp_path: Path) -> None:
    assert "roster" in one(collect(course, [source(tmp_path, name)]))
    assert placed(course) == {}


def test_a_folder_of_labs_is_no_learner(course: Course, tmp_path: Path) -> None:
    folder = source(tmp_path, f"{ASSIGNMENT}/{ASSIGNMENT}.ipynb")
    assert "is 'in' a learner?" in one(collect(course, [folder]))


def test_an_unnamed_notebook_without_cells_of_a_lab(course: Course, tmp_path: Path) -> None:
    report = collect(course, [source(tmp_path, "ada/Untitled.ipynb", data=b"{}")], ROSTER)
    assert "neither its name nor its cells" in one(report)


def test_a_damaged_notebook_is_placed_and_gets_its_reason_from_grading(
    course: Course, tmp_path: Path
) -> None:
    collect(course, [source(tmp_path, "ada/lab90.ipynb", data=b"\x00\xff")], ROSTER)
    assert placed(course) == {f"ada/{ASSIGNMENT}": b"\x00\xff"}


def test_names_that_differ_in_case_only(course: Course, tmp_path: Path) -> None:
    names = [f"all/{name}/{ASSIGNMENT}/{ASSIGNMENT}.ipynb" for name in ("Ada", "ada")]
    report = collect(course, [source(tmp_path, *names)])
    assert "differ in case only" in one(report)
    assert set(placed(course)) == {f"Ada/{ASSIGNMENT}"}


@pytest.mark.parametrize(
    "options", [Options(assignment="lab77"), Options(student="../x"), Options(student="eve")]
)
def test_an_option_that_cannot_be_used_is_an_error(options: Options, course: Course, tmp_path: Path) -> None:
    with pytest.raises(CollectError):
        collect(course, [source(tmp_path, "lab90.ipynb")], ROSTER, options)


def test_the_command_lists_and_ends_with_1(
    course: Course, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = source(tmp_path, FORMS[0], "lab90\x1b[2J.ipynb")
    assert main(["collect", str(folder), "--root", str(course.root)]) == 1
    text = capsys.readouterr().out
    assert "1 placed" in text
    assert "NOT PLACED in/lab90\\x1b[2J.ipynb" in text


def test_the_command_reads_a_roster(
    course: Course, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "roster.csv").write_text("id,canvas_id\nada,101\n")
    path = archive(tmp_path / "x.zip", {"lovelaceada_101_5001_lab90.ipynb": WORK})
    arguments = ["collect", str(path), "--roster", str(tmp_path / "roster.csv"), "--root", str(course.root)]
    assert main(arguments) == 0
    assert placed(course) == ADA


# --- what means harm


def everything(folder: Path) -> dict[str, object]:
    """Each file below a folder, with its content, or where it links to."""
    found: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        found[name] = os.readlink(path) if path.is_symlink() else path.is_file() and path.read_bytes()
    return found


def member(name: str, mode: int = 0) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo("x.ipynb", (2026, 3, 1, 12, 0, 0))
    info.filename = info.orig_filename = name
    info.external_attr = mode << 16
    return info


BAD_MEMBERS = [
    ("/etc/lab90_ada.ipynb", 0, "absolute"),
    ("C:/lab90_ada.ipynb", 0, "absolute"),
    ("\\lab90_ada.ipynb", 0, "absolute"),
    ("../../lab90_ada.ipynb", 0, "leads out"),
    ("a/../../lab90_ada.ipynb", 0, "leads out"),
    ("..\\lab90_ada.ipynb", 0, "leads out"),
    ("a\\lab90_ada.ipynb", 0, "signs"),
    ("lab90_ada\x07.ipynb", 0, "signs"),
    ("lab90_ada\u202e.ipynb", 0, "signs"),
    ("lab90_ada.ipynb", stat.S_IFLNK | 0o777, "link"),
]


@pytest.mark.parametrize(("name", "mode", "words"), BAD_MEMBERS)
def test_a_bad_member_is_refused_and_the_rest_goes_on(
    name: str, mode: int, words: str, course: Course, tmp_path: Path
) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr(member(name, mode), WORK)
        file.writestr("lab90_bob.ipynb", WORK)
    before = everything(tmp_path)
    report = collect(course, [path], ROSTER)
    assert words in one(report)
    assert placed(course) == {f"bob/{ASSIGNMENT}": WORK}
    new = set(everything(tmp_path)) - set(before)
    assert all(entry.startswith("root/grader/submitted") for entry in new)


def test_members_whose_names_clash(course: Course, tmp_path: Path) -> None:
    path = archive(tmp_path / "x.zip", {"ada/lab90.ipynb": WORK, "ada/LAB90.ipynb": book("twin")})
    assert "case only" in one(collect(course, [path], ROSTER))
    assert placed(course) == ADA


def test_a_name_in_utf8_that_is_not_declared_is_read(course: Course, tmp_path: Path) -> None:
    roster = Roster([Student("zoe", "Zoë", "Müller")])
    path = archive(tmp_path / "x.zip", {"Zoë Müller/lab90.ipynb": WORK})
    raw = path.read_bytes()
    at = raw.rindex(b"PK\x01\x02")
    flags = int.from_bytes(raw[at + 8 : at + 10], "little") & ~intake.UTF8_NAME
    raw = raw[: at + 8] + flags.to_bytes(2, "little") + raw[at + 10 :]
    raw = raw[:6] + flags.to_bytes(2, "little") + raw[8:]
    path.write_bytes(raw)
    assert collect(course, [path], roster).not_placed == []
    assert set(placed(course)) == {f"zoe/{ASSIGNMENT}"}


def zeros(size: int) -> bytes:
    """A small archive with one notebook of `size` zero bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("lab90_ada.ipynb", b"\0" * size)
    return buffer.getvalue()


def test_a_bomb_is_not_unpacked(course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intake, "MAX_FILE_BYTES", 1 << 20)
    path = tmp_path / "x.zip"
    path.write_bytes(zeros(2 << 20))
    assert "larger than 1 MB" in one(collect(course, [path], ROSTER))


def test_a_bomb_that_lies_about_its_size_is_not_unpacked(
    course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intake, "MAX_FILE_BYTES", 1 << 20)
    raw, size = zeros(2 << 20), (2 << 20).to_bytes(4, "little")
    path = tmp_path / "x.zip"
    path.write_bytes(raw.replace(size, (10).to_bytes(4, "little")))
    assert one(collect(course, [path], ROSTER))
    assert placed(course) == {}


def test_many_members_together_are_bounded(
    course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intake, "MAX_UNPACKED_BYTES", len(WORK) + 10)
    path = archive(tmp_path / "x.zip", {"lab90_ada.ipynb": WORK, "lab90_bob.ipynb": WORK})
    assert "unpacks to more" in one(collect(course, [path], ROSTER))
    assert placed(course) == ADA


def test_too_many_members_are_refused(
    course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intake, "MAX_MEMBERS", 2)
    path = archive(tmp_path / "x.zip", {f"{number}/lab90_ada.ipynb": WORK for number in range(3)})
    assert "more than 2 members" in one(collect(course, [path], ROSTER))


def test_archives_are_opened_two_deep(course: Course, tmp_path: Path) -> None:
    data = WORK
    path = archive(tmp_path / "0.zip", {"lab90_ada.ipynb": data})
    for depth in range(1, 3):
        path = archive(tmp_path / f"{depth}.zip", {"in.zip": path.read_bytes()})
    assert "archive in an archive" in one(collect(course, [path], ROSTER))


@pytest.mark.parametrize("damage", [b"", b"PK\x03\x04", b"no archive at all"])
def test_a_damaged_archive_is_listed(damage: bytes, course: Course, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "bad.zip").write_bytes(damage)
    folder = source(tmp_path, "ada/lab90.ipynb")
    assert "not a zip archive" in one(collect(course, [folder], ROSTER))
    assert placed(course) == ADA


def test_every_broken_archive_is_survived(tmp_path: Path) -> None:
    whole = archive(tmp_path / "x.zip", {"ada/lab90.ipynb": b"text" * 50, "b/lab90.ipynb": b"x"}).read_bytes()
    broken = tmp_path / "broken.zip"
    for at in range(0, len(whole), 3):
        broken.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
        assert all(isinstance(item, (Found, Refused)) for item in read_source(broken))
        broken.write_bytes(whole[:at])
        assert all(isinstance(item, (Found, Refused)) for item in read_source(broken))


def test_an_encrypted_member_is_refused(course: Course, tmp_path: Path) -> None:
    path = archive(tmp_path / "x.zip", {"lab90_ada.ipynb": WORK})
    raw = bytearray(path.read_bytes())
    for mark, offset in ((b"PK\x01\x02", 8), (b"PK\x03\x04", 6)):
        raw[raw.rindex(mark) + offset] |= 1
    path.write_bytes(bytes(raw))
    assert "encrypted" in one(collect(course, [path], ROSTER))


def test_links_and_devices_in_a_folder_are_not_read(course: Course, tmp_path: Path) -> None:
    folder = source(tmp_path, "bob/lab90.ipynb")
    (tmp_path / "secret.ipynb").write_bytes(book("secret"))
    (tmp_path / "outside").mkdir()
    (folder / "ada").mkdir()
    (folder / "ada" / "lab90.ipynb").symlink_to(tmp_path / "secret.ipynb")
    (folder / "ada" / "more").symlink_to(tmp_path / "outside")
    os.mkfifo(folder / "ada" / "lab90_fifo.ipynb")
    report = collect(course, [folder], ROSTER)
    assert sorted(reason for _, reason in report.not_placed) == [
        "a link is not followed", "a link to a folder is not followed", "not a regular file",
    ]  # fmt: skip
    assert set(placed(course)) == {f"bob/{ASSIGNMENT}"}


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_nothing_is_written_through_a_link_in_submitted(depth: int, course: Course, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    link = (course.root / "grader").joinpath("submitted", "ada", ASSIGNMENT)
    link = [link.parent.parent, link.parent, link][depth]
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(outside)
    assert "is a link" in one(collect(course, [source(tmp_path, "ada/lab90.ipynb")], ROSTER))
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize("student", ["..", ".", "a\\b", ".hidden", "x" * 200])
def test_a_learner_cannot_be_a_path(student: str, course: Course, tmp_path: Path) -> None:
    path = archive(
        tmp_path / "x.zip", {f"{student}+{ASSIGNMENT}+2026-03-01 12:00:00 UTC/{ASSIGNMENT}.ipynb": WORK}
    )
    assert one(collect(course, [path]))
    assert placed(course) == {}


def test_a_source_that_is_not_there_is_listed(course: Course, tmp_path: Path) -> None:
    assert "no such file" in one(collect(course, [tmp_path / "nothing"]))


def test_what_was_collected_is_graded(course: Course, tmp_path: Path) -> None:
    collect(course, [source(tmp_path, "ada/lab90.ipynb")], ROSTER)
    assert [item.student for item in course.submissions(ASSIGNMENT)] == ["ada"]
