"""Where keys and values live: blocks, references, block tables (A15, B5). No torch."""

from .audit import audit_blocks
from .block_pool import BlockPool
from .counted_pool import CountedPool
from .manager import KVManager
from .plain_pool import PlainBlockPool
from .pooling import Pooling
from .prefix_cache import Caching, PlainPrefixCache, PrefixCache
from .table import blocks_for, longest_total, prepare_write, slot_mapping, slots_needed

__all__ = [
    "BlockPool",
    "Caching",
    "CountedPool",
    "KVManager",
    "PlainBlockPool",
    "PlainPrefixCache",
    "Pooling",
    "PrefixCache",
    "audit_blocks",
    "blocks_for",
    "longest_total",
    "prepare_write",
    "slot_mapping",
    "slots_needed",
]
