"""The two instructions that begin every kernel of the real assembler: it loads the stack pointer, and the descriptor of
global memory before its first use.

Both take an issue slot and nothing of ours reads what they load (ptxas 13.0 for sm_80: `MOV R1, c[0x0][0x28]` and
`ULDC.64 UR4, c[0x0][0x118]`).
"""

from gpuprof.assemble.ir.body import Block, Body, Inst
from gpuprof.isa.opcodes import BY_NAME

_GLOBAL = ("global", "generic")


def begin_kernel(body: Body) -> None:
    if not body.is_kernel:
        return
    first = body.blocks[0]
    if any(inst.op.space in _GLOBAL for inst in body.instructions()):
        leaves = first.insts and first.insts[-1].op.kind == "exit" and first.insts[-1].guard is not None
        needed = any(inst.op.space in _GLOBAL for inst in first.insts)
        _put(body, body.blocks[1] if leaves and not needed and len(body.blocks) > 1 else first, "LOAD.DESC")
    _put(body, first, "LOAD.SP")


def _put(body: Body, block: Block, name: str) -> None:
    """Inserts an instruction in front of the block, as part of the line that the block begins with."""
    beside = block.insts[0] if block.insts else next(body.instructions())
    block.insts.insert(0, Inst(BY_NAME[name], line=beside.line, location=beside.location))
