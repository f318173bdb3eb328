"""A conversion of 16-bit floats that a block has made already is not made again.

CUDA's headers convert these by inline PTX, which the compiler before repeats for each use of a value. ptxas 13.0
converts each once in a block.
"""

from gpuprof.assemble.ir.body import Block, Body, Inst
from gpuprof.assemble.ir.defs import replace_reads
from gpuprof.isa.opcodes import numbers

_CONVERSIONS = numbers("CVT.F32.BF16", "CVT.F32.F16")


def share_conversions(body: Body) -> None:
    for block in body.blocks:
        if sum(inst.op.number in _CONVERSIONS for inst in block.insts) > 1:
            _share(block)


def _share(block: Block) -> None:
    made: dict[tuple, int] = {}  # a conversion and its sources -> the register that has the result
    same: dict[int, int] = {}  # a register -> the one that has its value
    held: dict[int | None, list] = {}  # a register -> the keys of both that hold as long as it is not written
    for inst in block.insts:
        replace_reads(inst, same)
        for register in inst.writes():
            for key in held.pop(register, ()):
                (made if key.__class__ is tuple else same).pop(key, None)
        if inst.op.number in _CONVERSIONS and inst.guard is None and inst.dst.__class__ is int and inst.dst != inst.a:
            key = _key(inst)
            first = made.setdefault(key, inst.dst)
            if first == inst.dst:
                registers = (first, inst.a)
            else:
                same[inst.dst] = first
                key, registers = inst.dst, (inst.dst, first)
            for register in registers:
                held.setdefault(register, []).append(key)


def _key(inst: Inst) -> tuple:
    return inst.op.number, inst.a, inst.mods, inst.slot, inst.imm, inst.const, inst.symbol
