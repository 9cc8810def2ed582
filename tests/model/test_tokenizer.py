"""Bytes of tokens, for byte-level BPE and for SentencePiece with byte fallback; chat; bad input."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
import tokenizers
from tokenizers import AddedToken, decoders, models, normalizers, pre_tokenizers

from inference_kit.errors import InvalidField, KitError, ModelNotFound
from inference_kit.model import tiny
from inference_kit.model.chat import ChatTemplate
from inference_kit.model.tokenizer import BYTE_OF, Tokenizer

TEXTS = ["Hello world", " two  spaces ", "naïve café", "你好，世界", "🙂🙃", "a\n\tb", "x\u0301 ﬁ", "é" * 40]


def byte_level() -> Tokenizer:
    """The alphabet, and a few merges that cross the borders of characters."""
    char_of = {byte: char for char, byte in BYTE_OF.items()}
    merges = []
    for text in ("he", "hel", "你"[:1], "🙂"):
        chars = [char_of[byte] for byte in text.encode()]
        merges += [("".join(chars[:end]), chars[end]) for end in range(1, len(chars))]
    merges = list(dict.fromkeys(merges))
    vocab = {char: byte for char, byte in BYTE_OF.items()}
    for left, right in merges:
        vocab.setdefault(left + right, len(vocab))
    backend = tokenizers.Tokenizer(models.BPE(vocab, merges))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    backend.add_special_tokens([AddedToken("<|end|>", special=True)])
    backend.add_tokens([AddedToken("<plain>", special=False)])
    return Tokenizer(backend, eos_token="<|end|>")


def sentencepiece() -> Tokenizer:
    """Three control tokens, 256 byte tokens, letters and a few pieces with the space mark."""
    pieces = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), "▁"]
    pieces += [chr(code) for code in range(ord("a"), ord("z") + 1)]
    merges = [("▁", "h"), ("▁h", "e"), ("l", "l"), ("▁he", "ll"), ("▁hell", "o")]
    pieces += [left + right for left, right in merges]
    model = models.BPE(
        {piece: index for index, piece in enumerate(pieces)},
        merges,
        unk_token="<unk>",
        byte_fallback=True,
        fuse_unk=True,
    )
    backend = tokenizers.Tokenizer(model)
    backend.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    backend.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    backend.add_special_tokens([AddedToken(name, special=True) for name in ("<unk>", "<s>", "</s>")])
    return Tokenizer(backend, eos_token="</s>")


KINDS = {"byte_level": byte_level, "sentencepiece": sentencepiece, "tiny": tiny.tokenizer}
each_kind = pytest.mark.parametrize("kind", KINDS)


@each_kind
def test_text_survives_encoding_and_decoding(kind: str) -> None:
    tokenizer = KINDS[kind]()
    for text in TEXTS:
        assert tokenizer.decode(tokenizer.encode(text, add_special_tokens=False), at_start=True) == text


@each_kind
def test_text_of_random_ids_is_their_bytes_decoded_once(kind: str) -> None:
    """Convention 1, also where the ids split characters in any way."""
    tokenizer = KINDS[kind]()
    rng = random.Random(11)
    for _ in range(2000):
        ids = [rng.randrange(tokenizer.vocab_size + 3) for _ in range(rng.randrange(1, 12))]
        joined = b"".join(tokenizer.token_bytes(token_id) for token_id in ids)
        assert tokenizer.decode(ids) == joined.decode("utf-8", "replace")


@each_kind
def test_bytes_agree_with_the_library_where_they_form_text(kind: str) -> None:
    tokenizer = KINDS[kind]()
    rng = random.Random(12)
    compared = 0
    for _ in range(2000):
        ids = [rng.randrange(tokenizer.vocab_size) for _ in range(rng.randrange(1, 4))]
        text = tokenizer.decode(ids, at_start=True)
        if "\ufffd" not in text:
            assert text == tokenizer.backend.decode(ids, skip_special_tokens=False)
            compared += 1
    assert compared > 100


def test_a_token_can_be_a_part_of_a_character() -> None:
    tokenizer = byte_level()
    assert [tokenizer.token_bytes(i) for i in tokenizer.encode("é")] == [b"\xc3", b"\xa9"]
    ids = sentencepiece().encode("é", add_special_tokens=False)
    assert [sentencepiece().token_bytes(i) for i in ids] == [b" ", b"\xc3", b"\xa9"]


def test_special_tokens_give_their_text_and_are_marked() -> None:
    tokenizer = byte_level()
    end = tokenizer.eos_token_ids[0]
    plain = tokenizer.encode("<plain>")[0]
    assert (tokenizer.token_bytes(end), tokenizer.is_special(end)) == (b"<|end|>", True)
    assert (tokenizer.token_bytes(plain), tokenizer.is_special(plain)) == (b"<plain>", False)
    assert not tokenizer.is_special(65)


def test_ids_without_a_token_have_no_bytes() -> None:
    tokenizer = byte_level()
    assert tokenizer.token_bytes(tokenizer.vocab_size) == b""
    assert tokenizer.token_bytes(-1) == b""


def test_a_continued_text_keeps_its_leading_space() -> None:
    tokenizer = sentencepiece()
    ids = tokenizer.encode("hello hello", add_special_tokens=False)
    assert tokenizer.decode(ids[1:]) == " hello"
    assert tokenizer.decode(ids, at_start=True) == "hello hello"


@pytest.mark.parametrize("text", ["", "\ud800", "good \udfff bad", None, 7])
def test_text_that_cannot_be_encoded_is_refused(text: object) -> None:
    with pytest.raises(InvalidField) as caught:
        byte_level().encode(text)  # type: ignore[arg-type]
    assert caught.value.field == "text"


def test_another_kind_of_tokenizer_is_refused() -> None:
    backend = tokenizers.Tokenizer(models.WordPiece({"[UNK]": 0}, unk_token="[UNK]"))
    backend.decoder = decoders.WordPiece()
    with pytest.raises(KitError, match="WordPiece"):
        Tokenizer(backend)


def test_chat_renders_the_template_with_the_special_tokens() -> None:
    source = "{{ bos_token }}{% for m in messages %}[{{ m.content }}]{% endfor %}"
    template = ChatTemplate(source, {"bos_token": "<s>"})
    assert template.render([{"role": "user", "content": "hi"}]) == "<s>[hi]"


def test_encode_chat_knows_the_special_tokens() -> None:
    ids = tiny.tokenizer().encode_chat([{"role": "user", "content": "hi"}])
    assert ids[0] == tiny.IM_START_ID and ids.count(tiny.IM_END_ID) == 1


@pytest.mark.parametrize("messages", [[], "hi", [{"role": "user"}], [{"role": "user", "content": 1}], [3]])
def test_messages_of_a_wrong_form_are_refused(messages: object) -> None:
    with pytest.raises(InvalidField) as caught:
        tiny.tokenizer().chat(messages)  # type: ignore[arg-type]
    assert caught.value.field == "messages"


def test_what_a_template_refuses_is_an_error_of_the_messages() -> None:
    template = ChatTemplate("{{ raise_exception('roles must alternate') }}", {})
    with pytest.raises(InvalidField, match="roles must alternate"):
        template.render([{"role": "user", "content": "hi"}])


def test_a_template_cannot_leave_its_sandbox() -> None:
    template = ChatTemplate("{{ messages.__class__.__mro__ }}", {})
    with pytest.raises(InvalidField, match="unsafe"):
        template.render([{"role": "user", "content": "hi"}])


def test_a_model_without_a_template_has_no_chat() -> None:
    with pytest.raises(InvalidField, match="no chat template"):
        byte_level().chat([{"role": "user", "content": "hi"}])


def test_a_folder_gives_its_tokenizer_template_and_end(tmp_path: Path) -> None:
    byte_level().backend.save(str(tmp_path / "tokenizer.json"))
    config = {"eos_token": {"content": "<|end|>"}, "chat_template": [{"name": "default", "template": "T"}]}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    tokenizer = Tokenizer.from_folder(tmp_path)
    assert tokenizer is not None and len(tokenizer.eos_token_ids) == 1
    assert tokenizer.chat([{"role": "user", "content": "hi"}]) == "T"


def test_a_folder_without_a_tokenizer_gives_none(tmp_path: Path) -> None:
    assert Tokenizer.from_folder(tmp_path) is None


def test_a_broken_tokenizer_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text("{")
    with pytest.raises(ModelNotFound, match=r"tokenizer\.json cannot be read"):
        Tokenizer.from_folder(tmp_path)
