"""The control-flow graph as a picture: blocks below each other by address, ways between them at the sides.

Ways to a later block run on the right, ways back on the left; the shorter, the nearer. A way to the next block goes
straight down.
"""

import sqlite3
from pathlib import Path
from xml.sax.saxutils import escape

from gpuprof.export.graph.cfg import Edge, Node, colour, graph, lines

WIDTH, HEIGHT, GAP, LINE = 430, 58, 26, 16  # of a box, between boxes, of a line of text; pixels
LANE, MARGIN = 14, 20  # between ways; around all


def write(database: sqlite3.Connection, path: Path) -> None:
    """Raises NotComparable where no graph was recorded."""
    path.write_text(picture(*graph(database)), encoding="utf-8", newline="\n")


def picture(nodes: list[Node], edges: list[Edge]) -> str:
    row = {node.pc: number for number, node in enumerate(nodes)}
    right = lanes([edge for edge in edges if row[edge.end] > row[edge.start] + 1], row)
    left = lanes([edge for edge in edges if row[edge.end] <= row[edge.start]], row)
    x = MARGIN + LANE * (1 + max(left.values(), default=-1) + 1)
    width = x + WIDTH + LANE * (1 + max(right.values(), default=-1) + 1) + MARGIN + 60
    height = 2 * MARGIN + len(nodes) * (HEIGHT + GAP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="monospace" '
        'font-size="12">',
        '<defs><marker id="tip" markerWidth="8" markerHeight="8" refX="7" refY="3" orient="auto">'
        '<path d="M0,0 L7,3 L0,6 z"/></marker></defs>',
        '<rect width="100%" height="100%" fill="#ffffff"/>',
    ]
    for node in nodes:
        parts += box(node, x, MARGIN + row[node.pc] * (HEIGHT + GAP))
    for edge in edges:
        parts += way(edge, row, x, right, left)
    return "\n".join([*parts, "</svg>", ""])


def lanes(edges: list[Edge], row: dict[int, int]) -> dict[Edge, int]:
    """A lane for each way, 0 the nearest, so that no two ways of a lane overlap."""
    taken: list[list[tuple[int, int]]] = []
    found: dict[Edge, int] = {}
    for edge in sorted(edges, key=lambda edge: (abs(row[edge.end] - row[edge.start]), row[edge.start], row[edge.end])):
        low, high = sorted((row[edge.start], row[edge.end]))
        free = (k for k, spans in enumerate(taken) if all(high < start or end < low for start, end in spans))
        lane = next(free, len(taken))
        if lane == len(taken):
            taken.append([])
        taken[lane].append((low, high))
        found[edge] = lane
    return found


def box(node: Node, x: int, y: int) -> list[str]:
    title = escape(node.kernel)
    texts = [f'<text x="{x + 8}" y="{y + LINE * (k + 1)}">{escape(line)}</text>' for k, line in enumerate(lines(node))]
    return [
        f'<g><title>{title}</title><rect x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="4" '
        f'fill="{colour(node.heat)}" stroke="#333333"/>',
        *texts,
        "</g>",
    ]


def way(edge: Edge, row: dict[int, int], x: int, right: dict[Edge, int], left: dict[Edge, int]) -> list[str]:
    bottom = MARGIN + row[edge.start] * (HEIGHT + GAP) + HEIGHT
    top = MARGIN + row[edge.end] * (HEIGHT + GAP)
    style = f'fill="none" stroke="#333333" stroke-width="{1 + 2 * edge.share:.2f}" marker-end="url(#tip)"'
    label = f"{edge.threads:,}"
    if edge in right:
        edge_x = x + WIDTH
        far = edge_x + LANE * (right[edge] + 1)
        path = f"M{edge_x},{bottom - 12} H{far} V{top + 12} H{edge_x}"
        return [f'<path d="{path}" {style}/>', f'<text x="{far + 3}" y="{bottom + 4}" font-size="10">{label}</text>']
    if edge in left:
        far = x - LANE * (left[edge] + 1)
        path = f"M{x},{bottom - 24} H{far} V{top + 24} H{x}"
        return [f'<path d="{path}" {style}/>', f'<text x="{far + 3}" y="{bottom - 27}" font-size="10">{label}</text>']
    middle = x + WIDTH // 3
    return [
        f'<path d="M{middle},{bottom} V{top}" {style}/>',
        f'<text x="{middle + 6}" y="{bottom + GAP // 2 + 4}" font-size="10">{label}</text>',
    ]
