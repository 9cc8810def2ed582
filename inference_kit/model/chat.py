"""Chat templates: a list of messages rendered to the text that a model was trained on.

Templates come with models and are not trusted: they run in Jinja's sandbox, on copies of plain data.
They get no clock, so that the same messages always give the same ids.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NoReturn

from jinja2 import Template, TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from ..errors import InvalidField


class ChatTemplate:
    """One template with the names of the model's special tokens."""

    def __init__(self, source: str, special_tokens: Mapping[str, str]) -> None:
        self.source = source
        self.special_tokens = dict(special_tokens)

    def render(self, messages: Sequence[Mapping[str, Any]], add_generation_prompt: bool = True) -> str:
        """The prompt for `messages`; ends where the assistant begins, unless told otherwise.

        Raises `InvalidField` for messages without a role or content, and for what the template refuses.
        """
        _check(messages)
        try:
            return self._template.render(
                messages=[dict(message) for message in messages],
                add_generation_prompt=add_generation_prompt,
                tools=None,
                documents=None,
                **self.special_tokens,
            )
        except TemplateError as error:
            raise InvalidField("messages", messages, f"what the chat template takes ({error})") from error

    @cached_property
    def _template(self) -> Template:
        environment = ImmutableSandboxedEnvironment(
            trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
        )
        environment.filters["tojson"] = _to_json
        environment.globals["raise_exception"] = _raise
        return environment.from_string(self.source)


def _check(messages: Sequence[Mapping[str, Any]]) -> None:
    allowed = "a list of at least one {'role': text, 'content': text}"
    if isinstance(messages, (str, bytes)) or not isinstance(messages, Sequence) or not messages:
        raise InvalidField("messages", messages, allowed)
    for message in messages:
        if not isinstance(message, Mapping) or not {"role", "content"} <= message.keys():
            raise InvalidField("messages", message, allowed)
        if not isinstance(message["role"], str) or not isinstance(message["content"], str):
            raise InvalidField("messages", message, allowed)


def _to_json(value: Any, indent: int | None = None, **_: Any) -> str:
    # Jinja's own filter escapes for HTML, which models have not seen.
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _raise(message: str) -> NoReturn:
    raise TemplateError(message)
