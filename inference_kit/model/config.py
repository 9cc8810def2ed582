"""What a network looks like: shapes, biases, windows and end ids, read from a model's `config.json`.

It knows Llama, Mistral, Qwen2 and Qwen3, and turns their differences into plain fields, so that the
network has one code path and no model names. It needs no torch. A `ModelConfig` is complete and checked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import InvalidField
from ..sampling import check_int, check_number, is_int
from .rope_config import RopeConfig


@dataclass(frozen=True)
class Family:
    """What a family takes for granted when `config.json` leaves a field out."""

    architecture: str
    max_position_embeddings: int
    num_kv_heads: int | None = None
    """None: as many as query heads."""
    head_dim: int | None = None
    """None: hidden_size // num_attention_heads."""
    eos_token_id: int | None = None
    always_qkv_bias: bool = False
    reads_attention_bias: bool = False
    reads_mlp_bias: bool = False
    qk_norm: bool = False


FAMILIES: dict[str, Family] = {
    "llama": Family("LlamaForCausalLM", 2048, eos_token_id=2, reads_attention_bias=True, reads_mlp_bias=True),
    "mistral": Family("MistralForCausalLM", 131_072, num_kv_heads=8, eos_token_id=2),
    "qwen2": Family("Qwen2ForCausalLM", 32_768, num_kv_heads=32, always_qkv_bias=True),
    "qwen3": Family(
        "Qwen3ForCausalLM", 32_768, num_kv_heads=32, head_dim=128, reads_attention_bias=True, qk_norm=True
    ),
}
ACTIVATIONS = ("silu", "swish")
WINDOW_KINDS = ("full_attention", "sliding_attention")


@dataclass(frozen=True)
class ModelConfig:
    """One network, in the names of the field. Sizes are counts of elements."""

    model_type: str
    vocab_size: int
    hidden_size: int
    intermediate_size: int
    num_layers: int
    num_heads: int
    num_kv_heads: int
    head_dim: int
    max_position_embeddings: int
    """The model's context: the longest total length, in tokens."""
    rms_norm_eps: float
    tie_word_embeddings: bool
    rope: RopeConfig
    qkv_bias: bool
    o_bias: bool
    mlp_bias: bool
    qk_norm: bool
    layer_windows: tuple[int | None, ...]
    """For each layer: how many positions a token sees, itself included; None sees all before it."""
    eos_token_ids: tuple[int, ...]
    """Ids that end an answer: those of config.json and of generation_config.json together."""

    @classmethod
    def from_hf(cls, hf: Mapping[str, Any], generation: Mapping[str, Any] | None = None) -> ModelConfig:
        """Read `config.json` (`hf`) and, where there is one, `generation_config.json`.

        Raises `InvalidField` with the field, the value and what is allowed; an unknown architecture
        is an error that lists the supported ones.
        """
        model_type, family = _family(hf)
        if hf.get("quantization_config") is not None:
            raise InvalidField("quantization_config", hf["quantization_config"], "none: plain weights only")
        if hf.get("hidden_act", "silu") not in ACTIVATIONS:
            raise InvalidField("hidden_act", hf["hidden_act"], f"one of {', '.join(ACTIVATIONS)}")
        hidden_size = _count(hf, "hidden_size")
        num_layers = _count(hf, "num_hidden_layers")
        num_heads = _count(hf, "num_attention_heads")
        head_dim = _head_dim(hf, family, hidden_size, num_heads)
        context = _count(hf, "max_position_embeddings", family.max_position_embeddings)
        vocab_size = _count(hf, "vocab_size")
        attention_bias = family.reads_attention_bias and _flag(hf, "attention_bias")
        eps = hf.get("rms_norm_eps", 1e-6)
        check_number("rms_norm_eps", eps, 0.0, 1.0)
        return cls(
            model_type=model_type,
            vocab_size=vocab_size,
            hidden_size=hidden_size,
            intermediate_size=_count(hf, "intermediate_size"),
            num_layers=num_layers,
            num_heads=num_heads,
            num_kv_heads=_num_kv_heads(hf, family, num_heads),
            head_dim=head_dim,
            max_position_embeddings=context,
            rms_norm_eps=float(eps),
            tie_word_embeddings=_flag(hf, "tie_word_embeddings"),
            rope=RopeConfig.from_hf(hf, head_dim, context),
            qkv_bias=family.always_qkv_bias or attention_bias,
            o_bias=attention_bias,
            mlp_bias=family.reads_mlp_bias and _flag(hf, "mlp_bias"),
            qk_norm=family.qk_norm,
            layer_windows=_layer_windows(hf, model_type, num_layers),
            eos_token_ids=_eos_token_ids(hf, generation or {}, family, vocab_size),
        )


def _family(hf: Mapping[str, Any]) -> tuple[str, Family]:
    supported = ", ".join(f"{name} ({family.architecture})" for name, family in FAMILIES.items())
    by_architecture = {family.architecture: name for name, family in FAMILIES.items()}
    architectures = hf.get("architectures") or []
    model_type = hf.get("model_type") or by_architecture.get(architectures[0] if architectures else "")
    if not isinstance(model_type, str) or model_type not in FAMILIES:
        raise InvalidField("model_type", hf.get("model_type") or architectures, f"one of {supported}")
    family = FAMILIES[model_type]
    if architectures and family.architecture not in architectures:
        allowed = f"{family.architecture} for model_type {model_type}"
        raise InvalidField("architectures", architectures, allowed)
    return model_type, family


def _count(hf: Mapping[str, Any], field: str, default: int | None = None) -> int:
    value: Any = hf.get(field, default)
    check_int(field, value, 1)
    return int(value)


def _flag(hf: Mapping[str, Any], field: str) -> bool:
    value = hf.get(field)
    if value is None:
        return False
    if not isinstance(value, bool):
        raise InvalidField(field, value, "true or false")
    return value


def _head_dim(hf: Mapping[str, Any], family: Family, hidden_size: int, num_heads: int) -> int:
    head_dim = hf.get("head_dim", family.head_dim)
    if head_dim is None:
        if hidden_size % num_heads:
            raise InvalidField("num_attention_heads", num_heads, f"a divisor of hidden_size={hidden_size}")
        head_dim = hidden_size // num_heads
    check_int("head_dim", head_dim, 2)
    if head_dim % 2:
        raise InvalidField("head_dim", head_dim, "an even number: rotary embedding turns pairs")
    return int(head_dim)


def _num_kv_heads(hf: Mapping[str, Any], family: Family, num_heads: int) -> int:
    heads = hf.get("num_key_value_heads", family.num_kv_heads)
    heads = num_heads if heads is None else heads
    check_int("num_key_value_heads", heads, 1)
    if num_heads % heads:
        raise InvalidField("num_key_value_heads", heads, f"a divisor of num_attention_heads={num_heads}")
    return int(heads)


def _layer_windows(hf: Mapping[str, Any], model_type: str, num_layers: int) -> tuple[int | None, ...]:
    """The window of each layer. Llama has none, Mistral one for all, Qwen one from a layer on."""
    if model_type == "llama":
        return (None,) * num_layers
    default = 4096
    if model_type == "mistral":
        window = _window(hf.get("sliding_window", default))
        own = ["full_attention" if window is None else "sliding_attention"] * num_layers
        if hf.get("layer_types") not in (None, own):
            raise InvalidField("layer_types", hf["layer_types"], "the same kind for every layer of a Mistral")
        return (window,) * num_layers
    window = _window(hf.get("sliding_window", default)) if _flag(hf, "use_sliding_window") else None
    kinds = hf.get("layer_types")
    if kinds is None:
        first = hf.get("max_window_layers", 28)
        check_int("max_window_layers", first, 0)
        return tuple(window if layer >= first else None for layer in range(num_layers))
    if not isinstance(kinds, list) or len(kinds) != num_layers or not set(kinds) <= set(WINDOW_KINDS):
        raise InvalidField("layer_types", kinds, f"{num_layers} names out of {', '.join(WINDOW_KINDS)}")
    if window is None and "sliding_attention" in kinds:
        raise InvalidField("layer_types", kinds, "full_attention only, because no sliding window is in use")
    return tuple(window if kind == "sliding_attention" else None for kind in kinds)


def _window(value: Any) -> int | None:
    if value is None:
        return None
    check_int("sliding_window", value, 1)
    return int(value)


def _eos_token_ids(
    hf: Mapping[str, Any], generation: Mapping[str, Any], family: Family, vocab_size: int
) -> tuple[int, ...]:
    found: list[int] = []
    for source in (hf, generation):
        given = source.get("eos_token_id")
        ids = given if isinstance(given, list) else [given]
        for token_id in ids:
            if token_id is None:
                continue
            if not is_int(token_id) or not 0 <= token_id < vocab_size:
                raise InvalidField("eos_token_id", given, f"ids in 0..{vocab_size - 1}, one or a list")
            if token_id not in found:
                found.append(token_id)
    written = "eos_token_id" in hf or "eos_token_id" in generation
    if not written and family.eos_token_id is not None and family.eos_token_id < vocab_size:
        found.append(family.eos_token_id)
    return tuple(found)
