"""Firefox Profiler's processed format (github.com/firefox-devtools/profiler, docs-developer): profiler.firefox.com.

A thread for each kernel. A stack has the frames of folded stacks; it is one sample, weighted by the cost of `costs`.
Costs have no times: each sample is one millisecond after the one before it.
"""

import json
import sqlite3
from pathlib import Path
from typing import Any

from gpuprof.export.paths.folded import stacks
from gpuprof.export.paths.path_costs import read_costs
from gpuprof.isa.printing.printable import printable

VERSION, PROCESSED_VERSION = 27, 47  # of Gecko's and of the processed format; the page upgrades older ones
CATEGORY = 0


def write(database: sqlite3.Connection, path: Path) -> None:
    costs = read_costs(database)
    kernels: dict[str, dict[tuple[str, ...], int]] = {}
    for stack, cost in stacks(costs.rows).items():
        kernels.setdefault(stack[0], {})[stack] = cost
    threads = [thread(number, kernel, found) for number, (kernel, found) in enumerate(sorted(kernels.items()))]
    whole = {"meta": meta(costs.unit), "libs": [], "pages": [], "counters": [], "threads": threads}
    text = json.dumps(whole, ensure_ascii=False, separators=(",", ":"))
    path.write_text(text + "\n", encoding="utf-8", newline="\n")


def meta(unit: str) -> dict[str, Any]:
    return {
        "version": VERSION,
        "preprocessedProfileVersion": PROCESSED_VERSION,
        "product": f"gpuprof, {unit}",
        "interval": 1,
        "startTime": 0,
        "processType": 0,
        "stackwalk": 0,
        "debug": False,
        "symbolicated": True,
        "markerSchema": [],
        "categories": [{"name": "GPU", "color": "green", "subcategories": ["Other"]}],
    }


def thread(number: int, kernel: str, found: dict[tuple[str, ...], int]) -> dict[str, Any]:
    strings: dict[str, int] = {}
    functions: dict[str, int] = {}
    nodes: dict[tuple[int | None, int], int] = {}
    leaves = []
    for stack in sorted(found):
        prefix = None
        for name in map(printable, stack):
            strings.setdefault(name, len(strings))
            function = functions.setdefault(name, len(functions))
            prefix = nodes.setdefault((prefix, function), len(nodes))
        leaves.append(prefix)
    n_functions, n_samples = len(functions), len(leaves)
    return {
        **{"name": printable(kernel), "processType": "default", "processName": "GPU", "isMainThread": number == 0},
        **{"pid": "0", "tid": number, "processStartupTime": 0, "processShutdownTime": None},
        **{"registerTime": 0, "unregisterTime": None, "pausedRanges": []},
        "samples": {
            "stack": leaves,
            "time": list(range(n_samples)),
            "weight": [found[stack] for stack in sorted(found)],
            "weightType": "samples",
            "length": n_samples,
        },
        "markers": table(0, "data", "name", "startTime", "endTime", "phase", "category"),
        "stackTable": {
            "frame": [function for _, function in nodes],
            "prefix": [prefix for prefix, _ in nodes],
            "category": [CATEGORY] * len(nodes),
            "subcategory": [0] * len(nodes),
            "length": len(nodes),
        },
        "frameTable": table(n_functions, "nativeSymbol", "innerWindowID", "implementation", "line", "column")
        | {
            "address": [-1] * n_functions,
            "inlineDepth": [0] * n_functions,
            "category": [CATEGORY] * n_functions,
            "subcategory": [0] * n_functions,
            "func": list(range(n_functions)),
        },
        "funcTable": table(n_functions, "fileName", "lineNumber", "columnNumber")
        | {
            "name": [strings[name] for name in functions],
            "isJS": [False] * n_functions,
            "relevantForJS": [False] * n_functions,
            "resource": [-1] * n_functions,
        },
        "resourceTable": table(0, "lib", "name", "host", "type"),
        "nativeSymbols": table(0, "libIndex", "address", "name", "functionSize"),
        "stringArray": list(strings),
    }


def table(length: int, *columns: str) -> dict[str, Any]:
    """Columns of nothing."""
    return {column: [None] * length for column in columns} | {"length": length}
