"""Engine cores over the checksum model, and the check that they gave everything back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from inference_kit.clock import VirtualClock
from inference_kit.config import EngineConfig
from inference_kit.engine.components import Components
from inference_kit.engine.core import EngineCore
from inference_kit.engine.vocabulary import TokenBytes, Vocabulary
from inference_kit.scheduler import Runner
from tests.checksum import EOS, VOCABULARY, ChecksumRunner

CoreFactory = Callable[..., EngineCore]


def checksum_core(
    runner: Callable[[int, int], Runner] = ChecksumRunner,
    components: Components | None = None,
    context: int = 2048,
    tokenizer: TokenBytes | None = None,
    size: int = VOCABULARY,
    eos: int = EOS,
    **options: Any,
) -> EngineCore:
    """A core on a virtual clock. `options` are fields of `EngineConfig`."""
    config = EngineConfig(**{"num_kv_blocks": 64, "block_size": 4, **options})
    return EngineCore(
        config,
        runner(config.num_kv_blocks or 0, config.block_size),
        Vocabulary(size, context, frozenset({eos}), tokenizer),
        VirtualClock(),
        components,
    )


def check_all_given_back(core: EngineCore) -> None:
    """End what is left, then require that nothing is held (C1)."""
    core.check_integrity()
    for request_id in list(core.live):
        core.cancel(request_id)
    core.boundary()
    core.check_integrity()
    snapshot = core.snapshot()
    assert snapshot["kv_blocks_free"] == snapshot["kv_blocks"]
    assert snapshot["states"] == {}
    assert (snapshot["waiting"], snapshot["running"]) == (0, 0)
