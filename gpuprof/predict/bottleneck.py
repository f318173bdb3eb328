"""Chips with one unit of twice the rate: the unit that shortens a launch most is its bottleneck."""

from typing import NamedTuple

import numpy as np

from gpuprof.chips.fields import CHAINS, LATENCIES, TENSOR
from gpuprof.chips.model import field_of
from gpuprof.predict.chip_numbers import Numbers


class Unit(NamedTuple):
    """A hardware unit: to double its speed, `rates` are doubled and `times` halved; both are names of a chip file."""

    text: str
    rates: tuple[str, ...] = ()
    times: tuple[str, ...] = ()


UNITS = {
    "issue": Unit("issue slots", ("dispatch_units",)),
    "alu": Unit("the integer pipe", ("lanes.alu",)),
    "fma": Unit("the multiply-add pipe", ("lanes.fma", "lanes.imad")),
    "fp64": Unit("the double-precision pipe", ("lanes.fp64",)),
    "half": Unit("the half-precision pipe", ("lanes.half",)),
    "xu": Unit("special functions and conversions", ("lanes.xu",)),
    "tensor": Unit("tensor cores", tuple(f"tensor.{name}" for name in TENSOR)),
    "lsu": Unit(
        "the load/store unit: address units, L1 tags and banks, shared memory",
        times=(
            "lsu_cycles", "shared_cycles", "tag_pass_cycles", "tag_lookup_cycles", "address_cycles",
            "barrier_lsu_cycles",
        ),
    ),
    "link": Unit("an SM's link to the L2", ("noc_nbytes_per_cycle",)),
    "slice": Unit(
        "the L2's slices",
        ("l2_slice_nbytes_per_cycle",),
        ("l2_partial_request_cycles", "l2_partial_sector_cycles", "l2_fill_cycles"),
    ),
    "atomic": Unit(
        "the L2's atomic units", times=("atomic_cycles", "atomic_float_cycles", "atomic_sector_cycles")
    ),
    "dram": Unit("the DRAM", ("dram_gbytes_per_s",), ("dram_row_cycle_ns", "dram_activate_ns", "dram_turn_ns")),
    "tlb": Unit("address translation", times=("tlb_miss_cycles", "l2_tlb_miss_cycles")),
    "latency": Unit(
        "latencies that a single warp waits for",
        times=(
            *(f"latency.{name}" for name in LATENCIES),
            *(f"chain.{name}" for name in CHAINS),
            "guard_cycles", "branch_cycles", "control_cycles", "meet_cycles", "exit_cycles", "barrier_cycles",
            "membar_cycles", "membar_l2_cycles", "mio_gap_cycles", "l1_wavefront_cycles", "shared_wavefront_cycles",
            "shared_wide_cycles", "l0i_miss_cycles", "l1i_miss_cycles", "constant_miss_cycles",
            "constant_load_miss_cycles", "constant_cold_cycles", "constant_segment_cycles",
            "copy_cycles", "l2_near_cycles", "l2_far_cycles", "l2_store_cycles",
            "store_drain_cycles", "dram_cycles", "dram_row_open_ns", "l2_spread_cycles",
        ),
    ),
    "launch": Unit(
        "the start of a launch and of its blocks",
        times=("grid_overhead_cycles", "block_launch_cycles", "distributor_cycles", "launch_cycles"),
    ),
}  # fmt: skip


def with_twice(chips: Numbers, name: str) -> Numbers:
    """Chips whose unit `name` is twice as fast, within the range that a chip file may give its numbers."""
    changed = {number: allowed(number, 2 * chips[number]) for number in UNITS[name].rates}
    changed |= {number: allowed(number, chips[number] / 2) for number in UNITS[name].times}
    return Numbers(chips.names, chips.archs, chips.columns | changed)


def allowed(name: str, values: np.ndarray | float) -> np.ndarray:
    """The values nearest to `values` that a chip file may give the number `name`, as float64."""
    field = field_of(name)
    clipped = np.clip(np.asarray(values, np.float64), field.low, field.high)
    return np.floor(clipped) if field.kind == "int" else clipped
