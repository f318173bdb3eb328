"""Allocated instructions to encoded ones: registers by number, branch distances, the frame after a call. Before that,
moves of a register to itself and branches to the next instruction are dropped.
"""

import struct

import numpy as np

from gpuprof.assemble.ir.body import WITHOUT_OPERANDS, Body, Inst
from gpuprof.assemble.registers.allocate import Allocation
from gpuprof.isa.encoding import INSTRUCTION_DTYPE, INSTRUCTION_NBYTES, NEGATED, PT, RZ, SLOTS
from gpuprof.isa.kinds import CALLS, kinds_of
from gpuprof.isa.modifiers import FIELDS, IMM_SLOT_OF
from gpuprof.isa.opcodes import BY_NAME, TABLE

MOVI64 = BY_NAME["MOVI.64"]

ON_THE_STACK = CALLS | kinds_of("stack_save", "stack_change")  # mods: the frame they are in


# The number in a slot without a register, by row.
_ABSENT = [
    tuple(
        PT if (row.dst if slot == "dst" else getattr(row, slot)).lstrip(">").startswith("P") else RZ for slot in SLOTS
    )
    for row in TABLE
]


def encode_body(body: Body, allocation: Allocation) -> np.ndarray:
    """The function's instructions, of INSTRUCTION_DTYPE; `imm` of CALL and of relocated instructions is filled in when
    the program is linked.
    """
    starts: dict[str, int] = {}
    count = 0
    for block in body.blocks:
        starts[block.label] = count
        count += len(block.insts)
    rows = [_encode(inst, index, starts, body, allocation.number) for index, inst in enumerate(body.instructions())]
    return np.frombuffer(b"".join(rows), INSTRUCTION_DTYPE)


_packed = struct.Struct("<H6B2I").pack
assert struct.calcsize("<H6B2I") == INSTRUCTION_NBYTES


def _encode(inst: Inst, index: int, starts: dict[str, int], body: Body, number: dict[int, int]) -> bytes:
    op = inst.op
    fields = []
    for value, absent in zip((inst.dst, inst.a, inst.b, inst.c, inst.e), _ABSENT[op.number], strict=True):
        if value.__class__ is tuple:
            value = value[0]
        # A register that is never read has no place: what is written to it is discarded.
        fields.append(absent if value is None else number.get(value, absent))
    guard = PT if inst.guard is None else number[inst.guard]
    if inst.negated:
        fields = [field | NEGATED if slot in inst.negated else field for slot, field in zip(SLOTS, fields, strict=True)]
        guard |= NEGATED if "g" in inst.negated else 0
    imm, mods = inst.imm, inst.mods
    kind = op.kind
    if op is MOVI64:
        imm, mods = inst.imm & 0xFFFFFFFF, inst.imm >> 32 & 0xFFFFFFFF
    elif kind == "branch":
        imm = (starts[inst.target] - index - 1) * INSTRUCTION_NBYTES
    elif kind in ON_THE_STACK:
        mods = body.frame_nbytes
    else:
        mods &= WITHOUT_OPERANDS
        if inst.slot:
            mods |= _SLOT_MODS[inst.slot, inst.const]
        if inst.outgoing:
            imm += body.frame_nbytes
    return _packed(op.number, guard, *fields, imm & 0xFFFFFFFF, mods)


_SLOT_MODS = {
    (slot, const): FIELDS["imm_slot"].put(number) | FIELDS["const"].put(int(const))
    for slot, number in IMM_SLOT_OF.items()
    for const in (False, True)
}


def drop_identity_moves(body: Body, allocation: Allocation) -> None:
    number = allocation.number
    for block in body.blocks:
        block.insts = [i for i in block.insts if not (i.is_copy and number.get(i.dst, -1) in (number.get(i.a), -1))]


def drop_branches_to_next(body: Body) -> None:
    for index, block in enumerate(body.blocks):
        if block.insts and block.insts[-1].op.kind == "branch":
            following = index + 1
            while (
                following < len(body.blocks)
                and body.blocks[following].label != block.insts[-1].target
                and not body.blocks[following].insts
            ):
                following += 1
            if following < len(body.blocks) and body.blocks[following].label == block.insts[-1].target:
                block.insts.pop()
