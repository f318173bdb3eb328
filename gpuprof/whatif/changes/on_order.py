"""Interventions on the order of instructions: the loads of several turns of a loop before what waits for them."""

from collections.abc import Sequence

import numpy as np

from gpuprof.emulate.trace_log.trace import TracePiece
from gpuprof.emulate.trace_log.whole_pieces import starts
from gpuprof.timing.piece_accesses import positions, sector_counts
from gpuprof.timing.state.static_program import PLAIN, StaticProgram
from gpuprof.whatif.changes.more_code import Code, code_of, with_blocks
from gpuprof.whatif.changes.on_accesses import global_loads
from gpuprof.whatif.changes.whole_trace import runs

# An instruction of so many turns of a basic block: (turn, instruction within the block).
Place = tuple[int, int]


def homes_of(program: StaticProgram, chosen: np.ndarray) -> list[int]:
    """The basic blocks that have chosen loads."""
    loads = chosen & global_loads(program.inst) & (program.inst["polls"] == 0)
    return np.flatnonzero(np.add.reduceat(loads.astype(np.int64), program.block[:-1])).tolist()


def loads_first(
    program: StaticProgram, pieces: Sequence[TracePiece], chosen: np.ndarray, turns: int
) -> tuple[StaticProgram, tuple[TracePiece, ...]]:
    """So many runs of a basic block that follow each other are one, whose chosen loads come first, with what they need:
    as where a loop is unrolled. Each value has a register of its own, and one comparison and branch is left.
    """
    copies = []
    for home in homes_of(program, chosen):
        first, end = program.block[home : home + 2].tolist()
        body = code_of(program, first, end)
        order = _order(body, chosen[first:end], turns)
        pieces = [
            _in_groups(program, piece, home, turns, order, len(program.block) - 1 + len(copies)) for piece in pieces
        ]
        copies.append(_in_order(body, order, turns, program.n_registers))
    return (with_blocks(program, copies) if copies else program), tuple(pieces)


def are_in_rows(program: StaticProgram, pieces: Sequence[TracePiece], chosen: np.ndarray, turns: int) -> bool:
    """True when most runs of the chosen loads' basic blocks are in groups of so many."""
    homes = homes_of(program, chosen)
    runs_of_homes = sum(int(np.isin(piece.steps["block"], homes).sum()) for piece in pieces)
    grouped = sum(int((group_leaders(piece, home, turns) >= 0).sum()) for piece in pieces for home in homes)
    return 2 * grouped > runs_of_homes


def _writes(code: Code, k: int) -> np.ndarray:
    return code.deps[k][len(code.deps[k]) - code.inst["n_writes"][k] :]


def _reads(code: Code, k: int) -> np.ndarray:
    return code.deps[k][: len(code.deps[k]) - code.inst["n_writes"][k]]


def _order(body: Code, chosen: np.ndarray, turns: int) -> list[Place]:
    """Chosen loads of all turns and what leads to them, then the rest; in both, the turns one after the other."""
    n = len(body.inst)
    ahead, needed = set(), set()
    for k in reversed(range(n)):
        if chosen[k] or not needed.isdisjoint(_writes(body, k).tolist()):
            ahead.add(k)
            needed.difference_update(_writes(body, k).tolist())
            needed.update(_reads(body, k).tolist())
    ends = _ending(body)
    return [
        (turn, k)
        for is_ahead in (True, False)
        for turn in range(turns)
        for k in range(n)
        if (k in ahead) == is_ahead and (turn == turns - 1 or k not in ends)
    ]


def _ending(body: Code) -> set[int]:
    """The last instruction, a branch, and what only makes the predicate that it takes."""
    last = len(body.inst) - 1
    taken = set(_reads(body, last).tolist())
    made = {
        k
        for k in range(last)
        if body.inst["kind"][k] == PLAIN and body.inst["n_writes"][k] and taken.issuperset(_writes(body, k).tolist())
    }
    read = {register for k in range(last) for register in _reads(body, k).tolist()}
    return {last} | (made if taken.isdisjoint(read) else set())


def _in_order(body: Code, order: list[Place], turns: int, first_number: int) -> Code:
    """The instructions in their new order. Every value has a scoreboard number of its own; the last one of each
    register has that of the register.
    """
    there = set(order)
    last = {}  # the place that writes a register last
    for turn in range(turns):
        for k in range(len(body.inst)):
            if (turn, k) in there:
                last |= dict.fromkeys(_writes(body, k).tolist(), (turn, k))
    names: dict[int, int] = {}
    deps = {}
    number = first_number
    for turn in range(turns):
        for k in range(len(body.inst)):
            if (turn, k) not in there:
                continue
            reads = [names.get(register, register) for register in _reads(body, k).tolist()]
            for register in _writes(body, k).tolist():
                names[register] = register if last[register] == (turn, k) else number
                number += names[register] == number
            deps[turn, k] = np.array([*reads, *(names[r] for r in _writes(body, k).tolist())], np.int32)
    return Code(body.inst[[k for _, k in order]], [deps[place] for place in order])


def _in_groups(
    program: StaticProgram, piece: TracePiece, home: int, turns: int, order: list[Place], number: int
) -> TracePiece:
    """Each group of runs as one step, of the basic block `number`, with the accesses of all in the new order."""
    leader = group_leaders(piece, home, turns)
    at = positions(piece, program)
    first = int(program.block[home])
    place = np.zeros((turns, int(program.block[home + 1]) - first), np.int64)
    for k, (turn, inst) in enumerate(order):
        place[turn, inst] = k
    grouped = np.flatnonzero(leader >= 0)
    goes_with = np.where(leader >= 0, leader, np.arange(len(leader)))
    of_group = leader[at.step] >= 0
    rank = np.arange(len(at.step))
    rank[of_group] = place[(at.step - goes_with[at.step])[of_group], at.inst[of_group] - first]
    accesses = np.lexsort((rank, goes_with[at.step]))
    counts = sector_counts(piece.accesses)
    remains = goes_with == np.arange(len(leader))
    steps = piece.steps.copy()
    steps["block"][leader[grouped]] = number
    warp = np.repeat(np.arange(len(piece.final)), np.diff(piece.step_start))
    return piece._replace(
        step_start=starts(np.bincount(warp[remains], minlength=len(piece.final))),
        steps=steps[remains],
        accesses=piece.accesses[accesses],
        sectors=piece.sectors[runs(starts(counts)[:-1][accesses], counts[accesses])],
    )


def group_leaders(piece: TracePiece, home: int, turns: int) -> np.ndarray:
    """int64 (n_steps,): for a run of basic block `home` in a group of so many that follow each other in a warp, with
    the same lanes, the group's first one; -1 for all other steps.
    """
    steps = piece.steps
    is_home = steps["block"] == home
    goes_on = np.zeros(len(steps), np.bool_)
    goes_on[1:] = is_home[1:] & is_home[:-1] & (steps["mask"][1:] == steps["mask"][:-1])
    goes_on[piece.step_start[:-1]] = False
    number = np.arange(len(steps))
    begin = np.maximum.accumulate(np.where(goes_on, 0, number))  # of the row of runs that each step is in
    leader = number - (number - begin) % turns
    size = np.bincount(leader[is_home], minlength=len(steps))
    return np.where(is_home & (size[leader] == turns), leader, -1)
