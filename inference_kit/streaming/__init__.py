"""How an answer leaves: bytes, code points, stop strings, the bounded channel (A6, A7, A13)."""

from .channel import Channel, Chunk, PlainChannel, TokenChannel, watch
from .stop import (
    Matcher,
    PlainStopMatcher,
    PlainTextStream,
    StopMatcher,
    answer_length,
    find_stop,
    held_length,
)
from .text import StreamingText
from .ticks import run_client, tick, token_counts
from .utf8 import Decoder, PlainUtf8Decoder, Utf8Decoder, tail_length

__all__ = [
    "Channel",
    "Chunk",
    "Decoder",
    "Matcher",
    "PlainChannel",
    "PlainStopMatcher",
    "PlainTextStream",
    "PlainUtf8Decoder",
    "StopMatcher",
    "StreamingText",
    "TokenChannel",
    "Utf8Decoder",
    "answer_length",
    "find_stop",
    "held_length",
    "run_client",
    "tail_length",
    "tick",
    "token_counts",
    "watch",
]
