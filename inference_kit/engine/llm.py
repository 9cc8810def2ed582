"""The offline front door: prompts in, finished answers out, on the caller's thread.

Owns the turns: one step at a time, also when several threads, or a `generate` inside a `stream` loop,
share the model. Invariant: each call reads its own requests only, and ends them when it is left.
"""

from __future__ import annotations

import dataclasses
import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..clock import Clock
from ..config import Deadlines, EngineConfig
from ..errors import EngineFailed, InvalidField, QueueFull
from ..lifecycle.states import FinishReason
from ..progress_bar import ProgressBar
from ..sampling import SamplingParams
from ..streaming.channel import Chunk
from .build import build_core, chat_prompt, encode_prompt, load_model
from .components import Components
from .core import EngineCore, LiveRequest
from .output import RequestOutput, output_of

Prompt = str | Sequence[int]


class LLM:
    """A model that answers batches of prompts.

    Args:
        model: name, Hugging Face id or folder.
        components: replaced parts.
        clock: the engine's time.
        progress: show progress bars while loading and generating, as soon as it takes over two seconds.
            A notebook with ipywidgets draws them; elsewhere they are lines of text on stderr.
        **options: any other field of `EngineConfig`; an unknown one raises `UnknownOption`.
    """

    def __init__(
        self,
        model: str = "smollm2",
        *,
        components: Components | None = None,
        clock: Clock | None = None,
        progress: bool = True,
        **options: Any,
    ) -> None:
        self.config = EngineConfig(model=model, **options)
        self.progress = progress
        self.model = load_model(self.config, progress)
        self.core: EngineCore = build_core(self.config, self.model, components, clock)
        self._turn = threading.Lock()
        self._batch: set[LiveRequest] = set()
        self._left: deque[LiveRequest] = deque()

    def generate(
        self,
        prompts: Prompt | Sequence[Prompt],
        params: SamplingParams | None = None,
        *,
        deadlines: Deadlines | None = None,
    ) -> list[RequestOutput]:
        """Answer every prompt, in the order given.

        Args:
            prompts: a text, a list of token ids, or a list of either.
            params: one `SamplingParams` for all of them.
            deadlines: limits of each request.

        Raises `InvalidField` or `RequestRefused` for a prompt that cannot be served; then none is.
        A request that fails while it runs has finish reason `error` and disturbs no other.
        """
        params = _checked(params)
        encoded = [encode_prompt(self.model, prompt) for prompt in _as_list(prompts)]
        submitted: list[LiveRequest] = []
        try:
            for prompt in encoded:
                submitted.append(self._submit(prompt, params, deadlines))
                self._batch.update(submitted[-1].members)
            self._run(submitted)
        except BaseException:
            self._abandon(submitted)
            raise
        finally:
            self._batch.difference_update(member for live in submitted for member in live.members)
        return [output_of(live) for live in submitted]

    def stream(self, prompt: Prompt, params: SamplingParams | None = None) -> Iterator[Chunk]:
        """Answer one prompt piece by piece. Leaving the loop early cancels the request.

        Raises as `generate` does, and `EngineFailed` when the request fails while it runs.
        """
        live = self._submit(encode_prompt(self.model, prompt), _checked(params), None)
        unread = list(live.members)
        try:
            while unread:
                for member in tuple(unread):
                    # Asked before the channel: another caller's step may end the request at any moment.
                    closed = member.closed
                    chunk = member.take()
                    if chunk is not None:
                        yield dataclasses.replace(chunk, index=member.request.sample_index)
                    elif closed:
                        unread.remove(member)
                if unread:
                    self._step()
        finally:
            self._abandon([live])
        if any(member.request.finish_reason is FinishReason.ERROR for member in live.members):
            raise EngineFailed(f"request {live.caller_id} failed") from live.error

    def chat(
        self, messages: Sequence[Mapping[str, Any]], params: SamplingParams | None = None
    ) -> RequestOutput:
        """Answer a conversation, `[{"role": "user", "content": "..."}]`, by the model's chat template."""
        return self.generate(self.chat_prompt(messages), params)[0]

    def chat_prompt(self, messages: Sequence[Mapping[str, Any]]) -> list[int]:
        """Token ids of a conversation. Raises `InvalidField` for a model without a chat template."""
        return chat_prompt(self.model, messages)

    def _submit(self, prompt: list[int], params: SamplingParams, deadlines: Deadlines | None) -> LiveRequest:
        while True:
            try:
                return self.core.submit(prompt, params, deadlines)
            except QueueFull:
                if not self.core.has_work:
                    raise
                self._step()

    def _run(self, submitted: list[LiveRequest]) -> None:
        with ProgressBar(len(submitted), "generate", "req", shown=self.progress) as bar:
            running = submitted
            while running:
                self._step()
                running = [live for live in running if not live.all_ended]
                bar.update(len(submitted) - len(running) - bar.done)

    def _step(self) -> None:
        """One step. Answers of `generate` are read from the requests, so their channels are only emptied."""
        with self._turn:
            self._cancel_left()
            self.core.step()
            touched = self.core.take_touched()
        for live in self._batch.intersection(touched):
            live.take()

    def _abandon(self, submitted: list[LiveRequest]) -> None:
        """End what still runs: now, or at the next boundary of the step that runs.

        A collected generator comes here at any moment, also from inside a step, so it waits for no lock.
        """
        members = [member for live in submitted for member in live.members]
        self._left.extend(live for live in members if not live.request.is_terminal)
        if self._left and self._turn.acquire(blocking=False):
            try:
                with self.core.lock:
                    self._cancel_left()
                    self.core.boundary()
            finally:
                self._turn.release()

    def _cancel_left(self) -> None:
        while self._left:
            live = self._left.popleft()
            if not live.request.is_terminal:
                self.core.cancel(live.request.request_id)


def _checked(params: Any) -> SamplingParams:
    if params is not None and not isinstance(params, SamplingParams):
        raise InvalidField("params", params, "a SamplingParams or None")
    return params or SamplingParams()


def _as_list(prompts: Any) -> list[Any]:
    """One prompt or many, as a list. A list of whole numbers is one prompt."""
    if isinstance(prompts, str):
        return [prompts]
    if not isinstance(prompts, (list, tuple)):
        raise InvalidField("prompts", prompts, "a text, a list of token ids, or a list of either")
    if prompts and isinstance(prompts[0], int):
        return [prompts]
    return list(prompts)
