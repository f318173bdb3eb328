"""How many blocks of a kernel an SM can hold, and what limits them (`chips.residency`)."""

from typing import NamedTuple

from gpuprof.chips import Chip
from gpuprof.chips.residency import allocated_shared_nbytes, block_limits
from gpuprof.errors import UsageError
from gpuprof.isa.program import Function


class Occupancy(NamedTuple):
    """`limiter` is "warps", "blocks", "registers" or "shared": the resource that runs out first, in this order when
    several do.
    """

    blocks_per_sm: int
    limiter: str
    warps_per_block: int
    shared_nbytes_per_block: int  # as allocated
    limits: dict[str, int]  # blocks per SM by each single resource


def occupancy(
    chip: Chip, function: Function, block_threads: int, dynamic_shared_nbytes: int = 0, of_draw: bool = False
) -> Occupancy:
    """Blocks of `block_threads` threads that fit one SM; warps `of_draw` are no blocks to the chip, so their number is
    not limited. Raises UsageError when not even one does, saying what is too large.
    """
    _check(chip, function, block_threads, dynamic_shared_nbytes)
    requested = function.shared_nbytes + dynamic_shared_nbytes
    warps, shared = -(-block_threads // chip.warp_lanes), allocated_shared_nbytes(chip.values, requested)
    numbers = {**chip.values, "max_blocks": chip.warp_slots} if of_draw else chip.values
    limits = block_limits(numbers, block_threads, function.registers, requested)
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
