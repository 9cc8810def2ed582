"""Greedy ids equal those of transformers `generate` in float32, whatever the batch and the chunks."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub import constants

from inference_kit.errors import ModelNotFound
from inference_kit.model import hub, load
from inference_kit.model.sources import CacheSource, HuggingFaceSource, cache_folder

from .reference import (
    assert_same,
    edit_config,
    transformers_greedy,
    transformers_greedy_batched,
    write_random_checkpoint,
)
from .stepping import greedy

NUM_NEW = 64
LENGTHS = (1, 3, 7, 16, 17, 25, 33, 40)
FACTORS = [1.0 + 0.25 * pair for pair in range(8)]

CONFIGS: dict[str, tuple[str, dict[str, Any]]] = {
    "llama": ("llama", {}),
    "llama-linear-biases-tied": (
        "llama",
        {
            "rope_parameters": {"rope_type": "linear", "rope_theta": 5000.0, "factor": 4.0},
            "attention_bias": True,
            "mlp_bias": True,
            "tie_word_embeddings": True,
        },
    ),
    "llama-llama3": (
        "llama",
        {
            "rope_parameters": {
                "rope_type": "llama3",
                "rope_theta": 100.0,
                "factor": 8.0,
                "low_freq_factor": 1.0,
                "high_freq_factor": 4.0,
                "original_max_position_embeddings": 64,
            }
        },
    ),
    "llama-dynamic-past-its-context": (
        "llama",
        {
            "rope_parameters": {"rope_type": "dynamic", "rope_theta": 100.0, "factor": 2.0},
            "max_position_embeddings": 48,
        },
    ),
    "llama-longrope-past-its-context": (
        "llama",
        {
            "rope_parameters": {
                "rope_type": "longrope",
                "rope_theta": 100.0,
                "short_factor": [1.0] * 8,
                "long_factor": FACTORS,
                "original_max_position_embeddings": 48,
            }
        },
    ),
    "mistral-window-yarn": (
        "mistral",
        {
            "sliding_window": 12,
            "rope_parameters": {
                "rope_type": "yarn",
                "rope_theta": 100.0,
                "factor": 4.0,
                "original_max_position_embeddings": 32,
            },
        },
    ),
    "mistral-head-dim": ("mistral", {"sliding_window": None, "head_dim": 24, "num_key_value_heads": 1}),
    "qwen2-windows-tied": (
        "qwen2",
        {
            "use_sliding_window": True,
            "sliding_window": 10,
            "max_window_layers": 1,
            "tie_word_embeddings": True,
        },
    ),
    "qwen2-yarn-mscale": (
        "qwen2",
        {
            "rope_parameters": {
                "rope_type": "yarn",
                "rope_theta": 1000.0,
                "factor": 2.0,
                "mscale": 1.0,
                "mscale_all_dim": 0.5,
                "truncate": False,
                "original_max_position_embeddings": 40,
            }
        },
    ),
    "qwen3-head-dim": ("qwen3", {"head_dim": 32}),
    "qwen3-layer-types-bias": (
        "qwen3",
        {
            "head_dim": 16,
            "attention_bias": True,
            "use_sliding_window": True,
            "sliding_window": 9,
            "layer_types": ["sliding_attention", "full_attention", "sliding_attention"],
        },
    ),
}


def mixed_prompts(vocab_size: int) -> list[list[int]]:
    rng = random.Random(5)
    return [[rng.randrange(vocab_size) for _ in range(length)] for length in LENGTHS]


def assert_parity(folder: Path) -> None:
    """8 prompts × 64 tokens: in one batch, whole; and in chunks of 7 with another block size."""
    model = load(folder, dtype="float32")
    prompts = mixed_prompts(model.config.vocab_size)
    expected = transformers_greedy(folder, prompts, NUM_NEW)
    assert_same(expected, greedy(model, prompts, NUM_NEW))
    assert_same(expected, greedy(model, prompts, NUM_NEW, chunk=7, block_size=5))


@pytest.mark.parametrize("name", CONFIGS)
def test_greedy_ids_equal_transformers(name: str, tmp_path: Path) -> None:
    model_type, fields = CONFIGS[name]
    assert_parity(write_random_checkpoint(tmp_path, model_type, **fields))


def test_older_form_of_rope_fields_equals_transformers(tmp_path: Path) -> None:
    scaling = {"type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
    folder = write_random_checkpoint(tmp_path, "llama")
    edit_config(
        folder,
        remove=["rope_parameters"],
        rope_theta=100.0,
        rope_scaling={**scaling, "original_max_position_embeddings": 64},
    )
    assert_parity(folder)


@pytest.fixture
def smollm2(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of smollm2 from a cache on this machine; nothing is fetched."""
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    try:
        return hub.find("smollm2", sources=[CacheSource(cache_folder()), HuggingFaceSource()])
    except ModelNotFound:
        pytest.skip("smollm2 is not in the cache; `python -m inference_kit.model.hub smollm2` fetches it")


def test_smollm2_knows_the_capital_of_france(smollm2: Path) -> None:
    model = load(smollm2)
    assert model.tokenizer is not None
    prompt = model.tokenizer.encode_chat([{"role": "user", "content": "What is the capital of France?"}])
    assert model.tokenizer.decode(greedy(model, [prompt], 7)[0]) == "The capital of France is Paris."


def test_smollm2_equals_transformers(smollm2: Path) -> None:
    model = load(smollm2, dtype="float32")
    assert model.tokenizer is not None
    prompts = [model.tokenizer.encode(text) for text in TEXTS]
    expected = transformers_greedy_batched(smollm2, prompts, NUM_NEW)
    assert_same(expected, greedy(model, prompts, NUM_NEW, chunk=24))


TEXTS = (
    "The",
    "Once upon a time, in a village by the sea, there lived",
    "def fibonacci(n):\n    ",
    "Question: why is the sky blue? Answer:",
    "1, 1, 2, 3, 5, 8, 13,",
    "La capitale de la France est",
    "A list of things to bring on a long walk in the mountains when the weather may turn cold and wet at any "
    "hour, and when no shop and no house lies on the way for two days, begins with",
    "<|im_start|>user\nName three colours.<|im_end|>\n<|im_start|>assistant\n",
)
