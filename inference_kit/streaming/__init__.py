"""How an answer leaves: bytes, code points, stop strings, the bounded channel (A6, A7, A13)."""

from .channel import Channel, Chunk, TokenChannel
from .stop import Matcher, PlainStopMatcher, StopMatcher
from .text import StreamingText
from .utf8 import Decoder, PlainUtf8Decoder, Utf8Decoder

__all__ = [
    "Channel",
    "Chunk",
    "Decoder",
    "Matcher",
    "PlainStopMatcher",
    "PlainUtf8Decoder",
    "StopMatcher",
    "StreamingText",
    "TokenChannel",
    "Utf8Decoder",
]
