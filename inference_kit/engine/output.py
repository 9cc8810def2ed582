"""What a caller gets at the end of a request, and what it is billed. Plain data, made once.

Owns no request. Invariant: an output is made from an ended request and never changes.

The policy for requests that are cut short (A9, A13), the same for every reason:

- Committed tokens are billed, sent or not: the device computed them, and the caller can still take them
  from the stream after the end. Text that was held back for a stop string is dropped on a cancel. Tokens
  of the step in which the end was noticed are neither committed nor billed.
- Every accepted request is recorded once, under its own finish reason: a cancel is `client_cancel` or
  `shutdown`, never a success and never left out. A refused one only counts as rejected.
- The end drops one reference to each KV block of the request. Blocks that others share, or that a prefix
  cache keeps, stay valid: what was computed does not become wrong because its first asker left (A15).
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from functools import cached_property

from ..lifecycle.metrics import engine_metrics
from ..lifecycle.record import Record
from ..lifecycle.request import LoggedEvent
from ..scheduler.plan import TokenLogprob
from .core import LiveRequest


@dataclass(frozen=True)
class RequestOutput:
    """The answer to one prompt."""

    request_id: str
    prompt_token_ids: tuple[int, ...]
    text: str
    token_ids: tuple[int, ...]
    """Generated ids, with the stop or EOS token when one ended the answer."""
    finish_reason: str
    stop_reason: str | int | None
    """The stop string or stop token id that matched; None for EOS and all other ends."""
    events: tuple[LoggedEvent, ...]
    error: BaseException | None = None
    logprobs: tuple[TokenLogprob, ...] | None = None
    """One entry for each of `token_ids` (convention 4); None when the request did not ask for them."""
    token_counts: Record = field(default_factory=Record)
    """The four counts of C4 at the time of this output; committed = unsent + sent."""
    num_cached_tokens: int = 0
    """Prompt tokens that were found in the prefix cache at the first admission (convention 11)."""
    samples: tuple[RequestOutput, ...] = ()
    """For n > 1 all samples in order; the fields above are those of sample 0. Empty for n = 1."""

    @property
    def usage(self) -> Record:
        """Billed tokens: `prompt_tokens`, `completion_tokens` (all committed ones) and `total_tokens`."""
        prompt, completion = len(self.prompt_token_ids), len(self.token_ids)
        return Record(prompt_tokens=prompt, completion_tokens=completion, total_tokens=prompt + completion)

    @cached_property
    def metrics(self) -> Record:
        """tokenize, queue_wait, prefill, ttft, tpot, e2e, … in seconds (convention 13), from `events`."""
        return engine_metrics(self.events)


def output_of(live: LiveRequest) -> RequestOutput:
    """The output of an ended request, with all its samples."""
    outputs = tuple(_output(member) for member in live.members)
    return dataclasses.replace(outputs[0], samples=outputs) if live.samples else outputs[0]


def _output(live: LiveRequest) -> RequestOutput:
    request = live.request
    return RequestOutput(
        request_id=request.request_id,
        prompt_token_ids=request.prompt_token_ids,
        text=live.text.text,
        token_ids=tuple(request.output_token_ids),
        finish_reason=str(request.finish_reason),
        stop_reason=request.stop_reason,
        events=tuple(request.events),
        error=request.error,
        logprobs=None if request.sampling.logprobs is None else live.logprobs,
        token_counts=live.token_counts,
        num_cached_tokens=request.num_cached_tokens,
    )
