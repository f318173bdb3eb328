"""The units that can be a launch's bottleneck, and what twice the rate of one changes in a chip.

The bottleneck of a simulation is the unit whose doubled rate shortens it most. `latency` is everything that a single
warp waits for, whatever else runs; `launch` is what a launch and its blocks take beside their instructions.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from gpuprof.chips import Chip, altered
from gpuprof.chips.fields import CHAINS, LATENCIES, TENSOR
from gpuprof.chips.model import field_of
from gpuprof.isa.stalls import INDEX
from gpuprof.timing.state.layout import PORTS
from gpuprof.timing.state.result import LaunchTiming
from gpuprof.timing.state.static import ATOMIC, REDUCTION

SELECTED = INDEX["selected"]

Changes: TypeAlias = dict[str, Any]


def _twice(*names: str) -> Callable[[Chip], Changes]:
    return lambda chip: {name: _within(name, 2 * _value(chip, name)) for name in names}


def _half(*names: str) -> Callable[[Chip], Changes]:
    return lambda chip: {name: _within(name, _value(chip, name) / 2) for name in names}


def _value(chip: Chip, name: str) -> float:
    table, _, entry = name.rpartition(".")
    return getattr(chip, table)[entry] if table else getattr(chip, name)


def _within(name: str, value: float) -> float:
    """The value, or the nearest that a chip file may say."""
    field = field_of(name)
    value = min(max(value, field.low), field.high)
    return int(value) if field.kind == "int" else value


_FIXED = (
    *(f"latency.{name}" for name in LATENCIES),
    *(f"chain.{name}" for name in CHAINS),
    *("guard_cycles", "branch_cycles", "control_cycles", "meet_cycles", "exit_cycles", "barrier_cycles"),
    *("membar_cycles", "mio_gap_cycles", "l1_wavefront_cycles", "shared_wavefront_cycles", "shared_wide_cycles"),
    *("l0i_miss_cycles", "l1i_miss_cycles", "constant_miss_cycles", "constant_cold_cycles", "copy_cycles"),
    *("l2_near_cycles", "l2_far_cycles", "l2_store_cycles", "store_drain_cycles", "dram_cycles", "dram_row_open_ns"),
)


def _latency(chip: Chip) -> Changes:
    changes = _half(*_FIXED)(chip)
    # The nearest SM keeps the shortest way that a chip file may say.
    room = changes["l2_near_cycles"] - field_of("l2_near_cycles").low
    return changes | {"l2_spread_cycles": int(min(chip.l2_spread_cycles / 2, room))}


UNITS: dict[str, Callable[[Chip], Changes]] = {
    "issue": _twice("dispatch_units"),
    "alu": _twice("lanes.alu"),
    "fma": _twice("lanes.fma", "lanes.imad"),
    "fp64": _twice("lanes.fp64"),
    "half": _twice("lanes.half"),
    "xu": _twice("lanes.xu"),
    "tensor": _twice(*(f"tensor.{name}" for name in TENSOR)),
    "lsu": _half(
        "lsu_cycles", "shared_cycles", "tag_pass_cycles", "tag_lookup_cycles", "address_cycles", "barrier_lsu_cycles"
    ),
    "link": _twice("noc_nbytes_per_cycle"),
    "slice": lambda chip: (
        _twice("l2_slice_nbytes_per_cycle")(chip)
        | _half("l2_partial_request_cycles", "l2_partial_sector_cycles", "l2_fill_cycles")(chip)
    ),
    "atomic": _half("atomic_cycles", "atomic_float_cycles", "atomic_sector_cycles"),
    "dram": lambda chip: _twice("dram_gbytes_per_s")(chip) | _half("dram_row_cycle_ns", "dram_turn_ns")(chip),
    "tlb": _half("tlb_miss_cycles", "l2_tlb_miss_cycles"),
    "latency": _latency,
    "launch": _half("grid_overhead_cycles", "block_launch_cycles", "distributor_cycles"),
}


def doubled(chip: Chip, unit: str) -> Chip:
    """The chip with a unit of twice the rate."""
    name = f"{chip.name} with twice the {unit}"
    return replace(altered(chip, UNITS[unit](chip), name), name=name)


# The pipe whose instructions take a unit.
_UNIT_OF_PORT = {
    "alu": "alu",
    "fma": "fma",
    "fp64": "fp64",
    "half": "half",
    "xu": "xu",
    "tensor": "tensor",
    "lsu": "lsu",
}


def used_units(inst: np.ndarray, timing: LaunchTiming) -> set[str]:
    """The units that a launch can wait for: doubling another one changes nothing. `inst`: layout.INSTRUCTION."""
    executed = inst[timing.ledger[:, SELECTED] > 0]
    ports = {PORTS[port] for port in np.unique(executed["port"])}
    used = {"issue", "latency", "launch"} | {_UNIT_OF_PORT[port] for port in ports & _UNIT_OF_PORT.keys()}
    if timing.l2_sectors:
        used |= {"link", "slice", "tlb"}
    if timing.dram_read_nbytes + timing.dram_write_nbytes:
        used.add("dram")
    if np.isin(executed["kind"], (ATOMIC, REDUCTION)).any():
        used.add("atomic")
    return used
