"""A progress bar for work that may take long: it appears after two seconds and goes when the work is done.

Owns when a bar is made and that it leaves nothing behind; how it looks is the matter of tqdm, which draws
with ipywidgets in a notebook and as a line of text on stderr elsewhere. Invariant: short work makes no bar
at all, so it opens no widget.
"""

from __future__ import annotations

from typing import Any, Self

from .clock import Clock, MonotonicClock

APPEARS_AFTER_S = 2.0


class ProgressBar:
    """Counts up to `total`; a context manager, used by one thread.

    Args:
        total: how many units of work there are.
        description: what is being done, one word.
        unit: the name of one unit.
        shown: False for no bar, however long it takes.
        clock: measures how long the work has been going on.
    """

    def __init__(
        self, total: int, description: str, unit: str, *, shown: bool = True, clock: Clock | None = None
    ) -> None:
        self.done = 0
        self._options = {"total": total, "desc": description, "unit": unit}
        self._shown = shown
        self._clock = clock or MonotonicClock()
        self._start = self._clock.now()
        self._bar: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._bar is None:
            return
        self._bar.close()
        _close_widgets(getattr(self._bar, "container", None))

    def update(self, count: int) -> None:
        """`count` more units are done, possibly none. Call it often: a bar appears only here."""
        self.done += count
        if self._bar is not None:
            self._bar.update(count)
        elif self._shown and self._clock.now() - self._start >= APPEARS_AFTER_S:
            # Imported late: most work is short and needs no bar.
            from tqdm.auto import tqdm

            self._bar = tqdm(initial=self.done, leave=False, **self._options)


def _close_widgets(container: Any) -> None:
    """Close what tqdm opened in a notebook; it closes the outer box only, and none where there is no box."""
    for widget in () if container is None else (*container.children, container):
        for part in (getattr(widget, "layout", None), getattr(widget, "style", None), widget):
            if part is not None:
                part.close()
