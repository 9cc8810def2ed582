"""From ids to streamed text, for each kind of tokenizer: the deltas join to the text of all ids (A6).

Every kind is given 10,000 random id sequences: special tokens, halves of characters and ids without a
token included.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Iterator

import pytest
import tokenizers
from tokenizers import AddedToken, decoders, models

from inference_kit.engine.vocabulary import Vocabulary
from inference_kit.model import tiny
from inference_kit.model.sources import cache_folder
from inference_kit.model.tokenizer import BYTE_OF, Tokenizer
from inference_kit.streaming import PlainUtf8Decoder, StreamingText, Utf8Decoder
from tests.model.small_tokenizers import byte_level, sentencepiece, unigram

NUM_SEQUENCES = 10_000
SMOLLM2 = cache_folder() / "smollm2"


def smollm2() -> Tokenizer:
    found = Tokenizer.from_folder(SMOLLM2)
    assert found is not None
    return found


KINDS: dict[str, Callable[[], Tokenizer]] = {
    "byte-level": byte_level,
    "sentencepiece": sentencepiece,
    "unigram": unigram,
    "tiny": tiny.tokenizer,
    "smollm2": smollm2,
}
not_cached = pytest.mark.skipif(
    not (SMOLLM2 / "tokenizer.json").is_file(), reason="smollm2 is not in the cache"
)
each_kind = pytest.mark.parametrize(
    "kind",
    [
        pytest.param(kind, marks=[pytest.mark.model, not_cached] if kind == "smollm2" else [])
        for kind in KINDS
    ],
)


@functools.cache
def tokenizer_of(kind: str) -> Tokenizer:
    return KINDS[kind]()


def sequences(tokenizer: Tokenizer, seed: int, count: int = NUM_SEQUENCES) -> Iterator[list[int]]:
    """Random ids. Half of them come from the ends of the vocabulary, where specials and bytes stand."""
    rng, size = random.Random(seed), tokenizer.vocab_size
    edge = [*range(min(size, 270)), *range(max(0, size - 8), size + 2)]
    for _ in range(count):
        length = rng.randrange(1, 24)
        yield [rng.choice(edge) if rng.random() < 0.5 else rng.randrange(size) for _ in range(length)]


@each_kind
def test_deltas_join_to_the_text_of_all_ids(kind: str) -> None:
    tokenizer = tokenizer_of(kind)
    checked = specials = cut_characters = 0
    for ids in sequences(tokenizer, seed=1):
        streaming = StreamingText()
        deltas = [streaming.push(tokenizer.token_bytes(token_id)) for token_id in ids]
        deltas.append(streaming.finish())
        assert "".join(deltas) == tokenizer.decode(ids)
        checked += 1
        specials += any(map(tokenizer.is_special, ids))
        cut_characters += "\ufffd" in tokenizer.decode(ids)
    assert checked == NUM_SEQUENCES
    # The sequences do reach what they are for.
    assert min(specials, cut_characters) > 500


@each_kind
def test_hidden_tokens_leave_the_text_of_the_others(kind: str) -> None:
    tokenizer = tokenizer_of(kind)
    vocabulary = Vocabulary(tokenizer.vocab_size, 2048, tokenizer=tokenizer)
    for ids in sequences(tokenizer, seed=2):
        # A stop that never comes: the held-back path is taken too.
        streaming = StreamingText([" the\n\n\0"])
        text, kept = streaming.push_many(map(vocabulary.token, ids))
        shown = [token_id for token_id in ids if not tokenizer.is_special(token_id)]
        assert text + streaming.finish() == tokenizer.decode(shown)
        assert kept == len(ids)


@each_kind
def test_any_cut_of_the_bytes_gives_the_same_text(kind: str) -> None:
    tokenizer, rng = tokenizer_of(kind), random.Random(3)
    for ids in sequences(tokenizer, seed=3):
        whole = b"".join(map(tokenizer.token_bytes, ids))
        for decoder in (Utf8Decoder(), PlainUtf8Decoder()):
            marks = sorted(rng.choices(range(len(whole) + 1), k=3))
            pieces = [whole[a:b] for a, b in zip([0, *marks], [*marks, len(whole)], strict=True)]
            assert "".join(map(decoder.push, pieces)) + decoder.finish() == tokenizer.decode(ids)


@each_kind
def test_well_formed_text_is_that_of_the_library(kind: str) -> None:
    tokenizer = tokenizer_of(kind)
    compared = 0
    for ids in sequences(tokenizer, seed=4):
        known = [token_id for token_id in ids if tokenizer.token_bytes(token_id)]
        text = tokenizer.decode(known, at_start=True)
        # A space that comes as a byte at the very start: a dummy one for one decoder, not for the other.
        by_byte = bool(known) and tokenizer.backend.id_to_token(known[0]) == "<0x20>"
        if known and not by_byte and not differs_in_the_library(text, added_text(tokenizer, known)):
            assert text == tokenizer.backend.decode(known, skip_special_tokens=False)
            compared += 1
    assert compared > 300


def differs_in_the_library(text: str, added: str) -> bool:
    """Its byte fallback replaces per byte, its Metaspace drops all spaces of the first token (case U10 wants
    one), and its byte level reads added tokens through the byte alphabet."""
    return "\ufffd" in text or text.startswith(" ") or not added.isascii()


def added_text(tokenizer: Tokenizer, ids: list[int]) -> str:
    """The text of the added tokens among `ids`."""
    added = tokenizer.backend.get_added_tokens_decoder()
    return "".join(added[token_id].content for token_id in ids if token_id in added)


@each_kind
def test_text_comes_back_from_its_ids_piece_by_piece(kind: str) -> None:
    tokenizer = tokenizer_of(kind)
    for text in ("a 你好 🙂\n", "ab  a", "👩\u200d👧 é", "x" * 50):
        ids = tokenizer.encode(text, add_special_tokens=False)
        streaming = StreamingText()
        shown = "".join(streaming.push(tokenizer.token_bytes(token_id)) for token_id in ids)
        assert shown + streaming.finish() == tokenizer.decode(ids)
        assert text.replace(" ", "") in tokenizer.decode(ids).replace(" ", "")


def test_the_vocabulary_gives_the_bytes_of_the_tokenizer_each_time() -> None:
    tokenizer = byte_level()
    vocabulary = Vocabulary(tokenizer.vocab_size, 2048, tokenizer=tokenizer)
    for token_id in [*range(-1, tokenizer.vocab_size + 2)] * 2:
        expected = tokenizer.token_bytes(token_id), tokenizer.is_special(token_id)
        assert vocabulary.token(token_id) == expected


def test_a_byte_level_piece_outside_the_alphabet_stands_for_its_own_text() -> None:
    vocab = {char: byte for char, byte in BYTE_OF.items()} | {"a 好": 256}
    backend = tokenizers.Tokenizer(models.BPE(vocab, []))
    backend.decoder = decoders.ByteLevel()
    backend.add_special_tokens([AddedToken("<|end|>", special=True)])
    assert Tokenizer(backend).token_bytes(256) == "a 好".encode()
    assert Tokenizer(backend).decode([256]) == backend.decode([256])


@pytest.mark.parametrize(("scheme", "text"), [("always", "the"), ("first", "the"), ("never", " the")])
def test_the_first_space_is_dropped_only_where_one_was_put(scheme: str, text: str) -> None:
    tokenizer = unigram(scheme)
    ids = [tokenizer.backend.token_to_id("▁the")]
    assert tokenizer.decode(ids, at_start=True) == text == tokenizer.backend.decode(ids)
