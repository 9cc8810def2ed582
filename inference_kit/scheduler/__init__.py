"""Who runs next: admission, token budget, chunks, preemption (A1, A15). No torch."""

from .plan import Runner, ScheduledChunk, StepOutput, StepPlan
from .scheduler import Scheduler, SchedulerConfig, Scheduling

__all__ = [
    "Runner",
    "ScheduledChunk",
    "Scheduler",
    "SchedulerConfig",
    "Scheduling",
    "StepOutput",
    "StepPlan",
]
