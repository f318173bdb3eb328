"""The common part of bulk and tensor copies: one lane after the other copies, at once; the bytes moved are traced as
one access of the instruction.

Loads report their bytes to an mbarrier; stores belong to groups that a thread waits for, which are always done.
"""

from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

import numpy as np

from gpuprof.device.memory import GLOBAL_BASE
from gpuprof.emulate.collectives.mbarrier import complete
from gpuprof.emulate.core.faults import fault_of_element
from gpuprof.emulate.core.lanes import WARP, Lanes
from gpuprof.emulate.core.late_accesses import AccessedRanges, merged_ranges, refuse_one
from gpuprof.emulate.core.operands import U32, U64, source
from gpuprof.emulate.core.operation import Env, Op, full_row
from gpuprof.emulate.memory.access import Site, make_site
from gpuprof.emulate.memory.access_records import record
from gpuprof.isa.encoding import RZ, Instruction
from gpuprof.isa.families.cluster import OFFSET_MASK, RANK_SHIFT
from gpuprof.isa.families.mbarrier import mbarrier_of_word

OPERATIONS = {
    "read": "load", "write": "store", "reduction": "reduction", "prefetch": "prefetch", "operation": "atomic",
}  # fmt: skip
PREFETCH = "bulk prefetch"
UNIT = 16  # bytes: sizes and addresses are multiples


class Place(NamedTuple):
    """Bytes of a space that a copy reads or writes. `memory`: all of the space's; `index`: of those that it has;
    `inside` bool (n,): which of the n bytes these are, None for all.
    """

    memory: np.ndarray
    index: slice | np.ndarray
    inside: np.ndarray | None = None

    def read(self) -> np.ndarray:
        """uint8 (n,): 0 for bytes outside."""
        if self.inside is None:
            return self.memory[self.index].copy()
        data = np.zeros(len(self.inside), np.uint8)
        data[self.inside] = self.memory[self.index]
        return data

    def write(self, data: np.ndarray) -> None:
        """Writes the elements; bytes outside of the tensor are dropped."""
        self.memory[self.index] = data if self.inside is None else data[self.inside]


class Noted(NamedTuple):
    """Ranges of `nbytes` each that an element of the rows accesses; `address` is one, or int64 (k,) of runs that may
    touch each other."""

    space: str
    operation: str
    element: int
    address: int | np.ndarray
    nbytes: int

    @property
    def ranges(self) -> np.ndarray:
        """int64 (3, k): elements, first bytes, lengths in bytes."""
        if isinstance(self.address, int):
            return np.array([[self.element], [self.address], [self.nbytes]], np.int64)
        starts, lengths = merged_ranges(self.address, self.nbytes)
        return np.array([np.full(len(starts), self.element), starts, lengths], np.int64)


class Transfer:
    """The copies of one instruction: checks their addresses, and records the accessed bytes warp by warp."""

    def __init__(self, lanes: Lanes, site: Site):
        self.x, self.site = lanes, site
        self.spaces = lanes.chunk.spaces
        self.sectors: dict[int, list[np.ndarray]] = {}
        self.shared_nbytes: dict[int, int] = {}
        self.lanes: dict[int, int] = {}
        self.ended: dict[int, tuple[int, int]] = {}  # key of an mbarrier, phases of it that ended
        self.noted: list[Noted] = []

    def fault(self, element: int, text: str, kind: str = "launch"):
        return fault_of_element(self.x, self.site.at, element, text, kind)

    def begin(self, element: int) -> None:
        row = element // WARP
        self.lanes[row] = self.lanes.get(row, 0) + 1

    def refuse(self, element: int, kind: str, space: str, address: int, text: str) -> None:
        """Raises KernelFault, unless a listener lets the kernel continue without the wrong access."""
        refuse_one(self.x, self.site.at, element, kind, space, address, text)

    def has_units(self, element: int, **values: int) -> bool:
        """True when addresses and sizes, by their names, suit a bulk copy. Raises KernelFault."""
        for what, value in values.items():
            if value % UNIT:
                text = (
                    f"the {what} of a bulk copy, {value if what == 'size' else hex(value)}, is not a multiple of {UNIT}"
                )
                self.refuse(element, "misaligned", self.site.space, -1 if what == "size" else value, text)
                return False
        return True

    def shared(self, element: int, address: int, nbytes: int, verb: str) -> Place:
        """`nbytes` of shared memory. Raises KernelFault when no block of the cluster has them."""
        self.count_shared(element, nbytes)
        memory, start = self.spaces["shared"].views[1], self.block_start(element, address)
        offset = address & OFFSET_MASK
        if self.in_shared(address, nbytes):
            self.note("shared", verb, element, address, nbytes)
            return Place(memory, slice(start + offset, start + offset + nbytes))
        self.leaves_shared(element, address, nbytes, verb)
        offsets = offset + np.arange(self._at_most(nbytes), dtype=np.int64)
        inside = self.are_in_shared(address, offsets, 1)
        if inside.any():
            self.note("shared", verb, element, address, int(np.count_nonzero(inside)))
        return Place(memory, start + offsets[inside], inside)

    def in_shared(self, address: int, nbytes: int) -> bool:
        """True when a block of the cluster has these bytes."""
        space = self.spaces["shared"]
        return address >> RANK_SHIFT <= space.cluster and (address & OFFSET_MASK) + nbytes <= space.nbytes

    def are_in_shared(self, address: int, offsets: np.ndarray, nbytes: int) -> np.ndarray:
        """For each element of `nbytes`, by its offset in the block of `address`: True when the block has it."""
        space = self.spaces["shared"]
        return (offsets + nbytes <= space.nbytes) & (address >> RANK_SHIFT <= space.cluster)

    def leaves_shared(self, element: int, address: int, nbytes: int, verb: str) -> None:
        """Raises KernelFault, or says what is outside: see `refuse`."""
        space = self.spaces["shared"]
        text = f"out of bounds {verb} of {nbytes} bytes in shared memory at 0x{address:x}; {space.describe(address)}"
        end = address - (address & OFFSET_MASK) + space.nbytes
        wrong = max(address, end) if address >> RANK_SHIFT <= space.cluster else address
        self.refuse(element, "outside", "shared", wrong, text)

    def _at_most(self, nbytes: int) -> int:
        """No copy has more bytes than shared memory, where it begins or ends."""
        return min(nbytes, self.spaces["shared"].nbytes)

    def block_start(self, element: int, address: int) -> int:
        """The byte index in the chunk's shared memory of the block that an address belongs to."""
        space, rank = self.spaces["shared"], address >> RANK_SHIFT
        block = int(self.x.warps[element // WARP]) // space.warps_per_block
        return (block + rank - 1 - block % space.cluster if rank else block) * space.stride

    def count_shared(self, element: int, nbytes: int) -> None:
        row = element // WARP
        self.shared_nbytes[row] = self.shared_nbytes.get(row, 0) + nbytes

    def global_bytes(self, element: int, address: int, nbytes: int, verb: str) -> Place:
        """A range of global memory. Raises KernelFault when no allocation holds it."""
        space = self.spaces["global"]
        start, count = address - GLOBAL_BASE, nbytes if verb == PREFETCH else self._at_most(nbytes)
        if not nbytes or space.holds(address, address + nbytes):
            self.touched(element, np.arange(address >> 5, (address + count + 31) >> 5, dtype=np.int64))
            self.note("global", verb, element, address, count)
            return Place(space.views[1], slice(start, start + count))
        index = np.arange(self._at_most(nbytes), dtype=np.int64)
        inside = space.inside(self.x, address + index, 1)
        wrong = address + (len(index) if inside.all() else int(np.argmin(inside)))
        self.refuse(
            element,
            "outside",
            "global",
            wrong,
            f"out of bounds {verb} of {nbytes} bytes in global memory at 0x{address:x}; {space.describe(wrong)}",
        )
        self.touch_runs(element, address + index[inside], 1, verb)
        return Place(space.views[1], start + index[inside], inside)

    def touch_runs(self, element: int, addresses: np.ndarray, nbytes: int, verb: str) -> None:
        """Runs of `nbytes` of global memory, none of which overlap."""
        if len(addresses):
            first, last = addresses >> 5, addresses + nbytes - 1 >> 5
            along = np.arange(int((last - first).max()) + 1)
            sectors = first[:, None] + along
            self.touched(element, sectors[sectors <= last[:, None]])
            self.note("global", verb, element, addresses, nbytes)

    def note(self, space: str, verb: str, element: int, address: int | np.ndarray, nbytes: int) -> None:
        """Records a range for listeners, or runs. The last word of the verb names the operation."""
        self.noted.append(Noted(space, OPERATIONS[verb.rsplit(" ", 1)[-1]], element, address, nbytes))

    def touched(self, element: int, sectors: np.ndarray) -> None:
        self.sectors.setdefault(element // WARP, []).append(sectors)

    def report(self, element: int, barrier: int, nbytes: int) -> None:
        """Reports arrived bytes to the mbarrier at an address of shared memory."""
        if barrier % 8:
            text = f"the mbarrier of a bulk copy, 0x{barrier:x}, is not aligned to 8 bytes"
            return self.refuse(element, "misaligned", "shared", barrier, text)
        if not self.in_shared(barrier, 8):
            return self.leaves_shared(element, barrier, 8, "mbarrier operation")
        self.note("shared", "mbarrier operation", element, barrier, 8)
        index = (self.block_start(element, barrier) + (barrier & OFFSET_MASK)) >> 3
        if complete(self.x, self.site.at, element, index, nbytes) and self.x.chunk.cluster == 1:
            _, key = self.x.chunk.mbarriers.key_of(index)
            known, count = self.ended.get(element // WARP, (int(key), 0))
            if key == known:
                self.ended[element // WARP] = (known, count + 1)
        return None

    def missing_nbytes(self, element: int, barrier: int) -> int:
        """The bytes that the current phase of an mbarrier still expects: a copy of unknown size reports so many."""
        if barrier % 8 or not self.in_shared(barrier, 8):
            return 0
        index = (self.block_start(element, barrier) + (barrier & OFFSET_MASK)) >> 3
        return max(mbarrier_of_word(int(self.spaces["shared"].views[8][index])).nbytes, 0)

    def finish(self) -> None:
        """Writes the trace: one record for each warp that runs the instruction."""
        record(self.x, self.site, self.sectors, self.shared_nbytes, self.lanes, self.ended)
        self.x.chunk.touches(self.site.at, self.accessed_ranges)

    def accessed_ranges(self) -> Iterator[AccessedRanges]:
        """The recorded ranges; consecutive ones of one space and operation are joined."""
        for (space, operation), ranges in groupby(self.noted, key=lambda noted: noted[:2]):
            yield AccessedRanges(space, operation, *np.concatenate([noted.ranges for noted in ranges], axis=1))


def active_elements(lanes: Lanes, site: Site) -> np.ndarray:
    active = lanes.active if site.guard is None else site.guard(lanes)
    return np.arange(lanes.n) if active is None else np.flatnonzero(active)


def per_lane(verb: str, width: int):
    """Makes a builder out of a function that gives `act(transfer, element, address, group, c)` for an instruction; the
    group are the `width` registers from b on."""

    def decorate(act):
        def build(inst: Instruction, env: Env) -> Op:
            site = make_site(inst, env, verb)
            rows = (
                [(U32, inst.b + k) for k in range(width)]
                if inst.b != RZ and inst.imm_slot != "b"
                else [source(inst, "b", U32, env.pool)]
            )
            kc, c = source(inst, "c", U64, env.pool)
            prepared = act(inst)

            def op(lanes: Lanes) -> None:
                transfer = Transfer(lanes, site)
                elements = active_elements(lanes, site)
                if len(elements):
                    address = site.address(lanes)
                    columns = [full_row(lanes, lanes.v[kind][index]) for kind, index in rows]
                    last = full_row(lanes, lanes.v[kc][c])
                    for element in elements.tolist():
                        transfer.begin(element)
                        prepared(
                            transfer,
                            element,
                            int(address[element]),
                            [int(row[element]) for row in columns],
                            int(last[element]),
                        )
                transfer.finish()

            return op

        return build

    return decorate


def targets(transfer: Transfer, element: int, address: int, mask: int) -> list[int]:
    """The addresses in shared memory that a copy to `address` writes: with a mask, the same offset in each of those
    blocks of the cluster.
    """
    if not mask:
        return [address]
    size = transfer.spaces["shared"].cluster
    if mask >> size:
        raise transfer.fault(element, f"the block mask 0x{mask:x} names blocks that a cluster of {size} does not have")
    return [(rank + 1) << RANK_SHIFT | address & OFFSET_MASK for rank in range(size) if mask >> rank & 1]
