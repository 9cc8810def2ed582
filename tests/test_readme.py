"""The README's examples run and print what it shows."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

README = Path(__file__).parent.parent / "README.md"
BLOCKS = re.findall(r"```(python|text)\n(.*?)```", README.read_text("utf-8"), re.DOTALL)

torch = pytest.importorskip("torch")


def printed(source: str) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(source, str(README), "exec"), {"__name__": "__main__"})
    return out.getvalue()


@pytest.mark.model
def test_the_five_lines_print_what_is_shown() -> None:
    from inference_kit.errors import ModelNotFound
    from inference_kit.model.hub import find
    from inference_kit.model.sources import CacheSource, cache_folder

    try:
        find("smollm2", progress=False, sources=[CacheSource(cache_folder())])
    except ModelNotFound:
        pytest.skip("the weights of smollm2 are not in the cache; `make model` fetches them")
    (_, source), (_, shown) = BLOCKS[0], BLOCKS[1]
    assert len([line for line in source.splitlines() if line]) <= 5
    assert printed(source) == shown


def test_the_asyncio_example_ends_with_a_reason() -> None:
    lines = printed(BLOCKS[2][1]).splitlines()
    assert lines[-1].split()[-1] in ("length", "stop_eos")
