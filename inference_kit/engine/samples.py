"""The names of the samples of one prompt (n > 1). Each sample is a request of its own, with its own end."""

from __future__ import annotations


def sample_ids(request_id: str, n: int) -> list[str]:
    """Ids of the `n` samples of a request: its own, then "id#1", "id#2" and so on."""
    return [request_id, *(f"{request_id}#{index}" for index in range(1, n))]
