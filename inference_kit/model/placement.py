"""Where and in which precision a model runs: the meaning of `device="auto"` and `dtype="auto"`.

It only decides. Nothing here touches a GPU on a machine that has none.
"""

from __future__ import annotations

import torch

from ..errors import InvalidField

DTYPES: dict[str, torch.dtype] = {
    "float32": torch.float32,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
}


def choose_device(device: str) -> torch.device:
    """`auto` is `cuda` where a GPU is present, else `cpu`. Raises `InvalidField`."""
    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if device == "cpu":
        return torch.device("cpu")
    if device.partition(":")[0] == "cuda":
        if torch.cuda.is_available():
            return torch.device(device)
        raise InvalidField("device", device, "auto or cpu, because this machine has no CUDA device")
    raise InvalidField("device", device, "auto, cpu, cuda or cuda:N")


def choose_dtype(dtype: str, checkpoint: torch.dtype, device: torch.device) -> torch.dtype:
    """The dtype of weights and cache. Raises `InvalidField`.

    `auto` keeps a float32 checkpoint as it is. A 16-bit one runs in 16 bits on a GPU, in bfloat16 on
    a CPU that multiplies it fast, and else in float32.
    """
    if dtype != "auto":
        if dtype not in DTYPES:
            raise InvalidField("dtype", dtype, f"auto, {', '.join(DTYPES)}")
        return DTYPES[dtype]
    if checkpoint == torch.float32:
        return torch.float32
    if device.type == "cuda":
        return torch.bfloat16 if torch.cuda.get_device_capability(device) >= (8, 0) else torch.float16
    return torch.bfloat16 if cpu_has_fast_bfloat16() else torch.float32


def cpu_has_fast_bfloat16() -> bool:
    """True where the CPU has instructions that multiply bfloat16 (AVX512-BF16 or AMX)."""
    capabilities = torch.cpu.get_capabilities()
    return any(bool(capabilities.get(name)) for name in ("avx512_bf16", "amx_bf16"))
