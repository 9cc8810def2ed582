"""Loading a folder: single and sharded weights, and errors that say which file or weight is at fault."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from inference_kit.errors import InvalidField, ModelNotFound
from inference_kit.model import export_model, load, tiny

from .stepping import greedy

PROMPTS = [[1, 2, 3], [99, 98]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return export_model("tiny", tmp_path / "model")


def change_weights(folder: Path, remove: str = "", **add: torch.Tensor) -> None:
    weights = load_file(folder / "model.safetensors")
    kept = {name: tensor.clone() for name, tensor in weights.items() if name != remove}
    save_file({**kept, **add}, folder / "model.safetensors")


def shard(folder: Path) -> None:
    """Split the weights into two files and an index."""
    weights = load_file(folder / "model.safetensors")
    names = sorted(weights)
    weight_map = {}
    for number, part in enumerate((names[::2], names[1::2]), start=1):
        file = f"model-{number:05}-of-00002.safetensors"
        save_file({name: weights[name].clone() for name in part}, folder / file)
        weight_map.update(dict.fromkeys(part, file))
    (folder / "model.safetensors").unlink()
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": weight_map}))


def test_sharded_weights_give_the_same_ids(folder: Path) -> None:
    expected = greedy(load(folder), PROMPTS, 12)
    shard(folder)
    assert greedy(load(str(folder)), PROMPTS, 12) == expected


def test_a_folder_without_a_tokenizer_serves_ids(folder: Path) -> None:
    expected = greedy(load(folder), PROMPTS, 12)
    (folder / "tokenizer.json").unlink()
    model = load(folder)
    assert model.tokenizer is None
    assert greedy(model, PROMPTS, 12) == expected


@pytest.mark.parametrize("file", ["config.json", "model.safetensors"])
def test_the_missing_file_is_named(folder: Path, file: str) -> None:
    (folder / file).unlink()
    with pytest.raises(ModelNotFound, match=f"{file} is missing"):
        load(folder)


def test_the_missing_shard_is_named(folder: Path) -> None:
    shard(folder)
    (folder / "model-00002-of-00002.safetensors").unlink()
    with pytest.raises(ModelNotFound, match=r"model-00002-of-00002\.safetensors is missing"):
        load(folder)


@pytest.mark.parametrize("file", ["config.json", "generation_config.json", "model.safetensors"])
def test_the_broken_file_is_named(folder: Path, file: str) -> None:
    (folder / file).write_text("[ broken")
    with pytest.raises(ModelNotFound, match=f"{file} cannot be read"):
        load(folder)


def test_a_path_that_is_no_folder_is_an_error(tmp_path: Path) -> None:
    for path in (tmp_path / "none", str(tmp_path / "none"), "./none"):
        with pytest.raises(ModelNotFound, match="not a folder"):
            load(path)


def test_a_missing_weight_is_named(folder: Path) -> None:
    change_weights(folder, remove="model.layers.1.mlp.up_proj.weight")
    with pytest.raises(ModelNotFound, match=r"missing: model\.layers\.1\.mlp\.up_proj\.weight"):
        load(folder)


def test_a_weight_without_a_place_is_named(folder: Path) -> None:
    change_weights(folder, **{"model.layers.0.self_attn.q_proj.bias": torch.zeros(64)})
    with pytest.raises(ModelNotFound, match=r"no place in the network: model\.layers\.0\.self_attn\.q_proj"):
        load(folder)


def test_a_misshapen_weight_is_named_with_both_shapes(folder: Path) -> None:
    change_weights(folder, **{"model.norm.weight": torch.ones(63)})
    with pytest.raises(ModelNotFound, match=r"model\.norm\.weight \(63,\) instead of \(64,\)"):
        load(folder)


def test_stored_rotary_frequencies_of_old_checkpoints_are_left_out(folder: Path) -> None:
    expected = greedy(load(folder), PROMPTS, 4)
    change_weights(folder, **{"model.layers.0.self_attn.rotary_emb.inv_freq": torch.ones(8)})
    assert greedy(load(folder), PROMPTS, 4) == expected


def test_an_unsupported_architecture_is_refused(folder: Path) -> None:
    (folder / "config.json").write_text(json.dumps({**tiny.HF_CONFIG, "model_type": "gpt2"}))
    with pytest.raises(InvalidField, match="llama"):
        load(folder)


def test_wrong_dtype_and_device_are_refused() -> None:
    with pytest.raises(InvalidField, match="dtype"):
        load("tiny", dtype="int8")
    with pytest.raises(InvalidField, match="device"):
        load("tiny", device="tpu")


def test_an_explicit_dtype_is_taken() -> None:
    model = load("tiny", dtype="bfloat16", device="cpu")
    assert (model.dtype, model.device) == ("bfloat16", "cpu")
    assert model.kv_bytes_per_token == 2 * 2 * 2 * 16 * 2
    assert len(greedy(model, PROMPTS, 4)[1]) == 4
