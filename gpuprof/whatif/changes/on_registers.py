"""Values in registers instead of memory: those that a warp has loaded before, and those of local memory."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gpuprof.chips import Chip
from gpuprof.emulate.trace_log.trace import TracePiece
from gpuprof.emulate.trace_log.trace_entries import SECTOR_MASK, SECTORS_OF_LINE
from gpuprof.isa.encoding import encode, make
from gpuprof.timing.piece_accesses import positions, sector_counts
from gpuprof.timing.state.static_program import FOLDED, GLOBAL, LOAD, STORE, StaticProgram, static_program
from gpuprof.whatif.changes.more_code import Code, code_of, with_blocks, with_code
from gpuprof.whatif.changes.on_accesses import global_loads, read_once
from gpuprof.whatif.changes.whole_trace import without_accesses


def loaded_once(
    program: StaticProgram, pieces: Sequence[TracePiece], chosen: np.ndarray
) -> tuple[StaticProgram, tuple[TracePiece, ...]]:
    """Loads of what the warp has loaded by one of them before are not there: a register still has it. Where only some
    of a basic block's loads are such ones, they hit the L1.
    """
    loads = chosen & global_loads(program.inst) & (program.inst["polls"] == 0)
    of_block = np.add.reduceat(loads.astype(np.int64), program.block[:-1])
    homes = np.flatnonzero(of_block)
    if not len(homes):
        return program, tuple(pieces)
    copies = [code_of(program, *program.block[home : home + 2].tolist()) for home in homes]
    for home, copy in zip(homes.tolist(), copies, strict=True):
        gone = loads[program.block[home] : program.block[home + 1]]
        copy.inst["kind"][gone], copy.inst["has_access"][gone] = FOLDED, 0
    number = np.zeros(len(of_block), np.int64)  # of the copy of each basic block
    number[homes] = len(of_block) + np.arange(len(homes))
    found = tuple(_without_known(program, piece, loads, number) for piece in pieces)
    return with_blocks(program, copies), found


def _without_known(program: StaticProgram, piece: TracePiece, loads: np.ndarray, number: np.ndarray) -> TracePiece:
    at, once = positions(piece, program), read_once(program, piece, loads)
    of_loads, had, left = loads[at.inst], sector_counts(piece.accesses), sector_counts(once.accesses)
    n_steps = len(piece.steps)
    is_new = np.bincount(at.step, of_loads & ((left > 0) | (had == 0)), minlength=n_steps) > 0
    is_known = (np.bincount(at.step, of_loads, minlength=n_steps) > 0) & ~is_new
    steps = piece.steps.copy()
    steps["block"][is_known] = number[steps["block"][is_known]]
    return without_accesses(once._replace(steps=steps), of_loads & is_known[at.step])


class Words(NamedTuple):
    """The words of local memory that an instruction accesses, from its threads' lowest on, ascending. changes: not all
    of its accesses have the same ones.
    """

    numbers: tuple[int, ...]
    changes: bool


def in_registers(
    program: StaticProgram, pieces: Sequence[TracePiece], chosen: np.ndarray, chip: Chip
) -> tuple[StaticProgram, tuple[TracePiece, ...]]:
    """Each word of local memory is a register. Accesses that have the same words every time take no issue slot: what
    they load is there with what was stored. The others select: once for each of the words that they may access.
    """
    inst = program.inst
    local = chosen & (inst["is_local"] != 0) & (inst["kind"] == GLOBAL) & np.isin(inst["operation"], (LOAD, STORE))
    words = _words(program, pieces, local)
    code = code_of(program, 0, len(inst))
    select = static_program(encode([make("SEL", dst=0, a=1, b=2)]), (), chip).inst[0]
    for at, some in words.items():
        registers = program.n_registers + np.array(some.numbers, np.int32)
        code.deps[at], n_writes = _with_words(code.deps[at], inst[at], registers, some.changes)
        if some.changes:
            code.inst[at] = select
            code.inst["slots"][at], code.inst["line"][at] = len(registers), inst["line"][at]
        else:
            code.inst["kind"][at] = FOLDED
        code.inst["n_writes"][at], code.inst["has_access"][at] = n_writes, 0
    moved = with_code(program, _stored_where_made(program, code, words))
    gone = np.zeros(len(inst), np.bool_)
    gone[list(words)] = True
    return moved, tuple(without_accesses(piece, gone[positions(piece, program).inst]) for piece in pieces)


def _words(program: StaticProgram, pieces: Sequence[TracePiece], local: np.ndarray) -> dict[int, Words]:
    """Gives the words of each instruction of a mask that has accesses. A word of a warp's 32 threads is a line."""
    rows, n_accesses = [], np.zeros(len(program.inst), np.int64)
    for piece in pieces:
        at, counts = positions(piece, program), sector_counts(piece.accesses)
        mine = np.repeat(local[at.inst], counts)
        line = (piece.sectors[mine] & SECTOR_MASK) // SECTORS_OF_LINE
        access, warp = np.repeat(np.arange(len(counts)), counts)[mine], np.repeat(at.warp, counts)[mine]
        lowest = np.full(len(piece.final), np.iinfo(np.int64).max)
        np.minimum.at(lowest, warp, line)
        # The sectors of an access ascend, so that those of a line follow each other.
        is_first = (np.diff(access, prepend=-1) != 0) | (np.diff(line, prepend=-1) != 0)
        rows.append(np.stack([at.inst[access], line - lowest[warp]])[:, is_first])
        n_accesses += np.bincount(at.inst[local[at.inst] & (counts > 0)], minlength=len(n_accesses))
    inst, word = np.concatenate(rows, axis=1)
    n_words = int(word.max(initial=0)) + 1
    found: dict[int, Words] = {}
    for key, times in zip(
        *(some.tolist() for some in np.unique(inst * n_words + word, return_counts=True)), strict=True
    ):
        number, one = divmod(key, n_words)
        before = found.get(number, Words((), False))
        found[number] = Words((*before.numbers, one), before.changes or times < n_accesses[number])
    return found


def _with_words(deps: np.ndarray, inst: np.void, registers: np.ndarray, changes: bool) -> tuple[np.ndarray, int]:
    """The scoreboard numbers of an access to words in registers, and how many of them it writes."""
    reads = deps[: len(deps) - inst["n_writes"]]
    if inst["operation"] == LOAD:
        return np.concatenate([reads, registers, deps[len(reads) :]]), int(inst["n_writes"])
    return np.concatenate([reads, registers if changes else [], registers]).astype(np.int32), len(registers)


def _stored_where_made(program: StaticProgram, code: Code, words: dict[int, Words]) -> Code:
    """Values that go to words that do not change are made there: the registers that they had are free for others, as
    far as they get another value in the same basic block.
    """
    deps = [some.copy() for some in code.deps]
    for store, some in words.items():
        inst = program.inst[store]
        if some.changes or inst["operation"] != STORE or inst["guard"] >= 0:
            continue
        block = int(np.searchsorted(program.block, store, side="right"))
        bounds = int(program.block[block - 1]), int(program.block[block])
        n = len(some.numbers)
        for value, word in zip(deps[store][-2 * n : -n].tolist(), deps[store][-n:].tolist(), strict=True):
            _renamed(deps, code.inst["n_writes"], store, bounds, value, word)
    return Code(code.inst, deps)


def _renamed(deps: list[np.ndarray], n_writes: np.ndarray, at: int, bounds: tuple[int, int], old: int, new: int):
    """Gives a register another number in `deps`, from where its value at an instruction is made to its next value; if
    both are in the basic block, which is from bounds[0] to bounds[1].
    """
    made, made_again = (
        next((k for k in where if old in deps[k][len(deps[k]) - n_writes[k] :]), -1)
        for where in (range(at - 1, bounds[0] - 1, -1), range(at + 1, bounds[1]))
    )
    if made < 0 or made_again < 0:
        return
    for k in range(made, made_again + 1):
        first_write = len(deps[k]) - n_writes[k]
        part = slice(first_write, None) if k == made else slice(0, first_write)
        deps[k][part][deps[k][part] == old] = new
