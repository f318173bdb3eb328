"""Hatchet's literal form (hatchet.readthedocs.io, GraphFrame.from_literal) as JSON: `from_literal(json.load(file))`.

A node has its own cost as "warp_cycles" and with those below it as "warp_cycles (inc)"; of a card's profile "samples".
"""

import json
import sqlite3
from pathlib import Path
from typing import Any

from gpuprof.export.paths.folded import stacks
from gpuprof.export.paths.path_costs import read_costs
from gpuprof.export.paths.tree import Node, tree_of


def write(database: sqlite3.Connection, path: Path) -> None:
    costs = read_costs(database)
    roots = tree_of(stacks(costs.rows), costs.unit).sorted()
    text = json.dumps([literal(node, costs.unit) for node in roots], ensure_ascii=False, indent=1)
    path.write_text(text + "\n", encoding="utf-8", newline="\n")


def literal(node: Node, unit: str) -> dict[str, Any]:
    below = [literal(each, unit) for each in node.sorted()]
    return {
        "frame": {"name": node.name, "type": "function"},
        "metrics": {unit: node.own, f"{unit} (inc)": node.total},
    } | ({"children": below} if below else {})
