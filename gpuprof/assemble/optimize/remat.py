"""Constants and parameters that need a register get it where they are used, not at the top of the function."""

from gpuprof.assemble.ir.body import Block, Body, Inst
from gpuprof.assemble.ir.defs import replace_reads, single_definitions
from gpuprof.assemble.optimize.fold import CONSTANT_MOVES, constant_of
from gpuprof.isa.opcodes import BY_NAME, numbers

_WIDE = numbers("IMAD.WIDE.S32", "IMAD.WIDE.U32")


def free_wide_multiplies(body: Body) -> None:
    """index * 4 + parameter: one immediate, two constants. The parameter takes it, the factor gets a register that the
    block shares.

    A 64-bit parameter in registers costs two for as long as it lives, the factor one for a moment (ptxas does the
    same).
    """
    if not any(inst.op.number in _WIDE for inst in body.instructions()):
        return
    params = {r: c for r, i in single_definitions(body).items() if (c := constant_of(i)) and c.is_param}
    for block in body.blocks:
        factors: dict[int, int] = {}
        result = []
        for inst in block.insts:
            constant = params.get(inst.c) if inst.op.number in _WIDE and inst.c.__class__ is int else None
            if constant and inst.slot == "b" and not inst.const:
                if inst.imm not in factors:
                    factors[inst.imm] = body.register("R")
                    result.append(
                        Inst(
                            BY_NAME["MOV"],
                            dst=factors[inst.imm],
                            slot="a",
                            imm=inst.imm,
                            line=inst.line,
                            location=inst.location,
                        )
                    )
                inst.b, inst.c = factors[inst.imm], None
                inst.slot, inst.imm, inst.const = "c", constant.value, True
            result.append(inst)
        block.insts = result


def sink_constants(body: Body) -> None:
    """A move of a constant is repeated in each block that reads it, unless that would put it into a loop."""
    single = single_definitions(body)
    constants = {
        r: i for r, i in single.items() if i.op.number in CONSTANT_MOVES and constant_of(i) is not None and i.dst == r
    }
    # The depths of the loops in which each is made and read.
    made: dict[int, int] = {}
    deepest: dict[int, int] = {}
    for block in body.blocks if constants else ():
        for inst in block.insts:
            if inst.dst.__class__ is int and inst.dst in constants:
                made[inst.dst] = block.loop_depth
            for register in inst.reads():
                if register in constants and block.loop_depth > deepest.get(register, -1):
                    deepest[register] = block.loop_depth
    movable = {r: i for r, i in constants.items() if r in deepest and deepest[r] <= made[r]}
    for block in body.blocks if movable else ():
        _sink_into(block, body, movable)


def _sink_into(block: Block, body: Body, movable: dict[int, Inst]):
    local: dict[int, int] = {}
    result = []
    for inst in block.insts:
        for register in inst.reads():
            if register in movable and register not in local:
                local[register] = body.register(body.files[register])
                original = movable[register]
                copy = Inst(
                    original.op, dst=local[register], slot=original.slot, const=original.const, imm=original.imm
                )
                copy.line, copy.location = original.line, original.location
                result.append(copy)
        replace_reads(inst, local)
        result.append(inst)
    block.insts = result
