"""Reference attention over the paged cache: gather each request's slots, then attend.

It reads what `PagedKVCache` holds and writes nothing. A query sees the positions at or before its own,
and with a sliding window only the nearest ones; the masks of `batch.py` say which.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from .batch import AttentionGroup
from .kv_cache import PagedKVCache


def gather_attention(
    queries: Tensor, cache: PagedKVCache, layer: int, groups: list[AttentionGroup]
) -> Tensor:
    """Attention of queries `[num_tokens, num_heads, head_dim]`; the result has the same shape.

    The groups cover each row exactly once; their keys and values are already in `cache`.
    """
    out = torch.empty_like(queries)
    for group in groups:
        out.index_copy_(0, group.rows, _attend(queries.index_select(0, group.rows), cache, layer, group))
    return out


def _attend(queries: Tensor, cache: PagedKVCache, layer: int, group: AttentionGroup) -> Tensor:
    """One group: queries `[B * T, num_heads, head_dim]`, batched over B."""
    keys, values = cache.gather(layer, group.slots)
    batch, num_kv_heads, _, head_dim = keys.shape
    num_queries = queries.shape[0] // batch
    share = queries.shape[1] // num_kv_heads
    # The query heads that share a key head lie on the query-length axis: no key is copied per head.
    folded = queries.view(batch, num_queries, num_kv_heads, share, head_dim)
    folded = folded.permute(0, 2, 3, 1, 4).reshape(batch, num_kv_heads, share * num_queries, head_dim)
    mask = group.mask
    if mask is not None and num_queries > 1:
        mask = mask.repeat(1, 1, share, 1)
    out = scaled_dot_product_attention(folded, keys, values, attn_mask=mask)
    out = out.view(batch, num_kv_heads, share, num_queries, head_dim).permute(0, 3, 1, 2, 4)
    return out.reshape(queries.shape)
