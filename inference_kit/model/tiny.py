"""The model `tiny`: a real Llama whose weights are seeded random numbers. For tests and first steps.

It runs on the same network and the same runner as every model. Its weights come from exact integer
arithmetic (uniform numbers of a CPU generator), so they are the same on every machine. Token ids 0..255
are the bytes themselves; four special tokens stand above.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import tokenizers
import torch
from safetensors.torch import save_file
from tokenizers import AddedToken, decoders, models, pre_tokenizers
from torch import Tensor

from .chat import ChatTemplate
from .config import ModelConfig
from .tokenizer import BYTE_OF, Tokenizer
from .transformer import CausalLM

NAME = "tiny"
SEED = 20_240_229
SPECIAL_TOKENS = ("<|bos|>", "<|eos|>", "<|im_start|>", "<|im_end|>")
BOS_ID, EOS_ID, IM_START_ID, IM_END_ID = range(256, 260)
CHAT_TEMPLATE = (
    "{% for message in messages %}"
    "{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
HF_CONFIG: dict[str, Any] = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "vocab_size": 260,
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "max_position_embeddings": 4096,
    "rms_norm_eps": 1e-5,
    "hidden_act": "silu",
    "attention_bias": False,
    "mlp_bias": False,
    "tie_word_embeddings": False,
    "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0},
    "bos_token_id": BOS_ID,
    "eos_token_id": EOS_ID,
    "dtype": "float32",
}
GENERATION_CONFIG: dict[str, Any] = {"bos_token_id": BOS_ID, "eos_token_id": [EOS_ID, IM_END_ID]}
TOKENIZER_CONFIG: dict[str, Any] = {
    "tokenizer_class": "PreTrainedTokenizerFast",
    "bos_token": SPECIAL_TOKENS[0],
    "eos_token": SPECIAL_TOKENS[1],
    "clean_up_tokenization_spaces": False,
    "model_max_length": HF_CONFIG["max_position_embeddings"],
    "chat_template": CHAT_TEMPLATE,
}
GAIN = 3.0
"""How far the weights of matrices are spread: enough that the best two logits lie well apart."""


def weights() -> dict[str, Tensor]:
    """The float32 weights by name. Uniform numbers with a variance of GAIN² / inputs; norms are 1."""
    generator = torch.Generator().manual_seed(SEED)
    with torch.device("meta"):
        network = CausalLM(ModelConfig.from_hf(HF_CONFIG))
    made: dict[str, Tensor] = {}
    for name, slot in network.state_dict().items():
        if slot.dim() == 1:
            made[name] = torch.ones(slot.shape)
            continue
        spread = GAIN * (3.0 / slot.shape[1]) ** 0.5
        made[name] = (torch.rand(slot.shape, generator=generator) * 2 - 1) * spread
    return made


def backend() -> tokenizers.Tokenizer:
    """A byte-level BPE without merges: one token for each byte, and the special tokens."""
    made = tokenizers.Tokenizer(models.BPE(vocab=dict(BYTE_OF), merges=[]))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    made.decoder = decoders.ByteLevel()
    made.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in SPECIAL_TOKENS])
    return made


def tokenizer() -> Tokenizer:
    """The tokenizer of `tiny`."""
    special = {"bos_token": SPECIAL_TOKENS[0], "eos_token": SPECIAL_TOKENS[1]}
    template = ChatTemplate(CHAT_TEMPLATE, special)
    return Tokenizer(backend(), chat_template=template, eos_token=special["eos_token"])


def export_tiny(folder: Path) -> Path:
    """Write `tiny` as a Hugging Face folder that transformers loads; returns the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    save_file(weights(), folder / "model.safetensors", metadata={"format": "pt"})
    backend().save(str(folder / "tokenizer.json"))
    for name, content in (
        ("config.json", HF_CONFIG),
        ("generation_config.json", GENERATION_CONFIG),
        ("tokenizer_config.json", TOKENIZER_CONFIG),
    ):
        (folder / name).write_text(json.dumps(content, indent=2) + "\n", "utf-8")
    return folder
