"""From the SMs' FIFOs to the sink: the event buffer that all SMs share, and the host worker that empties it.

A record reaches the buffer in the cycle in which it leaves its FIFO. Those of one cycle come in the order of their SMs.
The worker takes all that is there in every cycle that is a multiple of its period, before what comes in that cycle; a
record that finds the buffer full is lost. Nothing of this affects the SMs, so it is computed after the engine, whenever
that hands its records over.
"""

from collections.abc import Callable, Iterator

import numpy as np

from gpuprof.chips import Chip
from gpuprof.tables.samples import SM_SHIFT
from gpuprof.timing.sampling.configuration import COUNTERS, Sampling
from gpuprof.timing.state.layout import QUANTUM
from gpuprof.timing.state.machine import State

Sink = Callable[[np.ndarray], None]
# CUPTI's workers wake up so often by default:
# CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_WORKER_THREAD_PERIODIC_SLEEP_SPAN
WORKER_SECONDS = 0.1
SLOT_BITS, SM_AND_SLOT_BITS = 8, 8 + 32 - SM_SHIFT  # of a record's place among those of its cycle
NONE = np.zeros(0, np.int64)
NO_CYCLE = np.iinfo(np.uint64).max  # later than that of any record


def worker_cycles(chip: Chip) -> int:
    """The worker's period on a chip where the user names none."""
    return round(WORKER_SECONDS * chip.clock_mhz * 1e6)


class EventBuffer:
    """A buffer of `places` records that is emptied every `poll_cycles` cycles."""

    def __init__(self, capacity: int, poll_cycles: int):
        self.capacity, self.poll_cycles = capacity, poll_cycles
        self.turn = 0  # of the worker, that the last record came before
        self.taken = 0  # places, since the turn before

    def admit(self, cycle: np.ndarray, sm: np.ndarray) -> np.ndarray:
        """bool (n,): which of n records find a place that come in these cycles, int64, from these SMs. No call has
        cycles before an earlier one's.
        """
        if not len(cycle):
            return np.ones(0, np.bool_)
        poll = cycle // self.poll_cycles
        last = int(poll.max())
        if self.taken + len(cycle) <= self.capacity:
            is_stored = np.ones(len(cycle), np.bool_)
        else:
            order = np.lexsort((sm, cycle))
            of_turn = poll[order]
            position = (
                np.arange(len(order))
                - np.searchsorted(of_turn, of_turn)
                + np.where(of_turn == self.turn, self.taken, 0)
            )
            is_stored = np.empty(len(order), np.bool_)
            is_stored[order] = position < self.capacity
        self.taken = (self.taken if last == self.turn else 0) + int(np.count_nonzero(is_stored & (poll == last)))
        self.turn = last
        return is_stored


class Outlet:
    """Hands what the buffer took to the sink, ordered by cycle, then SM, then warp slot, also from one call to the
    next.
    """

    def __init__(self, state: State, chip: Chip, sampling: Sampling, sink: Sink, record_nbytes: int):
        self.state, self.sink = state, sink
        self.buffer = EventBuffer(sampling.buffer_nbytes // record_nbytes, sampling.poll_cycles or worker_cycles(chip))
        self.left_out = [
            column for name, columns in COUNTERS.items() if name not in sampling.counters for column in columns
        ]
        self.held = state.cell.record[:0].copy()  # taken, but later than a record that is still in its FIFO
        self.rows = ("block", state.cell.block_row), ("warp", state.cell.warp_row)
        self.lost = np.zeros(state.core.loss.shape, np.int64)  # (grids, SMs)

    def flush(self, to_the_end: bool = False) -> None:
        """Passes on the records that have left the FIFOs by the end of the present quantum, or all records."""
        n = int(self.state.machine[0]["n_samples"])
        if n or len(self.held):
            records, leaves = self.state.cell.record[:n], self.state.cell.leaves[:n]
            if to_the_end:
                self._pass_on(self._admitted(records, leaves))
                self.held = self.held[:0]
                self._compact(NONE)
            else:
                self._flush_left(records, leaves)
        self._hand_over_counters()
        self._hand_over_rows()

    def _flush_left(self, records: np.ndarray, leaves: np.ndarray) -> None:
        """Passes on those that have left by now, but for what is later than one that has not."""
        out = leaves < int(self.state.machine[0]["now"]) + QUANTUM
        rows = self._admitted(_of(records, out), leaves[out])
        waiting = np.flatnonzero(~out)
        safe = rows["cycle"] < records["cycle"][waiting].min(initial=NO_CYCLE)
        self.held, rows = np.take(rows, np.flatnonzero(~safe)), _of(rows, safe)
        self._pass_on(rows)
        self._compact(waiting)

    def _admitted(self, rows: np.ndarray, leaves: np.ndarray) -> np.ndarray:
        """Gives the rows that are held, and those of `rows` that the buffer has a place for."""
        is_stored = self.buffer.admit(leaves, rows["stall_sm"] >> SM_SHIFT)
        if not is_stored.all():
            self._count(rows[~is_stored])
            rows = _of(rows, is_stored)
        return np.concatenate([self.held, rows]) if len(self.held) else rows

    def _pass_on(self, rows: np.ndarray) -> None:
        if len(rows):
            self.sink(np.take(rows, in_order(rows)))

    def _hand_over_counters(self) -> None:
        """Hands over the counters: they go with the records of their cycle, and take no place of their own."""
        n = int(self.state.machine[0]["n_counted"])
        self.state.machine[0]["n_counted"] = 0
        rows = self.state.cell.counted[:n]
        if n:
            for column in self.left_out:
                rows[column] = 0
            self.sink(rows[np.lexsort((rows["sm"], rows["cycle"]))])

    def _hand_over_rows(self) -> None:
        """Hands over the rows of ended blocks and warps: they go through no FIFO, and none is lost."""
        for name, rows in self.rows:
            n = int(self.state.machine[0][f"n_{name}_rows"])
            if n:
                self.state.machine[0][f"n_{name}_rows"] = 0
                self.sink(rows[:n].copy())

    def _compact(self, waiting: np.ndarray) -> None:
        """Moves the records of these numbers, which are still in their FIFOs, to the table's start, and drops all
        others.
        """
        cell = self.state.cell
        n = int(self.state.machine[0]["n_samples"])
        if not len(waiting):  # as at the end, where most launches hand over all they have
            if n:
                cell.fifo["record"] = -1
            self.state.machine[0]["n_samples"] = 0
            return
        if len(waiting) != n:
            number = np.full(len(cell.record), -1, np.int64)
            number[waiting] = np.arange(len(waiting))
            cell.fifo["record"] = number[cell.fifo["record"]]
        records = cell.record.view(f"V{cell.record.itemsize}")  # numpy copies rows of fields field by field
        records[: len(waiting)] = np.take(records, waiting)
        cell.leaves[: len(waiting)] = cell.leaves[waiting]
        self.state.machine[0]["n_samples"] = len(waiting)

    def _count(self, lost: np.ndarray) -> None:
        if len(lost):
            launches = self.state.core.grid["launch"]
            order = np.argsort(launches)
            grids = order[np.searchsorted(launches, lost["launch"], sorter=order)]
            np.add.at(self.lost, (grids, lost["stall_sm"] >> SM_SHIFT), 1)


def in_order(records: np.ndarray) -> np.ndarray:
    """The order of WIDE.dtype records by cycle, then SM, then warp slot: by one number, which sorts three times as fast
    as three.
    """
    cycles = records["cycle"] - records["cycle"].min()
    assert int(cycles.max()) < 1 << 64 - SM_AND_SLOT_BITS, "records of too long a time"
    slots = (records["stall_sm"] >> SM_SHIFT).astype(np.uint64) << np.uint64(SLOT_BITS) | records["warp_slot"]
    keys = cycles << np.uint64(SM_AND_SLOT_BITS) | slots
    order = np.argsort(keys)
    ordered = keys[order]
    if (ordered[1:] == ordered[:-1]).any():  # which of two equal ones comes first would depend on the machine
        order = np.argsort(keys, kind="stable")
    return order


def _of(rows: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """The rows chosen: a copy, or when it is all of them, themselves. (numpy takes rows of fields many times faster
    than it indexes them.)
    """
    return rows if chosen.all() else np.take(rows, np.flatnonzero(chosen))


def by_launch(rows: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """The rows of each launch, in their order. Most often there is one launch, whose rows are not copied."""
    launches = rows["launch"]
    if not len(rows) or (launches == launches[0]).all():
        yield from ((int(launch), rows) for launch in launches[:1])
        return
    order = np.argsort(launches, kind="stable")
    launch_numbers, starts = np.unique(launches[order], return_index=True)
    for launch, its_rows in zip(launch_numbers.tolist(), np.split(order, starts[1:]), strict=True):
        yield launch, np.take(rows, its_rows)
