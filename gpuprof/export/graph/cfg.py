"""The control-flow graph of a recording with `--trace graph`: what both drawings of it show."""

import sqlite3
from typing import NamedTuple

from gpuprof.base.wording import base_name
from gpuprof.errors import NotComparable
from gpuprof.isa.printing.printable import printable


class Node(NamedTuple):
    """A basic block. `heat`: its part of all instructions that warps have executed, 0 to 1; `place`: file and line of
    its first instruction, "" where these are unknown.
    """

    pc: int
    kernel: str
    place: str
    instructions: int
    warps: int
    threads: int
    heat: float


class Edge(NamedTuple):
    """`share`: of the threads that leave `start`, those that take this way."""

    start: int
    end: int
    threads: int
    share: float


def graph(database: sqlite3.Connection) -> tuple[list[Node], list[Edge]]:
    """The sums over all launches, in the order of addresses. Raises NotComparable for a database that has no graph."""
    if not database.execute("SELECT 1 FROM trace_tables WHERE generator = 'graph' AND name = 'nodes'").fetchone():
        raise NotComparable("nothing to draw: the recording has no control-flow graph; collect with --trace graph")
    rows = database.execute(
        "SELECT pc, MIN(kernel), MIN(instructions), SUM(warps), SUM(threads) FROM trace_graph_nodes "
        "JOIN launches USING (launch) GROUP BY pc ORDER BY pc"
    ).fetchall()
    executed = sum(instructions * warps for _, _, instructions, warps, _ in rows) or 1
    places = _places(database)
    nodes = [
        Node(pc, printable(kernel), places.get(pc, ""), instructions, warps, threads, instructions * warps / executed)
        for pc, kernel, instructions, warps, threads in rows
    ]
    ways = database.execute(
        "SELECT pc, to_pc, SUM(threads) FROM trace_graph_edges GROUP BY pc, to_pc ORDER BY pc, to_pc"
    ).fetchall()
    leaving: dict[int, int] = {}
    for start, _, threads in ways:
        leaving[start] = leaving.get(start, 0) + threads
    known = {node.pc for node in nodes}
    edges = [Edge(*way, way[2] / (leaving[way[0]] or 1)) for way in ways if way[0] in known and way[1] in known]
    return nodes, edges


def _places(database: sqlite3.Connection) -> dict[int, str]:
    from gpuprof.correlate.frames import list_code, positions

    list_code(database)
    functions = [function for (function,) in database.execute("SELECT function FROM functions")]
    found = {}
    for pc, frames in positions(database, functions).items():
        if frames and frames[0].path and frames[0].line:
            found[pc] = f"{printable(base_name(frames[0].path))}:{frames[0].line}"
    return found


def lines(node: Node) -> list[str]:
    """The text of a box."""
    return [
        f"0x{node.pc:x} {node.place}".strip(),
        f"{node.instructions} instructions, {node.warps:,} runs",
        f"{node.threads / (32 * node.warps) if node.warps else 0:.0%} of lanes, {node.heat:.1%} of all instructions",
    ]


def colour(heat: float) -> str:
    """From white to red, by the share of all instructions."""
    fade = round(255 - 175 * min(heat * 2, 1))
    return f"#ff{fade:02x}{fade:02x}"
