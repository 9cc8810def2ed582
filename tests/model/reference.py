"""What transformers says: small random checkpoints as folders, and their greedy ids with the margins."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from transformers import AutoConfig, AutoModelForCausalLM

TIE = 1e-4
"""Two float32 logits nearer than this are a tie: rounding may choose either."""
SMALL: dict[str, Any] = {
    "vocab_size": 199,
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 256,
    "rms_norm_eps": 1e-5,
    "tie_word_embeddings": False,
    "bos_token_id": None,
    "eos_token_id": None,
    "pad_token_id": None,
}


@dataclass(frozen=True)
class Expected:
    """Greedy ids of one prompt, and how far the best logit lies above the second at each step."""

    token_ids: list[int]
    margins: list[float]


def write_random_checkpoint(folder: Path, model_type: str, seed: int = 0, **fields: Any) -> Path:
    """Save a random model of a family, with weights spread so that its answers vary."""
    config = AutoConfig.for_model(model_type, **{**SMALL, **fields})
    torch.manual_seed(seed)
    model = AutoModelForCausalLM.from_config(config, dtype=torch.float32, attn_implementation="eager")
    for name, parameter in model.named_parameters():
        if parameter.dim() == 1:
            centre = 1.0 if "norm" in name else 0.0
            torch.nn.init.normal_(parameter, mean=centre, std=0.3)
        else:
            torch.nn.init.normal_(parameter, std=1.5 / parameter.shape[1] ** 0.5)
    model.save_pretrained(folder)
    return folder


def edit_config(folder: Path, remove: Sequence[str] = (), **fields: Any) -> None:
    """Rewrite config.json by hand, to give it an older form."""
    path = folder / "config.json"
    config = {key: value for key, value in json.loads(path.read_text()).items() if key not in remove}
    path.write_text(json.dumps({**config, **fields}))


def transformers_greedy(folder: Path, prompts: Sequence[list[int]], num_new: int) -> list[Expected]:
    """Each prompt alone through transformers' `generate` in float32. EOS does not end an answer."""
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager")
    return [_generate(model, torch.tensor([prompt]), None, num_new)[0] for prompt in prompts]


def transformers_greedy_batched(folder: Path, prompts: Sequence[list[int]], num_new: int) -> list[Expected]:
    """All prompts in one left-padded batch; for models that are slow one by one."""
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    longest = max(map(len, prompts))
    padded = torch.tensor([[0] * (longest - len(prompt)) + prompt for prompt in prompts])
    mask = torch.tensor([[0] * (longest - len(prompt)) + [1] * len(prompt) for prompt in prompts])
    return _generate(model, padded, mask, num_new)


def _generate(model: Any, ids: torch.Tensor, mask: torch.Tensor | None, num_new: int) -> list[Expected]:
    model.generation_config.eos_token_id = None
    model.generation_config.pad_token_id = None
    out = model.generate(
        ids,
        attention_mask=torch.ones_like(ids) if mask is None else mask,
        max_new_tokens=num_new,
        do_sample=False,
        output_logits=True,
        return_dict_in_generate=True,
    )
    best = torch.stack(out.logits, dim=1).topk(2).values
    margins = (best[..., 0] - best[..., 1]).tolist()
    new_ids = out.sequences[:, ids.shape[1] :].tolist()
    return [Expected(row, margin) for row, margin in zip(new_ids, margins, strict=True)]


def assert_same(expected: Sequence[Expected], got: Sequence[list[int]]) -> None:
    """Ids are equal; they may part only at a tie, and what follows a tie is not compared."""
    for index, (want, have) in enumerate(zip(expected, got, strict=True)):
        assert len(have) == len(want.token_ids)
        differs = [ours != theirs for ours, theirs in zip(have, want.token_ids, strict=True)]
        if any(differs):
            step = differs.index(True)
            margin = want.margins[step]
            assert margin < TIE, f"prompt {index} differs at step {step}, where the margin is {margin}"
