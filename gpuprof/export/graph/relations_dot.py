"""The graph of tasks in Graphviz' DOT language (graphviz.org/doc/info/lang.html): `dot -Tsvg FILE`.

Tasks of one name that are parts of one task are one box, and relations between two boxes one arrow, so that a program
of many launches can be looked at. Dashed arrows keep two tasks apart without a flow of data.
"""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

from gpuprof.errors import NotComparable
from gpuprof.export.graph.cfg_dot import quoted
from gpuprof.relate.task_kinds import CONTAINS, OF_BUFFERS, PRODUCES_FOR

NODES = """
SELECT MIN(t.task), t.name, t.kind, t.is_virtual, COUNT(*), SUM(t.own_cycles), t.parent
FROM tasks t GROUP BY t.parent, t.name, t.kind, t.row ORDER BY 1
"""
EDGES = """
WITH boxes AS (
    SELECT task, MIN(task) OVER (PARTITION BY parent, name, kind, row) AS box FROM tasks
)
SELECT s.box, t.box, r.kind, COALESCE(p.name, ''), COUNT(*), SUM(r.nbytes)
FROM stored_relations r JOIN boxes s ON s.task = r.source JOIN boxes t ON t.task = r.target
    LEFT JOIN parameters p ON p.parameter = r.via
GROUP BY s.box, t.box, r.kind, p.name ORDER BY 1, 2, 3, 4
"""
SHAPES = {"task": "folder", "launch": "box"}  # of kinds; others are ellipses


def write(database: sqlite3.Connection, path: Path) -> None:
    """Raises NotComparable where there are no tasks."""
    nodes = database.execute(NODES).fetchall()
    if not nodes:
        raise NotComparable("nothing to export: the file has no tasks; collect again")
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{line}\n" for line in text(nodes, database.execute(EDGES).fetchall()))


def text(nodes: list[tuple], edges: list[tuple]) -> Iterator[str]:
    yield "digraph tasks {"
    yield '  node [fontname="monospace", fontsize=10]; edge [fontname="monospace", fontsize=9];'
    boxes = {}
    for task, name, kind, is_virtual, n, cycles, _ in nodes:
        boxes[task] = task
        label = f"{name} x {n:,}" if n > 1 else name
        label += f"\n{cycles:,} cycles" if cycles else ""
        style = ", style=dashed" if is_virtual else ""
        yield f"  t{task} [label={quoted(label)}, shape={SHAPES.get(kind, 'ellipse')}{style}];"
    for task, *_, parent in nodes:
        if parent is not None and parent in boxes:
            yield f'  t{parent} -> t{task} [label="{CONTAINS}", color=grey, arrowhead=none];'
    for source, target, kind, via, n, nbytes in edges:
        told = [kind, via, f"{nbytes:,} bytes" if nbytes else "", f"{n:,} times" if n > 1 else ""]
        style = "solid" if kind in (PRODUCES_FOR, CONTAINS, *OF_BUFFERS) else "dashed"
        yield f"  t{source} -> t{target} [label={quoted(chr(10).join(filter(None, told)))}, style={style}];"
    yield "}"
