"""`tiny` is the same everywhere, and its exported folder is the same model to transformers."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from transformers import AutoTokenizer

from inference_kit.model import export_model, load, tiny

from .reference import assert_same, transformers_greedy
from .stepping import greedy

TEXTS = ["hello", "The quick brown fox", "naïve 你好 🙂", "<|im_start|>user\nhi<|im_end|>\n"]


def test_shape_keeps_its_promises() -> None:
    config = load("tiny").config
    assert config.num_layers >= 2
    assert config.num_kv_heads < config.num_heads
    assert config.max_position_embeddings >= 2048
    assert config.eos_token_ids == (tiny.EOS_ID, tiny.IM_END_ID)


def test_ids_below_256_are_the_bytes() -> None:
    tokenizer = tiny.tokenizer()
    assert [tokenizer.token_bytes(i) for i in range(256)] == [bytes([i]) for i in range(256)]
    assert tokenizer.encode("aé") == list("aé".encode())


def test_special_tokens_stand_above() -> None:
    tokenizer = tiny.tokenizer()
    assert tokenizer.encode("".join(tiny.SPECIAL_TOKENS)) == [256, 257, 258, 259]
    assert all(tokenizer.is_special(i) for i in range(256, 260))
    assert tokenizer.vocab_size == load("tiny").config.vocab_size == 260


def test_weights_are_the_same_on_every_machine() -> None:
    digest = hashlib.sha256()
    for name, tensor in sorted(tiny.weights().items()):
        digest.update(name.encode() + tensor.numpy().tobytes())
    assert digest.hexdigest() == DIGEST


def test_greedy_ids_are_the_same_on_every_machine() -> None:
    model = load("tiny")
    assert model.tokenizer is not None
    assert greedy(model, [model.tokenizer.encode("hello")], 12)[0] == HELLO


def test_exported_folder_gives_transformers_the_same_ids(tmp_path: Path) -> None:
    model = load("tiny")
    assert model.tokenizer is not None
    folder = export_model("tiny", tmp_path / "tiny")
    theirs = AutoTokenizer.from_pretrained(folder)
    prompts = [model.tokenizer.encode(text) for text in TEXTS]
    assert [theirs(text).input_ids for text in TEXTS] == prompts
    assert_same(transformers_greedy(folder, prompts, 32), greedy(model, prompts, 32))


def test_exported_chat_template_renders_the_same(tmp_path: Path) -> None:
    theirs = AutoTokenizer.from_pretrained(export_model("tiny", tmp_path))
    messages = [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "hi"}]
    rendered = theirs.apply_chat_template(messages, add_generation_prompt=True, tokenize=False)
    assert tiny.tokenizer().chat(messages) == rendered
    assert theirs.eos_token_id == tiny.EOS_ID


def test_an_exported_folder_is_read_back_as_the_same_model(tmp_path: Path) -> None:
    model = load(export_model("tiny", tmp_path / "tiny"))
    assert model.config == load("tiny").config
    assert greedy(model, [[1, 2, 3]], 12) == greedy(load("tiny"), [[1, 2, 3]], 12)


def test_export_refuses_a_folder_with_files_in_it(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("keep")
    with pytest.raises(FileExistsError):
        export_model("tiny", tmp_path)


DIGEST = "2fdfd0ea47d444359e41ed8853185867f68711a7db650e07970e34d2e308df0f"
HELLO = [48, 199, 249, 198, 168, 158, 78, 95, 158, 211, 199, 252]
