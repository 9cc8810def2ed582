"""One prompt, several answers: the samples of a request with n > 1 and their names.

Owns the names and the view of the whole. Each sample is a request of its own with its own end; this module
ends none. Invariant: sample 0 has the caller's id, and `take` loses and repeats no chunk of any sample.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from ..lifecycle.request import Request
from ..streaming.channel import Channel, Chunk
from ..streaming.text import StreamingText


def sample_ids(request_id: str, n: int) -> list[str]:
    """Ids of the `n` samples of a request: its own, then "id#1", "id#2" and so on."""
    return [request_id, *(f"{request_id}#{index}" for index in range(1, n))]


@dataclass(eq=False)
class LiveRequest:
    """A request with its way out: the text it becomes and the channel to its caller."""

    request: Request
    text: StreamingText
    channel: Channel
    samples: tuple[LiveRequest, ...] = ()
    """All samples of the prompt, this one included, in order; empty for n = 1."""

    @property
    def members(self) -> tuple[LiveRequest, ...]:
        """All samples; just this request for n = 1."""
        return self.samples or (self,)

    @property
    def caller_id(self) -> str:
        """The id under which the caller knows the request: that of sample 0."""
        return self.members[0].request.request_id

    @property
    def all_ended(self) -> bool:
        """True when every sample has ended."""
        return all(member.request.is_terminal for member in self.members)

    @property
    def error(self) -> BaseException | None:
        """The fault of the first sample that has one."""
        return next((m.request.error for m in self.members if m.request.error is not None), None)

    def take(self) -> Chunk | None:
        """What waits for the caller, from one sample; its `index` says which. None: nothing waits."""
        for member in self.members:
            chunk = member.channel.take()
            if chunk is not None:
                index = member.request.sample_index
                return dataclasses.replace(chunk, index=index) if index else chunk
        return None
