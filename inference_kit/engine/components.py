"""The replaceable parts of an engine: one slot for each part that a lab builds.

Owns nothing but the slots. A slot that is left out uses the kit's own part. Invariant: every part
named here is really called by the running engine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from ..config import Deadlines
from ..kv.block_pool import BlockPool
from ..kv.manager import KVManager
from ..kv.pooling import Pooling
from ..kv.prefix_cache import Caching, PrefixCache
from ..lifecycle.deadlines import ClockMarks, first_expired
from ..lifecycle.request import DEFAULT_LIFECYCLE, Lifecycle
from ..lifecycle.states import FinishReason
from ..sampling import strict
from ..scheduler.plan import Runner
from ..scheduler.scheduler import Scheduler, SchedulerConfig, Scheduling
from ..streaming.channel import Channel, TokenChannel
from ..streaming.stop import Matcher, StopMatcher
from ..streaming.utf8 import Decoder, Utf8Decoder
from ..telemetry.events import EventLog


@strict
@dataclass(frozen=True)
class Components:
    """Parts for `Engine(config, components=...)` and `LLM(model, components=...)`."""

    lifecycle: Lifecycle = DEFAULT_LIFECYCLE
    """Legal moves and the settle-once end of a request (lab 01)."""
    telemetry: Callable[[], EventLog] = EventLog
    """Makes the event log (lab 02)."""
    utf8_decoder: Callable[[], Decoder] = Utf8Decoder
    """Makes the byte decoder of one request (lab 03)."""
    stop_matcher: Callable[[Iterable[str]], Matcher] = StopMatcher
    """Makes the stop matcher of one request (lab 03)."""
    endings: Callable[[Deadlines, ClockMarks, float], tuple[FinishReason, float] | None] = first_expired
    """Decides which deadline has passed (lab 04)."""
    channel: Callable[[int, int, Callable[[], None] | None], Channel] = TokenChannel
    """Makes the bounded channel of one request from (high, low, on_resume) (lab 05)."""
    block_pool: Callable[[int, int], Pooling] = BlockPool
    """Makes the pool from (num_blocks, block_size) (lab 06)."""
    prefix_cache: Callable[[Pooling], Caching] = PrefixCache
    """Makes the prefix cache over a pool (lab 07); used when `prefix_caching` is on."""
    scheduler: Callable[[SchedulerConfig, KVManager], Scheduling] = Scheduler
    """Makes the scheduler (lab 08)."""
    runner: Callable[[int, int], Runner] | None = None
    """Makes the runner from (num_blocks, block_size) (lab 09). None: the loaded model's own."""
    sampler: Any = None
    """Chooses ids from logits (lab 10). None: the model runner's own."""

    @property
    def any_sees_tokens(self) -> bool:
        """True when a replaced part must be asked at each token or at each boundary.

        Then the engine looks at every request every time, instead of only where its own parts would act.
        """
        return any(
            getattr(self, name) is not getattr(Components, name)
            for name in ("telemetry", "utf8_decoder", "stop_matcher", "endings", "channel")
        )
