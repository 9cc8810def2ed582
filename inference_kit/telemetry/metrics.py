"""Counters made from events, and from events only (C6, C7).

Owns totals with few labels: the finish reason. Never a request id or a prompt. Invariant: every
admitted-to-the-engine request is counted once when it arrives and once when it ends.
"""

from __future__ import annotations

from collections import Counter

from ..lifecycle.request import LoggedEvent
from ..lifecycle.states import TERMINAL_STATES
from .events import TokenLines


class Metrics:
    """Totals since the start. Feed `observe` with every event."""

    def __init__(self) -> None:
        self.received = 0
        self.rejected = 0
        self.admitted = 0
        self.preempted = 0
        self.committed_tokens = 0
        self.discarded_tokens = 0
        """Proposed by the runner and never committed; the engine counts them, there is no event."""
        self.sent_tokens = 0
        """Taken by readers, who are beside the engine's events."""
        self.finished: Counter[str] = Counter()

    def observe(self, entry: LoggedEvent) -> None:
        """Count one event. A rejected request has no event: `submit` counts it itself."""
        if entry.event == "receive":
            self.received += 1
        elif entry.event == "admit":
            self.admitted += 1
        elif entry.event == "preempt":
            self.preempted += 1
        elif entry.event == "token":
            self.committed_tokens += 1
        elif entry.state in TERMINAL_STATES:
            self.finished[str(entry.data.get("reason"))] += 1

    def observe_tokens(self, lines: TokenLines) -> None:
        """Count the tokens of one step."""
        self.committed_tokens += len(lines)

    def snapshot(self) -> dict[str, int | dict[str, int]]:
        """All totals as plain data."""
        return {
            "received": self.received,
            "rejected": self.rejected,
            "admitted": self.admitted,
            "preempted": self.preempted,
            "proposed_tokens": self.committed_tokens + self.discarded_tokens,
            "committed_tokens": self.committed_tokens,
            "sent_tokens": self.sent_tokens,
            "finished": dict(self.finished),
        }
