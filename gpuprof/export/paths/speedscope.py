"""Speedscope's own format (github.com/jlfwong/speedscope, file-format-spec.ts): a sampled profile for each kernel.

A stack has the frames of folded stacks: functions, the line, the stall reason; its weight is the cost of `costs`.
"""

import json
import sqlite3
from pathlib import Path
from typing import Any

from gpuprof.export.paths.path_costs import Costs, read_costs
from gpuprof.isa.printing.printable import printable

SCHEMA = "https://www.speedscope.app/file-format-schema.json"


def write(database: sqlite3.Connection, path: Path) -> None:
    text = json.dumps(document(read_costs(database)), ensure_ascii=False, separators=(",", ":"))
    path.write_text(text + "\n", encoding="utf-8", newline="\n")


def document(costs: Costs) -> dict[str, Any]:
    numbers: dict[tuple, int] = {}
    stacks: dict[str, dict[tuple[int, ...], int]] = {}

    def number(name: str, path: str = "", line: int = 0) -> int:
        return numbers.setdefault((printable(name), printable(path), line), len(numbers))

    for row in costs.rows:
        leaf = row.frames[-1]
        outer = [*(number(each.function, each.path) for each in row.frames), number(leaf.place, leaf.path, leaf.line)]
        of_kernel = stacks.setdefault(row.kernel, {})
        for reason, cost in row.by_reason.items():
            stack = (*outer, number(reason))
            of_kernel[stack] = of_kernel.get(stack, 0) + cost
    return {
        "$schema": SCHEMA,
        "exporter": "gpuprof",
        "name": costs.unit,
        "shared": {"frames": [_frame(*frame) for frame in numbers]},
        "profiles": [_profile(kernel, found) for kernel, found in stacks.items()],
    }


def _frame(name: str, path: str, line: int) -> dict[str, Any]:
    return {"name": name} | ({"file": path} if path else {}) | ({"line": line} if line else {})


def _profile(kernel: str, stacks: dict[tuple[int, ...], int]) -> dict[str, Any]:
    return {
        "type": "sampled",
        "name": printable(kernel),
        "unit": "none",
        "startValue": 0,
        "endValue": sum(stacks.values()),
        "samples": [list(stack) for stack in stacks],
        "weights": list(stacks.values()),
    }
