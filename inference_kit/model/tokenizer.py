"""Text to token ids, and each id to its exact bytes.

It wraps the `tokenizers` library for encoding and does decoding itself, by bytes: the library's own
decoding of single ids loses the half characters that streaming needs (A6). Its invariant: the text of
ids is the joined bytes of its tokens, decoded once (convention 1).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import tokenizers

from ..errors import InvalidField, KitError, ModelNotFound
from .chat import ChatTemplate

TOKENIZER_FILE = "tokenizer.json"
TOKENIZER_CONFIG_FILE = "tokenizer_config.json"
TEMPLATE_FILE = "chat_template.jinja"
SLOW_FILES = ("tokenizer.model", "vocab.json")
SPACE_MARK = "▁"
BYTE_TOKEN = re.compile(r"<0x([0-9A-Fa-f]{2})>")


def byte_alphabet() -> dict[str, int]:
    """The 256 characters by which byte-level BPE writes bytes, and the byte of each.

    Printable Latin-1 characters stand for themselves; the others are moved behind U+0100 in order.
    """
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    moved = [byte for byte in range(256) if byte not in printable]
    alphabet = {chr(byte): byte for byte in printable}
    alphabet.update({chr(0x100 + place): byte for place, byte in enumerate(moved)})
    return alphabet


BYTE_OF = byte_alphabet()


class Tokenizer:
    """Encodes prompts and gives the bytes of tokens, for byte-level BPE and for SentencePiece."""

    def __init__(
        self,
        backend: tokenizers.Tokenizer,
        *,
        chat_template: ChatTemplate | None = None,
        eos_token: str | None = None,
    ) -> None:
        """Raises `KitError` for a kind of tokenizer that is neither of the two."""
        backend.no_truncation()
        backend.no_padding()
        self.backend = backend
        self.chat_template = chat_template
        steps = _decoder_steps(backend)
        self._is_byte_level = "ByteLevel" in steps
        self._has_byte_tokens = "ByteFallback" in steps
        self._strips_space = "Strip" in steps or (
            "Metaspace" in steps and steps["Metaspace"].get("prepend_scheme") != "never"
        )
        if not self._is_byte_level and not {"Metaspace", "Replace"} & steps.keys():
            raise KitError(
                f"tokenizer with the decoder {sorted(steps)} is not supported; "
                "supported: byte-level BPE, SentencePiece"
            )
        self._added = backend.get_added_tokens_decoder()
        self._bytes: dict[int, bytes] = {}
        eos = None if eos_token is None else backend.token_to_id(eos_token)
        self.eos_token_ids: tuple[int, ...] = () if eos is None else (eos,)

    @classmethod
    def from_folder(cls, folder: Path) -> Tokenizer | None:
        """The tokenizer of a model folder, or None where it has none. Raises `ModelNotFound`."""
        backend = _read_backend(folder)
        if backend is None:
            return None
        path = folder / TOKENIZER_CONFIG_FILE
        try:
            config = json.loads(path.read_text("utf-8")) if path.is_file() else {}
        except (OSError, ValueError) as error:
            raise ModelNotFound(f"{path} cannot be read: {error}") from error
        if not isinstance(config, dict):
            raise ModelNotFound(f"{path} cannot be read: it must hold a JSON object")
        special = _special_tokens(config)
        source = _template_source(folder, config)
        return cls(
            backend,
            chat_template=None if source is None else ChatTemplate(source, special),
            eos_token=special.get("eos_token"),
        )

    @property
    def vocab_size(self) -> int:
        """The highest id with a token, plus one."""
        return max(self.backend.get_vocab(with_added_tokens=True).values()) + 1

    def encode(self, text: str, add_special_tokens: bool = True) -> list[int]:
        """Ids of `text`; with the tokens that the model wants around a prompt, unless told otherwise.

        Raises `InvalidField` for an empty text and for text with unpaired surrogates.
        """
        if not isinstance(text, str) or not text:
            raise InvalidField("text", text, "a non-empty string")
        if not text.isascii() and any("\ud800" <= char <= "\udfff" for char in text):
            raise InvalidField("text", text, "valid Unicode text, without unpaired surrogates")
        return list(self.backend.encode(text, add_special_tokens=add_special_tokens).ids)

    def decode(self, ids: Iterable[int], at_start: bool = False) -> str:
        """Text of `ids`, special tokens included; ill-formed bytes become U+FFFD (convention 1).

        `at_start` drops the one space that SentencePiece puts before a text. An answer continues its
        prompt, so the space stays by default.
        """
        text = b"".join(map(self.token_bytes, ids)).decode("utf-8", "replace")
        return text.removeprefix(" ") if at_start and self._strips_space else text

    def token_bytes(self, token_id: int) -> bytes:
        """The exact bytes of one token; a special one gives its text, an id without a token b""."""
        known = self._bytes.get(token_id)
        if known is None:
            known = self._bytes[token_id] = self._find_bytes(token_id)
        return known

    def is_special(self, token_id: int) -> bool:
        """True for tokens that structure a prompt and are not shown, such as EOS."""
        added = self._added.get(token_id)
        return added is not None and added.special

    def ids_without_token(self, vocab_size: int) -> list[int]:
        """Ids below `vocab_size` that have no token: rows of the head that only pad it (case A12)."""
        known = set(self.backend.get_vocab(with_added_tokens=True).values())
        return [token_id for token_id in range(vocab_size) if token_id not in known]

    def chat(self, messages: Sequence[Mapping[str, Any]], add_generation_prompt: bool = True) -> str:
        """The prompt for a list of {"role", "content"}. Raises `InvalidField`.

        Encode it with `add_special_tokens=False`: the template has written them. `encode_chat` does both.
        """
        if self.chat_template is None:
            raise InvalidField("messages", messages, "nothing: this model has no chat template")
        return self.chat_template.render(messages, add_generation_prompt)

    def encode_chat(self, messages: Sequence[Mapping[str, Any]]) -> list[int]:
        """Ids of the prompt for a list of messages."""
        return self.encode(self.chat(messages), add_special_tokens=False)

    def _find_bytes(self, token_id: int) -> bytes:
        if token_id in self._added:
            return str(self._added[token_id].content).encode()
        token = self.backend.id_to_token(token_id) if token_id >= 0 else None
        if token is None:
            return b""
        if self._is_byte_level:
            # A piece with a character outside the alphabet stands for its own text.
            outside = any(char not in BYTE_OF for char in token)
            return token.encode() if outside else bytes(BYTE_OF[char] for char in token)
        byte = BYTE_TOKEN.fullmatch(token) if self._has_byte_tokens else None
        return bytes([int(byte[1], 16)]) if byte else str(token).replace(SPACE_MARK, " ").encode()


def _decoder_steps(backend: tokenizers.Tokenizer) -> dict[str, dict[str, Any]]:
    """The decoder's steps by their names, such as Replace, ByteFallback, Fuse, Strip."""
    if backend.decoder is None:
        return {}
    state = json.loads(backend.decoder.__getstate__())
    return {step["type"]: step for step in state.get("decoders", [state])}


def _read_backend(folder: Path) -> tokenizers.Tokenizer | None:
    path = folder / TOKENIZER_FILE
    if path.is_file():
        try:
            return tokenizers.Tokenizer.from_file(str(path))
        # The library raises plain Exception for a file that it cannot parse.
        except Exception as error:
            raise ModelNotFound(f"{path} cannot be read: {error}") from error
    if any((folder / name).is_file() for name in SLOW_FILES):
        return _convert_slow(folder)
    return None


def _convert_slow(folder: Path) -> tokenizers.Tokenizer:
    """Older folders hold only the slow form; transformers converts it. Imported here: it takes seconds."""
    from transformers import AutoTokenizer

    try:
        return AutoTokenizer.from_pretrained(str(folder)).backend_tokenizer
    except (OSError, ValueError, AttributeError) as error:
        raise ModelNotFound(f"{folder}: {TOKENIZER_FILE} is missing, no other is usable: {error}") from error


def _special_tokens(config: Mapping[str, Any]) -> dict[str, str]:
    """Names such as `eos_token` and their text; older files wrap the text in a mapping."""
    found = {}
    for name in ("bos_token", "eos_token", "unk_token", "pad_token"):
        token = config.get(name)
        if isinstance(token, Mapping):
            token = token.get("content")
        if isinstance(token, str):
            found[name] = token
    return found


def _template_source(folder: Path, config: Mapping[str, Any]) -> str | None:
    path = folder / TEMPLATE_FILE
    if path.is_file():
        return path.read_text("utf-8")
    template = config.get("chat_template")
    if isinstance(template, list):
        named = {entry.get("name"): entry.get("template") for entry in template}
        template = named.get("default")
    return template if isinstance(template, str) else None
