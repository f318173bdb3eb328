"""What twice the rate of a unit changes in a chip that is simulated.

The bottleneck of a simulation is the unit whose doubled rate shortens it most. The units are those that predictions
name (gpuprof/predict/bottleneck.py).
"""

from dataclasses import replace

import numpy as np

from gpuprof.chips import Chip, altered
from gpuprof.chips.model import field_of
from gpuprof.isa.stalls import INDEX
from gpuprof.predict.bottleneck import UNITS, allowed
from gpuprof.timing.state.launch_timing import LaunchTiming
from gpuprof.timing.state.layout import PORTS
from gpuprof.timing.state.static_program import ATOMIC, REDUCTION

SELECTED = INDEX["selected"]


def value_of(chip: Chip, name: str) -> float:
    table, _, entry = name.rpartition(".")
    return getattr(chip, table)[entry] if table else getattr(chip, name)


def within(name: str, value: float) -> float:
    """The value, or the nearest that a chip file may say."""
    found = float(allowed(name, value))
    return int(found) if field_of(name).kind == "int" else found


def changes(chip: Chip, unit: str) -> dict[str, float]:
    found = {name: within(name, 2 * value_of(chip, name)) for name in UNITS[unit].rates}
    found |= {name: within(name, value_of(chip, name) / 2) for name in UNITS[unit].times}
    if "l2_spread_cycles" in found:
        # The nearest SM keeps the shortest way that a chip file may say.
        room = found["l2_near_cycles"] - field_of("l2_near_cycles").low
        found["l2_spread_cycles"] = int(min(found["l2_spread_cycles"], room))
    return found


def doubled(chip: Chip, unit: str) -> Chip:
    """The chip with a unit of twice the rate."""
    name = f"{chip.name} with twice the {unit}"
    return replace(altered(chip, changes(chip, unit), name), name=name)


def used_units(inst: np.ndarray, timing: LaunchTiming) -> set[str]:
    """The units that a launch can wait for: doubling another one changes nothing. `inst`: layout.INSTRUCTION."""
    executed = inst[timing.ledger[:, SELECTED] > 0]
    ports = {PORTS[port] for port in np.unique(executed["port"])}
    used = {"issue", "latency", "launch"} | (ports & UNITS.keys())  # a pipe's unit has its name
    if timing.l2_sectors:
        used |= {"link", "slice", "tlb"}
    if timing.dram_read_nbytes + timing.dram_write_nbytes:
        used.add("dram")
    if np.isin(executed["kind"], (ATOMIC, REDUCTION)).any():
        used.add("atomic")
    return used
