"""Warp operations with a member mask (shfl, vote, match, redux, elect): a lane continues once the live lanes of its
mask have arrived.

Lanes wait before the basic block that holds the operation, as long as others can still run; then `warp_sync` takes
over. So an operation only ever runs with all its members.
"""

from typing import NamedTuple

import numpy as np

from gpuprof.emulate.core.lanes import FULL, WARP, Lanes
from gpuprof.emulate.core.operands import U32
from gpuprof.isa.encoding import PT, RZ, Instruction
from gpuprof.isa.kinds import BETWEEN_LANES, COLLECTIVE
from gpuprof.isa.opcodes import numbers

ALONE = numbers("ACTIVEMASK", "SHFL.P")  # of the operations between lanes, those that look at no other lane
BIT = np.uint32(1) << np.arange(WARP, dtype=np.uint32)


class Members(NamedTuple):
    """The source of a member mask: a register of file R, or the number itself when `register` is RZ."""

    register: int
    mask: int

    def rows(self, lanes: Lanes) -> np.ndarray:
        """uint32, (warps, 32) or a scalar."""
        if self.register == RZ:
            return np.uint32(self.mask)
        return lanes.v[U32][self.register].reshape(-1, WARP)


def members_of(inst: Instruction) -> Members:
    if inst.op.kind in COLLECTIVE:
        return Members(RZ, int(FULL))
    return Members(getattr(inst, mask_slot(inst)), inst.imm)


def mask_slot(inst: Instruction) -> str:
    return "e" if inst.op.kind == "shuffle" else "b"


def meets(inst: Instruction) -> bool:
    """True when lanes wait for each other at this instruction. A guarded matrix instruction computes with the registers
    of all lanes.
    """
    op = inst.op
    return op.kind in BETWEEN_LANES and op.number not in ALONE and (inst.guard == PT or op.kind not in COLLECTIVE)


def members_of_block(instructions: tuple[Instruction, ...]) -> tuple[tuple[Members, ...], bool]:
    """The masks known when a block begins, and whether there are warp operations whose members are not known then:
    those with a guard, or with a mask that the block itself computes.
    """
    known: dict[Members, None] = {}
    written: set[int] = set()
    uncertain = False
    for inst in instructions:
        if meets(inst):
            members = members_of(inst)
            if inst.guard == PT and members.register not in written:
                known[members] = None
            else:
                uncertain = True
        if inst.op.dst[:1] == "R":
            written.update(range(inst.dst, inst.dst + int(inst.op.dst[1:] or 1)))
            written.discard(RZ)
    return tuple(known), uncertain


def lanes_outside(lanes: Lanes) -> np.ndarray:
    """uint32 (warps,): lanes of the warps of `lanes` that have not exited and are not in `lanes`."""
    return np.where(lanes.masks != 0, lanes.chunk.live[lanes.warps] & ~lanes.masks, np.uint32(0))


def waiting_lanes(lanes: Lanes, members: tuple[Members, ...]) -> np.ndarray | None:
    """uint32 (warps,): the active lanes whose masks name live lanes that are not in `lanes`, or that wait; None when
    there are none.
    """
    if lanes.active is None:
        return None
    outside = lanes_outside(lanes)
    if not outside.any():
        return None
    registers = tuple(m.register for m in members if m.register != RZ)
    lanes.prepare(registers, (), frozenset())
    going = lanes.masks
    for member in members:
        going = complete(going, member.rows(lanes), lanes.chunk.live[lanes.warps])
    waiting = lanes.masks & ~going
    return waiting if waiting.any() else None


def complete(
    present: np.ndarray, masks: np.ndarray, live: np.ndarray, partners: np.ndarray | None = None
) -> np.ndarray:
    """uint32 (warps,): the lanes of `present` all of whose live members are among them.

    masks: uint32 (warps, 32) or what broadcasts to it, each lane's member mask. `partners`, the same: with whom a lane
    can meet.
    """
    needed = np.broadcast_to(masks & live[:, None], (len(present), WARP))
    if partners is not None:
        complete_lanes = ((needed & ~partners == 0) * BIT).sum(axis=1, dtype=np.uint32)
        present = present & complete_lanes
    while True:
        going = present & ((needed & ~present[:, None] == 0) * BIT).sum(axis=1, dtype=np.uint32)
        if (going == present).all():
            return going
        present = going


def partners_of(present: np.ndarray, masks: np.ndarray, places: np.ndarray) -> np.ndarray:
    """uint32 (warps, 32): the lanes of `present` that have a lane's mask or are at its place. masks and places: (warps,
    32).
    """
    partners = np.zeros(masks.shape, np.uint32)
    for lane in range(WARP):
        one = slice(lane, lane + 1)
        partners |= np.where((masks == masks[:, one]) | (places == places[:, one]), BIT[lane], np.uint32(0))
    return partners & present[:, None]
