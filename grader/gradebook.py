"""Writing outcomes where nbgrader's own commands put theirs: the gradebook and the graded files.

Owns the two writes and their order. Both can be repeated: they depend on the outcome alone.
Invariant: a graded file is whole or absent, and the grades of one submission change together.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook, MissingEntry, SubmittedAssignment, SubmittedNotebook
from nbgrader.plugins import LateSubmissionPlugin
from nbgrader.preprocessors import AssignLatePenalties
from nbgrader.utils import find_all_files

from inference_kit.errors import KitError

from .course import Course, CourseMismatch, Submission
from .pipeline import Outcome

LOCK_WAIT_S = 60
READ_ONLY = 0o444


class LateRuleFailed(KitError):
    """The course's own rule for late work raised an error; the message says which."""


class Writer:
    """The gradebook of a course, open for writing."""

    def __init__(self, course: Course) -> None:
        self._course = course
        url = course.directory.db_url
        if url.startswith("sqlite:"):
            url += ("&" if "?" in url else "?") + f"timeout={LOCK_WAIT_S}"
        self._gradebook = Gradebook(url, course.directory.course_id)
        self._penalties = AssignLatePenalties(config=course.config)
        self._penalties.init_plugin()

    def close(self) -> None:
        """Let go of the gradebook."""
        self._gradebook.close()

    def require_same_points(self, assignment: str, points: dict[str, float]) -> None:
        """Raise `CourseMismatch` unless the gradebook has these graded cells and points."""
        try:
            known = self._gradebook.find_notebook(assignment, assignment)
            theirs = {cell.name: float(cell.max_score) for cell in known.grade_cells}
        except MissingEntry:
            theirs = {}
        if points != theirs:
            names = sorted(
                {name for name in points.keys() | theirs.keys() if points.get(name) != theirs.get(name)}
            )
            raise CourseMismatch(
                f"the gradebook and the source notebook differ in {', '.join(names)}; "
                f"run 'nbgrader generate_assignment {assignment} --force'"
            )

    def auto_scores(self, assignment: str) -> dict[str, float]:
        """Sum of the automatic scores in the gradebook, by student. A submission without any is absent."""
        found = {}
        for submission in self._gradebook.assignment_submissions(assignment):
            scores = [grade.auto_score for notebook in submission.notebooks for grade in notebook.grades]
            known = [score for score in scores if score is not None]
            if known:
                found[submission.student.id] = sum(known)
        return found

    def write(self, outcome: Outcome) -> None:
        """Write the graded file, then the grades."""
        self._write_files(outcome)
        self._write_grades(outcome)

    def _write_files(self, outcome: Outcome) -> None:
        submission, course = outcome.submission, self._course
        target = course.folder("autograded", submission.student, submission.assignment)
        target.mkdir(parents=True, exist_ok=True)
        ignore = [*course.directory.ignore, "*.ipynb"]
        source = course.folder("source", ".", submission.assignment)
        for origin in (submission.path.parent, source):
            for found in find_all_files(str(origin), ignore):
                path = Path(found)
                if path.is_file() and not has_link(path, origin):
                    place(path, target / path.relative_to(origin))
        replace_text(target / f"{submission.notebook}.ipynb", outcome.notebook)

    def _write_grades(self, outcome: Outcome) -> None:
        try:
            self._change_grades(outcome)
        except BaseException:
            self._gradebook.db.rollback()
            raise

    def _change_grades(self, outcome: Outcome) -> None:
        submission, book = outcome.submission, self._gradebook
        with book.db.no_autoflush:
            book.update_or_create_student(submission.student)
        fields: dict[str, Any] = {}
        timestamp = self._timestamp(submission.path.parent)
        if timestamp is not None:
            fields["timestamp"] = timestamp
        with book.db.no_autoflush:
            submitted = book.update_or_create_submission(submission.assignment, submission.student, **fields)
        notebook = book.find_submission_notebook(
            submission.notebook, submission.assignment, submission.student
        )
        for grade in notebook.grades:
            if grade.name not in outcome.scores:
                continue  # a task cell: only a person scores it
            grade.auto_score = outcome.scores[grade.name]
            # As nbgrader: what a person scored once, a person looks at again.
            grade.needs_manual_grade = grade.manual_score is not None or grade.auto_score is None
        for comment in notebook.comments:
            comment.auto_comment = "No response." if outcome.blank.get(comment.name) else None
        book.db.flush()
        notebook.late_submission_penalty = self._late_penalty(submitted, notebook)
        book.db.commit()

    def refresh_lateness(self, assignment: str, submissions: list[Submission]) -> dict[str, str]:
        """Bring time and penalty up to date where nothing else changed: a due date or an extension may have.

        Returns why that failed, by student.
        """
        folders = {submission.student: submission.path.parent for submission in submissions}
        failed = {}
        for submitted in self._gradebook.assignment_submissions(assignment):
            if submitted.student.id not in folders:
                continue
            submitted.timestamp = self._timestamp(folders[submitted.student.id]) or submitted.timestamp
            for notebook in submitted.notebooks:
                try:
                    notebook.late_submission_penalty = self._late_penalty(submitted, notebook)
                except LateRuleFailed as error:
                    failed[submitted.student.id] = str(error)
        self._gradebook.db.commit()
        return failed

    def _timestamp(self, folder: Path) -> Any:
        """When it was submitted. An unreadable timestamp is none, and stops nothing."""
        path = folder / "timestamp.txt"
        if path.is_symlink():
            return None
        try:
            return self._course.directory.get_existing_timestamp(str(folder))
        except (ValueError, OSError, AttributeError):  # the last is nbgrader's way to refuse a text
            return None

    def _late_penalty(self, submitted: SubmittedAssignment, notebook: SubmittedNotebook) -> float | None:
        """What the course's rule takes from a late notebook, within its score. Raises `LateRuleFailed`."""
        # nbgrader cannot add an extension to a due date that is not there.
        if submitted.assignment.duedate is None or submitted.total_seconds_late <= 0:
            return None
        rule: LateSubmissionPlugin = self._penalties.plugin_inst
        student, score = submitted.student.id, float(notebook.score)
        try:
            penalty = rule.late_submission_penalty(student, score, submitted.total_seconds_late)
            return None if penalty is None else min(max(float(penalty), 0.0), score)
        except Exception as error:
            raise LateRuleFailed(
                f"the rule for late work, {type(rule).__name__}, failed: {type(error).__name__}: {error}"
            ) from error


def has_link(path: Path, top: Path) -> bool:
    """True when a path goes through a link below `top`: it may lead to somebody else's file."""
    while path != top:
        if path.is_symlink():
            return True
        path = path.parent
    return False


def place(source: Path, target: Path) -> None:
    """Copy one file, read-only, so that it is whole or absent."""
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = draft_of(target)
    shutil.copyfile(source, draft)
    draft.chmod(READ_ONLY)
    draft.replace(target)


def replace_text(target: Path, text: str) -> None:
    """Write a read-only text file, so that it is whole or absent."""
    draft = draft_of(target)
    draft.write_text(text, encoding="utf-8")
    draft.chmod(READ_ONLY)
    draft.replace(target)


def draft_of(target: Path) -> Path:
    """Where a file is written first. One that a killed run left is removed."""
    draft = target.with_name(f".{target.name}.draft")
    draft.unlink(missing_ok=True)
    return draft
