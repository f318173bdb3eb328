"""Words of constant memory whose place is known are operands of the instructions that read them, as ptxas has them
(`FFMA R0, R2, c[0x3][0x10], R0`): they take neither a load nor a register.
"""

from gpuprof.assemble.ir.body import Body
from gpuprof.isa.opcodes import BY_NAME, by_number
from gpuprof.isa.special import CONSTANTS_AT

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
