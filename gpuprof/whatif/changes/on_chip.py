"""Interventions on the chip: one resource without limit, without cost, or twice as fast."""

from dataclasses import replace

from gpuprof.chips import Chip
from gpuprof.whatif.changes.intervention import Intervention

UNLIMITED = 1 << 12  # times as much as there is: more than any block can ask for
ENDLESS_GBYTES_PER_S = 1e9


def _with(chip: Chip, **numbers: float) -> Chip:
    return replace(chip, values=chip.values | numbers)


def endless_dram(chip: Chip, _: Intervention) -> Chip:
    """A DRAM without limits of bandwidth and rows: a miss takes its latency only."""
    free = dict.fromkeys(("dram_row_cycle_ns", "dram_activate_ns", "dram_turn_ns", "dram_masked_line_sectors"), 0)
    return _with(chip, dram_gbytes_per_s=ENDLESS_GBYTES_PER_S, **free)


def endless_registers(chip: Chip, _: Intervention) -> Chip:
    return _with(chip, registers=chip.registers * UNLIMITED)


def endless_shared(chip: Chip, _: Intervention) -> Chip:
    """Shared memory without limit; what a block has beyond the carve-out as it is takes nothing of the L1."""
    return _with(chip, shared_nbytes=chip.shared_nbytes * UNLIMITED, l1_shared_pool=0)


def endless_blocks(chip: Chip, _: Intervention) -> Chip:
    return _with(chip, max_blocks=chip.warp_slots)


def without_launch_overhead(chip: Chip, _: Intervention) -> Chip:
    return _with(chip, grid_overhead_cycles=0)


def twice_as_fast(chip: Chip, what: Intervention) -> Chip:
    """Half the time of each use of a unit; latencies stay."""
    if what.unit in chip.lanes:
        lanes = chip.lanes | {what.unit: 2 * chip.lanes[what.unit]}
        if what.unit == "fma" and "imad" in lanes:
            lanes["imad"] = 2 * chip.lanes["imad"]
        return replace(chip, lanes=lanes)
    if what.unit == "tensor":
        return replace(chip, tensor={name: 2 * rate for name, rate in chip.tensor.items()})
    return _with(chip, **{name: chip.values[name] * factor for name, factor in RATES[what.unit].items()})


# The numbers of a chip that say how long a use takes, and what they are multiplied by.
RATES = {
    "lsu": {"lsu_cycles": 0.5, "shared_cycles": 0.5, "tag_pass_cycles": 0.5, "tag_lookup_cycles": 0.5},
    "l2": {"l2_slice_nbytes_per_cycle": 2, "noc_nbytes_per_cycle": 2},
    "dram": {"dram_gbytes_per_s": 2},
    "atomic": {"atomic_cycles": 0.5, "atomic_float_cycles": 0.5, "atomic_sector_cycles": 0.5},
    "issue": {"dispatch_units": 2},
}
