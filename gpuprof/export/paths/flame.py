"""A flame graph as a picture (brendangregg.com/flamegraphs.html): a frame is above the one that it is called by, as
wide as its cost. Names that do not fit, and costs, come up under the pointer.
"""

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

from gpuprof.export.paths.folded import stacks
from gpuprof.export.paths.path_costs import read_costs
from gpuprof.export.paths.tree import Node, tree_of
from gpuprof.isa.stalls import INDEX

WIDTH, HEIGHT, MARGIN, TITLE = 1200, 17, 10, 26  # of all, of a frame, around all, of the line above; pixels
LEAST_WIDTH = 0.1  # of a frame that is drawn, pixels
CHARACTER = 6.6  # width of one
WARM = ("#f4a15d", "#f7b267", "#f9c784", "#f6bd60", "#f08a5d", "#f5a76b")
SELECTED, STALLED = "#7fb069", "#8ea4c8"  # issuing, and waiting


class Box(NamedTuple):
    node: Node
    path: tuple[str, ...]  # names from the outermost frame to it
    x: float
    width: float


def write(database: sqlite3.Connection, path: Path) -> None:
    costs = read_costs(database)
    whole = tree_of(stacks(costs.rows), "all")
    unit = costs.unit.replace("_", "-")

    def text(box: Box) -> str:
        return f"{box.node.name} ({box.node.total:,} {unit}, {100 * box.node.total / whole.total:.2f}%)"

    picture = svg(whole, f"{whole.total:,} {unit}", text, lambda box: colour(box.node.name))
    path.write_text(picture, encoding="utf-8", newline="\n")


def colour(name: str) -> str:
    """Warm for code, by the letters of its name; stall reasons have their own."""
    if name in INDEX:
        return SELECTED if name == "selected" else STALLED
    return WARM[sum(name.encode()) % len(WARM)]


def boxes(node: Node, x: float, per_cost: float, path: tuple[str, ...] = ()) -> Iterator[Box]:
    width = node.total * per_cost
    if width < LEAST_WIDTH:
        return
    yield Box(node, path, x, width)
    for child in node.sorted():
        yield from boxes(child, x, per_cost, (*path, child.name))
        x += child.total * per_cost


def svg(whole: Node, title: str, text: Callable[[Box], str], fill: Callable[[Box], str]) -> str:
    """`text`: what the pointer shows; `fill`: a frame's colour."""
    drawn = list(boxes(whole, MARGIN, (WIDTH - 2 * MARGIN) / (whole.total or 1)))
    height = TITLE + 2 * MARGIN + HEIGHT * (1 + max(len(box.path) for box in drawn))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
        'font-family="monospace" font-size="11">',
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        f'<text x="{WIDTH / 2:g}" y="{MARGIN + 12}" text-anchor="middle" font-size="14">{escape(title)}</text>',
    ]
    for box in drawn:
        y = height - MARGIN - HEIGHT * (1 + len(box.path))
        n_characters = int((box.width - 6) / CHARACTER)
        name = box.node.name
        shown = name if len(name) <= n_characters else f"{name[: n_characters - 2]}.." if n_characters > 4 else ""
        label = f'<text x="{box.x + 3:.1f}" y="{y + 12}">{escape(shown)}</text>' if shown else ""
        parts.append(
            f'<g><title>{escape(text(box))}</title><rect x="{box.x:.1f}" y="{y}" width="{box.width:.1f}" '
            f'height="{HEIGHT - 1}" rx="1" fill="{fill(box)}"/>{label}</g>'
        )
    return "\n".join([*parts, "</svg>", ""])
