"""Who runs next: admission, token budget, chunks, preemption (A1, A15). No torch."""

from .decodes import DecodeBatch
from .plan import Runner, ScheduledChunk, StepOutput, StepPlan, TokenLogprob
from .policy import POLICIES, Policy
from .scheduler import Scheduler, SchedulerConfig, Scheduling

__all__ = [
    "POLICIES",
    "DecodeBatch",
    "Policy",
    "Runner",
    "ScheduledChunk",
    "Scheduler",
    "SchedulerConfig",
    "Scheduling",
    "StepOutput",
    "StepPlan",
    "TokenLogprob",
]
