"""Bulk and tensor copies: done at once, one lane after the other; what they move is traced as one access of the instruction.

Loads report their bytes to an mbarrier; stores belong to groups that a thread waits for, which are always done.
"""

import numpy as np

from gpuprof.device.memory import GLOBAL_BASE
from gpuprof.emulate import tensormap
from gpuprof.emulate.access import Site, make_site
from gpuprof.emulate.atomic import apply_halves, apply_numbers
from gpuprof.emulate.build import Env, Op, full_row
from gpuprof.emulate.faults import fault_of_element
from gpuprof.emulate.lanes import WARP, Lanes
from gpuprof.emulate.mbarrier import complete
from gpuprof.emulate.operands import DTYPES, KIND_OF_TYPE, U32, U64, source
from gpuprof.emulate.record import record
from gpuprof.emulate.services import read_bytes
from gpuprof.emulate.spaces import OFFSET_MASK, RANK_SHIFT
from gpuprof.isa.encoding import RZ, Instruction
from gpuprof.isa.modifiers import unpack, unpack_name
from gpuprof.isa.tensormap import NBYTES

UNIT = 16  # bytes: sizes and addresses are multiples
EVERY_BYTE = 0xFFFF


class Transfer:
    """One instruction's copies: checks places, and notes what was touched, warp by warp."""

    def __init__(self, x: Lanes, site: Site):
        self.x, self.site = x, site
        self.spaces = x.chunk.spaces
        self.sectors: dict[int, list[np.ndarray]] = {}
        self.shared_nbytes: dict[int, int] = {}
        self.lanes: dict[int, int] = {}
        self.ended: dict[int, tuple[int, int]] = {}  # key of an mbarrier, phases of it that ended

    def fault(self, element: int, text: str):
        return fault_of_element(self.x, self.site.at, element, text)

    def begin(self, element: int) -> None:
        row = element // WARP
        self.lanes[row] = self.lanes.get(row, 0) + 1

    def check_unit(self, element: int, what: str, value: int) -> None:
        if value % UNIT:
            raise self.fault(element, f"the {what} of a bulk copy, {value if what == 'size' else hex(value)}, is no multiple of {UNIT}")

    def shared(self, element: int, address: int, nbytes: int, verb: str) -> int:
        """The byte index in the chunk's shared memory of a place in shared memory. Raises KernelFault."""
        space = self.spaces["shared"]
        rank, offset = address >> RANK_SHIFT, address & OFFSET_MASK
        if rank > space.cluster or offset + nbytes > space.nbytes:
            text = f"out of bounds {verb} of {nbytes} bytes in shared memory at 0x{address:x}; {space.describe(address)}"
            raise self.fault(element, text)
        block = int(self.x.warps[element // WARP]) // space.warps_per_block
        if rank:
            block += rank - 1 - block % space.cluster
        row = element // WARP
        self.shared_nbytes[row] = self.shared_nbytes.get(row, 0) + nbytes
        return block * space.stride + offset

    def view(self, start: int, nbytes: int) -> np.ndarray:
        return self.spaces["shared"].views[1][start : start + nbytes]

    def global_bytes(self, element: int, address: int, nbytes: int, verb: str) -> np.ndarray:
        """A view of a range of global memory. Raises KernelFault when no allocation holds it."""
        space = self.spaces["global"]
        if nbytes and not space.holds(address, address + nbytes):
            raise self.fault(
                element, f"out of bounds {verb} of {nbytes} bytes in global memory at 0x{address:x}; {space.describe(address)}"
            )
        self.touched(element, np.arange(address >> 5, (address + nbytes + 31) >> 5, dtype=np.int64))
        start = address - GLOBAL_BASE
        return space.views[1][start : start + nbytes]

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


def active_elements(x: Lanes, site: Site) -> np.ndarray:
    active = x.active if site.guard is None else site.guard(x)
    return np.arange(x.n) if active is None else np.flatnonzero(active)


def per_lane(verb: str, width: int):
    """Makes a builder out of a function that gives `act(transfer, element, address, group, c)` for an instruction; the group are the
    `width` registers from b on."""

    def decorate(act):
        def build(inst: Instruction, env: Env) -> Op:
            site = make_site(inst, env, verb)
            rows = (
                [(U32, inst.b + k) for k in range(width)] if inst.b != RZ and inst.imm_slot != "b" else [source(inst, "b", U32, env.pool)]
            )
            kc, c = source(inst, "c", U64, env.pool)
            prepared = act(inst)

            def op(x: Lanes) -> None:
                transfer = Transfer(x, site)
                elements = active_elements(x, site)
                if len(elements):
                    address = site.address(x)
                    columns = [full_row(x, x.v[kind][index]) for kind, index in rows]
                    last = full_row(x, x.v[kc][c])
                    for element in elements.tolist():
                        transfer.begin(element)
                        prepared(transfer, element, int(address[element]), [int(row[element]) for row in columns], int(last[element]))
                transfer.finish()

            return op

        return build

    return decorate


def targets(transfer: Transfer, element: int, place: int, mask: int) -> list[int]:
    """The addresses in shared memory that `place` stands for: with a mask, the same offset in each of those blocks of the cluster."""
    if not mask:
        return [place]
    size = transfer.spaces["shared"].cluster
    if mask >> size:
        raise transfer.fault(element, f"the block mask 0x{mask:x} names blocks that a cluster of {size} does not have")
    return [(rank + 1) << RANK_SHIFT | place & OFFSET_MASK for rank in range(size) if mask >> rank & 1]


# -- arrays ------------------------------------------------------------------------------------------------------------------------


@per_lane("bulk read", 4)
def build_load(inst: Instruction):
    def act(transfer: Transfer, element: int, address: int, group: list[int], c: int) -> None:
        place, nbytes, barrier, mask = group
        for what, value in (("source", address), ("size", nbytes), ("destination", place)):
            transfer.check_unit(element, what, value)
        data = transfer.global_bytes(element, address, nbytes, "bulk read")
        for target, reported in zip(targets(transfer, element, place, mask), targets(transfer, element, barrier, mask), strict=True):
            start = transfer.shared(element, target, nbytes, "bulk write")
            transfer.view(start, nbytes)[:] = data
            transfer.report(element, reported, nbytes)

    return act


@per_lane("bulk write", 4)
def build_store(inst: Instruction):
    def act(transfer: Transfer, element: int, address: int, group: list[int], c: int) -> None:
        place, nbytes, _, mask = group
        for what, value in (("destination", address), ("size", nbytes), ("source", place)):
            transfer.check_unit(element, what, value)
        data = transfer.global_bytes(element, address, nbytes, "bulk write")
        start = transfer.shared(element, place, nbytes, "bulk read")
        chosen = np.resize(np.array([mask >> k & 1 for k in range(UNIT)], np.bool_), nbytes)  # bit i: byte i of each 16
        np.copyto(data, transfer.view(start, nbytes), where=chosen)

    return act


@per_lane("bulk prefetch", 1)
def build_prefetch(inst: Instruction):
    def act(transfer: Transfer, element: int, address: int, group: list[int], c: int) -> None:
        transfer.check_unit(element, "source", address)
        transfer.check_unit(element, "size", group[0])
        transfer.global_bytes(element, address, group[0], "bulk prefetch")

    return act


@per_lane("bulk copy", 4)
def build_copy(inst: Instruction):
    def act(transfer: Transfer, element: int, address: int, group: list[int], c: int) -> None:
        place, nbytes, barrier, _ = group
        for what, value in (("source", address), ("size", nbytes), ("destination", place)):
            transfer.check_unit(element, what, value)
        source_start = transfer.shared(element, address, nbytes, "bulk read")
        start = transfer.shared(element, place, nbytes, "bulk write")
        transfer.view(start, nbytes)[:] = transfer.view(source_start, nbytes).copy()
        transfer.report(element, barrier, nbytes)

    return act


def reduce_into(operation: str, kind: str, memory: np.ndarray, index: np.ndarray, values: np.ndarray) -> None:
    """memory[index] = memory[index] op values, typed views of bytes, in order; floats as global atomics do."""
    if kind in ("f16", "bf16"):
        apply_halves(operation, kind, memory, index, values.astype(np.uint32))
        return
    dtype = np.dtype(DTYPES[KIND_OF_TYPE[kind]])
    apply_numbers(operation, kind, False, memory.view(dtype), index, values.view(dtype), values.view(dtype))


def reduce_bytes(operation: str, kind: str, target: np.ndarray, data: np.ndarray, nbytes: int) -> None:
    """target = target op data, both uint8, of elements of nbytes."""
    unsigned = np.dtype(f"u{nbytes}")
    values = np.ascontiguousarray(data).view(unsigned)
    memory = target.view(unsigned)
    reduce_into(operation, kind, memory, np.arange(len(values)), values)


NBYTES_OF = {"u32": 4, "s32": 4, "b32": 4, "f32": 4, "u64": 8, "s64": 8, "b64": 8, "f64": 8, "f16": 2, "bf16": 2}


def reduction(inst: Instruction) -> tuple[str, str]:
    return unpack_name(inst.mods, "redop"), unpack_name(inst.mods, "redtype")


@per_lane("bulk reduction", 4)
def build_reduce(inst: Instruction):
    operation, kind = reduction(inst)

    def act(transfer: Transfer, element: int, address: int, group: list[int], c: int) -> None:
        place, nbytes, _, _ = group
        for what, value in (("destination", address), ("size", nbytes), ("source", place)):
            transfer.check_unit(element, what, value)
        target = transfer.global_bytes(element, address, nbytes, "bulk reduction")
        start = transfer.shared(element, place, nbytes, "bulk read")
        reduce_bytes(operation, kind, target, transfer.view(start, nbytes), NBYTES_OF[kind])

    return act


@per_lane("bulk reduction", 4)
def build_reduce_shared(inst: Instruction):
    operation, kind = reduction(inst)

    def act(transfer: Transfer, element: int, address: int, group: list[int], c: int) -> None:
        place, nbytes, barrier, _ = group
        for what, value in (("source", address), ("size", nbytes), ("destination", place)):
            transfer.check_unit(element, what, value)
        data = transfer.view(transfer.shared(element, address, nbytes, "bulk read"), nbytes).copy()
        start = transfer.shared(element, place, nbytes, "bulk reduction")
        reduce_bytes(operation, kind, transfer.view(start, nbytes), data, NBYTES_OF[kind])
        transfer.report(element, barrier, nbytes)

    return act


# -- tensors -----------------------------------------------------------------------------------------------------------------------


def tensor_of(transfer: Transfer, inst: Instruction, element: int, address: int) -> tensormap.TensorMap:
    """The map at a generic address; raises KernelFault when it is none or does not fit the instruction."""
    if address % 64:
        raise transfer.fault(element, f"the tensor map at 0x{address:x} is not aligned to 64 bytes")
    raw = read_bytes(transfer.x, transfer.site.at, element, address, NBYTES)
    try:
        tensor = tensormap.decode(raw)
    except tensormap.BadTensorMap as error:
        raise transfer.fault(element, str(error)) from None
    rank, im2col = unpack(inst.mods, "dim"), bool(unpack(inst.mods, "im2col"))
    if tensor.rank != rank or tensor.im2col != im2col:
        have, want = (f"{r} dimensions, {'im2col' if i else 'tile'} mode" for r, i in ((tensor.rank, tensor.im2col), (rank, im2col)))
        raise transfer.fault(element, f"the tensor map has {have}; the instruction is for {want}")
    return tensor


def tile_of(transfer: Transfer, tensor, element: int, group: list[int], offsets: int) -> tensormap.Tile:
    coordinates = tuple(value - (1 << 32) if value >> 31 else value for value in group[3 : 3 + tensor.rank])
    if tensor.im2col:
        tile = tensormap.columns(tensor, coordinates, tuple(offsets >> 16 * k & 0xFFFF for k in range(3)))
    else:
        tile = tensormap.tile(tensor, coordinates)
    used = tile.address[tile.inside]
    if len(used):
        space = transfer.spaces["global"]
        lo, hi = int(used.min()), int(used.max()) + tensor.nbytes
        if not space.holds(lo, hi):
            text = f"the tensor map reaches out of bounds of global memory, from 0x{lo:x} to 0x{hi:x}; {space.describe(hi)}"
            raise transfer.fault(element, text)
        transfer.touched(element, np.unique(used >> 5))
    return tile


def global_index(tile: tensormap.Tile, nbytes: int) -> np.ndarray:
    """Of the elements that are inside, in elements of nbytes from the start of global memory."""
    return (tile.address[tile.inside] - GLOBAL_BASE) // nbytes


def shared_index(tensor, start: int, place: int, n: int) -> np.ndarray:
    """Where the n elements of a tile are in the chunk's shared memory, in elements: swizzling goes by the address in the block."""
    offset = (place & OFFSET_MASK) + np.arange(n, dtype=np.int64) * tensor.nbytes
    return (tensormap.swizzled(offset, tensor.swizzle_nbytes) - (place & OFFSET_MASK) + start) // tensor.nbytes


def check_tile_place(transfer: Transfer, element: int, place: int) -> None:
    if place % 128:
        raise transfer.fault(element, f"a tile's place in shared memory, 0x{place:x}, is not aligned to 128 bytes")


@per_lane("tensor read", 8)
def build_tensor_load(inst: Instruction):
    def act(transfer: Transfer, element: int, address: int, group: list[int], offsets: int) -> None:
        place, barrier, mask = group[:3]
        check_tile_place(transfer, element, place)
        tensor = tensor_of(transfer, inst, element, address)
        tile = tile_of(transfer, tensor, element, group, offsets)
        n = len(tile.inside)
        values = np.full(n, tensormap.NAN_BITS.get(tensor.kind, 0) if tensor.fill_nan else 0, f"u{tensor.nbytes}")
        values[tile.inside] = transfer.spaces["global"].views[tensor.nbytes][global_index(tile, tensor.nbytes)]
        for target, reported in zip(targets(transfer, element, place, mask), targets(transfer, element, barrier, mask), strict=True):
            start = transfer.shared(element, target, n * tensor.nbytes, "tensor write")
            transfer.spaces["shared"].views[tensor.nbytes][shared_index(tensor, start, place, n)] = values
            transfer.report(element, reported, n * tensor.nbytes)

    return act


def stored_tile(transfer: Transfer, inst: Instruction, element: int, address: int, group: list[int], offsets: int):
    """(tensor map, global element indexes, values) of a store or reduction; elements outside of the tensor are left out."""
    place = group[0]
    check_tile_place(transfer, element, place)
    tensor = tensor_of(transfer, inst, element, address)
    tile = tile_of(transfer, tensor, element, group, offsets)
    n = len(tile.inside)
    start = transfer.shared(element, place, n * tensor.nbytes, "tensor read")
    values = transfer.spaces["shared"].views[tensor.nbytes][shared_index(tensor, start, place, n)]
    return tensor, global_index(tile, tensor.nbytes), values[tile.inside]


@per_lane("tensor write", 8)
def build_tensor_store(inst: Instruction):
    def act(transfer: Transfer, element: int, address: int, group: list[int], c: int) -> None:
        tensor, index, values = stored_tile(transfer, inst, element, address, group, c)
        transfer.spaces["global"].views[tensor.nbytes][index] = values

    return act


@per_lane("tensor reduction", 8)
def build_tensor_reduce(inst: Instruction):
    operation = unpack_name(inst.mods, "redop")

    def act(transfer: Transfer, element: int, address: int, group: list[int], c: int) -> None:
        tensor, index, values = stored_tile(transfer, inst, element, address, group, c)
        kind = tensor.kind.removesuffix(".ftz")
        if operation in ("and", "or", "xor"):
            kind = f"b{8 * tensor.nbytes}"
        if kind not in NBYTES_OF:
            raise transfer.fault(element, f"no reduction .{operation} of a tensor of {tensor.kind}")
        reduce_into(operation, kind, transfer.spaces["global"].views[tensor.nbytes], index, values)

    return act


@per_lane("tensor prefetch", 8)
def build_tensor_prefetch(inst: Instruction):
    def act(transfer: Transfer, element: int, address: int, group: list[int], offsets: int) -> None:
        tile_of(transfer, tensor_of(transfer, inst, element, address), element, group, offsets)

    return act


def build_nothing(inst: Instruction, env: Env) -> Op:
    """Groups of copies: all are done when they have been asked for."""
    return lambda x: None


SEMANTICS = {
    "bulk_load": build_load, "bulk_store": build_store, "bulk_prefetch": build_prefetch, "bulk_copy": build_copy, "bulk_red": build_reduce,
    "bulk_red_shared": build_reduce_shared, "bulk_tensor_load": build_tensor_load, "bulk_tensor_store": build_tensor_store,
    "bulk_tensor_red": build_tensor_reduce, "bulk_tensor_prefetch": build_tensor_prefetch, "bulk_commit": build_nothing,
    "bulk_wait": build_nothing, "bulk_wait_read": build_nothing,
}  # fmt: skip
