"""Small tokenizers built with the `tokenizers` library, one of each kind that the kit reads."""

from __future__ import annotations

from collections.abc import Sequence

import tokenizers
from tokenizers import AddedToken, decoders, models, pre_tokenizers

from inference_kit.model.tokenizer import BYTE_OF, SPACE_MARK, Tokenizer

SPECIALS = ("<unk>", "<s>", "</s>")
BYTE_PIECES = tuple(f"<0x{byte:02X}>" for byte in range(256))
PIECES = ("▁", "▁▁▁", "▁the", "ing", "你", "好", "🙂", "é", "\n", ".", "a", "b", "<", "0", "x", "4", "1", ">")
WORDS = (" the", "ing", "你好", "好", "🙂", "\n\n", "é", "<|")


def byte_level() -> Tokenizer:
    """Byte-level BPE: bytes, words with all their cut-off beginnings, special and plain added tokens."""
    char_of = {byte: char for char, byte in BYTE_OF.items()}
    vocab = {char_of[byte]: byte for byte in range(256)}
    merges = []
    for word in WORDS:
        chars = [char_of[byte] for byte in word.encode()]
        for end in range(1, len(chars)):
            left, right = "".join(chars[:end]), chars[end]
            if left + right not in vocab:
                merges.append((left, right))
                vocab[left + right] = len(vocab)
    backend = tokenizers.Tokenizer(models.BPE(vocab, merges))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    backend.add_special_tokens([AddedToken(name, special=True) for name in ("<|end|>", "<|im_start|>")])
    backend.add_tokens([AddedToken("<think>", special=False), AddedToken("你们", special=False)])
    return Tokenizer(backend, eos_token="<|end|>")


def sentencepiece(pieces: Sequence[str] = PIECES) -> Tokenizer:
    """SentencePiece BPE as Llama writes it: byte fallback, and one dummy space before a text."""
    vocab = dict.fromkeys([*SPECIALS, *BYTE_PIECES, *pieces])
    backend = tokenizers.Tokenizer(
        models.BPE(
            {piece: token_id for token_id, piece in enumerate(vocab)},
            [],
            unk_token="<unk>",
            byte_fallback=True,
        )
    )
    backend.decoder = decoders.Sequence(
        [
            decoders.Replace(SPACE_MARK, " "),
            decoders.ByteFallback(),
            decoders.Fuse(),
            decoders.Strip(" ", 1, 0),
        ]
    )
    backend.add_special_tokens([AddedToken(name, special=True) for name in SPECIALS])
    return Tokenizer(backend, eos_token="</s>")


def unigram(prepend_scheme: str = "always") -> Tokenizer:
    """SentencePiece Unigram with byte fallback and the Metaspace decoder."""
    vocab = [*SPECIALS, *BYTE_PIECES, *PIECES]
    backend = tokenizers.Tokenizer(
        models.Unigram([(piece, -float(rank)) for rank, piece in enumerate(vocab)], 0, byte_fallback=True)
    )
    backend.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=prepend_scheme)
    backend.decoder = decoders.Sequence(
        [decoders.ByteFallback(), decoders.Metaspace(prepend_scheme=prepend_scheme)]
    )
    backend.add_special_tokens([AddedToken(name, special=True) for name in SPECIALS])
    return Tokenizer(backend, eos_token="</s>")
