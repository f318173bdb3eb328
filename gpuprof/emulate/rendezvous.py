"""Warp operations with a member mask (shfl, vote, match, redux, elect): a lane goes on once the live lanes of its mask are there.

Lanes wait in front of the basic block that holds the operation, as long as there are others that can still run. Whoever is then
alone names lanes that never come, which is a fault and never a result made from the lanes that happen to be there.
"""

from typing import NamedTuple

import numpy as np

from gpuprof.emulate.faults import fault_of_element, first_active
from gpuprof.emulate.lanes import FULL, WARP, Lanes, pack_masks, unpack_masks
from gpuprof.emulate.operands import U32
from gpuprof.isa.encoding import PT, RZ, Instruction
from gpuprof.isa.families.tensor import COLLECTIVE

MASK_SLOT = {"shuffle": "e", "shuffle_valid": "e"}  # "b" for the others


class Members(NamedTuple):
    """Where a member mask comes from: a register of file R, or the number itself when `register` is RZ."""

    register: int
    mask: int

    def rows(self, x: Lanes) -> np.ndarray:
        """uint32, (warps, 32) or a scalar."""
        if self.register == RZ:
            return np.uint32(self.mask)
        return x.v[U32][self.register].reshape(-1, WARP)


def members_of(inst: Instruction) -> Members:
    if inst.op.semantics in COLLECTIVE:
        return Members(RZ, int(FULL))
    return Members(getattr(inst, MASK_SLOT.get(inst.op.semantics, "b")), inst.imm)


def members_of_block(instructions: tuple[Instruction, ...], operations) -> tuple[Members, ...]:
    """The masks known when a block begins: of its unguarded `operations`, unless the block itself computes the mask."""
    found: dict[Members, None] = {}
    written: set[int] = set()
    for inst in instructions:
        if inst.op.semantics in operations and inst.op.semantics != "activemask" and inst.guard == PT:
            members = members_of(inst)
            if members.register not in written:
                found[members] = None
        if inst.op.dst[:1] == "R":
            written.update(range(inst.dst, inst.dst + int(inst.op.dst[1:] or 1)))
            written.discard(RZ)
    return tuple(found)


def waiting_lanes(x: Lanes, members: tuple[Members, ...]) -> np.ndarray | None:
    """uint32 (warps,): the active lanes whose masks name live lanes that are not in x; None when there are none."""
    if x.active is None:
        return None
    outside = np.where(x.masks != 0, x.chunk.live[x.warps] & ~x.masks, np.uint32(0))
    if not outside.any():
        return None
    registers = tuple(m.register for m in members if m.register != RZ)
    x.prepare(registers, (), frozenset())
    found = np.zeros_like(x.masks)
    for each in members:
        waits = np.broadcast_to((each.rows(x) & outside[:, None]) != 0, (len(outside), WARP))
        found |= pack_masks(waits.reshape(-1)) & x.masks
    return found if found.any() else None


def require_members(inst: Instruction, at: int):
    """lanes -> None; raises KernelFault when a mask names live lanes that are not there. Not for guarded operations."""
    if inst.guard != PT:
        return lambda x: None
    members = members_of(inst)

    def check(x: Lanes) -> None:
        waiting = waiting_lanes(x, (members,))
        if waiting is None:
            return
        element = first_active(x, unpack_masks(waiting))
        warp, lane = divmod(element, WARP)
        mask = int(np.broadcast_to(members.rows(x), (len(waiting), WARP))[warp, lane])
        missing = mask & int(x.chunk.live[x.warps[warp]]) & ~int(x.masks[warp])
        text = f"deadlock: the member mask 0x{mask:08x} names lanes 0x{missing:08x}, which have not exited and never come here"
        raise fault_of_element(x, at, element, text)

    return check
