"""Latency and goodput curves: how figures change with the load, or from request to request (C8, C9).

Pure functions from numbers, or from an event log, to a picture. They compute no percentile: the caller
does. Invariant: a value that is missing or not finite is a gap, and never a number (convention 14).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..lifecycle import TERMINAL_STATES, LoggedEvent, Record, engine_metrics, goodput
from .picture import INK, QUIET, Picture, document, element, finite, table, words

WIDTH, HEIGHT = 760.0, 400.0
LEFT, RIGHT, TOP, BOTTOM = 70.0, 24.0, 66.0, 58.0

STYLES = (
    # colour (the Okabe-Ito set), marker, plotly's word for it, dashes, plotly's word for them
    ("#0072b2", "circle", "circle", "", "solid"),
    ("#d55e00", "square", "square", "9 5", "dash"),
    ("#009e73", "up", "triangle-up", "2 4", "dot"),
    ("#cc79a7", "diamond", "diamond", "12 4 2 4", "dashdot"),
    ("#56b4e9", "down", "triangle-down", "16 6", "longdash"),
    ("#8a6d00", "cross", "x", "6 3 2 3 2 3", "longdashdot"),
)
_MARKERS = {
    "circle": "M-5 0 a5 5 0 1 0 10 0 a5 5 0 1 0 -10 0 z",
    "square": "M-4.5 -4.5 h9 v9 h-9 z",
    "up": "M0 -6 L5.5 4.5 L-5.5 4.5 z",
    "diamond": "M0 -6.5 L5.5 0 L0 6.5 L-5.5 0 z",
    "down": "M0 6 L5.5 -4.5 L-5.5 -4.5 z",
    "cross": "M-5 -5 L5 5 M5 -5 L-5 5",
}

Value = float | None


@dataclass(frozen=True)
class CurvePicture(Picture):
    """A picture of curves that also gives the same numbers as a plotly figure.

    Attributes:
        x: the numbers under the curves, finite.
        series: by name one value for each x; None is a gap.
        labels: title, x axis and y axis.
        limits: by name the horizontal lines.
    """

    x: tuple[float, ...]
    series: dict[str, tuple[Value, ...]]
    labels: tuple[str, str, str]
    limits: dict[str, float]

    def figure(self) -> Any:
        """The curves as a `plotly.graph_objects.Figure`, to zoom into. It needs plotly.

        The picture itself needs nothing: in a notebook that is not trusted it is the one that shows.
        """
        import plotly.graph_objects as go

        figure = go.Figure()
        for (name, values), style in zip(self.series.items(), _styles(len(self.series)), strict=True):
            colour, _, symbol, _, dash = style
            figure.add_scatter(
                x=list(self.x), y=list(values), name=name, mode="lines+markers", connectgaps=False,
                line={"color": colour, "dash": dash}, marker={"symbol": symbol, "size": 9, "color": colour},
            )  # fmt: skip
        for name, limit in self.limits.items():
            figure.add_hline(y=limit, line_dash="dash", line_color=INK, annotation_text=name)
        title, x_label, y_label = self.labels
        figure.update_layout(title=title, xaxis_title=x_label, yaxis_title=y_label, template="plotly_white")
        figure.update_yaxes(rangemode="tozero")
        return figure


def redraw(figure: Any, picture: CurvePicture) -> None:
    """Put the numbers of `picture` into a figure of the same series, as one update and not one for each line.

    Raises ValueError when the series are others.
    """
    if [trace.name for trace in figure.data] != list(picture.series):
        raise ValueError(f"the figure has other series than {', '.join(picture.series)}")
    with figure.batch_update():
        for trace, values in zip(figure.data, picture.series.values(), strict=True):
            trace.x, trace.y = list(picture.x), list(values)
        figure.layout.title.text = picture.labels[0]


def latency_curve(
    x: Sequence[float] | Iterable[LoggedEvent],
    series: Mapping[str, Sequence[Value]] | None = None,
    *,
    slo_s: float | None = None,
    title: str = "Latency",
    x_label: str = "offered load (requests/s)",
    y_label: str = "seconds",
) -> CurvePicture:
    """Latencies in seconds against the load: `series` maps a name to one value for each x.

    With an event log as the only argument: the TTFT and the whole time of each request, against the time
    at which it arrived. Raises ValueError for an x that is not finite, or lengths that differ.
    """
    if series is None:
        x, series = _latencies(x)
        x_label = "arrival (s after the first event)"
    limits = {} if slo_s is None else {"SLO": finite("slo_s", slo_s)}
    return _curves(x, series, (title, x_label, y_label), limits)


def goodput_curve(
    x: Sequence[float] | Iterable[LoggedEvent],
    series: Mapping[str, Sequence[Value]] | None = None,
    *,
    title: str = "Goodput",
    x_label: str = "offered load (requests/s)",
    y_label: str = "requests/s",
    offered: bool = True,
    **slos: float | None,
) -> CurvePicture:
    """Good requests per second against the load; `offered` adds the line on which every request is good.

    With an event log as the only argument: how many requests have ended by then, and how many of them
    were good by the objectives `ttft_slo_s`, `tpot_slo_s`, `e2e_slo_s` of `goodput`. Raises as
    `latency_curve` does.
    """
    if series is None:
        x, series = _ends(x, slos)
        x_label, y_label = "time (s after the first event)", "requests"
    elif slos:
        raise ValueError(
            f"{', '.join(slos)}: objectives are for an event log; the series are counted already"
        )
    elif offered:
        loads = [finite("x", at) for at in x]
        x, series = loads, {"offered": loads, **series}
    return _curves(x, series, (title, x_label, y_label), {})


# --- from an event log --------------------------------------------------------------------------------


def _requests(events: Iterable[Any]) -> tuple[float, list[list[LoggedEvent]]]:
    """The time of the first event, and the events of each request."""
    found: dict[str, list[LoggedEvent]] = {}
    for entry in events:
        if not isinstance(entry, LoggedEvent):
            raise ValueError(f"{entry!r} is no event of an engine; numbers need their series")
        found.setdefault(entry.request_id, []).append(entry)
    if not found:
        raise ValueError("there are no events to draw")
    return min(log[0].timestamp for log in found.values()), list(found.values())


def _latencies(events: Iterable[Any]) -> tuple[list[float], dict[str, list[Value]]]:
    start, logs = _requests(events)
    logs.sort(key=lambda log: log[0].timestamp)
    metrics = [engine_metrics(log) for log in logs]
    ended = [log[-1].state in TERMINAL_STATES for log in logs]
    return [log[0].timestamp - start for log in logs], {
        "TTFT": [item.ttft for item in metrics],
        "end to end": [item.e2e if over else None for item, over in zip(metrics, ended, strict=True)],
    }


def _ends(
    events: Iterable[Any], slos: Mapping[str, float | None]
) -> tuple[list[float], dict[str, list[Value]]]:
    start, logs = _requests(events)
    over = sorted(
        (log for log in logs if log[-1].state in TERMINAL_STATES), key=lambda log: log[-1].timestamp
    )
    rows = [Record(engine_metrics(log), reason=log[-1].data.get("reason", "error")) for log in over]
    good = [goodput(rows[: index + 1], window_s=1.0, **slos).good for index in range(len(rows))]
    times = [0.0, *(log[-1].timestamp - start for log in over)]
    ended: list[Value] = [float(number) for number in range(len(over) + 1)]
    return times, {"ended": ended, "good": [0.0, *map(float, good)]}


# --- drawing ------------------------------------------------------------------------------------------


def _curves(
    x: Any, series: Mapping[str, Sequence[Any]], labels: tuple[str, str, str], limits: dict[str, float]
) -> CurvePicture:
    places = tuple(finite("x", at) for at in x)
    if not places or not series:
        raise ValueError("a curve needs at least one x and one series")
    known = {str(name): tuple(_or_gap(value) for value in values) for name, values in series.items()}
    for name, values in known.items():
        if len(values) != len(places):
            raise ValueError(f"series {name!r} has {len(values)} values for {len(places)} x")
    across = _Axis.over(places, LEFT, WIDTH - RIGHT)
    numbers = [value for values in known.values() for value in values if value is not None]
    up = _Axis.over([0.0, *numbers, *limits.values()], HEIGHT - BOTTOM, TOP)
    body = [_axes(across, up, labels)]
    body += [_limit(name, limit, up) for name, limit in limits.items()]
    styles = _styles(len(known))
    for (name, values), style in zip(known.items(), styles, strict=True):
        body.append(
            _curve(name, [(across(at), value) for at, value in zip(places, values, strict=True)], up, style)
        )
    body.append(_legend(list(known), styles))
    alt = f"{labels[0]}: {labels[2]} against {labels[1]}. " + " ".join(
        _sentence(name, places, values) for name, values in known.items()
    )
    rows = [[labels[1], *known]]
    for index, at in enumerate(places):
        rows.append([_short(at), *(_short(values[index]) for values in known.values())])
    text = table(rows) + "".join(f"\n{name}: {_short(limit)}" for name, limit in limits.items())
    if any(None in values for values in known.values()):
        text += "\n– there is no value: the curve has a gap"
    svg = document(WIDTH, HEIGHT, alt, "".join(body))
    return CurvePicture(svg, alt, text, places, known, labels, limits)


def _or_gap(value: Any) -> Value:
    """A finite number, or None: NaN and infinity are undefined, and so a gap."""
    if value is None or isinstance(value, bool) or not isinstance(value, (int, float)):
        if value is None:
            return None
        raise ValueError(f"{value!r} is not allowed in a curve; allowed: a number or None")
    return float(value) if math.isfinite(value) else None


def _styles(count: int) -> list[tuple[str, str, str, str, str]]:
    if count > len(STYLES):
        raise ValueError(f"{count} curves are too many for one picture; allowed: {len(STYLES)}")
    return list(STYLES[:count])


@dataclass(frozen=True)
class _Axis:
    """A linear scale with ticks at round numbers."""

    low: float
    high: float
    start: float
    stop: float
    step: float

    @classmethod
    def over(cls, values: Sequence[float], start: float, stop: float) -> _Axis:
        """The scale that holds all values, between two places of the picture."""
        low, high = min(values), max(values)
        span = high - low or abs(high) or 1.0
        step = _round_step(span / 5)
        low = math.floor(low / step + 1e-9) * step
        return cls(low, max(math.ceil(high / step - 1e-9) * step, low + step), start, stop, step)

    def __call__(self, value: float) -> float:
        return self.start + (value - self.low) / (self.high - self.low) * (self.stop - self.start)

    def ticks(self) -> list[float]:
        return [
            self.low + index * self.step for index in range(round((self.high - self.low) / self.step) + 1)
        ]


def _round_step(rough: float) -> float:
    power = 10.0 ** math.floor(math.log10(rough))
    return next(size * power for size in (1.0, 2.0, 5.0, 10.0) if size * power >= rough * (1 - 1e-9))


def _axes(across: _Axis, up: _Axis, labels: tuple[str, str, str]) -> str:
    title, x_label, y_label = labels
    parts = [words(title, WIDTH / 2, 24, 15, font_weight="bold")]
    for tick in up.ticks():
        y = up(tick)
        parts.append(element("path", d=f"M{LEFT} {y:.2f} H{WIDTH - RIGHT}", stroke="#d9dfe5", stroke_width=1))
        parts.append(words(_short(tick), LEFT - 8, y + 4, 11.5, fill=QUIET, text_anchor="end"))
    for tick in across.ticks():
        x = across(tick)
        parts.append(element("path", d=f"M{x:.2f} {HEIGHT - BOTTOM} v5", stroke=INK, stroke_width=1))
        parts.append(words(_short(tick), x, HEIGHT - BOTTOM + 19, 11.5, fill=QUIET))
    frame = f"M{LEFT} {TOP} V{HEIGHT - BOTTOM} H{WIDTH - RIGHT}"
    parts.append(element("path", d=frame, fill="none", stroke=INK, stroke_width=1.2))
    parts.append(words(x_label, (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 14, 12.5))
    middle = (TOP + HEIGHT - BOTTOM) / 2
    parts.append(words(y_label, 18, middle, 12.5, transform=f"rotate(-90 18 {middle:g})"))
    return "".join(parts)


def _limit(name: str, limit: float, up: _Axis) -> str:
    y = up(limit)
    line = element(
        "path", d=f"M{LEFT} {y:.2f} H{WIDTH - RIGHT}", stroke=INK, stroke_width=1.2, stroke_dasharray="3 3"
    )
    text = f"{name} {_short(limit)}"
    return line + words(text, WIDTH - RIGHT - 4, y - 5, 11.5, text_anchor="end", font_style="italic")


def _curve(
    name: str, points: list[tuple[float, Value]], up: _Axis, style: tuple[str, str, str, str, str]
) -> str:
    """One line, broken wherever a value is missing, with a marker at each value."""
    colour, marker, _, dashes, _ = style
    path, pen_down = [], False
    marks = []
    for x, value in points:
        if value is None:
            pen_down = False
            continue
        path.append(f"{'L' if pen_down else 'M'}{x:.2f} {up(value):.2f}")
        marks.append(_mark(marker, colour, x, up(value)))
        pen_down = True
    drawn = _line(" ".join(path), colour, dashes) if path else ""
    return element("g", drawn + "".join(marks), data_series=name)


def _line(path: str, colour: str, dashes: str) -> str:
    return element(
        "path", d=path, stroke=colour, stroke_width=2.2, fill="none", stroke_dasharray=dashes or "none"
    )


def _mark(marker: str, colour: str, x: float, y: float) -> str:
    thick = 2.4 if marker == "cross" else 1.0
    return element(
        "path", d=_MARKERS[marker], transform=f"translate({x:.2f} {y:.2f})", data_marker=marker,
        fill="none" if marker == "cross" else colour, stroke=colour if marker == "cross" else "#ffffff",
        stroke_width=thick,
    )  # fmt: skip


def _legend(names: list[str], styles: list[tuple[str, str, str, str, str]]) -> str:
    parts, x, y = [], LEFT + 4, 44.0
    for name, (colour, marker, _, dashes, _) in zip(names, styles, strict=True):
        width = 48 + 7.1 * len(name)
        if x > LEFT + 4 and x + width > WIDTH - RIGHT:
            x, y = LEFT + 4, y + 16
        parts.append(_line(f"M{x} {y} h30", colour, dashes))
        parts.append(_mark(marker, colour, x + 15, y))
        parts.append(words(name, x + 36, y + 4, 12, text_anchor="start"))
        x += width
    return "".join(parts)


def _short(value: Value) -> str:
    return "–" if value is None else f"{value:.4g}" if abs(value) >= 1e-12 else "0"


def _sentence(name: str, x: Sequence[float], values: Sequence[Value]) -> str:
    known = [(at, value) for at, value in zip(x, values, strict=True) if value is not None]
    if not known:
        return f"{name}: no value."
    gaps = len(values) - len(known)
    (first_x, first), (last_x, last) = known[0], known[-1]
    text = f"{name}: {_short(first)} at {_short(first_x)}, {_short(last)} at {_short(last_x)}"
    return text + (f", {gaps} without a value." if gaps else ".")
