"""Asynchronous operations: groups of copies and of multiplications, bulk copies and stores that report to an mbarrier.
The emulator completes them at once; here they are in progress until a thread has waited for them.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from gpuprof.trace.checkers.mbarrier_phases import MbarrierAddress, Mbarriers, waited_phase
from gpuprof.trace.checkers.races import conflict_rules, vector_clocks
from gpuprof.trace.checkers.races.block_races import Blocks
from gpuprof.trace.event import TraceEvent
from gpuprof.trace.kernel import Kernel

# Kinds of instructions that end a group or wait for groups, with their families.
FAMILIES = {
    "copy_commit": (vector_clocks.COPIES,),
    "copy_wait": (vector_clocks.COPIES,),
    "bulk_commit": (vector_clocks.BULK_READS, vector_clocks.BULK_WRITES),
    "bulk_wait": (vector_clocks.BULK_READS, vector_clocks.BULK_WRITES),
    "bulk_wait_read": (vector_clocks.BULK_READS,),
    "matrix_commit": (vector_clocks.MATRICES,),
    "matrix_wait": (vector_clocks.MATRICES,),
}
COMMITS = ("copy_commit", "bulk_commit", "matrix_commit")
REPORTING = ("bulk_load", "bulk_copy", "bulk_reduction_shared")
GROUPED = ("bulk_store", "bulk_reduction", "matrix_async")
# Kinds that are processed after they have run.
AFTER = ("mbarrier", *REPORTING, *GROUPED)
STORES = ("st.async", "red.async")  # as in PTX: a store, and the report of its bytes after it


class Part(NamedTuple):
    """Ranges that one lane of an event reads or writes. Arrays int64 (k,)."""

    space: str
    operation: str
    row: int
    lane: int
    addresses: np.ndarray
    nbytes: np.ndarray


class _Store(NamedTuple):
    address: int
    nbytes: int
    operation: str
    number: int  # of the instruction


class Asynchronous:
    """`touch` takes ranges in a space, the operation, its threads, the moment, the instruction and properties of the
    access.
    """

    def __init__(self, kernel: Kernel, blocks: Blocks, touch: Callable[..., None]):
        self._blocks, self._touch = blocks, touch
        self._mbarriers = Mbarriers(kernel)
        self._under_way: dict[MbarrierAddress, list[tuple[int, int]]] = defaultdict(list)  # phase and moment of copies
        self._awaited: dict[MbarrierAddress, int] = {}  # the last phase that a thread has waited for
        self._stores: dict[tuple[int, int, int], _Store] = {}  # by block, warp and lane: those without a report yet

    # Groups.

    def group(self, event: TraceEvent) -> None:
        """A commit, or a wait for groups."""
        kind = event.instruction.kind
        for family in FAMILIES[kind]:
            if kind in COMMITS:
                slots = self._blocks.slots(event.block)
                vector_clocks.commit(self._blocks.order, event.true_masks, slots, event.warp, family)
            else:
                self.wait(event, family, event.instruction.encoded.imm)

    def wait(self, event: TraceEvent, family: int, n_left: int) -> None:
        """Waits for all groups except the newest `n_left`; with -1 also for operations without a group."""
        slots = self._blocks.slots(event.block)
        self._blocks.room_for(event.n_warps)
        vector_clocks.wait_for_groups(
            self._blocks.order, event.true_masks, event.block, slots, event.warp, family, n_left
        )  # fmt: skip

    # Objects.

    def begin(self, event: TraceEvent) -> None:
        """Lanes are about to change mbarriers."""
        for operation in self._mbarriers.operations(event):
            self._mbarriers.begins(event.instruction, operation.look.key)

    def look(self, event: TraceEvent) -> None:
        """Lanes have changed mbarriers."""
        for _ in self._mbarriers.operations(event):
            pass

    def wait_at_barrier(self, event: TraceEvent) -> None:
        """Lanes wait for phases: the copies of these are complete when the lanes continue."""
        for operation in self._mbarriers.operations(event):
            key, phase = operation.look.key, waited_phase(event.instruction, operation)
            if phase <= self._awaited.get(key, -1):
                continue
            self._awaited[key] = phase
            for of_phase, moment in self._under_way.pop(key, ()):
                if of_phase <= phase:
                    self._end(moment)
                else:
                    self._under_way[key].append((of_phase, moment))

    def _end(self, moment: int) -> None:
        counts = self._blocks.order.counts
        counts[vector_clocks.SEQUENCE] += 1
        self._blocks.order.moments[moment, vector_clocks.DONE] = counts[vector_clocks.SEQUENCE]

    def renumber(self, compact: Callable[[np.ndarray], np.ndarray]) -> None:
        """Moments get other numbers; `compact` gives those of the used ones, int64 (k,)."""
        needed = np.array([moment for held in self._under_way.values() for _, moment in held], np.int64)
        new = iter(compact(needed).tolist())
        for key, held in self._under_way.items():
            self._under_way[key] = [(phase, next(new)) for phase, _ in held]

    def forget(self, block: int) -> None:
        """Drops the objects of a block that has ended."""
        self._mbarriers.forget(block)
        for of_objects in (self._under_way, self._awaited):
            for key in [key for key in of_objects if key.block == block]:
                del of_objects[key]

    # Requested operations

    def act(self, event: TraceEvent) -> None:
        if event.instruction.kind in REPORTING:
            self._report(event)
        else:
            self._in_groups(event)

    def _report(self, event: TraceEvent) -> None:
        """Each report to an mbarrier ends the previous copy."""
        held: list[Part] = []
        for part in _parts(event):
            held.append(part)
            if part.operation != "atomic":
                continue
            self._blocks.room_for(1)
            block, row, address = int(event.block[part.row]), part.row, int(part.addresses[0])
            moment = vector_clocks.on_barrier(self._blocks.order, block, int(event.warp[row]))
            key = self._mbarriers.key(block, address)
            phase = self._mbarriers.phase(key)
            for each in held[:-1]:
                self._touch_part(event, each, moment)
            self._ends_with(key, phase, moment)
            self._mbarriers.look(event, row, address)
            held.clear()

    def _ends_with(self, key: MbarrierAddress, phase: int, moment: int) -> None:
        """A thread that waits for a phase of an mbarrier waits for the operation."""
        if phase <= self._awaited.get(key, -1):
            self._end(moment)
        else:
            self._under_way[key].append((phase, moment))

    def store(self, event: TraceEvent) -> None:
        """Lanes store asynchronously to shared memory, and are about to report it."""
        access, number = event.accesses[0], event.instruction.number
        for row, lane in zip(*np.nonzero(access.active), strict=True):
            stored = _Store(int(access.addresses[row, lane]), access.nbytes, access.operation, number)
            self._stores[int(event.block[row]), int(event.warp[row]), int(lane)] = stored

    def report_stores(self, event: TraceEvent) -> None:
        """Lanes report their stores: those of one warp for one phase are one operation. It needs no proxy fence."""
        slots = self._blocks.slots(event.block)
        moments: dict[tuple[int, MbarrierAddress], int] = {}
        for row, lane, look, _ in self._mbarriers.operations(event):
            block, warp = int(event.block[row]), int(event.warp[row])
            stored = self._stores.pop((block, warp, lane))
            if (row, look.key) not in moments:
                self._blocks.room_for(1)
                moment = moments[row, look.key] = vector_clocks.on_barrier(self._blocks.order, block, warp)
                self._ends_with(look.key, look.phase, moment)
            self._touch(
                "shared",
                stored.operation,
                np.array([stored.address]),
                np.array([stored.nbytes]),
                np.array([[block, slots[row], warp, lane]]),
                moments[row, look.key],
                stored.number,
                conflict_rules.STRONG if stored.operation == "reduction" else 0,
            )

    def _in_groups(self, event: TraceEvent) -> None:
        slots = self._blocks.slots(event.block)
        for part in _parts(event):
            self._blocks.room_for(1)
            family = vector_clocks.MATRICES
            if event.instruction.kind != "matrix_async":
                family = vector_clocks.BULK_READS if part.operation == "load" else vector_clocks.BULK_WRITES
            block, slot, warp = int(event.block[part.row]), int(slots[part.row]), int(event.warp[part.row])
            self._touch_part(
                event, part, vector_clocks.in_group(self._blocks.order, block, slot, warp, part.lane, family)
            )  # fmt: skip

    def _touch_part(self, event: TraceEvent, part: Part, moment: int) -> None:
        block, warp = int(event.block[part.row]), int(event.warp[part.row])
        slot = int(self._blocks.slots(np.array([block]))[0])
        who = np.broadcast_to(np.array([block, slot, warp, part.lane]), (len(part.addresses), 4))
        how = conflict_rules.BY_PROXY | (conflict_rules.STRONG if part.operation == "reduction" else 0)
        self._touch(
            part.space, part.operation, part.addresses, part.nbytes, who, moment, event.instruction.number, how
        )  # fmt: skip


def _parts(event: TraceEvent) -> Iterator[Part]:
    """The event's ranges in the order in which they were touched, each lane's separately. A warp reads matrices
    jointly, as lane 0.
    """
    of_warp = event.instruction.kind == "matrix_async"
    for ranges in event.ranges:
        lanes = np.zeros(len(ranges.lanes), np.int64) if of_warp else ranges.lanes
        keys = ranges.warps * 32 + lanes
        starts = np.flatnonzero(np.diff(keys, prepend=-1))
        for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(keys)], strict=True):
            part = slice(start, end)
            yield Part(ranges.space, ranges.operation, int(ranges.warps[start]), int(lanes[start]),
                       ranges.addresses[part], ranges.nbytes[part])  # fmt: skip
