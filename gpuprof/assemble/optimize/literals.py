"""The place of constants that an instruction cannot hold: the constant bank or a register, as ptxas 13.0 chooses.

A 64-bit operand comes from the constant bank if it is the only constant of its instruction; of two, the one with fewer
readers does. Other constants take a register: one in a block for all readers of the same constant, and in a small loop
one that is made in front of the loop. The bound for that was measured for sm_80 with loops of 1 to 25 FFMA or DFMA
next to 0 to 8 sums that live on. The slots of a turn, and twice the words that live through it, stay within the bound.
It is lower for a pair of registers than for one, and other constants take their words off it. In loops that wait for
global memory, and in loops of several blocks, ptxas makes constants again in every turn.

Words of constant memory whose place is known are operands of the instructions that read them, as ptxas has them
(`FFMA R0, R2, c[0x3][0x10], R0`): they take neither a load nor a register.
"""

from collections import Counter

from gpuprof.assemble.ir import cfg
from gpuprof.assemble.ir.body import HAS_GROUPS, READ_SLOTS, WORDS, Block, Body, Inst, immediate_slots
from gpuprof.assemble.ir.defs import replace_reads, single_definitions
from gpuprof.assemble.ir.liveness import block_liveness
from gpuprof.assemble.optimize.fold import CONSTANT_MOVES, Constant, constant_of, fold_operand
from gpuprof.isa.opcodes import BY_NAME, by_number
from gpuprof.isa.special import CONSTANTS_AT, LITERALS_AT

# Measured with ptxas 13.0 for sm_80 (see above). A pair of registers costs more to keep than one.
_BOUND = {"R": 31, "D": 25}  # of slots + 2 * words
_FAR = ("global", "generic", "local", "texture")
_WITH_BRANCHES = ("division", "iterative", "iterative64")


def read_literals_from_bank(body: Body) -> None:
    """Literals that need 64 bits as operands in the constant bank, from special.LITERALS_AT on."""
    moves = {r: made[0] for r, made in _moves(body).items() if body.files[r] == "D" and not made[1]}
    readers: Counter[int] = Counter()
    for inst in body.instructions() if moves else ():
        readers.update(moves[r] for r in inst.reads() if r in moves)
    for inst in body.instructions() if moves else ():
        slots = [s for s in READ_SLOTS[inst.op.number] if s in immediate_slots(inst.op) and getattr(inst, s) in moves]
        if slots and not inst.slot:
            slot = min(reversed(slots), key=lambda s: readers[moves[getattr(inst, s)]])
            value = moves[getattr(inst, slot)]
            offset = body.literals.setdefault(value, LITERALS_AT + 8 * len(body.literals))
            fold_operand(inst, slot, Constant(offset, True))


def share_constants(body: Body) -> None:
    """Shares constants in blocks and across loops. It runs after all passes that put constants where they are used, and
    leaves registers of groups as they are.
    """
    moves = _moves(body)
    if moves:
        _share_in_blocks(body, moves)
        _keep_across_loops(body, moves)


def _moves(body: Body) -> dict[int, tuple]:
    """Registers that only ever hold a constant, each with what it holds and how it is made."""
    single = single_definitions(body)
    moves = {
        r: (*constant, i.op.number)
        for r, i in single.items()
        if i.op.number in CONSTANT_MOVES and (constant := constant_of(i)) is not None and i.dst == r and not i.outgoing
    }
    for inst in body.instructions() if moves else ():
        for slot in READ_SLOTS[inst.op.number] if HAS_GROUPS[inst.op.number] else ():
            group = getattr(inst, slot)
            if group.__class__ is tuple:
                for register in group:
                    moves.pop(register, None)
    return moves


def _share_in_blocks(body: Body, moves: dict[int, tuple]) -> None:
    new: dict[int, int] = {}
    for block in body.blocks:
        first: dict[tuple, int] = {}
        for inst in block.insts:
            shared = (
                inst.dst.__class__ is int
                and inst.dst in moves
                and (block.loop_depth > 0 or body.files[inst.dst] == "D")
            )
            if shared and first.setdefault(moves[inst.dst], inst.dst) != inst.dst:
                new[inst.dst] = first[moves[inst.dst]]
    _rename(body, new, moves)


def _rename(body: Body, new: dict[int, int], moves: dict[int, tuple]) -> None:
    """Readers of the registers in `new` read others that hold the same; the moves into them go."""
    if not new:
        return
    for block in body.blocks:
        block.insts = [inst for inst in block.insts if inst.dst.__class__ is not int or inst.dst not in new]
        for inst in block.insts:
            replace_reads(inst, new)
    for register in new:
        del moves[register]


def _keep_across_loops(body: Body, moves: dict[int, tuple]) -> None:
    """Moves in an innermost loop go in front of it."""
    loops = [
        index
        for index, block in enumerate(body.blocks)
        if _is_short_loop(body.blocks, index) and _made_in(block, moves)
    ]
    liveness = block_liveness(body) if loops else None
    front: dict[int, list[Inst]] = {}  # index of a loop's first block -> the moves
    for index in loops:
        block = body.blocks[index]
        made = _made_in(block, moves)
        live = sum(WORDS[body.files[r]] for r in liveness.members(liveness.live_in[index]) if r not in moves)
        if _has_room(body, block, made, live):
            chosen = {id(inst) for inst in made}
            block.insts = [inst for inst in block.insts if id(inst) not in chosen]
            front[index] = made
    if front:
        _place(body, front)


def _is_short_loop(blocks: list[Block], index: int) -> bool:
    """True if the block is a loop by itself that is entered only from the block before and does not wait for
    memory.
    """
    block = blocks[index]
    if (
        index not in block.successors
        or sorted(block.predecessors) != [index - 1, index]
        or any(_waits(inst) for inst in block.insts)
    ):
        return False
    # The moves go after the block in front, which must not jump past them into the loop.
    end = blocks[index - 1].insts[-1] if blocks[index - 1].insts else None
    return end is None or end.op.kind not in cfg.JUMPS or (end.guard is not None and end.target != block.label)


def _waits(inst: Inst) -> bool:
    """True if an instruction waits for global memory, or is an expansion with branches of its own. In that time a
    constant can be made again.
    """
    op = inst.op
    return (
        op.latency in _WITH_BRANCHES
        or (op.pipe == "cbu" and op.kind != "branch")
        or (op.space in _FAR and bool(inst.writes()))
    )


def _made_in(block: Block, moves: dict[int, tuple]) -> list[Inst]:
    return [inst for inst in block.insts if inst.dst.__class__ is int and inst.dst in moves]


def _has_room(body: Body, block: Block, made: list[Inst], live: int) -> bool:
    """`live`: words that live through the loop in addition to the constants."""
    files = [body.files[inst.dst] for inst in made]
    cost = sum(_cost(inst) for inst in block.insts) - sum(_cost(inst) for inst in made)
    words = sum(WORDS[file] for file in files)
    return all(cost + 2 * live + words - WORDS[file] <= _BOUND[file] for file in files)


def _cost(inst: Inst) -> int:
    """Issue slots as the bound counts them: slots of doubles count twice, each word of a shared load as four."""
    if inst.op.space == "shared" and inst.writes():
        return max(inst.op.nbytes, 4)
    return inst.op.slots * (2 if inst.op.pipe == "fp64" else 1)


def _place(body: Body, front: dict[int, list[Inst]]) -> None:
    result: list[Block] = []
    for index, block in enumerate(body.blocks):
        if index in front:
            before = result[-1]
            if before.insts and before.insts[-1].op.kind in cfg.JUMPS:
                result.append(Block("", front[index], loop_depth=before.loop_depth))
            else:
                before.insts = before.insts + front[index]
        result.append(block)
    body.blocks = result
    cfg.connect(body)


def turn_branches(body: Body) -> None:
    """`@p bra NEXT; bra LOOP; NEXT:` at the end of a loop of one block that does not wait for memory is `@!p bra
    LOOP`.
    """
    blocks = body.blocks
    gone: set[int] = set()
    for index in range(len(blocks) - 2):
        over = blocks[index].insts[-1] if blocks[index].insts else None
        way = blocks[index + 1].insts
        if (
            over is not None and over.op.kind == "branch" and over.guard is not None
                and over.target == blocks[index + 2].label
            and len(way) == 1 and way[0].op.kind == "branch" and way[0].guard is None
                and blocks[index + 1].predecessors == [index]
            and way[0].target == blocks[index].label and not any(_waits(inst) for inst in blocks[index].insts)
        ):  # fmt: skip
            over.target = way[0].target
            over.negated = over.negated.replace("g", "") if "g" in over.negated else over.negated + "g"
            gone.add(index + 1)
    if gone:
        body.blocks = [block for index, block in enumerate(blocks) if index not in gone]
        cfg.connect(body)


_MOVES = by_number({"LDC.32": BY_NAME["MOV"], "LDC.64": BY_NAME["MOV.64"]})


def read_constants_from_bank(body: Body) -> None:
    """Loads of constant memory at a known place become moves out of the constant bank, which `fold_parameters` then
    puts into their readers. What lies outside the variables is left to the load, which says so.
    """
    for inst in body.instructions() if body.constants_nbytes else ():
        known = inst.op.number in _MOVES and inst.a is None and not inst.symbol
        if known and inst.imm % inst.op.nbytes == 0 and inst.imm + inst.op.nbytes <= body.constants_nbytes:
            inst.op, inst.slot, inst.imm, inst.const, inst.mods = (
                _MOVES[inst.op.number],
                "a",
                CONSTANTS_AT + inst.imm,
                True,
                0,
            )
