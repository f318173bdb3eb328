"""emulate(): runs a launch and gives its trace, chunk by chunk, and what runs long a segment at a time."""

import struct
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from gpuprof.base.processes import n_threads
from gpuprof.device.commands import Launch
from gpuprof.device.memory import AddressSpace
from gpuprof.emulate.blocks import compiled
from gpuprof.emulate.chunk import Chunk
from gpuprof.emulate.core.lanes import WARP
from gpuprof.emulate.core.pacing import Clocks
from gpuprof.emulate.core.rounding import usual_floats
from gpuprof.emulate.core.spaces import BlockSpace, GlobalSpace, LaneSpace
from gpuprof.emulate.memory.signals import Counts
from gpuprof.emulate.spread.helpers import CAN_FORK
from gpuprof.emulate.spread.kernels import may_spread
from gpuprof.emulate.spread.pace import Pace
from gpuprof.emulate.spread.spread import spread
from gpuprof.emulate.trace_log.event_tally import Tally
from gpuprof.emulate.trace_log.launch_counters import LaunchCounters
from gpuprof.emulate.trace_log.trace import REST, Order, TracePiece
from gpuprof.emulate.watch.footprint import Footprint
from gpuprof.emulate.watch.listener import Listener
from gpuprof.emulate.watched_blocks import watched_blocks
from gpuprof.emulate.watched_chunk import WatchedChunk
from gpuprof.isa.special import CONSTANTS_AT, LAUNCH_WORDS_AT, LITERALS_AT

CHUNK_LANES = 32 * 1024  # measured (tests/bench/emulate.py): 16 K is a fifth slower, 64 K no faster
FIRST_CHUNK_LANES = 4 * 1024  # until it is known how much trace a block makes
# A segment of a chunk's trace is about this long, or longer for many warps. Two or three for each chunk that is on the
# chip are in memory.
SEGMENT_NBYTES = 24 << 20
UNTRACED_NBYTES = 1 << 20  # of log, before it is thrown away
PER_WARP = CHUNK_LANES // WARP  # from this number of warps on, each adds its part to a segment
MOST_CHUNKS = 64  # of a process, before effects are put together: until then they take memory
NO_LIMIT = 1 << 62  # of the instructions of a warp
STACK_NBYTES = 256 << 10  # local memory of a thread whose need the assembler could not bound


class Run:
    """The state that all chunks of a launch share."""

    def __init__(
        self,
        launch: Launch,
        memory: AddressSpace,
        chip,
        max_warp_instructions: int | None,
        counters: LaunchCounters,
        listener: Listener | None,
        footprint: Footprint | None,
        is_counted: bool,
    ):
        if footprint is not None:
            footprint.begin()
        self.launch = launch
        self.memory = memory
        self.chip = chip
        self.max_warp_instructions = max_warp_instructions or NO_LIMIT
        self.counters = counters
        self.module = compiled(launch.module)
        self.module.prepare(launch.function.first, launch.module.program.functions)
        self.cluster = launch.blocks_of_cluster
        # Blocks that may wait for each other have to run together, or the first would wait for ever.
        self.waits, self.takes_turns = self.module.waits, self.module.takes_turns
        self.clocks = Clocks(self) if self.module.is_ordered else None
        self.listener = listener
        # Before the pool of constants is read: what is watched may add to it.
        self.watched = watched_blocks(self.module, listener.wanted) if listener else None
        self.chunk_type = WatchedChunk if listener else Chunk
        launched = self.module.launched
        self.constants = launched.constants(self.module.env.pool, constant_bank(launch))
        function = launch.function
        self.register_counts = (function.r_count, function.d_count, function.p_count)
        self.warps_per_block = -(-launch.threads_per_block // WARP)
        self.tally = Tally(counters, is_counted)
        self.signals: Counts = {}
        self.log = launched.take_log()
        self.global_space = GlobalSpace(memory, footprint)
        self.const_space = launched.read_only(launch.module.const_segment, "constant segment", True)
        self.param_space = launched.read_only(launch.params, "parameter block", False)

    def spaces(self, chunk: Chunk) -> dict[str, object]:
        """The state spaces of a chunk: shared and local memory are its own, and zero."""
        function = self.launch.function
        local_nbytes, limit_nbytes = function.local_nbytes, function.local_nbytes or STACK_NBYTES
        first_warp = chunk.first_block * chunk.warps_per_block
        return {
            "global": self.global_space,
            "shared": BlockSpace(
                chunk.n_blocks,
                self.launch.shared_nbytes,
                chunk.warps_per_block,
                self.cluster,
                self.module.uses_system_shared,
            ),
            "local": LaneSpace(chunk.n_warps * WARP, local_nbytes, limit_nbytes, first_warp),
            "const": self.const_space,
            "param": self.param_space,
        }

    def first_chunk(self) -> int:
        """Blocks in the first chunk. Blocks that may wait for each other need to run together, as far as the chip can
        hold them; so do blocks that share work out among themselves, or the first few would have done all of it before
        the others begin."""
        lanes = self.warps_per_block * WARP
        if self.takes_turns:
            most = max(1, self.chip.sms * self.chip.warp_slots // self.warps_per_block)
            # Where not all blocks run together in any case, those that wait do so for blocks before them.
            return self.clocks.resident if self.clocks and self.launch.n_blocks > most else most
        return max(1, FIRST_CHUNK_LANES // lanes)

    @property
    def may_spread(self) -> bool:
        """True if chunks that leave no trace may run in other processes."""
        is_alone = CAN_FORK and self.listener is None and not self.takes_turns
        return is_alone and may_spread(self.module, self.launch.function.first)

    def next_chunk(self) -> int:
        """Blocks in every chunk after the first."""
        return self.first_chunk() if self.takes_turns else max(1, CHUNK_LANES // (self.warps_per_block * WARP))


class Resting(NamedTuple):
    chunk: Chunk
    steps: Iterator[None]
    number: int  # of its next segment


class Emulation:
    """A launch under way: chunks in the order of their blocks, of which some rest in their midst."""

    def __init__(self, run: Run, segment_nbytes: int):
        self.run, self.segment_nbytes = run, segment_nbytes
        self.next_block, self.size = 0, run.first_chunk()
        self.resting: dict[int, Resting] = {}  # by first block

    def carry_out(self, order: Order) -> TracePiece:
        """The next segment of a chunk."""
        chunk, steps, number = (
            self._begin(self.segment_nbytes) if order.first_block < 0 else self.resting.pop(order.first_block)
        )
        chunk.wake(order.warps)
        self.run.log.begin(chunk.n_warps)
        # A GPU's arithmetic raises no exceptions: infinity and NaN are results, and numpy must not warn of them.
        with np.errstate(all="ignore"), usual_floats():
            next(steps, None)
        if chunk.live.any():
            self.resting[chunk.first_block] = Resting(chunk, steps, number + 1)
        else:
            self._ended(chunk)
        return self.run.log.piece(chunk.first_block, chunk.n_blocks, chunk.warps_per_block, chunk.live == 0, number)

    def finish(self) -> None:
        """Everything to the end, without a trace."""
        self.run.log.is_wanted = False
        while self.resting:
            self._finish_chunk(self.resting.pop(next(iter(self.resting))))
        pace = Pace(self.run.counters.pulse)
        while (n_left := self.run.launch.n_blocks - self.next_block) > 0:
            n_chunks = -(-n_left // complete_clusters(self.size, self.run.cluster))
            is_long = n_chunks > 1 and pace.is_long(n_left)
            if is_long and self.run.may_spread and (n_processes := min(n_threads(), n_chunks)) > 1:
                self._spread(min(n_chunks, MOST_CHUNKS * n_processes), n_processes)
                continue
            first = self.next_block
            pace.begin()
            self._finish_chunk(self._begin(UNTRACED_NBYTES))
            pace.end(self.next_block - first)

    def _spread(self, n_chunks: int, n_processes: int) -> None:
        """The next chunks, on several processes."""
        first, n_blocks = self.next_block, complete_clusters(self.size, self.run.cluster)
        end, pulse = min(first + n_chunks * n_blocks, self.run.launch.n_blocks), self.run.counters.pulse

        def carry_out(chunk: int) -> None:
            self.next_block = first + chunk * n_blocks
            self._finish_chunk(self._begin(UNTRACED_NBYTES))

        def show(n_left: int) -> None:
            pulse.blocks = end - n_left * n_blocks

        try:
            spread(self.run, n_chunks, carry_out, n_processes, show)
            self.next_block = end
        finally:
            pulse.blocks = self.next_block

    def _finish_chunk(self, resting: Resting) -> None:
        chunk, steps, _ = resting
        chunk.wake()
        with np.errstate(all="ignore"), usual_floats():
            self.run.log.begin(chunk.n_warps)
            for _ in steps:
                self.run.log.begin(chunk.n_warps)
        self._ended(chunk)

    def _ended(self, chunk: Chunk) -> None:
        if type(chunk) is Chunk:  # a listener may look at the registers later
            self.run.module.launched.give_back(chunk.file)

    def _begin(self, segment_nbytes: int) -> Resting:
        run = self.run
        chunk = run.chunk_type(
            run, self.next_block, min(complete_clusters(self.size, run.cluster), run.launch.n_blocks - self.next_block)
        )
        chunk.begin()
        return self._resting(chunk, segment_nbytes)

    def _resting(self, chunk: Chunk, segment_nbytes: int) -> Resting:
        self.size, self.next_block = self.run.next_chunk(), chunk.first_block + chunk.n_blocks
        pulse = self.run.counters.pulse
        pulse.blocks = max(pulse.blocks, self.next_block)  # more where other processes have begun some
        return Resting(chunk, chunk.run(max(segment_nbytes, chunk.n_warps * segment_nbytes // PER_WARP)), 0)

    def resume(self, chunk: Chunk) -> None:
        """Continues a chunk that rests; those before it have ended."""
        self.resting[chunk.first_block] = self._resting(chunk, self.segment_nbytes)

    def in_order(self) -> Iterator[Order]:
        """Every chunk to its end, then the next."""
        while self.resting or self.next_block < self.run.launch.n_blocks:
            yield Order(next(iter(self.resting), -1))


def emulate(  # noqa: PLR0913  # a value for each number that a launch has
    launch: Launch,
    memory: AddressSpace,
    *,
    chip,
    max_warp_instructions: int | None = None,
    counters: LaunchCounters,
    orders: Iterable[Order] | None = None,
    segment_nbytes: int = SEGMENT_NBYTES,
    listener: Listener | None = None,
    footprint: Footprint | None = None,
    is_counted: bool = True,
    resumed: WatchedChunk | None = None,
) -> Iterator[TracePiece]:
    """Runs all blocks of a launch and yields their trace, a piece for each order; without `orders` each chunk to its
    end, one after the other.

    An order for a new chunk when there is none is passed over. Results are in `memory` and exact counts in `counters`
    when the iterator ends. `max_warp_instructions`, if any, bounds the instructions that a warp may execute; a
    chunk rests when it has made about `segment_nbytes` of trace. A `listener` is notified of the events it requests; an
    exception of it ends the launch. A `footprint` has the bytes that the launch read and wrote when the iterator ends.
    Without `is_counted` the numbers in `counters` stay zero: only the kernel's output, its launches and the pulse are
    recorded. `resumed`: the chunk to continue with, from emulate.watch.duplicate, in place of the first; memory is as
    it was then. Raises KernelFault; `counters` then hold what ran before it.
    """
    run = Run(launch, memory, chip, max_warp_instructions, counters, listener, footprint, is_counted)
    emulation = Emulation(run, segment_nbytes)
    if resumed is not None:
        resumed.move_to(run)
        emulation.resume(resumed)
    try:
        for requested in (Order(REST),) if orders is None else orders:
            if not requested.traced:
                emulation.finish()
                continue
            for order in emulation.in_order() if requested.first_block == REST else (requested,):
                if order.first_block >= 0 or emulation.next_block < launch.n_blocks:
                    yield emulation.carry_out(order)
    finally:
        run.tally.finish(run.module.blocks)
        if listener is None:  # a listener may look at a chunk later
            run.module.launched.give_back_log(run.log)


def constant_bank(launch: Launch) -> bytes:
    """The bank that constant operands read: the parameter block, after it the extents of the launch, the program's
    literals and its variables in constant memory.
    """
    words = launch.params.ljust(LAUNCH_WORDS_AT, b"\0") + struct.pack("<6I", *launch.block, *launch.grid)
    bank = words.ljust(LITERALS_AT, b"\0") + launch.module.program.literals
    variables = launch.module.const_segment
    return bank.ljust(CONSTANTS_AT, b"\0") + variables if variables else bank


def complete_clusters(n_blocks: int, cluster: int) -> int:
    """`n_blocks`, rounded up to whole clusters, since the blocks of a cluster wait for each other."""
    return -(-n_blocks // cluster) * cluster
