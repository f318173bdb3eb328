"""The control-flow graph in Graphviz' DOT language (graphviz.org/doc/info/lang.html): `dot -Tsvg FILE`."""

import sqlite3
from pathlib import Path

from gpuprof.export.graph.cfg import Edge, Node, colour, graph, lines


def write(database: sqlite3.Connection, path: Path) -> None:
    """One digraph, a cluster for each kernel. Raises NotComparable where no graph was recorded."""
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{line}\n" for line in text(*graph(database)))


def text(nodes: list[Node], edges: list[Edge]) -> list[str]:
    found = ["digraph cfg {", '  node [shape=box, style=filled, fontname="monospace", fontsize=10];']
    kernels = sorted({node.kernel for node in nodes})
    for number, kernel in enumerate(kernels):
        found += [f"  subgraph cluster_{number} {{", f"    label={quoted(kernel)};"]
        for node in nodes:
            if node.kernel == kernel:
                label = quoted("\n".join(lines(node)))
                found.append(f"    b{node.pc:x} [label={label}, fillcolor={quoted(colour(node.heat))}];")
        found.append("  }")
    for edge in edges:
        width = f"{1 + 3 * edge.share:.2f}"
        found.append(f'  b{edge.start:x} -> b{edge.end:x} [label="{edge.threads:,}", penwidth={width}];')
    return [*found, "}"]


def quoted(text: str) -> str:
    r"""A string of DOT: a line feed in it is \n, and a backslash of the text must not look like one."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
