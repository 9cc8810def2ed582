"""What this machine offers to the engine. Reads, and changes nothing."""

from __future__ import annotations


def describe() -> dict[str, str]:
    """Processor and GPU in words, by name. Imports torch."""
    import torch

    gpu = torch.cuda.get_device_name() if torch.cuda.is_available() else "none"
    capability = torch.backends.cpu.get_cpu_capability()
    return {"processor": f"{capability}, {torch.get_num_threads()} threads", "GPU": gpu}
