"""Where keys and values live: blocks, references, block tables (A15, B5). No torch."""

from .block_pool import BlockPool
from .manager import KVManager

__all__ = ["BlockPool", "KVManager"]
