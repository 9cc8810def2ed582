"""The network of the Llama family: embedding, decoder layers, norm and head, in plain torch.

It computes hidden states and logits of a flat batch of tokens and decides nothing: no sampling, no
scheduling. Parameter names are those of Hugging Face checkpoints, so weights load by name.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import embedding, linear, silu

from .attention import gather_attention
from .batch import AttentionGroup, StepBatch
from .config import ModelConfig
from .kv_cache import PagedKVCache
from .rope import rotate


def empty_weight(*shape: int) -> nn.Parameter:
    """A weight to be filled from a checkpoint.

    torch's own layers draw random numbers first, and that imports its compiler: a second or two.
    """
    return nn.Parameter(torch.empty(shape), requires_grad=False)


class Linear(nn.Module):
    """x times the transposed weight `[outputs, inputs]`, plus a bias where there is one."""

    def __init__(self, inputs: int, outputs: int, bias: bool) -> None:
        super().__init__()
        self.weight = empty_weight(outputs, inputs)
        self.bias = empty_weight(outputs) if bias else None

    def forward(self, x: Tensor) -> Tensor:
        return linear(x, self.weight, self.bias)


class Embedding(nn.Module):
    """The row of each token id."""

    def __init__(self, vocab_size: int, size: int) -> None:
        super().__init__()
        self.weight = empty_weight(vocab_size, size)

    def forward(self, token_ids: Tensor) -> Tensor:
        return embedding(token_ids, self.weight)


class RMSNorm(nn.Module):
    """Scale vectors to unit mean square, in float32, then by a learned weight."""

    def __init__(self, size: int, eps: float) -> None:
        super().__init__()
        self.weight = empty_weight(size)
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        wide = x.float()
        wide = wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + self.eps)
        return self.weight * wide.to(x.dtype)


class Attention(nn.Module):
    """Projections, optional norms of query and key heads, rotation, and attention over the cache."""

    def __init__(self, config: ModelConfig, layer: int) -> None:
        super().__init__()
        self.layer = layer
        self.heads_shape = (-1, config.head_dim)
        query_size = config.num_heads * config.head_dim
        kv_size = config.num_kv_heads * config.head_dim
        self.q_proj = Linear(config.hidden_size, query_size, bias=config.qkv_bias)
        self.k_proj = Linear(config.hidden_size, kv_size, bias=config.qkv_bias)
        self.v_proj = Linear(config.hidden_size, kv_size, bias=config.qkv_bias)
        self.o_proj = Linear(query_size, config.hidden_size, bias=config.o_bias)
        norm = (config.head_dim, config.rms_norm_eps)
        self.q_norm = RMSNorm(*norm) if config.qk_norm else nn.Identity()
        self.k_norm = RMSNorm(*norm) if config.qk_norm else nn.Identity()

    def forward(
        self,
        x: Tensor,
        rotary: tuple[Tensor, Tensor],
        cache: PagedKVCache,
        slot_mapping: Tensor,
        groups: list[AttentionGroup],
    ) -> Tensor:
        queries = self.q_norm(self.q_proj(x).unflatten(-1, self.heads_shape))
        keys = self.k_norm(self.k_proj(x).unflatten(-1, self.heads_shape))
        values = self.v_proj(x).unflatten(-1, self.heads_shape)
        cache.write(self.layer, slot_mapping, rotate(keys, *rotary), values)
        out = gather_attention(rotate(queries, *rotary), cache, self.layer, groups)
        return self.o_proj(out.flatten(1))


class MLP(nn.Module):
    """The gated feed-forward part: down(silu(gate(x)) * up(x))."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        outer, inner = config.hidden_size, config.intermediate_size
        self.gate_proj = Linear(outer, inner, bias=config.mlp_bias)
        self.up_proj = Linear(outer, inner, bias=config.mlp_bias)
        self.down_proj = Linear(inner, outer, bias=config.mlp_bias)

    def forward(self, x: Tensor) -> Tensor:
        return self.down_proj(silu(self.gate_proj(x)) * self.up_proj(x))


class DecoderLayer(nn.Module):
    """Attention and feed-forward, each behind a norm and beside a residual connection."""

    def __init__(self, config: ModelConfig, layer: int) -> None:
        super().__init__()
        self.window = config.layer_windows[layer]
        self.self_attn = Attention(config, layer)
        self.mlp = MLP(config)
        self.input_layernorm = RMSNorm(config.hidden_size, config.rms_norm_eps)
        self.post_attention_layernorm = RMSNorm(config.hidden_size, config.rms_norm_eps)

    def forward(
        self, x: Tensor, rotary: tuple[Tensor, Tensor], cache: PagedKVCache, batch: StepBatch
    ) -> Tensor:
        groups = batch.groups[self.window]
        x = x + self.self_attn(self.input_layernorm(x), rotary, cache, batch.slot_mapping, groups)
        return x + self.mlp(self.post_attention_layernorm(x))


class Decoder(nn.Module):
    """Embedding, the layers and the final norm. Under its own module for the checkpoint's names."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.embed_tokens = Embedding(config.vocab_size, config.hidden_size)
        self.layers = nn.ModuleList(DecoderLayer(config, layer) for layer in range(config.num_layers))
        self.norm = RMSNorm(config.hidden_size, config.rms_norm_eps)


class CausalLM(nn.Module):
    """The whole network."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.model = Decoder(config)
        self.lm_head = Linear(config.hidden_size, config.vocab_size, bias=False)

    def forward(self, batch: StepBatch, rotary: tuple[Tensor, Tensor], cache: PagedKVCache) -> Tensor:
        """Compute every token of `batch`, write its keys and values into `cache`.

        Returns the float32 logits `[num_samples, vocab_size]` of `batch.sample_rows` only.
        """
        x = self.model.embed_tokens(batch.token_ids)
        for layer in self.model.layers:
            x = layer(x, rotary, cache, batch)
        return self.lm_head(self.model.norm(x.index_select(0, batch.sample_rows))).float()
