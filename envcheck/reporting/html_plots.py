"""Plots for the HTML report, as SVG inside the page: no script, in its colours, told in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from envcheck.reporting.curves import Curve, Scale, read_curves
from envcheck.reporting.html_text import shown
from envcheck.reporting.parity_rows import number_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["depth_plot", "series_plots"]

_MOST_DOTS = 80
_MOST_OF_A_NAME = 28
_LEAST_ERROR = 1e-9
"""Errors below this stand at the lower edge: a relative error of 0 has no place on a log scale."""


class _Canvas:
    """An SVG under construction: an area for curves within margins."""

    def __init__(self, size: tuple[int, int], x: Scale, y: Scale, words: str) -> None:
        self.left, self.top = 46, 18
        self.right, self.bottom = size[0] - 8, size[1] - 22
        self.x, self.y = x, y
        self._parts = [
            f'<svg viewBox="0 0 {size[0]} {size[1]}" role="img" aria-label="{shown(words)}">'
        ]

    def spot(self, x: float, y: float) -> tuple[float, float]:
        """Return where a point stands on the canvas."""
        return (
            self.left + self.x.at(x) * (self.right - self.left),
            self.bottom - self.y.at(y) * (self.bottom - self.top),
        )

    def line(self, kind: str, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Draw a straight line."""
        (x1, y1), (x2, y2) = start, end
        self._parts.append(
            f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'
        )

    def text(self, x: float, y: float, told: str, anchor: str = "start") -> None:
        """Write text, which is escaped here."""
        self._parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{shown(told)}</text>'
        )

    def dot(self, kind: str, x: float, y: float) -> None:
        """Draw a dot at a point of the data."""
        cx, cy = self.spot(x, y)
        self._parts.append(f'<circle class="{kind}" cx="{cx:.1f}" cy="{cy:.1f}" r="3.2"/>')

    def curve(self, kind: str, points: Sequence[tuple[float, float | None]]) -> None:
        """Draw a line through the points, broken where there is no value."""
        steps, broken = [], True
        for x, y in points:
            if y is None:
                broken = True
                continue
            cx, cy = self.spot(x, y)
            steps.append(f"{'M' if broken else 'L'}{cx:.1f} {cy:.1f}")
            broken = False
        if steps:
            self._parts.append(f'<path class="{kind}" d="{" ".join(steps)}"/>')

    def axes(self, names: tuple[str, str]) -> None:
        """Draw the grid and write its values; `names` stand at both ends of the x axis."""
        for value in self.y.ticks():
            _, y = self.spot(self.x.low, value)
            self.line("grid", (self.left, y), (self.right, y))
            self.text(self.left - 5, y + 4, _tick(value, log=self.y.log), "end")
        self.text(self.left, self.bottom + 16, names[0])
        self.text(self.right, self.bottom + 16, names[1], "end")

    def svg(self) -> str:
        """Return what was drawn."""
        return "".join([*self._parts, "</svg>"])


def _tick(value: float, *, log: bool) -> str:
    """Return a value at an axis: a power of ten as `1e-7`, another in three digits."""
    if not log:
        return f"{value:.3g}"
    mantissa, _, power = f"{value:.0e}".partition("e")
    return f"{mantissa}e{int(power)}" if int(power) else mantissa


def depth_plot(parity: Mapping[str, Any]) -> str:
    """Return the error of each call by depth, on a log scale, with noise and the first culprit."""
    rows = parity["layers"]
    drawn = {
        name: [(number, row[key]) for number, row in enumerate(rows, 1)]
        for name, key in (
            ("noise", "noise"), ("local", "local_error"), ("natural", "natural_error"),
        )
    }  # fmt: skip
    errors = [max(y, _LEAST_ERROR) for points in drawn.values() for _, y in points if y is not None]
    if not errors:
        return ""
    x, y = Scale.of([0.5, len(rows) + 0.5]), Scale.of(errors, log=True)
    canvas = _Canvas((420, 240), x, y, _depth_in_words(rows))
    canvas.axes(("call 1", f"call {len(rows)}"))
    _mark_first(canvas, rows)
    for name, points in drawn.items():
        if name != "local":
            canvas.curve(name, points)
        if name != "noise" and len(rows) <= _MOST_DOTS:
            for number, value in points:
                if value is not None:
                    canvas.dot(name, number, value)
        elif name == "local":
            canvas.curve(name, points)
    return f'<figure class="plot">{canvas.svg()}{_LEGEND}</figure>'


_LEGEND = (
    '<figcaption class="soft"><span class="key natural">error in the run</span> '
    '<span class="key local">error by itself, on the reference\u2019s inputs</span> '
    '<span class="key noise">rounding noise</span> '
    '<span class="key culprit">first layer at fault</span><br>'
    "Relative L2 error of each call, in their order, on a logarithmic scale; 0 stands at the lower"
    " edge.</figcaption>"
)


def _first_fault(rows: Sequence[Mapping[str, Any]]) -> int | None:
    return next((number for number, row in enumerate(rows, 1) if row["fault"]), None)


def _mark_first(canvas: _Canvas, rows: Sequence[Mapping[str, Any]]) -> None:
    """Draw a line down at the first culprit, with its name on the side where there is room."""
    first = _first_fault(rows)
    if first is None:
        return
    x, _ = canvas.spot(first, 1.0)
    canvas.line("culprit", (x, canvas.top), (x, canvas.bottom))
    name = str(rows[first - 1]["layer"])
    name = name if len(name) <= _MOST_OF_A_NAME else f"…{name[-_MOST_OF_A_NAME:]}"
    late = x > (canvas.left + canvas.right) / 2
    canvas.text(x + (-4 if late else 4), canvas.top - 5, name, "end" if late else "start")


def _depth_in_words(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return what the plot shows."""
    told = [f"Relative error of {len(rows)} calls by depth, on a logarithmic scale"]
    noise = [row["noise"] for row in rows if row["noise"] is not None]
    if noise:
        told.append(f"rounding noise up to {number_text(max(noise))}")
    first = _first_fault(rows)
    if first is None:
        told.append("no layer at fault")
    else:
        row = rows[first - 1]
        told.append(
            f"first layer at fault: {row['layer']}, call {first}, off by"
            f" {number_text(row['natural_error'])} in the run and by"
            f" {number_text(row['local_error'])} by itself"
        )
    last = rows[-1]
    told.append(f"the last call, {last['layer']}, is off by {number_text(last['natural_error'])}")
    return "; ".join(told)


def series_plots(series: Sequence[Any]) -> str:
    """Return each curve of a finding as a small plot."""
    plots = "".join(_small(curve) for curve in read_curves(series))
    return f'<div class="plots">{plots}</div>' if plots else ""


def _small(curve: Curve) -> str:
    x, y = Scale.of(at for at, _ in curve.points), Scale.of(curve.values)
    canvas = _Canvas((300, 130), x, y, curve.in_words())
    canvas.axes((f"{curve.points[0][0]:g}", f"{curve.points[-1][0]:g}"))
    canvas.curve("natural", curve.points)
    for at, value in curve.points:
        if value is None:
            spot, _ = canvas.spot(at, y.low)
            canvas.line("culprit", (spot, canvas.top), (spot, canvas.bottom))
    if len(curve.points) <= _MOST_DOTS // 4:
        for at, value in curve.points:
            if value is not None:
                canvas.dot("natural", at, value)
    lost = " (marks: not finite)" if len(curve.values) < len(curve.points) else ""
    scale = ", log scale" if y.log else ""
    return (
        f'<figure class="plot small">{canvas.svg()}'
        f'<figcaption class="soft">{shown(curve.label)}{scale}{lost}</figcaption></figure>'
    )
