"""How many blocks of a kernel an SM can hold, and what limits them; the rules are those of cuda_occupancy.h."""

from typing import NamedTuple

from gpuprof.chips import Chip
from gpuprof.errors import UsageError
from gpuprof.isa.program import Function

REGISTER_UNIT = 8  # registers per thread are allocated in eights


class Occupancy(NamedTuple):
    """`limiter` is "warps", "blocks", "registers" or "shared": the resource that runs out first, in this order when
    several do.
    """

    blocks_per_sm: int
    limiter: str
    warps_per_block: int
    shared_nbytes_per_block: int  # as allocated
    limits: dict[str, int]  # blocks per SM by each resource alone


def occupancy(chip: Chip, function: Function, block_threads: int, dynamic_shared_nbytes: int = 0) -> Occupancy:
    """Blocks of `block_threads` threads that fit one SM. Raises UsageError when not even one does, saying what is too
    large.
    """
    _check(chip, function, block_threads, dynamic_shared_nbytes)
    warps = -(-block_threads // chip.warp_lanes)
    shared = _round_up(
        function.shared_nbytes + dynamic_shared_nbytes + chip.shared_reserved_nbytes, chip.shared_granularity
    )
    limits = {
        "warps": chip.warp_slots // warps,
        "blocks": chip.max_blocks,
        "registers": _blocks_by_registers(chip, function.registers, warps),
        "shared": chip.shared_nbytes // shared if shared else chip.max_blocks,
    }
    limiter = min(limits, key=limits.__getitem__)
    if limits[limiter] == 0:
        need = (
            f"{function.registers} registers a thread" if limiter == "registers" else f"{shared} bytes of shared memory"
        )
        raise UsageError(
            f"kernel {function.display}: a block of {block_threads} threads with {need} does not fit an SM of "
            f"{chip.name}; use smaller blocks"
        )
    return Occupancy(limits[limiter], limiter, warps, shared, limits)


def _blocks_by_registers(chip: Chip, registers: int, warps_per_block: int) -> int:
    """Each partition has its own register file; a block's warps are dealt to the partitions in turn."""
    if registers == 0:
        return chip.max_blocks
    per_warp = registers_of_warp(chip, registers)
    if per_warp * _round_up(warps_per_block, chip.partitions) > chip.registers:
        return 0
    return chip.registers // chip.partitions // per_warp * chip.partitions // warps_per_block


def registers_of_warp(chip: Chip, registers: int) -> int:
    """Registers that are allocated to a warp whose threads have `registers` each."""
    return _round_up(_round_up(registers, REGISTER_UNIT) * chip.warp_lanes, chip.register_granularity)


def _check(chip: Chip, function: Function, block_threads: int, dynamic_shared_nbytes: int) -> None:
    shared = function.shared_nbytes + dynamic_shared_nbytes
    kernel = f"kernel {function.display}"
    if block_threads < 1:
        raise UsageError(f"{kernel}: a block needs at least one thread, not {block_threads}")
    if block_threads > chip.max_threads_per_block:
        raise UsageError(
            f"{kernel}: a block of {block_threads} threads; {chip.name} allows {chip.max_threads_per_block}"
        )
    if function.max_threads and block_threads > function.max_threads:
        raise UsageError(
            f"{kernel}: a block of {block_threads} threads; its launch bounds allow {function.max_threads}"
        )
    if function.registers > chip.max_registers_per_thread:
        raise UsageError(
            f"{kernel}: {function.registers} registers a thread; {chip.name} has {chip.max_registers_per_thread}"
        )
    if shared > chip.max_shared_nbytes_per_block:
        raise UsageError(
            f"{kernel}: {shared} bytes of shared memory a block; {chip.name} allows {chip.max_shared_nbytes_per_block}"
        )


def _round_up(value: int, unit: int) -> int:
    return -(-value // unit) * unit
