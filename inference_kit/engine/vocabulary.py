"""What the engine must know of a model's tokens, without knowing the model.

Owns nothing mutable. A model without a tokenizer has no bytes: its answers are ids with empty text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


class TokenBytes(Protocol):
    """The part of a tokenizer that the engine calls for each token."""

    def token_bytes(self, token_id: int, /) -> bytes: ...

    def is_special(self, token_id: int, /) -> bool: ...


@dataclass(frozen=True)
class Vocabulary:
    """Sizes and ids that the engine checks requests against."""

    size: int
    """Valid ids are 0 .. size − 1."""
    context: int
    """Most tokens of prompt and answer together."""
    eos_token_ids: frozenset[int] = frozenset()
    tokenizer: TokenBytes | None = None

    def token(self, token_id: int) -> tuple[bytes, bool]:
        """(exact bytes, is it a hidden special token) of one id."""
        if self.tokenizer is None:
            return b"", False
        return self.tokenizer.token_bytes(token_id), self.tokenizer.is_special(token_id)
