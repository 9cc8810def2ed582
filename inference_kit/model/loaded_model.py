"""A model in memory: network, shapes and tokenizer. It makes runners and does no work of its own.

Several runners may share one `LoadedModel`: the weights are never changed, each runner has its own cache.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from .config import ModelConfig
from .kv_cache import PagedKVCache, kv_bytes_per_token
from .runner import ModelRunner
from .sampler import Sampler
from .tokenizer import Tokenizer
from .transformer import CausalLM


@dataclass(frozen=True)
class LoadedModel:
    """What `load` returns."""

    name: str
    config: ModelConfig
    network: CausalLM
    tokenizer: Tokenizer | None
    """None for a folder without a tokenizer: such a model serves token ids."""

    @property
    def dtype(self) -> str:
        """Dtype of weights and cache, such as "bfloat16"."""
        return str(self._weight.dtype).removeprefix("torch.")

    @property
    def device(self) -> str:
        return str(self._weight.device)

    @property
    def kv_bytes_per_token(self) -> int:
        """Bytes of cache that one token takes over all layers."""
        return kv_bytes_per_token(self.config, self._weight.dtype)

    def make_runner(
        self, num_blocks: int, block_size: int, sampler: Sampler | None = None, num_host_blocks: int = 0
    ) -> ModelRunner:
        """A runner with a cache of `num_blocks * block_size` slots of its own.

        `num_host_blocks`: further blocks in host memory, for `StepPlan.offloads`.

        Ids that have a row in the head and no text in the tokenizer are never sampled (case A12).
        """
        cache = PagedKVCache(
            self.config, num_blocks, block_size, self._weight.dtype, self._weight.device, num_host_blocks
        )
        unused: list[int] = []
        if self.tokenizer is not None:
            unused = self.tokenizer.ids_without_token(self.config.vocab_size)
        return ModelRunner(self.network, self.config, cache, sampler, unused)

    @property
    def _weight(self) -> torch.Tensor:
        return self.network.model.embed_tokens.weight
