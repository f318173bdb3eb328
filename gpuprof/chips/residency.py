"""How many blocks an SM can hold by each of its resources; the rules are those of cuda_occupancy.h."""

from collections.abc import Mapping

REGISTER_UNIT = 8  # registers per thread are allocated in eights
# The numbers of a chip that decide; a database may lack some of them.
NUMBERS = (
    *("warp_lanes", "warp_slots", "max_blocks", "partitions", "registers", "register_granularity"),
    *("shared_nbytes", "shared_granularity", "shared_reserved_nbytes"),
)


def block_limits(chip: Mapping[str, int], threads: int, registers: int, shared_nbytes: int) -> dict[str, int]:
    """Blocks of `threads` threads, each with so many registers, that fit an SM by each single resource: "warps",
    "blocks", "registers" and "shared". `shared_nbytes` are the requested bytes; `chip` has NUMBERS.
    """
    warps = -(-threads // chip["warp_lanes"])
    shared = allocated_shared_nbytes(chip, shared_nbytes)
    return {
        "warps": chip["warp_slots"] // warps,
        "blocks": chip["max_blocks"],
        "registers": _blocks_by_registers(chip, registers, warps),
        "shared": chip["shared_nbytes"] // shared if shared else chip["max_blocks"],
    }


def allocated_shared_nbytes(chip: Mapping[str, int], nbytes: int) -> int:
    """The bytes allocated to a block that requests `nbytes` of shared memory."""
    return _round_up(nbytes + chip["shared_reserved_nbytes"], chip["shared_granularity"])


def _blocks_by_registers(chip: Mapping[str, int], registers: int, warps_per_block: int) -> int:
    """Each partition has its own register file; a block's warps are dealt to the partitions in turn."""
    if registers == 0:
        return chip["max_blocks"]
    per_warp = registers_of_warp(chip, registers)
    partitions = chip["partitions"]
    if per_warp * _round_up(warps_per_block, partitions) > chip["registers"]:
        return 0
    return chip["registers"] // partitions // per_warp * partitions // warps_per_block


def registers_of_warp(chip: Mapping[str, int], registers: int) -> int:
    """Registers that are allocated to a warp whose threads have `registers` each."""
    return _round_up(_round_up(registers, REGISTER_UNIT) * chip["warp_lanes"], chip["register_granularity"])


def _round_up(value: int, unit: int) -> int:
    return -(-value // unit) * unit
