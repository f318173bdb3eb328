"""Loops in which a warp waits for what other warps write: they only read, until a condition holds.

The emulator and the timing model agree on them by this: the first counts, of each sector, the signals that it has had
when such a loop reads it, and the second lets the loop's load poll until as many have come.
"""

from collections.abc import Iterable, Iterator
from functools import cache
from typing import NamedTuple

import numpy as np

from gpuprof.isa.encoding import INSTRUCTION_NBYTES, PT, Instruction, Operand, decode, reads, writes
from gpuprof.isa.flow.graph import Graph
from gpuprof.isa.kinds import kinds_of
from gpuprof.isa.modifiers import unpack_name
from gpuprof.isa.opcodes import TABLE

LONGEST = 48  # instructions of a loop that only waits
# Orders of accesses that see, and let see, what other warps write at that time.
STRONG = frozenset(("volatile", "relaxed", "acquire", "release", "acq_rel", "sc", "mmio"))
SHARED_BY_ALL = ("global", "generic")
_WAITING = kinds_of("compute", "special", "hint", "meet", "branch", "sleep", "warp_sync", "vote", "fence")
_ATOMICS = kinds_of("atomic", "reduction")


class _Loop(NamedTuple):
    """Instructions from `first`, which may be a load of the first turn, to the branch `last`."""

    first: int
    last: int
    loads: tuple[int, ...]


def polling_loads(code: np.ndarray) -> frozenset[int]:
    """Indexes of the loads that waiting loops are made of, of an array of isa.encoding.INSTRUCTION_DTYPE; and of those
    right before a loop, which are its first turn.
    """
    return frozenset(load for loop in _waiting_loops(code) for load in loop.loads)


def observed_loads(graph: Graph) -> frozenset[int]:
    """Loads of loops after which something reads what they have written, so that it matters when they end. Others only
    wait.
    """
    return frozenset(load for loop in _waiting_loops(graph.code) if _is_observed(loop, graph) for load in loop.loads)


def _waiting_loops(code: np.ndarray) -> Iterator[_Loop]:
    for last, first in _backward_branches(code):
        if last - first < LONGEST:
            loop = [decode(row) for row in code[first : last + 1]]
            loads = [first + k for k, inst in enumerate(loop) if is_strong(inst, "load")]
            if loads and all(_only_waits(inst) for inst in loop):
                before = _first_turn(code, first)
                yield _Loop(min([first, *before]), last, (*loads, *before))


def _is_observed(loop: _Loop, graph: Graph) -> bool:
    inside = set(range(graph.at(loop.first), graph.at(loop.last) + 1))
    written = {each for at in range(loop.first, loop.last + 1) for each in _words(writes(decode(graph.code[at])))}
    exits = {after for block in inside for after in graph.successors(block)} - inside
    return any(_is_read(word, exits, graph) for word in written)


def _is_read(word: tuple[str, int], starts: set[int], graph: Graph) -> bool:
    """True if a path from one of these blocks on reads a register before it is written again."""
    seen, pending = set(starts), list(starts)
    while pending:
        block = pending.pop()
        for inst in graph.block(block).instructions:
            if word in _words(reads(inst)):
                return True
            if inst.guard == PT and word in _words(writes(inst)):
                break
        else:
            pending += [after for after in graph.successors(block) if after not in seen]
            seen.update(graph.successors(block))
    return False


def _words(operands: Iterable[Operand]) -> set[tuple[str, int]]:
    return {(operand.file, operand.index + k) for operand in operands for k in range(operand.count)}


def is_signal(inst: Instruction) -> bool:
    """True for what may end such a loop: an atomic, or a store that other warps see at once."""
    return (inst.op.kind in _ATOMICS and inst.op.space in SHARED_BY_ALL) or is_strong(inst, "store")


def is_strong(inst: Instruction, kind: str) -> bool:
    if inst.op.kind != kind or inst.op.space not in SHARED_BY_ALL:
        return False
    return unpack_name(inst.mods, "sem") in STRONG and unpack_name(inst.mods, "scope") != "cta"


def _backward_branches(code: np.ndarray):
    """(index, target) of each branch to itself or before."""
    for index in np.flatnonzero(np.isin(code["opcode"], _branches())).tolist():
        target = index + 1 + int(code["imm"][index].astype(np.int32)) // INSTRUCTION_NBYTES
        if 0 <= target <= index:
            yield index, target


@cache
def _branches() -> np.ndarray:
    return np.array([row.number for row in TABLE if row.kind == "branch"], np.int64)


def _only_waits(inst: Instruction) -> bool:
    return inst.op.kind in _WAITING or is_strong(inst, "load") or (inst.op.kind == "load" and _is_constant(inst))


def _is_constant(inst: Instruction) -> bool:
    return inst.op.space in ("const", "param")


def _first_turn(code: np.ndarray, first: int) -> list[int]:
    """The strong loads before a loop, as far back as nothing but waiting is done."""
    found = []
    for index in range(first - 1, max(-1, first - 1 - LONGEST), -1):
        inst = decode(code[index])
        if not _only_waits(inst):
            break
        if is_strong(inst, "load"):
            found.append(index)
    return found
