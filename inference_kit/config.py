"""The configuration of an engine and the deadlines of a request: frozen, checked, explained.

A field's docstring is also its help text. An unknown option is an error, and so is a value that
this version cannot honour.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .errors import InvalidField
from .sampling import MAX_SEED, check_int, check_number, strict

DTYPES = ("auto", "float32", "bfloat16", "float16")
POLICIES = ("fcfs", "priority", "skip_blocked", "reserve")
MAX_DEADLINE_S = 3600.0
COUNTS = (
    "block_size",
    "max_step_tokens",
    "max_running",
    "max_waiting",
    "max_waiting_tokens",
    "decode_rounds",
)
"""Fields that are whole numbers from 1 on."""


@strict
@dataclass(frozen=True)
class Deadlines:
    """Limits in seconds; None means no limit. Each is in (0, 3600].

    Raises `InvalidField` for zero, negative, NaN, infinite, too large or non-number values.
    """

    queue_s: float | None = None
    """From entering the queue to the first admission."""
    ttft_s: float | None = None
    """From received to the first token."""
    inter_token_s: float | None = None
    """Between two tokens; it runs through a preemption."""
    overall_s: float | None = None
    """From received to the end."""

    def __post_init__(self) -> None:
        for name in ("queue_s", "ttft_s", "inter_token_s", "overall_s"):
            value = getattr(self, name)
            if value is None:
                continue
            check_number(name, value, 0.0, MAX_DEADLINE_S, low_open=True)

    @classmethod
    def make(cls, value: Deadlines | dict[str, Any] | None) -> Deadlines:
        """Accept a `Deadlines`, a mapping of its fields, or None."""
        if value is None:
            return cls()
        if isinstance(value, cls):
            return value
        if isinstance(value, dict):
            return cls(**value)
        raise InvalidField("deadlines", value, "a Deadlines or a mapping of its fields")


@strict
@dataclass(frozen=True)
class EngineConfig:
    """How an engine runs. Raises `InvalidField` naming the field, the value and what is allowed."""

    model: str = "smollm2"
    """`tiny`, `smollm2`, a folder, or a Hugging Face id of a Llama, Mistral, Qwen2 or Qwen3 model."""
    dtype: str = "auto"
    """auto, float32, bfloat16 or float16. auto: bfloat16 where the processor is fast at it."""
    device: str = "auto"
    """auto, cpu or cuda. auto takes a GPU when there is one."""
    seed: int | None = None
    """Seed of requests that give none. None: fresh entropy for each request."""
    block_size: int = 16
    """Tokens in one KV block."""
    num_kv_blocks: int | None = None
    """Blocks in the KV pool. None: up to 1 GiB and a quarter of the free memory, but one full context."""
    max_model_len: int | None = None
    """Longest prompt + answer in tokens. None: the model's context."""
    max_step_tokens: int = 256
    """Token budget of one step. Any value >= 1 works, also below `max_running`."""
    max_running: int = 32
    """Most requests that hold KV at the same time."""
    max_waiting: int = 1024
    """Most requests in the waiting queue; one more is refused with `QueueFull` (convention 8)."""
    max_waiting_tokens: int = 1_000_000
    """Most prompt tokens in the waiting queue (convention 8)."""
    decode_rounds: int = 1
    """Most tokens that one step makes for a request, inside the blocks it has. More rounds cost less
    scheduling; cancels, deadlines and newcomers wait until the step is over."""
    max_prefill_chunk: int | None = None
    """Most prompt tokens of one request in one step. None: the step's budget."""
    prefix_caching: bool = False
    """Reuse of computed blocks by later requests that begin with the same tokens (convention 11)."""
    policy: str = "fcfs"
    """Order of admission: fcfs (arrival), priority (smallest first, with ageing), skip_blocked (one that
    does not fit may be passed) or reserve (room for the longest answer; nobody is preempted)."""
    priority_ageing_s: float = 30.0
    """Policy `priority`: a wait of so many seconds is worth one step of priority. Range (0, 3600]."""
    max_passes: int = 64
    """Policy `skip_blocked`: most later requests that may pass one that does not fit."""
    offload_blocks: int = 0
    """Blocks in host memory that keep what preempted requests had computed. 0: they compute it again."""
    watermark: float = 0.04
    """Share of the pool that an admission leaves free while others run. Range [0, 0.5]."""
    attention: str = "gather"
    """How attention reads the paged cache. This version: gather."""
    deadlines: Deadlines = Deadlines()
    """Limits of requests that give none."""
    channel_high: int = 64
    """Unsent tokens at which a request pauses (convention 8)."""
    channel_low: int = 16
    """Unsent tokens at which it resumes; below `channel_high`."""
    slow_consumer_s: float | None = 30.0
    """Longest pause in seconds before the request ends with `slow_consumer`. None: no limit."""
    step_limit_s: float | None = 60.0
    """A step that takes this long makes the engine unhealthy until it ends. None: no limit."""
    drain_s: float = 0.0
    """How long a shutdown lets live requests finish before it ends them with `shutdown`."""

    def __post_init__(self) -> None:
        if not isinstance(self.model, str) or not self.model:
            raise InvalidField("model", self.model, "a model name, a Hugging Face id or a folder")
        _check_choice("dtype", self.dtype, DTYPES)
        _check_choice("device", self.device, ("auto", "cpu", "cuda"))
        _check_choice("policy", self.policy, POLICIES)
        _check_choice("attention", self.attention, ("gather",))
        if not isinstance(self.prefix_caching, bool):
            raise InvalidField("prefix_caching", self.prefix_caching, "True or False")
        if self.seed is not None:
            check_int("seed", self.seed, 0, MAX_SEED)
        for name in COUNTS:
            check_int(name, getattr(self, name), 1)
        for name in ("num_kv_blocks", "max_model_len", "max_prefill_chunk"):
            if getattr(self, name) is not None:
                check_int(name, getattr(self, name), 1)
        check_number("watermark", self.watermark, 0.0, 0.5)
        check_number("priority_ageing_s", self.priority_ageing_s, 0.0, 3600.0, low_open=True)
        check_int("max_passes", self.max_passes, 0)
        check_int("offload_blocks", self.offload_blocks, 0)
        check_int("channel_high", self.channel_high, 1)
        check_int("channel_low", self.channel_low, 0, self.channel_high - 1)
        if self.slow_consumer_s is not None:
            check_number("slow_consumer_s", self.slow_consumer_s, 0.0, 3600.0, low_open=True)
        if self.step_limit_s is not None:
            check_number("step_limit_s", self.step_limit_s, 0.0, 3600.0, low_open=True)
        check_number("drain_s", self.drain_s, 0.0, 3600.0)
        object.__setattr__(self, "deadlines", Deadlines.make(self.deadlines))


def _check_choice(field: str, value: Any, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise InvalidField(field, value, ", ".join(choices))
