"""An evidence path as text, as a Mermaid flowchart, and as a self-contained SVG."""

from __future__ import annotations

from html import escape as escape_xml

from envcheck.knowledge.evidence import FINDING, NOTHING, RULE, SEEN, TABLE, TEST, Node, Path
from envcheck.reporting.escape import escape

__all__ = ["to_mermaid", "to_svg", "to_text"]

_MARKS = {RULE: "by rule ", SEEN: "seen ", TEST: "test ", NOTHING: "", TABLE: "table "}
_SHAPES = {FINDING: ("([", "])"), RULE: ("{{", "}}"), SEEN: ("[/", "/]")}
_FILLS = {
    FINDING: "#f8d7da",
    RULE: "#e2d9f3",
    SEEN: "#d1e7dd",
    TEST: "#fff3cd",
    NOTHING: "#fff3cd",
    TABLE: "#e2e3e5",
}
_WIDTH, _LINE, _PAD, _GAP_X, _GAP_Y, _CHARS = 220, 16, 10, 24, 46, 32

_FRAME = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
    'height="{height}" role="img" font-family="sans-serif" font-size="12">'
)
_ARROW_TIP = (
    '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
    'markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z" fill="#555"/></marker></defs>'
)


def to_text(path: Path) -> str:
    """Return the path as an indented tree; a box that comes up again is not repeated."""
    below = _below(path)
    by_id = {node.id: node for node in path.nodes}
    lines: list[str] = []
    seen: set[str] = set()

    def walk(node: Node, depth: int) -> None:
        again = node.id in seen and bool(below.get(node.id))
        text = _MARKS.get(node.kind, "") + escape(node.text)
        lines.append("  " * depth + text + (" (see above)" if again else ""))
        if not again:
            seen.add(node.id)
            for child in below.get(node.id, ()):
                walk(by_id[child], depth + 1)

    walk(path.nodes[0], 0)
    return "\n".join(lines) + "\n"


def to_mermaid(path: Path) -> str:
    """Return the path as a Mermaid flowchart, every text escaped as entity codes."""
    lines = ["flowchart LR"]
    for node in path.nodes:
        start, end = _SHAPES.get(node.kind, ("[", "]"))
        label = _mermaid_text(_MARKS.get(node.kind, "") + escape(node.text))
        lines.append(f'  {node.id}{start}"{label}"{end}')
    lines += [f"  {above} --> {below}" for above, below in path.edges]
    return "\n".join(lines) + "\n"


def _mermaid_text(text: str) -> str:
    """Return a text in which nothing but letters, digits and harmless marks stands as it is."""
    plain = set(" .,:;=+-_/()")
    return "".join(
        char if (char.isascii() and char.isalnum()) or char in plain else f"#{ord(char)};"
        for char in text
    )


def to_svg(path: Path) -> str:
    """Return the path as one SVG without scripts, fonts or links from outside.

    Boxes stand in layers by their longest distance from the finding.
    """
    layers = _layers(path)
    spots: dict[str, tuple[int, int, int]] = {}
    y = _PAD
    width = 2 * _PAD + max(_row_width(layer) for layer in layers)
    for layer in layers:
        left = (width - _row_width(layer)) // 2
        for column, node in enumerate(layer):
            spots[node.id] = (left + column * (_WIDTH + _GAP_X), y, _height(node))
        y += max(_height(node) for node in layer) + _GAP_Y
    height = y - _GAP_Y + _PAD
    parts = [
        _FRAME.format(width=width, height=height),
        f"<title>{escape_xml(escape(path.nodes[0].text))}</title>",
        _ARROW_TIP,
    ]
    parts += [_arrow(spots[above], spots[below]) for above, below in path.edges]
    parts += [_box(node, spots[node.id]) for layer in layers for node in layer]
    return "\n".join([*parts, "</svg>"]) + "\n"


def _row_width(layer: list[Node]) -> int:
    return len(layer) * (_WIDTH + _GAP_X) - _GAP_X


def _below(path: Path) -> dict[str, list[str]]:
    out: dict[str, list[str]] = {}
    for above, below in path.edges:
        out.setdefault(above, []).append(below)
    return out


def _layers(path: Path) -> list[list[Node]]:
    depth = {path.nodes[0].id: 0}
    for _ in path.nodes:
        for above, below in path.edges:
            if above in depth:
                depth[below] = max(depth.get(below, 0), depth[above] + 1)
    rows: list[list[Node]] = [[] for _ in range(max(depth.values()) + 1)]
    for node in path.nodes:
        rows[depth.get(node.id, 0)].append(node)
    return [row for row in rows if row]


def _wrapped(node: Node) -> list[str]:
    """Return the text of a box in lines that fit it."""
    lines: list[str] = [""]
    for word in (_MARKS.get(node.kind, "") + escape(node.text)).split(" "):
        for start in range(0, max(1, len(word)), _CHARS):
            piece = word[start : start + _CHARS]
            if lines[-1] and len(lines[-1]) + 1 + len(piece) > _CHARS:
                lines.append(piece)
            else:
                lines[-1] = f"{lines[-1]} {piece}".strip()
    return lines


def _height(node: Node) -> int:
    return 2 * _PAD + _LINE * len(_wrapped(node))


def _box(node: Node, spot: tuple[int, int, int]) -> str:
    x, y, height = spot
    fill = _FILLS.get(node.kind, "#cfe2ff")
    radius = 14 if node.kind in (FINDING, RULE) else 4
    text = "".join(
        f'<tspan x="{x + _PAD}" y="{y + _PAD + _LINE * (row + 1) - 4}">{escape_xml(line)}</tspan>'
        for row, line in enumerate(_wrapped(node))
    )
    return (
        f'<rect x="{x}" y="{y}" width="{_WIDTH}" height="{height}" rx="{radius}" '
        f'fill="{fill}" stroke="#555"/><text fill="#111">{text}</text>'
    )


def _arrow(above: tuple[int, int, int], below: tuple[int, int, int]) -> str:
    x1, y1 = above[0] + _WIDTH // 2, above[1] + above[2]
    x2, y2 = below[0] + _WIDTH // 2, below[1]
    middle = (y1 + y2) // 2
    return (
        f'<path d="M{x1} {y1} C{x1} {middle} {x2} {middle} {x2} {y2}" fill="none" '
        f'stroke="#555" marker-end="url(#tip)"/>'
    )
