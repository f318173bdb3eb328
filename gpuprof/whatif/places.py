"""Places of a program: lines, instructions, loops and functions."""

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from gpuprof.base.wording import base_name
from gpuprof.isa.encoding import INSTRUCTION_NBYTES
from gpuprof.isa.flow.graph import Graph
from gpuprof.isa.flow.natural_loops import natural_loops
from gpuprof.isa.program import Function, Location, Program
from gpuprof.whatif.baseline import Baseline

LINE, INSTRUCTION, LOOP, FUNCTION = "line", "instruction", "loop", "function"
SCOPES = (LINE, INSTRUCTION, LOOP, FUNCTION)


class Place(NamedTuple):
    """Some instructions of the program, bool (n_instructions,), by the name that a reader knows. path, line: "" and 0
    where it is no line. last_line: of a loop, else the same as `line`.
    """

    name: str
    insts: np.ndarray
    path: str = ""
    line: int = 0
    last_line: int = 0


class Lines(NamedTuple):
    """Lines `first` to `last` of a source; ("", 0, 0) where none is known."""

    path: str
    first: int
    last: int

    def __str__(self) -> str:
        return f"{base_name(self.path)}:{self.first}{f'-{self.last}' if self.last > self.first else ''}"


def places(baseline: Baseline, scope: str = LINE) -> Iterator[Place]:
    """Places of a scope of which a warp has issued something, in the order of the code."""
    yield from _loops(baseline) if scope == LOOP else _groups(baseline, scope)


def _groups(baseline: Baseline, scope: str) -> Iterator[Place]:
    """Places that have no instruction in common."""
    launch = baseline.subject.launch
    program = launch.module.program
    groups: dict[tuple, list[int]] = {}
    for index in np.flatnonzero(baseline.reached).tolist():
        at = program.locations[index]
        line = (at.file, at.line) if at else ("", 0)
        key = {LINE: line, INSTRUCTION: (*line, index), FUNCTION: (_function_of(program, index).display, 0)}[scope]
        groups.setdefault(key, []).append(index)
    for key, indexes in groups.items():
        insts = np.zeros(len(baseline.inst), np.bool_)
        insts[indexes] = True
        yield _place(scope, key, insts, launch.module.load_base)


def _place(scope: str, key: tuple, insts: np.ndarray, load_base: int) -> Place:
    if scope == FUNCTION:
        return Place(key[0], insts)
    path, line = key[0], key[1]
    name = f"{base_name(path)}:{line}" if line else "no line"
    if scope == INSTRUCTION:
        name += f" {_address(key[2], load_base)}"
    return Place(name, insts, path, line, line)


def _address(index: int, load_base: int) -> str:
    return f"0x{load_base + INSTRUCTION_NBYTES * index:x}"


def _function_of(program: Program, index: int) -> Function:
    return next(f for f in program.functions if f.first <= index < f.first + f.count)


# --- loops


def _loops(baseline: Baseline) -> Iterator[Place]:
    """An outer loop has the instructions of those in it. Where several have the same lines, names have addresses."""
    launch = baseline.subject.launch
    program = launch.module.program
    graph = Graph(launch.module.code)
    found: list[tuple[int, np.ndarray, Lines]] = []
    for function in program.functions:
        if baseline.reached[function.first : function.first + function.count].any():
            for loop in natural_loops(graph, graph.block_at[function.first]):
                insts = np.zeros(len(baseline.inst), np.bool_)
                for block in loop.blocks:
                    insts[graph.starts[block] : graph.ends[block]] = True
                if (insts & baseline.reached).any():
                    first = int(graph.starts[loop.header])
                    found.append((first, insts, _lines_of(program.locations, insts, first)))
    counts = Counter(str(lines) for _, _, lines in found)
    for first, insts, lines in found:
        address = f" {_address(first, launch.module.load_base)}" if not lines.path or counts[str(lines)] > 1 else ""
        yield Place(f"loop{f' at {lines}' if lines.path else ''}{address}", insts, *lines)


def _lines_of(locations: tuple[Location | None, ...], insts: np.ndarray, header: int) -> Lines:
    """The lines of a loop in the file of its header: where the loop itself is written, not the functions that are
    inlined in it.
    """
    some = [locations[header], *(locations[index] for index in np.flatnonzero(insts).tolist())]
    chains = [_from_outside(at) for at in some if at and at.line]
    if not chains:
        return Lines("", 0, 0)
    depth, deepest = 0, min(map(len, chains)) - 1
    while depth < deepest and len({chain[depth] for chain in chains}) == 1:
        depth += 1
    path = chains[0][depth][0]
    lines = [chain[depth][1] for chain in chains if chain[depth][0] == path]
    return Lines(path, min(lines), max(lines))


def _from_outside(location: Location | None) -> list[tuple[str, int, int]]:
    """The position and the calls that it is inlined in, (file, line, column) each, the outermost call first."""
    found = []
    while location is not None:
        found.append((location.file, location.line, location.column))
        location = location.inlined_at
    return found[::-1]
