"""What requests did: the event log and the counters made from it. No text, no prompts."""

from .events import EventLog, TokenLines
from .metrics import Metrics

__all__ = ["EventLog", "Metrics", "TokenLines"]
