"""`ModelRunner` runs one step: plan in, sampled ids out, keys and values into the paged cache.

It schedules nothing and ends no request. One bad request fails alone: an id the model does not have, a
row of logits without a usable maximum or a sampler's wrong answer becomes an entry in
`StepOutput.errors`, and its neighbours get what they would have got without it.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from ..sampling import is_int
from ..scheduler.plan import ScheduledChunk, StepOutput, StepPlan, TokenLogprob
from .batch import build_batch
from .config import ModelConfig
from .fast_sampler import FastSampler
from .kv_cache import PagedKVCache
from .logprobs import token_logprob
from .rope import RotaryEmbedding
from .sampler import Sampler, make_row
from .transformer import CausalLM


class ModelRunner:
    """Runs a network on a paged cache. Implements `inference_kit.scheduler.plan.Runner`."""

    def __init__(
        self,
        network: CausalLM,
        config: ModelConfig,
        cache: PagedKVCache,
        sampler: Sampler | None = None,
        unused_ids: Sequence[int] = (),
    ) -> None:
        """`unused_ids` are ids that have a row in the head and no text: they are never sampled."""
        weight = network.model.embed_tokens.weight
        self.network = network
        self.config = config
        self.cache = cache
        self.sampler: Sampler = sampler or FastSampler()
        self.device = weight.device
        self.dtype = weight.dtype
        self._rotary = RotaryEmbedding(config.rope, config.head_dim, self.device)
        self._unused_ids = torch.tensor(tuple(unused_ids), dtype=torch.int64, device=self.device)

    @torch.inference_mode()
    def run(self, plan: StepPlan) -> StepOutput:
        """Compute every chunk of `plan` and sample one id for each chunk that asks for it."""
        self.cache.offload_blocks(plan.offloads)
        self.cache.restore_blocks(plan.restores)
        self.cache.copy_blocks(plan.block_copies)
        errors = {chunk.request_id: fault for chunk in plan.chunks if (fault := self._fault(chunk))}
        chunks = [chunk for chunk in plan.chunks if chunk.request_id not in errors]
        if not chunks:
            return StepOutput({}, errors)
        batch = build_batch(chunks, self.cache.block_size, self.config.layer_windows, self.device)
        logits = self.network(batch, self._rotary(batch.positions, self.dtype), self.cache)
        sampling = [chunk for chunk in chunks if chunk.samples]
        token_ids = self._sample(logits, sampling, errors) if sampling else {}
        return StepOutput(token_ids, errors, logprobs=self._logprobs(logits, sampling, token_ids))

    def _logprobs(
        self, logits: Tensor, chunks: list[ScheduledChunk], token_ids: dict[str, int]
    ) -> tuple[dict[str, TokenLogprob], ...]:
        """Entries for the requests that ask for them. Row i of `logits` belongs to chunk i."""
        entries = {
            chunk.request_id: token_logprob(logits[row], token_ids[chunk.request_id], chunk.sampling.logprobs)
            for row, chunk in enumerate(chunks)
            if chunk.sampling.logprobs is not None and chunk.request_id in token_ids
        }
        return (entries,) if entries else ()

    def _sample(self, logits: Tensor, chunks: list[ScheduledChunk], errors: dict[str, str]) -> dict[str, int]:
        """Ids by request; requests whose row or whose sampled id is unusable go to `errors`."""
        logits.index_fill_(1, self._unused_ids, -torch.inf)
        rows = [make_row(chunk, self.config.eos_token_ids) for chunk in chunks]
        # A maximum is NaN where any value is, so one reduction finds every unusable row.
        usable = logits.amax(dim=-1).isfinite().tolist()
        for index, (chunk, row) in enumerate(zip(chunks, rows, strict=True)):
            if not usable[index]:
                errors[chunk.request_id] = "the model gave NaN or infinite logits"
            elif row.banned_ids and not self._has_choice(logits[index], row.banned_ids):
                usable[index] = False
                errors[chunk.request_id] = "min_tokens forbids every token that is left"
        kept = [index for index, good in enumerate(usable) if good]
        if not kept:
            return {}
        if len(kept) < len(rows):
            logits = logits[kept]
        chosen = self.sampler.sample(logits, [rows[index] for index in kept])
        return self._checked([chunks[index].request_id for index in kept], chosen, errors)

    def _checked(self, request_ids: list[str], chosen: list[int], errors: dict[str, str]) -> dict[str, int]:
        """The sampler's answer by request. A sampler may be someone's first try: trust nothing."""
        if len(chosen) != len(request_ids):
            raise ValueError(f"the sampler gave {len(chosen)} ids for {len(request_ids)} rows")
        token_ids: dict[str, int] = {}
        for request_id, token_id in zip(request_ids, chosen, strict=True):
            if is_int(token_id) and 0 <= token_id < self.config.vocab_size:
                token_ids[request_id] = token_id
            else:
                errors[request_id] = f"the sampler gave {token_id!r}, {self._allowed_ids}"
        return token_ids

    def _has_choice(self, row: Tensor, banned_ids: Sequence[int]) -> bool:
        banned = [i for i in banned_ids if i < self.config.vocab_size]
        return int(row.isfinite().sum()) > int(row[banned].isfinite().sum())

    def _fault(self, chunk: ScheduledChunk) -> str | None:
        """Why this chunk cannot be computed, or None."""
        for token_id in chunk.token_ids:
            if not 0 <= token_id < self.config.vocab_size:
                return f"token id {token_id} is not in the model's vocabulary, {self._allowed_ids}"
        slots = len(chunk.block_table) * self.cache.block_size
        if not chunk.token_ids or chunk.position >= slots:
            return f"positions {chunk.start}..{chunk.position} do not fit into the table's {slots} slots"
        return None

    @property
    def _allowed_ids(self) -> str:
        return f"allowed: 0..{self.config.vocab_size - 1}"
