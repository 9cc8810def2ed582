"""The measurement W6 runs, checks the texts it measures and gives a record. No figure is judged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from inference_kit.bench import streamer
from inference_kit.errors import KitError
from inference_kit.model import tiny
from inference_kit.streaming import PlainUtf8Decoder
from tests.model.small_tokenizers import byte_level


class Ticking:
    """A clock on which every reading is a second later."""

    def __init__(self) -> None:
        self.reading = 0.0

    def now(self) -> float:
        self.reading += 1.0
        return self.reading


def test_a_record_names_its_work_and_holds_all_sides(tmp_path: Path) -> None:
    byte_level().backend.save(str(tmp_path / "tokenizer.json"))
    record = streamer.measure(tokens=2000, rounds=2, path=tmp_path / "tokenizer.json", clock=Ticking())
    assert json.loads(json.dumps(record, allow_nan=False)) == record
    assert (record["workload"], record["tokens"], record["tokenizer"]) == ("W6", 2000, tmp_path.name)
    # One second a run on this clock: a side with all tokens takes 500 us for each.
    assert record["median_us_per_token"]["stops_0"] == record["median_us_per_token"]["decode_stream"] == 500
    assert record["ratios"]["speed_over_decode_stream"] == 1.0
    assert {side for side in record["tokens_of_side"] if "stops" in side} >= {
        "stops_0",
        "stops_4",
        "stops_64",
    }


def test_the_text_is_the_same_for_a_seed_and_holds_no_stop() -> None:
    text = streamer.mixed_text(3, 5000)
    assert text == streamer.mixed_text(3, 5000) != streamer.mixed_text(4, 5000)
    assert not [stop for stops in streamer.STOPS.values() for stop in stops if stop in text]
    assert {len(stops) for stops in streamer.STOPS.values()} == {0, 4, 64}
    assert any(char in text for char in streamer.EMOJI) and any("\u4e00" <= char <= "\u9fff" for char in text)


def test_a_side_with_a_wrong_text_is_an_error_and_no_figure() -> None:
    class Deaf(PlainUtf8Decoder):
        def push(self, data: bytes) -> str:
            return ""

    tokenizer = tiny.tokenizer()
    ids = streamer.mixed_ids(tokenizer, 1000, seed=0)
    vocabulary = streamer.vocabulary_of(tokenizer)
    wrong = streamer.kit_side("stops_0", vocabulary, (), decoder=Deaf)
    with pytest.raises(KitError, match="stops_0"):
        streamer.check_texts([wrong], tokenizer, ids)
    with pytest.raises(KitError, match="stop string"):
        streamer.kit_side("stops_1", vocabulary, ("\n",)).run(ids)


def test_a_folder_without_a_tokenizer_is_refused(tmp_path: Path) -> None:
    with pytest.raises(KitError, match="no tokenizer"):
        streamer.find_tokenizer(tmp_path)
