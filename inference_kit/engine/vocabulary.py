"""What the engine must know of a model's tokens, without knowing the model.

Owns only a memory of the tokens already asked for. A model without a tokenizer has no bytes: its
answers are ids with empty text.
"""

from __future__ import annotations

from dataclasses import dataclass, field
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
    _known: dict[int, tuple[bytes, bool]] = field(default_factory=dict, init=False, repr=False, compare=False)

    def token(self, token_id: int) -> tuple[bytes, bool]:
        """(exact bytes, is it a hidden special token) of one id."""
        known = self._known.get(token_id)
        if known is None:
            known = self._known[token_id] = self._find(token_id)
        return known

    def _find(self, token_id: int) -> tuple[bytes, bool]:
        if self.tokenizer is None:
            return b"", False
        return self.tokenizer.token_bytes(token_id), self.tokenizer.is_special(token_id)
