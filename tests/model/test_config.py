"""`ModelConfig.from_hf`: the four families, both RoPE forms, and errors that name the field."""

from __future__ import annotations

from typing import Any

import pytest

from inference_kit.errors import InvalidField
from inference_kit.model.config import ModelConfig

BASE: dict[str, Any] = {
    "vocab_size": 100,
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
}


def config(model_type: str = "llama", **fields: Any) -> ModelConfig:
    return ModelConfig.from_hf({**BASE, "model_type": model_type, **fields})


def refused(field: str, model_type: str = "llama", **fields: Any) -> InvalidField:
    with pytest.raises(InvalidField) as caught:
        config(model_type, **fields)
    assert caught.value.field == field
    return caught.value


def test_head_dim_follows_from_the_heads_unless_given() -> None:
    assert config().head_dim == 16
    assert config(head_dim=24).head_dim == 24
    assert config("qwen3").head_dim == 128


def test_missing_kv_heads_mean_one_for_each_head_in_llama() -> None:
    assert config(num_key_value_heads=None).num_kv_heads == 4


def test_biases_of_each_family() -> None:
    assert not config().qkv_bias
    biased = config(attention_bias=True, mlp_bias=True)
    assert (biased.qkv_bias, biased.o_bias, biased.mlp_bias) == (True, True, True)
    qwen2 = config("qwen2")
    assert (qwen2.qkv_bias, qwen2.o_bias, qwen2.qk_norm) == (True, False, False)
    assert config("qwen3").qk_norm


def test_mistral_has_one_window_for_all_layers() -> None:
    assert config("mistral", sliding_window=8).layer_windows == (8,) * 4
    assert config("mistral", sliding_window=None).layer_windows == (None,) * 4


def test_qwen_windows_start_at_max_window_layers() -> None:
    fields = {"use_sliding_window": True, "sliding_window": 8, "max_window_layers": 3}
    assert config("qwen2", **fields).layer_windows == (None, None, None, 8)


def test_qwen_window_is_off_unless_used() -> None:
    assert config("qwen2", sliding_window=8, max_window_layers=0).layer_windows == (None,) * 4


def test_layer_types_win_over_max_window_layers() -> None:
    kinds = ["sliding_attention", "full_attention"] * 2
    fields = {"use_sliding_window": True, "sliding_window": 8, "layer_types": kinds}
    assert config("qwen3", **fields).layer_windows == (8, None, 8, None)


def test_sliding_layers_without_a_window_are_refused() -> None:
    refused("layer_types", "qwen3", layer_types=["sliding_attention"] * 4)


def test_old_and_new_rope_forms_read_the_same() -> None:
    numbers = {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
    old = config(rope_theta=500.0, rope_scaling={"type": "llama3", **numbers})
    new = config(rope_parameters={"rope_type": "llama3", "rope_theta": 500.0, **numbers})
    assert old.rope == new.rope
    assert (old.rope.type, old.rope.theta, old.rope.factor) == ("llama3", 500.0, 8.0)


def test_rope_defaults_to_plain_with_theta_10000() -> None:
    assert (config().rope.type, config().rope.theta) == ("default", 10_000.0)
    assert config(rope_theta=7.0, rope_scaling=None).rope.theta == 7.0


def test_yarn_with_a_null_factor_takes_the_ratio_of_contexts() -> None:
    scaling = {"rope_type": "yarn", "factor": None, "original_max_position_embeddings": 512}
    assert config(rope_scaling=scaling, max_position_embeddings=2048).rope.factor == 4.0


def test_unsupported_rope_type_is_refused_with_the_supported_ones() -> None:
    error = refused("rope_scaling.rope_type", rope_scaling={"rope_type": "mrope", "factor": 2})
    assert "yarn" in error.allowed


def test_missing_rope_number_is_named() -> None:
    refused("rope_parameters.factor", rope_parameters={"rope_type": "linear"})
    refused(
        "rope_scaling.high_freq_factor", rope_scaling={"type": "llama3", "factor": 8, "low_freq_factor": 1}
    )


def test_wrong_rope_numbers_are_named() -> None:
    refused("rope_parameters.factor", rope_parameters={"rope_type": "linear", "factor": float("nan")})
    refused("rope_parameters.rope_theta", rope_parameters={"rope_theta": -1.0})
    refused(
        "rope_parameters.low_freq_factor",
        rope_parameters={"rope_type": "llama3", "factor": 8, "low_freq_factor": 4, "high_freq_factor": 4},
    )
    refused(
        "rope_parameters.short_factor",
        rope_parameters={"rope_type": "longrope", "short_factor": [1.0], "long_factor": [1.0]},
    )
    refused("partial_rotary_factor", partial_rotary_factor=0.5)


def test_rope_for_each_layer_kind_is_refused() -> None:
    refused("rope_parameters", rope_parameters={"full_attention": {"rope_type": "default"}})


def test_end_ids_come_from_both_files_as_number_or_list() -> None:
    hf = {**BASE, "model_type": "llama", "eos_token_id": 7}
    assert ModelConfig.from_hf(hf, {"eos_token_id": [9, 7]}).eos_token_ids == (7, 9)


def test_absent_end_id_is_the_familys_and_null_means_none() -> None:
    assert config().eos_token_ids == (2,)
    assert config("qwen2").eos_token_ids == ()
    assert config(eos_token_id=None).eos_token_ids == ()


def test_end_id_outside_the_vocabulary_is_refused() -> None:
    refused("eos_token_id", eos_token_id=100)


@pytest.mark.parametrize("field", ["vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers"])
def test_missing_size_is_named(field: str) -> None:
    refused(field, **{field: None})


def test_impossible_shapes_are_refused() -> None:
    refused("num_key_value_heads", num_key_value_heads=3)
    refused("num_attention_heads", num_attention_heads=5, num_key_value_heads=5)
    refused("head_dim", head_dim=15)
    refused("hidden_size", hidden_size="64")
    refused("tie_word_embeddings", tie_word_embeddings=1)


def test_what_the_network_cannot_do_is_refused() -> None:
    refused("hidden_act", hidden_act="relu")
    refused("quantization_config", quantization_config={"quant_method": "gptq"})
    refused("architectures", architectures=["LlamaForSequenceClassification"])


def test_unknown_architecture_lists_the_supported_ones() -> None:
    error = refused("model_type", "gpt2")
    for name in ("llama", "mistral", "qwen2", "qwen3"):
        assert name in error.allowed
    with pytest.raises(InvalidField, match="LlamaForCausalLM"):
        ModelConfig.from_hf({**BASE, "architectures": ["GPT2LMHeadModel"]})


def test_architecture_alone_names_the_family() -> None:
    assert ModelConfig.from_hf({**BASE, "architectures": ["Qwen2ForCausalLM"]}).model_type == "qwen2"
