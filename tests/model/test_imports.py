"""What importing the model room costs, and where models run."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch

from inference_kit.model import placement

WITHOUT_TORCH = """
import sys
sys.modules["torch"] = None
import inference_kit.model
import inference_kit.model.config, inference_kit.model.hub, inference_kit.model.tokenizer
from inference_kit.model import ModelConfig, PlainSampler, Sampler, SampleRow
assert "transformers" not in sys.modules
"""
LOADING = """
import sys
from inference_kit.model import load
load("tiny").make_runner(4, 4)
for name in ("transformers", "huggingface_hub", "gguf"):
    assert name not in sys.modules, name
assert not __import__("torch").cuda.is_initialized()
"""


@pytest.mark.parametrize("program", [WITHOUT_TORCH, LOADING], ids=["no torch needed", "nothing slow"])
def test_imports_are_lazy(program: str) -> None:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_an_unknown_name_is_an_attribute_error() -> None:
    import inference_kit.model

    with pytest.raises(AttributeError, match="nothing"):
        _ = inference_kit.model.nothing


@pytest.mark.parametrize(
    ("checkpoint", "is_fast", "chosen"),
    [
        (torch.bfloat16, True, torch.bfloat16),
        (torch.bfloat16, False, torch.float32),
        (torch.float16, True, torch.bfloat16),
        (torch.float32, True, torch.float32),
    ],
)
def test_auto_dtype_on_a_cpu(
    monkeypatch: pytest.MonkeyPatch, checkpoint: torch.dtype, is_fast: bool, chosen: torch.dtype
) -> None:
    monkeypatch.setattr(placement, "cpu_has_fast_bfloat16", lambda: is_fast)
    assert placement.choose_dtype("auto", checkpoint, torch.device("cpu")) == chosen


def test_auto_device_is_the_cpu_without_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert placement.choose_device("auto") == torch.device("cpu")
