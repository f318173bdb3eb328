"""How busy each block of the graphics pipeline was over time: how much of a unit, how many waves of a stage."""

import sqlite3
from typing import NamedTuple

import numpy as np

from gpuprof.chips.draw_units import SHADER_STAGES
from gpuprof.report.tasks.draw_tasks import BLOCKS

UNITS = "SELECT unit, first_cycle, last_cycle, busy_cycles FROM draw_units WHERE busy_cycles > 0"
WAVES = "SELECT stage, start_cycle, end_cycle FROM draw_waves WHERE end_cycle > start_cycle"


class Lane(NamedTuple):
    """A block's spans, of draws in a unit or of waves of a stage: cycles, int64 (spans,), from power-on; and what is at
    work in each cycle between, float64 (spans,). A unit's busy cycles are spread evenly over a draw's stay in it.
    """

    block: str
    begins: np.ndarray
    ends: np.ndarray
    rates: np.ndarray

    @property
    def is_stage(self) -> bool:
        return self.block in SHADER_STAGES


def read_lanes(database: sqlite3.Connection) -> tuple[Lane, ...]:
    """The lanes of all draws with times, in the order of the pipeline; none of a block that did nothing."""
    by_block: dict[str, list[tuple[int, int, float]]] = {}
    for unit, first, last, busy in database.execute(UNITS):
        end = max(last, first + 1)
        by_block.setdefault(unit, []).append((first, end, busy / (end - first)))
    for stage, start, end in database.execute(WAVES):
        by_block.setdefault(stage, []).append((start, end, 1.0))
    lanes = []
    for block in (block for block in BLOCKS if block in by_block):
        begins, ends, rates = zip(*by_block[block], strict=True)
        lanes.append(Lane(block, np.array(begins, np.int64), np.array(ends, np.int64), np.array(rates)))
    return tuple(lanes)


def extent(lanes: tuple[Lane, ...]) -> tuple[int, int]:
    """The cycles from the first begin to the last end; there is a lane."""
    return min(int(lane.begins.min()) for lane in lanes), max(int(lane.ends.max()) for lane in lanes)


def in_parts(lane: Lane, first: int, last: int, parts: int) -> np.ndarray:
    """The mean activity in each of the equal parts of the time from `first` to `last`: float64 (parts,). A unit is at
    most one: draws that follow each other share the cycle in which one leaves and the next one comes.
    """
    edges = first + (last - first) * np.arange(parts + 1.0) / parts
    so_far = _until(lane.begins, lane.rates, edges) - _until(lane.ends, lane.rates, edges)
    return np.clip(np.diff(so_far) * parts / (last - first), 0, None if lane.is_stage else 1)


def steps(lane: Lane) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Stretches of time in which what is at work stays the same: begins and ends, int64, and amounts, float64, each
    (stretches,). There is none where nothing is.
    """
    cycles, step = np.unique(np.concatenate([lane.begins, lane.ends]), return_inverse=True)
    changes = np.bincount(step, np.concatenate([lane.rates, -lane.rates]))
    # a sum that comes back to nothing leaves what rounding left
    amounts = np.clip(np.cumsum(changes)[:-1].round(6), 0, None if lane.is_stage else 1)
    first = np.flatnonzero(np.diff(amounts, prepend=-1.0))
    begins, ends, amounts = cycles[first], cycles[np.append(first[1:], len(amounts))], amounts[first]
    active = amounts > 0
    return begins[active], ends[active], amounts[active]


def _until(cycles: np.ndarray, rates: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Work up to each edge if what begins at a cycle never ends."""
    order = np.argsort(cycles, kind="stable")
    begun = np.searchsorted(cycles[order], edges, "right")
    # cycles count from the first edge, so that large ones leave their digits to the differences
    moved, rate = cycles[order] - edges[0], rates[order]
    sums, products = (np.concatenate([[0.0], np.cumsum(values)]) for values in (rate, rate * moved))
    return sums[begun] * (edges - edges[0]) - products[begun]
