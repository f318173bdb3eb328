"""What trace generators are told of a launch, thread by thread."""

from typing import NamedTuple

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

    def lanes(self, event: TraceEvent):
        """(row of the event, lane, list of the thread) of all active lanes."""
        for row, (block, warp, active) in enumerate(zip(event.block, event.warp, event.active, strict=True)):
            for lane in active.nonzero()[0].tolist():
                yield row, lane, self.threads[block][WARP * warp + lane]


class Runs(ByThread):
    """The basic blocks that each thread runs."""

    blocks = True

    def event(self, event: TraceEvent) -> None:
        for _, _, blocks in self.lanes(event):
            blocks.append(event.basic_block.index)


class Everything(ByThread):
    """All that is told of each thread: operands and accesses before, results after."""

    values = True

    def event(self, event: TraceEvent) -> None:
        number, depth, true = event.instruction.number, event.depth, event.true.tolist()
        operands = [value.bits.tolist() for value in event.operands]
        accesses = [Columns(access) for access in event.accesses]
        for row, lane, told in self.lanes(event):
            if true[row][lane]:
                values = tuple(int(bits[row][lane]) for bits in operands)
                touched = tuple(access.of(row, lane) for access in accesses if access.active[row][lane])
                told.append(Told(number, True, depth, values, (), touched))
            else:
                told.append(Told(number, False, depth))
        self.check_masks(event)

    def check_masks(self, event: TraceEvent) -> None:
        """The same by warps, in plain numbers; and a branch sends each lane one way."""
        taken, passed = event.taken_masks, event.fall_through_masks
        assert ((taken | passed) == event.active_masks).all() and not (taken & passed).any()
        for row, warp in enumerate(event.warps()):
            assert (warp.block, warp.warp) == (event.block[row], event.warp[row])
            assert (warp.active, warp.true) == (event.active_masks[row], event.true_masks[row])
            assert warp.lanes == tuple(event.true[row].nonzero()[0])

    def post_event(self, event: TraceEvent) -> None:
        """What was read before has not changed since."""
        operands = [value.bits.tolist() for value in event.operands]
        results = [value.bits.tolist() for value in event.results]
        for row, lane, told in self.lanes(event):
            before = told[-1]
            assert before.row == event.instruction.number
            if before.held:
                assert before.operands == tuple(int(bits[row][lane]) for bits in operands)
                told[-1] = before._replace(results=tuple(int(bits[row][lane]) for bits in results))


class Columns:
    """An access as lists, which single lanes are taken from."""

    def __init__(self, access):
        self.space, self.operation, self.nbytes = access.space, access.operation, access.nbytes
        self.active, self.addresses = access.active.tolist(), access.addresses.tolist()
        self.sizes = None if access.sizes is None else access.sizes.tolist()

    def of(self, row: int, lane: int) -> Access:
        nbytes = self.nbytes if self.sizes is None else self.sizes[row][lane]
        return Access(self.space, self.operation, self.addresses[row][lane], nbytes)


def expected(event: Event, op: Opcode) -> Told:
    """What has to be told of it: no results of what ends a basic block."""
    results = () if ends_block(op) else event.results
    return Told(event.row, event.held, event.depth, event.operands, results, event.accesses)
