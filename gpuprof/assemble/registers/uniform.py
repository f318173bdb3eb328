"""Values that a warp keeps once, in uniform registers, and that so take none of its threads' registers.

Since Turing an SM has a datapath next to the others that computes once a warp on 63 registers of its own; other
instructions read one of them in the place of a constant. ptxas keeps there what all lanes agree on, as far as that
datapath can compute it: addresses and strides from parameters, counters of loops that all lanes leave together.
The instructions are those of sm_80's uniform datapath in CUDA Binary Utilities (UIADD3, UIMAD, USHF, ULOP3, ...).
"""

from gpuprof.assemble.ir.body import Body, Inst, groups_of
from gpuprof.assemble.ir.defs import definitions, uses_of
from gpuprof.assemble.optimize.convergence import apart_by_control
from gpuprof.isa.kinds import CALLS, kinds_of
from gpuprof.isa.opcodes import numbers

_FORMS = numbers(
    "MOV", "MOV.64", "MOVI.64", "PACK.64", "LO.64", "HI.64", "SEL", "SEL.64", "S2R", "CVT.U64.U32",
    "IADD", "ISUB", "INEG", "IMUL", "IMAD", "IADD3", "LEA", "SHL", "SHR.S32", "SHR.U32", "SHF.L", "SHF.R",
    "AND", "OR", "XOR", "NOT", "LOP3", "PRMT",
    "IADD.64", "ISUB.64", "INEG.64", "SHL.64", "SHR.S64", "SHR.U64", "AND.64", "OR.64", "XOR.64", "NOT.64",
    "IMUL.WIDE.S32", "IMUL.WIDE.U32", "IMAD.WIDE.S32", "IMAD.WIDE.U32", "IMUL.64", "IMAD.64",
    "ISETP.S32", "ISETP.U32", "ISETP.S64", "ISETP.U64",
)  # fmt: skip
_READERS = ("alu", "fma", "uniform")  # pipes whose instructions read a uniform register
_LEAVES = CALLS | kinds_of("return", "syscall")


def uniform_registers(body: Body) -> set[int]:
    """The virtual registers of a kernel that uniform registers can hold; none where it calls functions, which have no
    convention for them.
    """
    if not body.is_kernel or body.fixed or any(inst.op.kind in _LEAVES for inst in body.instructions()):
        return set()
    apart = apart_by_control(body)
    if apart is None:
        return set()
    writers, readers = definitions(body), uses_of(body)
    grouped = {register for inst in body.instructions() for group in groups_of(inst) for register in group}
    uniform = {
        register
        for register, insts in writers.items()
        if body.files[register] != "P" and register not in apart and register not in grouped
        and all(inst.op.number in _FORMS and inst.guard is None for inst in insts)
        and all(inst.op.pipe in _READERS and not inst.op.space for inst in readers.get(register, ()))
    }  # fmt: skip
    while True:
        dropped = {
            register for register in uniform if any(not _is_uniform(body, inst, uniform) for inst in writers[register])
        }
        if not dropped:
            dropped = _in_the_way(body, uniform)
        if not dropped:
            return uniform
        uniform -= dropped


def _numbers(body: Body, inst: Inst) -> list[int]:
    """The registers that it reads but predicates. `liveness.block_liveness` has noted them."""
    return [register for register in inst.read if body.files[register] != "P"]


def _is_uniform(body: Body, inst: Inst, found: set[int]) -> bool:
    """True if the uniform datapath can do it: all that it reads is there."""
    return inst.op.number in _FORMS and found.issuperset(_numbers(body, inst))


def _in_the_way(body: Body, found: set[int]) -> set[int]:
    """Registers that an instruction of another datapath cannot read from there: it has one place for a uniform
    register, a constant or a literal. Of two, the one that was numbered first stays.
    """
    extra: set[int] = set()
    for inst in body.instructions():
        if not _is_uniform(body, inst, found):
            read = sorted({register for register in _numbers(body, inst) if register in found})
            extra.update(read if inst.slot else read[1:])
    return extra
