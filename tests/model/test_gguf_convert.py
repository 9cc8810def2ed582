"""A GGUF becomes a folder with the same network: the order of rotary rows, names, tokenizer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gguf
import pytest

from inference_kit.model import load, tiny
from inference_kit.model.gguf_convert import LAYER_NAMES, OUTER_NAMES, convert
from inference_kit.model.loader import load_folder
from inference_kit.model.tokenizer import BYTE_OF

from .reference import transformers_greedy
from .stepping import greedy

PROMPTS = [[104, 105], list(range(40))]
NUM_HEADS = {"self_attn.q_proj": 4, "self_attn.k_proj": 2}


def gguf_name(name: str) -> str:
    """The name that GGUF gives to a weight of a Hugging Face checkpoint."""
    for short, long in OUTER_NAMES.items():
        if name == f"{long}.weight":
            return f"{short}.weight"
    _, _, layer, rest = name.split(".", 3)
    short = next(short for short, long in LAYER_NAMES.items() if rest == f"{long}.weight")
    return f"blk.{layer}.{short}.weight"


def write_gguf(path: Path, architecture: str = "llama") -> Path:
    """`tiny` as a float32 GGUF, rotary rows in neighbouring pairs as that format wants them."""
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_vocab_size(260)
    writer.add_embedding_length(64)
    writer.add_feed_forward_length(128)
    writer.add_block_count(2)
    writer.add_head_count(4)
    writer.add_head_count_kv(2)
    writer.add_context_length(4096)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_freq_base(10_000.0)
    chars = {byte: char for char, byte in BYTE_OF.items()}
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list([*(chars[byte] for byte in range(256)), *tiny.SPECIAL_TOKENS])
    writer.add_token_types([1] * 256 + [3] * 4)
    writer.add_bos_token_id(tiny.BOS_ID)
    writer.add_eos_token_id(tiny.EOS_ID)
    writer.add_unk_token_id(tiny.BOS_ID)
    writer.add_pad_token_id(tiny.EOS_ID)
    writer.add_chat_template(tiny.CHAT_TEMPLATE)
    for name, tensor in tiny.weights().items():
        values: Any = tensor.numpy()
        for part, heads in NUM_HEADS.items():
            if part in name:
                rows, columns = values.shape
                halves = values.reshape(heads, 2, rows // heads // 2, columns)
                values = halves.swapaxes(1, 2).reshape(rows, columns).copy()
        writer.add_tensor(gguf_name(name), values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def test_a_converted_file_is_the_same_network(tmp_path: Path) -> None:
    convert(write_gguf(tmp_path / "tiny.gguf"), tmp_path, progress=False)
    model = load_folder(tmp_path, name="converted", dtype="bfloat16")
    assert greedy(model, PROMPTS, 24) == greedy(load("tiny", dtype="bfloat16"), PROMPTS, 24)


def test_a_converted_folder_loads_in_transformers(tmp_path: Path) -> None:
    convert(write_gguf(tmp_path / "tiny.gguf"), tmp_path, progress=False)
    expected = [answer.token_ids for answer in transformers_greedy(tmp_path, PROMPTS, 8)]
    assert greedy(load_folder(tmp_path, name="converted", dtype="float32"), PROMPTS, 8) == expected


def test_a_converted_tokenizer_keeps_digits_apart_and_knows_special_tokens(tmp_path: Path) -> None:
    convert(write_gguf(tmp_path / "tiny.gguf"), tmp_path, progress=False)
    tokenizer = load_folder(tmp_path, name="converted").tokenizer
    assert tokenizer is not None
    assert tokenizer.encode("a 12<|eos|>") == [*b"a 12", tiny.EOS_ID]
    assert tokenizer.eos_token_ids == (tiny.EOS_ID,)
    assert tokenizer.encode_chat([{"role": "user", "content": "x"}])[0] == tiny.IM_START_ID


def test_another_kind_of_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="supported"):
        convert(write_gguf(tmp_path / "other.gguf", architecture="mamba"), tmp_path, progress=False)
