"""Bulk copies and reductions of arrays between global and shared memory, and between the blocks of a cluster."""

import numpy as np

from gpuprof.emulate.bulk.transfer import PREFETCH, UNIT, Place, Transfer, per_lane, targets
from gpuprof.emulate.core.operands import DTYPES, KIND_OF_TYPE
from gpuprof.emulate.core.operation import Env, Op
from gpuprof.emulate.memory.atomic import apply_halves, apply_numbers
from gpuprof.isa.encoding import Instruction
from gpuprof.isa.modifiers import FIELDS, unpack_name
from gpuprof.isa.row import type_nbits


@per_lane("bulk read", 4)
def build_load(inst: Instruction):
    def act(transfer: Transfer, element: int, address: int, group: list[int], c: int) -> None:
        destination, nbytes, barrier, mask = group
        has_units = transfer.has_units(element, source=address, size=nbytes, destination=destination)
        data = transfer.global_bytes(element, address, nbytes, "bulk read").read() if has_units else None
        for target, reported in zip(
            targets(transfer, element, destination, mask), targets(transfer, element, barrier, mask), strict=True
        ):
            if data is not None:
                transfer.shared(element, target, nbytes, "bulk write").write(data)
            transfer.report(element, reported, nbytes)

    return act


@per_lane("bulk write", 4)
def build_store(inst: Instruction):
    def act(transfer: Transfer, element: int, address: int, group: list[int], c: int) -> None:
        source, nbytes, _, mask = group
        if not transfer.has_units(element, destination=address, size=nbytes, source=source):
            return
        target = transfer.global_bytes(element, address, nbytes, "bulk write")
        data = transfer.shared(element, source, nbytes, "bulk read").read()
        chosen = np.array([mask >> k & 1 for k in range(UNIT)], np.bool_)  # bit i: byte i of each 16
        target.write(data if chosen.all() else np.where(np.resize(chosen, len(data)), data, target.read()))

    return act


@per_lane(PREFETCH, 1)
def build_prefetch(inst: Instruction):
    def act(transfer: Transfer, element: int, address: int, group: list[int], c: int) -> None:
        if transfer.has_units(element, source=address, size=group[0]):
            transfer.global_bytes(element, address, group[0], PREFETCH)

    return act


@per_lane("bulk copy", 4)
def build_copy(inst: Instruction):
    def act(transfer: Transfer, element: int, address: int, group: list[int], c: int) -> None:
        destination, nbytes, barrier, _ = group
        if transfer.has_units(element, source=address, size=nbytes, destination=destination):
            data = transfer.shared(element, address, nbytes, "bulk read").read()
            transfer.shared(element, destination, nbytes, "bulk write").write(data)
        transfer.report(element, barrier, nbytes)

    return act


def reduce_into(operation: str, kind: str, memory: np.ndarray, index: np.ndarray, values: np.ndarray) -> None:
    """memory[index] = memory[index] op values, typed views of bytes, in order; floats as global atomics do."""
    if kind in ("f16", "bf16"):
        apply_halves(operation, kind, memory, index, values.astype(np.uint32))
        return
    dtype = np.dtype(DTYPES[KIND_OF_TYPE[kind]])
    apply_numbers(operation, kind, False, memory.view(dtype), index, values.view(dtype), values.view(dtype))


def reduce_place(operation: str, kind: str, target: Place, data: np.ndarray, nbytes: int) -> None:
    """target = target op data, of elements of nbytes."""
    memory = target.read().view(f"u{nbytes}")
    values = data.view(f"u{nbytes}")
    reduce_into(operation, kind, memory, np.arange(len(values)), values)
    target.write(memory.view(np.uint8))


NBYTES_OF = {kind: type_nbits(kind) // 8 for kind in FIELDS["redtype"].names}


def reduction(inst: Instruction) -> tuple[str, str]:
    return unpack_name(inst.mods, "redop"), unpack_name(inst.mods, "redtype")


@per_lane("bulk reduction", 4)
def build_reduce(inst: Instruction):
    operation, kind = reduction(inst)

    def act(transfer: Transfer, element: int, address: int, group: list[int], c: int) -> None:
        source, nbytes, _, _ = group
        if transfer.has_units(element, destination=address, size=nbytes, source=source):
            target = transfer.global_bytes(element, address, nbytes, "bulk reduction")
            data = transfer.shared(element, source, nbytes, "bulk read").read()
            reduce_place(operation, kind, target, data, NBYTES_OF[kind])

    return act


@per_lane("bulk reduction", 4)
def build_reduce_shared(inst: Instruction):
    operation, kind = reduction(inst)

    def act(transfer: Transfer, element: int, address: int, group: list[int], c: int) -> None:
        destination, nbytes, barrier, _ = group
        if transfer.has_units(element, source=address, size=nbytes, destination=destination):
            data = transfer.shared(element, address, nbytes, "bulk read").read()
            target = transfer.shared(element, destination, nbytes, "bulk reduction")
            reduce_place(operation, kind, target, data, NBYTES_OF[kind])
        transfer.report(element, barrier, nbytes)

    return act


def build_nothing(inst: Instruction, env: Env) -> Op:
    """Builds commits of and waits for groups of copies, which do nothing: every copy is done at once."""
    return lambda x: None


SEMANTICS = {
    "bulk_load": build_load, "bulk_store": build_store, "bulk_prefetch": build_prefetch, "bulk_copy": build_copy,
    "bulk_red": build_reduce,
    "bulk_red_shared": build_reduce_shared, "bulk_commit": build_nothing, "bulk_wait": build_nothing,
    "bulk_wait_read": build_nothing,
}  # fmt: skip
