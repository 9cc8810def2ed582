"""What a caller gets at the end of a request. Plain data, made once from the ended request."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cached_property

from ..lifecycle.metrics import engine_metrics
from ..lifecycle.record import Record
from ..lifecycle.request import LoggedEvent
from .samples import LiveRequest


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
    logprobs: None = None
    """Log-probabilities; None in this version."""
    num_cached_tokens: int = 0
    """Prompt tokens that were found in the prefix cache at the first admission (convention 11)."""
    samples: tuple[RequestOutput, ...] = ()
    """For n > 1 all samples in order; the fields above are those of sample 0. Empty for n = 1."""

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
        num_cached_tokens=request.num_cached_tokens,
    )
