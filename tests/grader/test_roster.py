"""Reading a roster in the forms that nbgrader, Canvas and Moodle give, and finding learners in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.roster import Roster, RosterError, Student, is_valid_id, read_roster


def roster_of(tmp_path: Path, text: str) -> Roster:
    path = tmp_path / "roster.csv"
    path.write_bytes(text.encode("utf-8"))
    return read_roster(path)


OWN = "id,first_name,last_name,email,canvas_id,moodle_id\nada,Ada,Lovelace,ada@x.org,101,Participant 7\n"
CANVAS = (
    "Student,ID,SIS User ID,SIS Login ID,Section,lab01\n"
    "    Points Possible,,,,,20\n"
    '"Lovelace, Ada",101,S1,ada,Monday,3\n'
)
MOODLE = (
    "Identifier,Full name,ID number,Email address,Status,Grade\n"
    "Participant 7,Ada Lovelace,ada,ada@x.org,Submitted,\n"
)
PARTICIPANTS = "First name,Last name,ID number,Email address\nAda,Lovelace,ada,ada@x.org\n"


@pytest.mark.parametrize("text", [OWN, CANVAS, MOODLE, PARTICIPANTS])
@pytest.mark.parametrize(
    "change", [str, lambda text: "\ufeff" + text, lambda text: text.replace("\n", "\r\n")]
)
def test_each_form_gives_the_same_learner(text: str, change: object, tmp_path: Path) -> None:
    assert callable(change)
    roster = roster_of(tmp_path, change(text))
    (student,) = roster.students.values()
    assert (student.id, student.first_name, student.last_name) == ("ada", "Ada", "Lovelace")


def test_the_numbers_of_other_systems_are_kept(tmp_path: Path) -> None:
    canvas = roster_of(tmp_path, CANVAS).students["ada"]
    assert (canvas.canvas_id, canvas.sis_user_id, canvas.section) == ("101", "S1", "Monday")
    assert roster_of(tmp_path, MOODLE).students["ada"].moodle_id == "7"


def test_semicolons_divide_as_well(tmp_path: Path) -> None:
    assert roster_of(tmp_path, OWN.replace(",", ";")).students["ada"].canvas_id == "101"


@pytest.mark.parametrize(
    "name", ["Ada Lovelace", "lovelaceada", "Lovelace, Ada", "ADA  LOVELACE", "ada", "ada@x.org"]
)
def test_a_learner_is_found_by_what_files_are_called(name: str, tmp_path: Path) -> None:
    roster = roster_of(tmp_path, OWN)
    assert (roster.find("id", name) or roster.find("name", name)) == roster.students["ada"]


def test_accents_are_compared_whatever_their_encoding() -> None:
    roster = Roster([Student("z", "Zoe\u0308", "Müller")])
    assert roster.find("name", "Zoë Mu\u0308ller") == roster.students["z"]


def test_a_shared_name_finds_nobody() -> None:
    roster = Roster([Student("a", "Kim", "Lee"), Student("b", "Kim", "Lee")])
    assert roster.find("name", "Kim Lee") is None
    assert roster.is_shared("Kim Lee")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "needs a column 'id'"),
        ("colour,size\nred,3\n", "needs a column 'id'"),
        ("id\nada\nAda\n", "there twice"),
        ("id\n../x\n", "cannot name a folder"),
        ("id,first_name\n,Ada\n", "cannot name a folder"),
    ],
)
def test_a_roster_that_cannot_be_used_is_named(text: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(RosterError, match=words) as caught:
        roster_of(tmp_path, text)
    assert "roster.csv" in str(caught.value)


def test_a_roster_in_another_encoding_is_named(tmp_path: Path) -> None:
    path = tmp_path / "roster.csv"
    path.write_bytes("id,last_name\nada,M\xfcller\n".encode("latin-1"))
    with pytest.raises(RosterError, match="UTF-8"):
        read_roster(path)


@pytest.mark.parametrize("text", ["ada", "ada@x.org", "o'neil", "Zoë", "a b", "s-1_2.3"])
def test_ids_that_can_name_a_folder(text: str) -> None:
    assert is_valid_id(text)


@pytest.mark.parametrize(
    "text", ["", ".", "..", ".a", "a/b", "a\\b", "a\nb", "a\0b", " a", "a:b", "x" * 101, "a\u202eb"]
)
def test_ids_that_cannot(text: str) -> None:
    assert not is_valid_id(text)


def test_an_id_is_found_as_it_is_written() -> None:
    roster = Roster([Student("s-1"), Student("s1")])
    assert roster.find("id", "s-1") == roster.students["s-1"]
    assert roster.find("id", "S_1") is None
