"""`python -m inference_kit.labs.report` (`make checks-report`): what every lab's checks catch.

Prints one line for each question and exits 1 when a gate is red. Owns the table only.
"""

from __future__ import annotations

import sys

from .build import find_labs
from .extract import MasterError
from .gates import QuestionReport, examine_lab

HEAD = ("question", "points", "checks", "accepts", "rejects", "mutants", "unique kills", "s/check", "gate")


def row(report: QuestionReport) -> tuple[str, ...]:
    """One line of the table. `unique kills`: the smallest number over the checks."""
    return (
        f"{report.lab}.{report.question}",
        str(report.points),
        str(report.checks),
        str(report.accepts),
        str(report.rejects),
        f"{report.mutants_caught}/{report.mutants}",
        f">= {min(report.unique_kills.values(), default=0)} each",
        f"{report.check_s:.3f}",
        "red" if report.problems else "green",
    )


def main() -> int:
    reports = []
    try:
        for lab in find_labs():
            reports += examine_lab(lab)
    except MasterError as error:
        print(f"checks-report: {error}", file=sys.stderr)
        return 1
    rows = [HEAD, *(row(report) for report in reports)]
    widths = [max(len(line[column]) for line in rows) for column in range(len(HEAD))]
    for line in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())
    for report in reports:
        for name in report.survivors:
            print(f"survivor {report.lab}.{report.question}: {name}")
        for problem in report.problems:
            print(f"red {report.lab}.{report.question}: {problem}", file=sys.stderr)
    return 1 if any(report.problems for report in reports) else 0


if __name__ == "__main__":
    sys.exit(main())
