"""From a name or a folder to a `LoadedModel`.

It reads a Hugging Face folder; where a name's folder lies is the matter of `hub.py`. It returns a model
that is complete, or raises an error that says which file or which field is at fault.
"""

from __future__ import annotations

from pathlib import Path

from ..errors import ModelNotFound
from . import hub, tiny
from .config import ModelConfig
from .folder import CONFIG_FILE, GENERATION_FILE, read_json
from .loaded_model import LoadedModel
from .placement import choose_device, choose_dtype
from .tokenizer import Tokenizer
from .weights import EMBEDDING, build_network, read_weights


def load(
    name_or_path: str | Path, *, dtype: str = "auto", device: str = "auto", progress: bool = True
) -> LoadedModel:
    """Load `tiny`, `smollm2`, a folder, or a Hugging Face id such as `owner/name`.

    dtype: auto, float32, bfloat16 or float16. device: auto, cpu, cuda or cuda:N. progress: show a bar
    while files are fetched and weights are placed. Raises `ModelNotFound` (what was tried, or which file is
    missing) and `InvalidField` (a wrong dtype or device, or a field of config.json that is not supported).
    """
    if name_or_path == tiny.NAME:
        return _load_tiny(dtype, device)
    folder = hub.find(name_or_path, progress=progress)
    return load_folder(folder, name=str(name_or_path), dtype=dtype, device=device, progress=progress)


def load_folder(
    folder: Path, *, name: str, dtype: str = "auto", device: str = "auto", progress: bool = False
) -> LoadedModel:
    """Load a Hugging Face folder: config.json, safetensors, and a tokenizer where there is one."""
    target = choose_device(device)
    config = read_config(folder)
    tokenizer = Tokenizer.from_folder(folder)
    weights = read_weights(folder)
    if EMBEDDING not in weights:
        raise ModelNotFound(f"{folder}: weights are missing: {EMBEDDING}")
    precision = choose_dtype(dtype, weights[EMBEDDING].dtype, target)
    network = build_network(config, weights, precision, target, str(folder), progress)
    return LoadedModel(name, config, network, tokenizer)


def read_config(folder: Path) -> ModelConfig:
    """The configuration of a folder. Raises `ModelNotFound` when config.json is missing or is no JSON."""
    if not folder.is_dir():
        raise ModelNotFound(f"{folder} is not a folder")
    if not (folder / CONFIG_FILE).is_file():
        raise ModelNotFound(f"{folder}: {CONFIG_FILE} is missing")
    generation = read_json(folder / GENERATION_FILE) if (folder / GENERATION_FILE).is_file() else None
    return ModelConfig.from_hf(read_json(folder / CONFIG_FILE), generation)


def export_model(name_or_path: str | Path, folder: str | Path) -> Path:
    """Write a model as a Hugging Face folder, which must be empty or new; returns it.

    Raises `ModelNotFound` for an unknown model and `FileExistsError` for a folder with files in it.
    """
    target = Path(folder)
    if target.exists() and any(target.iterdir()):
        raise FileExistsError(f"{target} is not empty")
    if name_or_path == tiny.NAME:
        return tiny.export_tiny(target)
    return hub.copy_model(hub.find(name_or_path), target)


def _load_tiny(dtype: str, device: str) -> LoadedModel:
    target = choose_device(device)
    weights = tiny.weights()
    precision = choose_dtype(dtype, weights[EMBEDDING].dtype, target)
    config = ModelConfig.from_hf(tiny.HF_CONFIG, tiny.GENERATION_CONFIG)
    network = build_network(config, weights, precision, target, tiny.NAME)
    return LoadedModel(tiny.NAME, config, network, tiny.tokenizer())
