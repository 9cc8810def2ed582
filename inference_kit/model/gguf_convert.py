"""Turns one quantised GGUF file of a Llama into a Hugging Face folder in bfloat16. Done once per machine.

It knows the one kind of file that the kit fetches (architecture `llama`, byte-level BPE of the `smollm`
kind) and refuses others. The numbers are those of the file, dequantised; nothing is trained or tuned.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import tokenizers
import torch
from gguf.quants import dequantize
from numpy.typing import NDArray
from safetensors.torch import save_file
from tokenizers import AddedToken, decoders, models, pre_tokenizers
from tqdm.auto import tqdm

CONTROL_TOKEN = 3
"""GGUF's mark for tokens that structure a prompt."""
LAYER_NAMES = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
OUTER_NAMES = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}


def convert(path: Path, folder: Path, progress: bool = True) -> None:
    """Write config.json, weights and tokenizer of the GGUF at `path` into `folder`.

    Raises `ValueError` for another architecture or kind of tokenizer.
    """
    reader = gguf.GGUFReader(path)
    fields = {name: field.contents() for name, field in reader.fields.items()}
    kind = (fields["general.architecture"], fields["tokenizer.ggml.model"], fields["tokenizer.ggml.pre"])
    if kind != ("llama", "gpt2", "smollm"):
        raise ValueError(f"GGUF of kind {kind} is not supported; supported: ('llama', 'gpt2', 'smollm')")
    config = _config(fields, is_tied=all(tensor.name != "output.weight" for tensor in reader.tensors))
    weights = {}
    for tensor in tqdm(reader.tensors, desc="dequantising", unit="tensor", disable=not progress):
        values = dequantize(tensor.data, tensor.tensor_type)
        name = _hf_name(tensor.name)
        for part, heads in (("q_proj", "num_attention_heads"), ("k_proj", "num_key_value_heads")):
            if part in name:
                values = _halves_from_pairs(values, config[heads])
        # A copy, because float32 tensors are read-only views of the file.
        weights[name] = torch.from_numpy(np.array(values)).to(torch.bfloat16)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    _tokenizer(fields).save(str(folder / "tokenizer.json"))
    _write_json(folder / "config.json", config)
    ends = {key: config[key] for key in ("bos_token_id", "eos_token_id")}
    _write_json(folder / "generation_config.json", ends)
    _write_json(folder / "tokenizer_config.json", _tokenizer_config(fields))


def _config(fields: dict[str, Any], is_tied: bool) -> dict[str, Any]:
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "vocab_size": fields["llama.vocab_size"],
        "hidden_size": fields["llama.embedding_length"],
        "intermediate_size": fields["llama.feed_forward_length"],
        "num_hidden_layers": fields["llama.block_count"],
        "num_attention_heads": fields["llama.attention.head_count"],
        "num_key_value_heads": fields["llama.attention.head_count_kv"],
        "max_position_embeddings": fields["llama.context_length"],
        # The file holds it as float32; six digits give back the number that was meant.
        "rms_norm_eps": float(f"{fields['llama.attention.layer_norm_rms_epsilon']:.6g}"),
        "rope_theta": float(fields["llama.rope.freq_base"]),
        "hidden_act": "silu",
        "attention_bias": False,
        "mlp_bias": False,
        "tie_word_embeddings": is_tied,
        "bos_token_id": fields["tokenizer.ggml.bos_token_id"],
        "eos_token_id": fields["tokenizer.ggml.eos_token_id"],
        "pad_token_id": fields["tokenizer.ggml.padding_token_id"],
        "torch_dtype": "bfloat16",
    }


def _hf_name(name: str) -> str:
    parts = name.split(".")
    if parts[0] == "blk":
        return f"model.layers.{parts[1]}.{LAYER_NAMES[parts[2]]}.{parts[3]}"
    return f"{OUTER_NAMES[parts[0]]}.{parts[1]}"


def _halves_from_pairs(values: NDArray[np.float32], num_heads: int) -> NDArray[np.float32]:
    """GGUF rotates neighbouring rows of a head, Hugging Face the two halves: put the rows in that order."""
    rows, columns = values.shape
    return values.reshape(num_heads, rows // num_heads // 2, 2, columns).swapaxes(1, 2).reshape(rows, columns)


def _tokenizer(fields: dict[str, Any]) -> tokenizers.Tokenizer:
    tokens: list[str] = fields["tokenizer.ggml.tokens"]
    merges = [tuple(merge.split(" ")) for merge in fields.get("tokenizer.ggml.merges", [])]
    made = tokenizers.Tokenizer(models.BPE({token: i for i, token in enumerate(tokens)}, merges))
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    made.decoder = decoders.ByteLevel()
    types = fields["tokenizer.ggml.token_type"]
    made.add_special_tokens(
        [
            AddedToken(token, special=True, normalized=False)
            for token, token_type in zip(tokens, types, strict=True)
            if token_type == CONTROL_TOKEN
        ]
    )
    return made


def _tokenizer_config(fields: dict[str, Any]) -> dict[str, Any]:
    tokens = fields["tokenizer.ggml.tokens"]
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": tokens[fields["tokenizer.ggml.bos_token_id"]],
        "eos_token": tokens[fields["tokenizer.ggml.eos_token_id"]],
        "unk_token": tokens[fields["tokenizer.ggml.unknown_token_id"]],
        "pad_token": tokens[fields["tokenizer.ggml.padding_token_id"]],
        "clean_up_tokenization_spaces": False,
        "model_max_length": fields["llama.context_length"],
        "chat_template": fields["tokenizer.chat_template"],
    }


def _write_json(path: Path, content: dict[str, Any]) -> None:
    path.write_text(json.dumps(content, indent=2) + "\n", "utf-8")
