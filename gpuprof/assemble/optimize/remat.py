"""Constants and parameters that need a register get it where they are used, not at the top of the function."""

from gpuprof.assemble.ir.body import Block, Body, Inst
from gpuprof.assemble.ir.defs import replace_reads, single_definitions, uses_of
from gpuprof.assemble.optimize.fold import constant_of
from gpuprof.isa.opcodes import BY_NAME, numbers

_WIDE = numbers("IMAD.WIDE.S32", "IMAD.WIDE.U32")


def free_wide_multiplies(body: Body) -> None:
    """index * 4 + parameter: one immediate, two constants. The parameter takes it, the factor gets a register that the
    block shares.

    A 64-bit parameter in registers costs two for as long as it lives, the factor one for a moment (ptxas does the
    same).
    """
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
    depth_of = {id(inst): block.loop_depth for block in body.blocks for inst in block.insts}
    users = uses_of(body)
    movable = {
        r: i for r, i in single.items()
        if constant_of(i) is not None and i.dst == r and users.get(r)
        and all(depth_of[id(user)] <= depth_of[id(i)] for user in users[r])
    }  # fmt: skip
    for block in body.blocks:
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
