"""Fixtures for all tests. After every test, each engine core it made must have given all blocks back."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
# A learner who keeps a log of attempts must not find those of the tests in it: there is no folder here.
os.environ["INFERENCE_KIT_DATA"] = os.devnull

from inference_kit.engine.core import EngineCore
from tests.cores import CoreFactory, check_all_given_back, checksum_core

# These machines are shared: how long an example takes says nothing.
settings.register_profile("kit", deadline=None)
settings.load_profile("kit")


@pytest.fixture
def make_core() -> Iterator[CoreFactory]:
    """`checksum_core`, with the check that all blocks are free after the test."""
    made: list[EngineCore] = []

    def make(**options: Any) -> EngineCore:
        made.append(checksum_core(**options))
        return made[-1]

    yield make
    for core in made:
        check_all_given_back(core)
