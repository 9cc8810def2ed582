"""Rules for late work that the tests put into nbgrader's configuration."""

from __future__ import annotations

from nbgrader.plugins import LateSubmissionPlugin

ODD = {"below-zero": -5.0, "no-answer": None, "above-score": 1000.0}


class PerHour(LateSubmissionPlugin):
    """One point for each hour that has begun; for some learners what no rule should answer."""

    def late_submission_penalty(
        self, student_id: str, score: float, total_seconds_late: float
    ) -> float | None:
        if student_id == "no-rule":
            raise ZeroDivisionError("a fault in the rule")
        return ODD.get(student_id, float(-(-total_seconds_late // 3600)))
