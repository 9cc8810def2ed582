"""Puts an `EngineCore` together: loads the model, sizes the KV pool, fills the slots."""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..clock import Clock, MonotonicClock
from ..config import EngineConfig
from ..errors import InvalidField
from ..scheduler.plan import Runner
from .components import Components
from .core import EngineCore
from .vocabulary import Vocabulary

if TYPE_CHECKING:
    from ..model import LoadedModel

MAX_POOL_BYTES = 1 << 30
FREE_MEMORY_SHARE = 0.25


def load_model(config: EngineConfig, progress: bool) -> LoadedModel:
    """Load the model that `config` names. Imports torch only here."""
    from ..model import load

    return load(config.model, dtype=config.dtype, device=config.device, progress=progress)


def build_core(
    config: EngineConfig, model: LoadedModel, components: Components | None = None, clock: Clock | None = None
) -> EngineCore:
    """An engine core that runs `model`."""
    components = components or Components()
    shape = model.config
    context = min(shape.max_position_embeddings, config.max_model_len or shape.max_position_embeddings)
    if config.num_kv_blocks is None:
        blocks = default_num_blocks(config, context, model.kv_bytes_per_token)
        config = dataclasses.replace(config, num_kv_blocks=blocks)
    blocks = config.num_kv_blocks or 0
    if components.runner is not None:
        if config.offload_blocks:
            raise InvalidField("offload_blocks", config.offload_blocks, "0 with a replaced runner")
        runner = components.runner(blocks, config.block_size)
    else:
        runner = _make_runner(model, config, components.sampler)
    vocabulary = Vocabulary(
        size=shape.vocab_size,
        context=shape.max_position_embeddings,
        eos_token_ids=frozenset(shape.eos_token_ids),
        tokenizer=model.tokenizer,
    )
    return EngineCore(config, runner, vocabulary, clock or MonotonicClock(), components)


def _make_runner(model: LoadedModel, config: EngineConfig, sampler: Any) -> Runner:
    blocks, host = config.num_kv_blocks or 0, config.offload_blocks
    try:
        return model.make_runner(blocks, config.block_size, sampler, num_host_blocks=host)
    except (RuntimeError, MemoryError) as error:
        field, value = ("num_kv_blocks", blocks) if blocks >= host else ("offload_blocks", host)
        raise InvalidField(field, value, f"a pool that fits into memory ({error})") from error


def default_num_blocks(config: EngineConfig, context: int, bytes_per_token: int) -> int:
    """Blocks for all slots at full context, within the memory limits; at least one full context."""
    wanted = config.max_running * context
    affordable = int(min(MAX_POOL_BYTES, FREE_MEMORY_SHARE * _free_bytes()) // bytes_per_token)
    tokens = max(context, min(wanted, affordable))
    return -(-tokens // config.block_size)


def _free_bytes() -> float:
    """Free memory of this machine in bytes; infinite where the system does not say."""
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return math.inf


def encode_prompt(model: LoadedModel, prompt: object) -> list[int]:
    """Token ids of a prompt given as text or as ids.

    Raises `InvalidField` for anything else, for an empty text, and for text where the model has no tokenizer.
    """
    if isinstance(prompt, (list, tuple)):
        return list(prompt)
    if not isinstance(prompt, str):
        raise InvalidField("prompt", prompt, "text or a list of token ids")
    if not prompt:
        raise InvalidField("prompt", prompt, "at least one token")
    if model.tokenizer is None:
        raise InvalidField("prompt", prompt, "token ids: this model has no tokenizer")
    return model.tokenizer.encode(prompt)


def chat_prompt(model: LoadedModel, messages: Sequence[Mapping[str, Any]]) -> list[int]:
    """Token ids of a conversation, by the model's chat template. Raises `InvalidField` without one."""
    if model.tokenizer is None:
        raise InvalidField("messages", list(messages), "token ids: this model has no tokenizer")
    return model.tokenizer.encode_chat(messages)
