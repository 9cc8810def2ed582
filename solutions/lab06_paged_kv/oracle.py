"""Brute-force oracles for lab 06, written apart from the kit: counting one by one.

They share no function with `inference_kit.kv`. A test compares them with the kit on random cases.
"""

from __future__ import annotations

from typing import Any


def slots_needed(prompt: int, outputs: int) -> int:
    """Play the answer: the prompt is written, then every output token except the last one."""
    written = prompt
    for number in range(1, outputs + 1):
        written += number < outputs
    return written


def blocks_for(tokens: int, size: int) -> int:
    """Add blocks until they are enough."""
    blocks = 0
    while blocks * size < tokens:
        blocks += 1
    return blocks


def longest_total(blocks: int, size: int) -> int:
    """The longest total whose slots fit, found by trying."""
    total = 1
    while slots_needed(1, total) <= blocks * size:
        total += 1
    return total


def slot_mapping(table: list[int], start: int, end: int, size: int) -> list[int] | None:
    """Write out every slot of the table in order and cut the wanted piece; None when it does not reach."""
    every = [slot for block in table for slot in range(block * size, block * size + size)]
    if start < 0 or end > len(every):
        return None
    return every[start:end]


class Ledger:
    """A pool as a list of who holds what; no counts anywhere."""

    def __init__(self, num_blocks: int) -> None:
        self.num_blocks = num_blocks
        self.mentions: list[int] = []

    @property
    def num_free(self) -> int:
        return self.num_blocks - len(set(self.mentions))

    def references(self, block: int) -> int:
        return self.mentions.count(block)

    def take(self, ids: list[int]) -> None:
        self.mentions += ids

    def may_retain(self, ids: list[int]) -> bool:
        return all(block in self.mentions for block in ids)

    def may_free(self, ids: list[int]) -> bool:
        left = list(self.mentions)
        try:
            for block in ids:
                left.remove(block)
        except ValueError:
            return False
        return True

    def drop(self, ids: list[int]) -> None:
        for block in ids:
            self.mentions.remove(block)


def writes(table: list[int], counts: dict[int, int], start: int, end: int, size: int) -> list[int]:
    """Places of shared blocks that a write touches, position by position."""
    places = []
    for position in range(start, end):
        place = position // size
        if place < len(table) and counts[table[place]] >= 2 and place not in places:
            places.append(place)
    return places


def audit(free: list[int], references: list[int], tables: list[list[int]]) -> dict[int, Any]:
    """Look at each block in turn, and search everything for it."""
    faults = {}
    for block in range(len(references)):
        places = len([one for one in free if one == block])
        if references[block] >= 1:
            places += 1
        held = len([one for table in tables for one in table if one == block])
        if places != 1:
            faults[block] = places - 1
        elif held != references[block]:
            faults[block] = held - references[block]
    return faults
