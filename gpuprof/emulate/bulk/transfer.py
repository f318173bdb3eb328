"""What bulk and tensor copies share: one lane after the other copies at once; what they move is traced as one access of
the instruction.

Loads report their bytes to an mbarrier; stores belong to groups that a thread waits for, which are always done.
"""

from collections.abc import Iterator
from itertools import groupby

import numpy as np

from gpuprof.device.memory import GLOBAL_BASE
from gpuprof.emulate.core.faults import fault_of_element
from gpuprof.emulate.core.lanes import WARP, Lanes
from gpuprof.emulate.core.operands import U32, U64, source
from gpuprof.emulate.core.operation import Env, Op, full_row
from gpuprof.emulate.log.touched import Touched
from gpuprof.emulate.memory.access import Site, make_site
from gpuprof.emulate.memory.access_records import record
from gpuprof.emulate.together.mbarrier import complete
from gpuprof.isa.encoding import RZ, Instruction
from gpuprof.isa.families.cluster import OFFSET_MASK, RANK_SHIFT

OPERATIONS = {
    "read": "load", "write": "store", "reduction": "reduction", "prefetch": "prefetch", "operation": "atomic",
}  # fmt: skip
UNIT = 16  # bytes: sizes and addresses are multiples


class Transfer:
    """One instruction's copies: checks places, and notes what was touched, warp by warp."""

    def __init__(self, lanes: Lanes, site: Site):
        self.x, self.site = lanes, site
        self.spaces = lanes.chunk.spaces
        self.sectors: dict[int, list[np.ndarray]] = {}
        self.shared_nbytes: dict[int, int] = {}
        self.lanes: dict[int, int] = {}
        self.ended: dict[int, tuple[int, int]] = {}  # key of an mbarrier, phases of it that ended
        self.noted: list[tuple[str, str, int, int, int]] = []  # space, operation, element, address, nbytes

    def fault(self, element: int, text: str, kind: str = "launch"):
        return fault_of_element(self.x, self.site.at, element, text, kind)

    def begin(self, element: int) -> None:
        row = element // WARP
        self.lanes[row] = self.lanes.get(row, 0) + 1

    def check_units(self, element: int, **values: int) -> None:
        """Addresses and sizes by what they are called. Raises KernelFault."""
        for what, value in values.items():
            if value % UNIT:
                raise self.fault(
                    element,
                    f"the {what} of a bulk copy, {value if what == 'size' else hex(value)}, is no multiple of {UNIT}",
                    "alignment",
                )

    def shared(self, element: int, address: int, nbytes: int, verb: str) -> int:
        """The byte index in the chunk's shared memory of a place in shared memory. Raises KernelFault."""
        space = self.spaces["shared"]
        rank, offset = address >> RANK_SHIFT, address & OFFSET_MASK
        if rank > space.cluster or offset + nbytes > space.nbytes:
            text = (
                f"out of bounds {verb} of {nbytes} bytes in shared memory at 0x{address:x}; {space.describe(address)}"
            )
            raise self.fault(element, text, "address")
        block = int(self.x.warps[element // WARP]) // space.warps_per_block
        if rank:
            block += rank - 1 - block % space.cluster
        row = element // WARP
        self.shared_nbytes[row] = self.shared_nbytes.get(row, 0) + nbytes
        self.note("shared", verb, element, address, nbytes)
        return block * space.stride + offset

    def view(self, start: int, nbytes: int) -> np.ndarray:
        return self.spaces["shared"].views[1][start : start + nbytes]

    def global_bytes(self, element: int, address: int, nbytes: int, verb: str) -> np.ndarray:
        """A view of a range of global memory. Raises KernelFault when no allocation holds it."""
        space = self.spaces["global"]
        if nbytes and not space.holds(address, address + nbytes):
            raise self.fault(
                element,
                f"out of bounds {verb} of {nbytes} bytes in global memory at 0x{address:x}; {space.describe(address)}",
                "address",
            )
        self.touched(element, np.arange(address >> 5, (address + nbytes + 31) >> 5, dtype=np.int64))
        self.note("global", verb, element, address, nbytes)
        start = address - GLOBAL_BASE
        return space.views[1][start : start + nbytes]

    def note(self, space: str, verb: str, element: int, address: int, nbytes: int) -> None:
        """For who watches. The last word of the verb says what is done."""
        self.noted.append((space, OPERATIONS[verb.rsplit(" ", 1)[-1]], element, address, nbytes))

    def touched(self, element: int, sectors: np.ndarray) -> None:
        self.sectors.setdefault(element // WARP, []).append(sectors)

    def report(self, element: int, barrier: int, nbytes: int) -> None:
        """Bytes have arrived: tells the mbarrier at an address of shared memory."""
        if barrier % 8:
            raise self.fault(element, f"the mbarrier of a bulk copy, 0x{barrier:x}, is not aligned to 8 bytes")
        index = self.shared(element, barrier, 8, "mbarrier operation") >> 3
        self.shared_nbytes[element // WARP] -= 8
        if complete(self.x, self.site.at, element, index, nbytes) and self.x.chunk.cluster == 1:
            _, key = self.x.chunk.mbarriers.key_of(index)
            known, count = self.ended.get(element // WARP, (int(key), 0))
            if key == known:
                self.ended[element // WARP] = (known, count + 1)

    def finish(self) -> None:
        """Writes the trace: one record for each warp that runs the instruction."""
        record(self.x, self.site, self.sectors, self.shared_nbytes, self.lanes, self.ended)
        self.x.chunk.touches(self.site.at, self.told)

    def told(self) -> Iterator[Touched]:
        """Neighbours of one space and operation together."""
        for (space, operation), ranges in groupby(self.noted, key=lambda noted: noted[:2]):
            yield Touched(space, operation, *np.array([noted[2:] for noted in ranges], np.int64).T)


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


def targets(transfer: Transfer, element: int, place: int, mask: int) -> list[int]:
    """The addresses in shared memory that `place` stands for: with a mask, the same offset in each of those blocks of
    the cluster.
    """
    if not mask:
        return [place]
    size = transfer.spaces["shared"].cluster
    if mask >> size:
        raise transfer.fault(element, f"the block mask 0x{mask:x} names blocks that a cluster of {size} does not have")
    return [(rank + 1) << RANK_SHIFT | place & OFFSET_MASK for rank in range(size) if mask >> rank & 1]
