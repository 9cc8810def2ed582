"""What the prose refers to is there: files, headings, labs, chapters, questions, sections, names of the kit.

Addresses of the web are not fetched. They are well formed, and one address has one name in one document.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from inference_kit.labs.build import find_labs
from tests.house.prose import Document, documents, slug, target_headings
from tests.house.tree import ROOT

Rule = Callable[[Document], Iterator[str]]

URL = re.compile(r"https?:/{0,2}[^\s<>\"'`)\]]*")
KIT_PATH = re.compile(
    r"(?<![\w/.-])((?:inference_kit|grader|course|labs|solutions|tools|tests|bench)/[\w./-]*[\w/])"
)
PLACEHOLDER = re.compile(r"NN|QM|STUDENT|\bNAME\b")
DOTTED = re.compile(r"`(inference_kit(?:\.\w+)+)")
NUMBERS = r"(\d+(?:(?:, \d+)*,? (?:and|or|to) \d+)?)"
LABS = {lab.lab.removeprefix("lab"): lab for lab in find_labs()}
CHAPTERS = {path.stem[2:4] for path in (ROOT / "course" / "src").glob("ch[0-9][0-9]_*.py")}
INDEX = (ROOT / "course" / "src" / "index.py").read_text(encoding="utf-8")
PLANNED = set(re.findall(r"^# \| (\d\d) ", INDEX, re.MULTILINE))


def numbers(text: str) -> list[int]:
    """`3 and 4` is 3, 4."""
    return [int(number) for number in re.findall(r"\d+", text)]


# --- the rules: each yields one line for each fault


def relative_links_lead_to_files(document: Document) -> Iterator[str]:
    for words, target in document.links:
        path, _, anchor = target.partition("#")
        if not target or not words:
            yield f"[{words}]({target}) is half a link"
        elif not re.match(r"[a-z]+:", target):
            for place in document.places:
                yield from _broken(document, place, path, anchor)


def _broken(document: Document, place: Path, path: str, anchor: str) -> Iterator[str]:
    file = (place / path).resolve()
    inside = file.is_relative_to(ROOT)
    if path and not (inside and file.exists()):
        yield f"{path} is not there, seen from {place.relative_to(ROOT)}/"
    elif anchor:
        known = target_headings(file) if path else {slug(heading) for heading in document.headings}
        if anchor not in known:
            yield f"{path}#{anchor}: there is no such heading"


def paths_of_the_kit_exist(document: Document) -> Iterator[str]:
    for path in KIT_PATH.findall(document.text):
        if not PLACEHOLDER.search(path) and not (ROOT / path).exists() and not _is_built(path):
            yield f"{path} is not there"


def _is_built(path: str) -> bool:
    """What grading makes: it is in nobody's tree until then."""
    return path.startswith(("grader/submitted", "grader/feedback", "grader/autograded"))


def names_of_the_kit_exist(document: Document) -> Iterator[str]:
    for name in DOTTED.findall(document.text):
        if ".room." not in name and not _resolves(name):
            yield f"{name} does not exist"


def _resolves(name: str) -> bool:
    parts = name.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            found: object = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        for part in parts[cut:]:
            if not hasattr(found, part):
                return False
            found = getattr(found, part)
        return True
    return False


def labs_and_questions_exist(document: Document) -> Iterator[str]:
    for lab, question in re.findall(r"\blab(\d\d)(?:[./](q\d+))?", document.whole):
        if lab not in LABS:
            yield f"lab{lab} does not exist"
        elif question and question not in LABS[lab].checks().questions:
            yield f"lab{lab}.{question} does not exist"
    for said in re.findall(rf"\b[Ll]abs? {NUMBERS}", document.text):
        for lab in numbers(said):
            if f"{lab:02}" not in PLANNED:
                yield f"lab {lab} is not on the map of the course"


def chapters_exist(document: Document) -> Iterator[str]:
    # The Unicode standard has chapters too.
    for said in re.findall(rf"(?<!standard, )\b[Cc]hapters? {NUMBERS}", document.text):
        for chapter in numbers(said):
            if f"{chapter:02}" not in CHAPTERS:
                yield f"chapter {chapter} does not exist"


def sections_exist(document: Document) -> Iterator[str]:
    own = {int(number) for number in re.findall(r"^## (\d+)\.", document.text, re.MULTILINE)}
    for said in re.findall(rf"\b[Ss]ections? {NUMBERS}(?! of chapter)", document.text):
        for section in numbers(said):
            if section not in own:
                yield f"there is no section {section}"
    for said in re.findall(r"files named in section (\d+)", document.text):
        body = re.split(rf"^## {said}\.", document.text, flags=re.MULTILINE)[-1].split("\n## ")[0]
        if not re.search(r"`[\w./]+/[\w./]+\.\w+`", body):
            yield f"section {said} names no files"


def questions_exist(document: Document) -> Iterator[str]:
    # The questions at the end of a chapter stand in bold: **3.**
    own = {f"q{number}" for number in re.findall(r"^\*\*(\d+)\.\*\*", document.text, re.MULTILINE)}
    for said, other in re.findall(rf"\b[Qq]uestions? {NUMBERS}(?: of lab (\d\d))?", document.text):
        lab = other or document.lab
        known = own if not lab else set(LABS[lab].checks().questions) if lab in LABS else set()
        for question in numbers(said):
            if f"q{question}" not in known:
                yield f"question {question} of {f'lab {lab}' if lab else 'this chapter'} does not exist"


def a_lab_and_its_chapter_name_each_other(document: Document) -> Iterator[str]:
    if document.name.startswith("solutions/") and f"course/ch{document.lab}_" not in document.text:
        yield "the lab does not name its chapter"
    if document.chapter and not re.search(rf"\blab {document.chapter}\b", document.text):
        yield "the chapter does not name its lab"


def addresses_are_well_formed(document: Document) -> Iterator[str]:
    for url in _addresses(document):
        parts = urlsplit(url)
        host = parts.hostname or ""
        if parts.scheme != "https" or not re.fullmatch(r"[a-z0-9-]+(\.[a-z0-9-]+)+", host) or ".." in url:
            yield f"{url} is not a well-formed https address"


def an_address_has_one_name(document: Document) -> Iterator[str]:
    named = [(words, target) for words, target in document.links if target.startswith("http")]
    for words, target in named:
        if any(other != target for name, other in named if name == words):
            yield f"{words!r} leads to several addresses"
        if any(name != words for name, other in named if other == target):
            yield f"{target} has several names"


def _addresses(document: Document) -> list[str]:
    return [url.rstrip(".,;:") for url in URL.findall(document.text)]


RULES: tuple[Rule, ...] = (
    relative_links_lead_to_files,
    paths_of_the_kit_exist,
    names_of_the_kit_exist,
    labs_and_questions_exist,
    chapters_exist,
    sections_exist,
    questions_exist,
    a_lab_and_its_chapter_name_each_other,
    addresses_are_well_formed,
    an_address_has_one_name,
)


@pytest.mark.parametrize("document", documents(), ids=lambda document: document.name)
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_what_the_prose_refers_to_is_there(rule: Rule, document: Document) -> None:
    assert list(rule(document)) == []


def test_every_kind_of_prose_is_read() -> None:
    names = {document.name for document in documents()}
    masters = {lab.master.relative_to(ROOT).as_posix() for lab in LABS.values()}
    chapters = {path.relative_to(ROOT).as_posix() for path in (ROOT / "course" / "src").glob("*.py")}
    assert {"README.md", "CONTRIBUTING.md"} | masters | chapters <= names
    assert any("quizzes" in name for name in names)


# --- each rule finds its faults


def said(text: str, **facts: str) -> Document:
    return Document("solutions/planted.py", text, text, (ROOT / "course",), **facts)


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (relative_links_lead_to_files, "[x](ch99_none.ipynb)"),
        (relative_links_lead_to_files, "[x](../../outside.md)"),
        (relative_links_lead_to_files, "[x]()"),
        (relative_links_lead_to_files, "[x](#nowhere)"),
        (relative_links_lead_to_files, "[x](ch01_lifecycle.ipynb#nowhere)"),
        (paths_of_the_kit_exist, "see `inference_kit/kv/none.py`"),
        (names_of_the_kit_exist, "see `inference_kit.kv.NoPool`"),
        (names_of_the_kit_exist, "see `inference_kit.none`"),
        (labs_and_questions_exist, 'check("lab01.q99")'),
        (labs_and_questions_exist, "lab77"),
        (labs_and_questions_exist, "labs 01 and 77"),
        (chapters_exist, "Chapter 99"),
        (sections_exist, "## 1. One\nas in section 2"),
        (sections_exist, "## 1. One\nnothing\n\n## 2. Two\nThe files named in section 1."),
        (questions_exist, "questions 1 and 99"),
        (questions_exist, "question 99 of lab 02"),
        (a_lab_and_its_chapter_name_each_other, "no chapter"),
        (addresses_are_well_formed, "http://example.org/a"),
        (addresses_are_well_formed, "<https://example>"),
        (addresses_are_well_formed, "https:/example.org"),
        (an_address_has_one_name, "[a](https://a.org/x) [b](https://a.org/x)"),
        (an_address_has_one_name, "[a](https://a.org/x) [a](https://a.org/y)"),
    ],
)
def test_a_planted_fault_is_found(rule: Rule, text: str) -> None:
    assert list(rule(said(text, lab="01")))


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (
            relative_links_lead_to_files,
            "# A `b` c!\n[x](#a-b-c) [y](ch01_lifecycle.ipynb) [z](https://a.org)",
        ),
        (paths_of_the_kit_exist, "`vllm/tests/none.py` `solutions/labNN_name/` `inference_kit/kv/`"),
        (names_of_the_kit_exist, "`inference_kit.kv.BlockPool` `inference_kit.labs`"),
        (labs_and_questions_exist, 'check("lab01.q2"), lab 12'),
        (sections_exist, "## 1. One\n`a/b.py`\nThe files named in section 1."),
        (questions_exist, "questions 1 to 3, question 3 of lab 02"),
        (addresses_are_well_formed, "(https://a.org/x), <https://b.example.org/y#z>."),
        (an_address_has_one_name, "[a](https://a.org/x) [a](https://a.org/x)"),
    ],
)
def test_what_is_right_is_no_fault(rule: Rule, text: str) -> None:
    assert list(rule(said(text, lab="01"))) == []
