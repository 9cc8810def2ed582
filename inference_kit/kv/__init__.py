"""Where keys and values live: blocks, references, block tables (A15, B5). No torch."""

from .block_pool import BlockPool
from .manager import KVManager
from .prefix_cache import Caching, PlainPrefixCache, PrefixCache

__all__ = ["BlockPool", "Caching", "KVManager", "PlainPrefixCache", "PrefixCache"]
