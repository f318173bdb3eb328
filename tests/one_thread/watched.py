"""What trace generators are told of a launch, thread by thread."""

from typing import NamedTuple

import numpy as np

from gpuprof.isa.opcodes import ends_block
from gpuprof.isa.row import Opcode
from gpuprof.trace.event import TraceEvent
from gpuprof.trace.generator import TraceGenerator
from gpuprof.trace.kernel import Kernel
from tests.one_thread.events import Access, Event

WARP = 32


class Told(NamedTuple):
    """An event of one thread, as events.Event has it, without where it goes next."""

    row: int
    held: bool
    depth: int
    operands: tuple[int, ...] = ()
    results: tuple[int, ...] = ()
    accesses: tuple[Access, ...] = ()


class ByThread(TraceGenerator):
    """Lists by thread. `threads[block][thread]`."""

    def initialize(self, kernel: Kernel) -> None:
        self.threads = [[[] for _ in range(kernel.threads_per_block)] for _ in range(kernel.n_blocks)]

    def of_lanes(self, event: TraceEvent) -> list[list]:
        """The lists of all active lanes, warp by warp."""
        rows, lanes = event.active.nonzero()
        threads = self.threads
        numbers = zip(event.block[rows].tolist(), (WARP * event.warp[rows] + lanes).tolist(), strict=True)
        return [threads[block][thread] for block, thread in numbers]


class Runs(ByThread):
    """The basic blocks that each thread runs."""

    blocks = True

    def event(self, event: TraceEvent) -> None:
        for blocks in self.of_lanes(event):
            blocks.append(event.basic_block.index)


class Everything(ByThread):
    """All that is told of each thread: operands and accesses before, results after."""

    values = True

    def event(self, event: TraceEvent) -> None:
        number, depth, active = event.instruction.number, event.depth, event.active
        accesses = lane_by_lane([accesses_of(access, active) for access in event.accesses], active)
        lanes = zip(self.of_lanes(event), event.true[active].tolist(), values(event.operands, active), accesses,
                    strict=True)  # fmt: skip
        for told, true, operands, touched in lanes:
            if true:
                told.append(Told(number, True, depth, operands, (), tuple(filter(None, touched))))
            else:
                told.append(Told(number, False, depth))
        self.check_masks(event)

    def check_masks(self, event: TraceEvent) -> None:
        """The same by warps, in plain numbers; and a branch sends each lane one way."""
        taken, passed = event.taken_masks, event.fall_through_masks
        assert ((taken | passed) == event.active_masks).all() and not (taken & passed).any()
        columns = (event.block, event.warp, event.active_masks, event.true_masks)
        wanted = list(zip(*(column.tolist() for column in columns), strict=True))
        assert [warp[:4] for warp in event.warps()] == wanted
        for warp in event.warps():
            assert sum(1 << lane for lane in warp.lanes) == warp.true

    def post_event(self, event: TraceEvent) -> None:
        """What was read before has not changed since."""
        active, number = event.active, event.instruction.number
        lanes = zip(self.of_lanes(event), values(event.operands, active), values(event.results, active), strict=True)
        for told, operands, results in lanes:
            before = told[-1]
            assert before.row == number
            if before.held:
                assert before.operands == operands
                told[-1] = before._replace(results=results)


def values(found: tuple, active: np.ndarray) -> list[tuple[int, ...]]:
    """Of each active lane, those of all operands or results."""
    return lane_by_lane([(value.bits[active] + np.uint8(0)).tolist() for value in found], active)


def lane_by_lane(columns: list[list], active: np.ndarray) -> list[tuple]:
    return list(zip(*columns, strict=True)) if columns else [()] * int(active.sum())


def accesses_of(access, active: np.ndarray) -> list[Access | None]:
    """Of each active lane; None where it takes no part."""
    sizes = np.full(active.shape, access.nbytes) if access.sizes is None else access.sizes
    columns = (access.active[active].tolist(), access.addresses[active].tolist(), sizes[active].tolist())
    return [
        Access(access.space, access.operation, address, nbytes) if takes_part else None
        for takes_part, address, nbytes in zip(*columns, strict=True)
    ]


def expected(event: Event, op: Opcode) -> Told:
    """What has to be told of it: no results of what ends a basic block."""
    results = () if ends_block(op) else event.results
    return Told(event.row, event.held, event.depth, event.operands, results, event.accesses)
