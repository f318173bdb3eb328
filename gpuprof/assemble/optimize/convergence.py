"""The places where lanes that may part meet again: BSSY before a branch at which lanes part, BSYNC where both ways have
come together.

Lanes meet without them, as far as what they compute goes (`emulate` runs the lowest of a warp's lanes first); on
hardware since Volta each takes an issue slot, so they are here for their time. A loop with atomics gets a
YIELD, too, as ptxas 13.0 writes it.
"""

from collections.abc import Iterable

from gpuprof.assemble.ir.body import Block, Body, Inst
from gpuprof.assemble.ir.dominators import common, nearest
from gpuprof.isa.kinds import ATOMICS, CALLS, kinds_of
from gpuprof.isa.opcodes import BY_NAME, TABLE
from gpuprof.isa.row import Opcode
from gpuprof.isa.special import SPECIAL_INDEX

# What lanes of a warp have in common, though they ask for it themselves.
_SAME_FOR_ALL = frozenset(
    SPECIAL_INDEX[name]
    for name in SPECIAL_INDEX
    if name.startswith(("ntid", "ctaid", "nctaid", "smid", "nsmid", "gridid", "warpid"))
)
_ANSWERS_ALL = kinds_of("vote", "barrier_vote", "warp_reduction")  # each lane that asks gets the same
_ANSWERS_EACH = CALLS | kinds_of("shuffle", "match", "elect")


def _differs_by_sources(row: Opcode) -> bool | None:
    """True where its sources decide whether an instruction of this row gives each lane something else, False where it
    does; None where it gives all the same.
    """
    # Memory may give each lane another value. Constants and parameters differ only if their addresses do, so their
    # sources decide.
    if row.kind == "special" or row.kind in _ANSWERS_EACH or row.space not in ("", "param", "const", "barrier"):
        return False
    return None if row.kind in _ANSWERS_ALL else True


_BY_SOURCES = [_differs_by_sources(row) for row in TABLE]
_MOST_BLOCKS = 600  # of a function; larger ones are left as they are: the search below takes quadratic time


def add_meetings(body: Body) -> None:
    """Inserts BSSY, BSYNC and YIELD. The control flow graph must be connected."""
    blocks = body.blocks
    # Marks only matter to timing, so a function without them is still right.
    if len(blocks) < 3 or len(blocks) > _MOST_BLOCKS:
        return
    apart = _different_registers(body)
    meeting = nearest([block.successors for block in blocks], _exits(blocks))
    ending = _ending(blocks)
    above = nearest([block.predecessors for block in blocks], [0])
    branches: dict[int, list[int]] = {}  # where lanes meet -> the blocks where they part
    for index, block in enumerate(blocks):
        last = block.insts[-1] if block.insts else None
        if (
            last is not None
            and last.op.kind == "branch"
            and last.guard in apart
            and ending.issuperset(block.successors)
        ):
            target = _behind_empty(meeting[index], blocks)
            if target is not None:
                branches.setdefault(target, []).append(index)
    for target, parting in branches.items():
        start = _above_all(parting, above, blocks, target)
        if start is not None:
            at = blocks[start].insts
            _insert(at, len(at) - (at[-1].op.kind == "branch" if at else 0), "BSSY")
            _insert(blocks[target].insts, 0, "BSYNC")
    _yield_in_loops(blocks)


def _behind_empty(place: int | None, blocks: list[Block]) -> int | None:
    """The block where lanes meet, past blocks that they only run together; None where they meet only to leave."""
    for _ in blocks:
        if (
            place is None
            or len(blocks[place].successors) != 1
            or any(inst.op.kind != "branch" for inst in blocks[place].insts)
        ):
            break
        place = blocks[place].successors[0]
    return None if place is None or (blocks[place].insts and blocks[place].insts[0].op.kind == "exit") else place


def _insert(insts: list[Inst], place: int, name: str) -> None:
    beside = insts[min(place, len(insts) - 1)] if insts else None
    insts.insert(
        place, Inst(BY_NAME[name], line=beside.line if beside else 0, location=beside.location if beside else None)
    )


def _different_registers(body: Body, known: Iterable[int] = ()) -> set[int]:
    """Registers in which the lanes of a warp may differ, as far as what they are computed from goes; those `known` to
    differ are among them.
    """
    users: dict[int, list[Inst]] = {}
    todo: list[int] = []
    for block in body.blocks:
        for inst in block.insts:
            by_sources = _BY_SOURCES[inst.op.number]
            if by_sources or (by_sources is False and inst.op.kind == "special" and inst.imm in _SAME_FOR_ALL):
                for register in inst.reads():
                    if register in users:
                        users[register].append(inst)
                    else:
                        users[register] = [inst]
            elif by_sources is False:
                todo += inst.writes()
    # Registers that calls pass values in: the other function is not looked at, so its lanes may differ.
    different: set[int] = set()
    todo += [*body.fixed, *known]
    while todo:
        register = todo.pop()
        different.add(register)
        for inst in users.pop(register, ()):
            todo += [written for written in inst.writes() if written not in different]
    return different


def apart_by_control(body: Body) -> set[int] | None:
    """Registers in which the lanes of a warp may differ, also by the way that each lane took. None where that is not
    looked at: the function has too many blocks.
    """
    blocks = body.blocks
    if len(blocks) > _MOST_BLOCKS:
        return None
    meeting = nearest([block.successors for block in blocks], _exits(blocks))
    writes: dict[int, set[int]] = {}  # of a register that is written more than once: the blocks
    many: set[int] = set()
    for index, block in enumerate(blocks):
        for inst in block.insts:
            for register in inst.writes():
                if register in writes or inst.guard is not None:
                    many.add(register)
                writes.setdefault(register, set()).add(index)
    apart = _different_registers(body)
    while True:
        taken_apart: set[int] = set()  # blocks that only some lanes of a warp may go through
        for index, block in enumerate(blocks):
            last = block.insts[-1] if block.insts else None
            if last is not None and last.op.kind == "branch" and last.guard in apart:
                taken_apart |= _between(blocks, index, meeting[index])
        more = {register for register in many if register not in apart and writes[register] & taken_apart}
        if not more:
            return apart
        apart = _different_registers(body, apart | more)


def _between(blocks: list[Block], start: int, end: int | None) -> set[int]:
    """The blocks on ways from a block to the one where they meet."""
    between: set[int] = set()
    todo = list(blocks[start].successors)
    while todo:
        index = todo.pop()
        if index != end and index not in between:
            between.add(index)
            todo += blocks[index].successors
    return between


def _exits(blocks: list[Block]) -> list[int]:
    return [index for index, block in enumerate(blocks) if not block.successors]


def _ending(blocks: list[Block]) -> set[int]:
    """Blocks from which some way leads to an exit. Lanes in an endless loop never meet others, and ptxas 13.0 has no
    mark where there may be some.
    """
    ending, todo = set(), _exits(blocks)
    while todo:
        index = todo.pop()
        if index not in ending:
            ending.add(index)
            todo += blocks[index].predecessors
    return ending


def _above_all(parting: list[int], above: list[int | None], blocks: list[Block], place: int) -> int | None:
    """The nearest block above all of `parting` that is in no other loops than `place` is."""
    start: int | None = parting[0]
    for other in parting[1:]:
        start = None if start is None else common(start, other, above)
    # A BSSY deeper in loops than its BSYNC would take a slot in every turn.
    while start is not None and blocks[start].loop_depth > blocks[place].loop_depth:
        start = above[start]
    return start


def _yield_in_loops(blocks: list[Block]) -> None:
    """Puts a YIELD into the block with the first atomic of each innermost loop."""
    done: set[tuple[int, int]] = set()
    for index, block in enumerate(blocks):
        atomic = next((n for n, inst in enumerate(block.insts) if inst.op.kind in ATOMICS), None)
        if atomic is None or not block.loop_depth:
            continue
        loop = _loop_of(blocks, index)
        if loop not in done:
            done.add(loop)
            _insert(block.insts, atomic, "YIELD")


def _loop_of(blocks: list[Block], index: int) -> tuple[int, int]:
    """The innermost backward edge around a block, as its ends: compilers lay loops out in one piece."""
    edges = [(target, end) for end, block in enumerate(blocks) for target in block.successors if target <= index <= end]
    return min(edges, key=lambda edge: edge[1] - edge[0], default=(index, index))
