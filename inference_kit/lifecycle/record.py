"""A dict whose keys can also be read as attributes: plain data with short access."""

from __future__ import annotations

from typing import Any


class Record(dict[str, Any]):
    """Plain result of an analysis: `record["ttft"]` and `record.ttft` are the same value."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"no field {name!r}; fields: {', '.join(self)}") from None
