"""Weights of a folder: found, checked by name and shape, and put into a network.

Files are mapped into memory, not read: a tensor that needs no conversion is not copied. A network is
returned only when every weight is there, none is left over, and each has its shape.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from ..errors import ModelNotFound
from ..progress_bar import ProgressBar
from .config import ModelConfig
from .folder import weight_files
from .transformer import CausalLM

HEAD = "lm_head.weight"
EMBEDDING = "model.embed_tokens.weight"
SHOWN_NAMES = 4


def read_weights(folder: Path) -> dict[str, Tensor]:
    """All tensors of `folder` by name, mapped from the files. Raises `ModelNotFound`."""
    return {name: tensor for path in weight_files(folder) for name, tensor in _read_file(path)}


def _read_file(path: Path) -> Iterator[tuple[str, Tensor]]:
    try:
        with safe_open(path, framework="pt") as tensors:
            for name in tensors.keys():  # noqa: SIM118  (the handle is not a mapping)
                yield name, tensors.get_tensor(name)
    except (SafetensorError, OSError) as error:
        raise ModelNotFound(f"{path} cannot be read: {error}") from error


def build_network(
    config: ModelConfig,
    weights: Mapping[str, Tensor],
    dtype: torch.dtype,
    device: torch.device,
    source: str,
    progress: bool = False,
) -> CausalLM:
    """A network with these weights; `progress`: show a bar when it takes long.

    Raises `ModelNotFound` that names missing, extra or misshapen weights.
    """
    with torch.device("meta"):
        network = CausalLM(config)
    expected = {name: tuple(tensor.shape) for name, tensor in network.state_dict().items()}
    # Old checkpoints also store rotary frequencies, which follow from the configuration.
    given = {name: tensor for name, tensor in weights.items() if not name.endswith(".inv_freq")}
    if config.tie_word_embeddings and EMBEDDING in given:
        given[HEAD] = given[EMBEDDING]
    _refuse(source, "weights are missing", [name for name in expected if name not in given])
    _refuse(source, "weights have no place in the network", [name for name in given if name not in expected])
    _refuse(
        source,
        "weights have a wrong shape",
        [
            f"{name} {tuple(given[name].shape)} instead of {shape}"
            for name, shape in expected.items()
            if tuple(given[name].shape) != shape
        ],
    )
    placed: dict[str, Tensor] = {}
    with ProgressBar(len(given), "weights", "tensor", shown=progress) as bar:
        for name, tensor in given.items():
            placed[name] = tensor.to(device=device, dtype=dtype)
            bar.update(1)
    network.load_state_dict(placed, assign=True)
    if config.tie_word_embeddings:
        network.lm_head.weight = network.model.embed_tokens.weight
    return network.requires_grad_(False)


def _refuse(source: str, what: str, names: list[str]) -> None:
    if names:
        more = f" and {len(names) - SHOWN_NAMES} more" if len(names) > SHOWN_NAMES else ""
        raise ModelNotFound(f"{source}: {what}: {', '.join(names[:SHOWN_NAMES])}{more}")
