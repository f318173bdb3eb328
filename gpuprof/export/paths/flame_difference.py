"""A differential flame graph (brendangregg.com/blog/2014-11-09/differential-flame-graphs.html): the frames of one
recording, red where they take more than in another one, blue where less. What only the other has is not drawn.

Both are of the same unit, and differences are absolute: of one kernel before and after a change. Between a
card's profile and a recording, they are of shares.
"""

import sqlite3
from pathlib import Path

from gpuprof.export.paths.flame import Box, svg
from gpuprof.export.paths.folded import stacks
from gpuprof.export.paths.path_costs import read_costs
from gpuprof.export.paths.tree import Node, tree_of

FULL = 0.5  # of a frame's cost: a difference from which on the colour is as strong as it gets


def write(database: sqlite3.Connection, path: Path, other: sqlite3.Connection) -> None:
    """`other`: what it is compared with."""
    new, old = read_costs(database), read_costs(other)
    whole, before = tree_of(stacks(new.rows), "all"), tree_of(stacks(old.rows), "all")
    of_shares = new.unit != old.unit
    scale = whole.total / before.total if of_shares else 1.0
    unit = "of all" if of_shares else new.unit.replace("_", "-")

    def change(box: Box) -> float:
        return box.node.total - scale * cost_of(before, box.path)

    def text(box: Box) -> str:
        if of_shares:
            now = f"{100 * box.node.total / whole.total:.2f}%"
            return f"{box.node.name} ({now} of all, {100 * change(box) / whole.total:+.2f} points)"
        return f"{box.node.name} ({box.node.total:,} {unit}, {round(change(box)):+,})"

    def fill(box: Box) -> str:
        return colour(change(box) / max(box.node.total, 1))

    title = "difference of shares" if of_shares else f"{whole.total:,} {unit}, {whole.total - before.total:+,}"
    path.write_text(svg(whole, title, text, fill), encoding="utf-8", newline="\n")


def cost_of(tree: Node, path: tuple[str, ...]) -> int:
    """0 where it has no such frame."""
    for name in path:
        if name not in tree.children:
            return 0
        tree = tree.children[name]
    return tree.total


def colour(change: float) -> str:
    """White for none; red for more, blue for less."""
    fade = round(255 - 155 * min(abs(change) / FULL, 1))
    return f"#ff{fade:02x}{fade:02x}" if change > 0 else f"#{fade:02x}{fade:02x}ff"
