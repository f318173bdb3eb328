"""Launches in flight: requested on a stream, and not waited for yet.

Their effects on memory happen in the order of the requests, whatever the timing is. They are timed together once the
host waits: `PendingLaunch.pieces` then gives the trace of each as the timing model orders it. Before a launch is
emulated, all earlier ones are emulated to their end, and their traces are stored.
"""

import pickle
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

import numpy as np

from gpuprof.base.cache_control import AS_THE_PROGRAM, CacheControl
from gpuprof.base.interrupts import uninterrupted
from gpuprof.device import commands as cmd
from gpuprof.emulate.trace_log.launch_counters import LaunchCounters
from gpuprof.emulate.trace_log.trace import REST, Order, TracePiece
from gpuprof.errors import GpuprofError
from gpuprof.run.launching.emulation_progress import emulating
from gpuprof.run.launching.emulation_thread import Orders, ahead
from gpuprof.run.observers.observer import StreamOperation
from gpuprof.timing.batch import Shades
from gpuprof.timing.draw_tables import DrawWork
from gpuprof.timing.sampling.filter import Filter

# The host waits when so many launches are in flight, or so many instructions of theirs (each has a row of the ledger
# for itself).
MOST_FLIGHTS, MOST_INSTRUCTIONS = 1024, 1 << 20
IN_MEMORY_NBYTES = 256 << 20  # the part of a put-by trace that stays in memory; the rest goes to a temporary file
# The most in that file: the trace of some 3,500 million warp instructions of a memory-bound kernel, about 9 bytes each
# (tests/bench/long_run.py).
MOST_NBYTES = 32 << 30

Emulate: TypeAlias = Callable[[Orders], Iterator[TracePiece]]


class Shelf:
    """Stored pieces, first in, first out for each chunk of blocks: in memory, and beyond a bound in a file.

    `put` raises GpuprofError when the file gets too long, or the disk is full; `why`, in the plural, and `advice` are
    the name of the pieces and a remedy.
    """

    def __init__(self, why: str, advice: str, in_memory_nbytes: int = IN_MEMORY_NBYTES, most_nbytes: int = MOST_NBYTES):
        self._why, self._advice = why, advice
        self._room_nbytes, self._most_nbytes = in_memory_nbytes, most_nbytes
        # by first block; or where it is in the file, and how long
        self._chunks: dict[int, deque[TracePiece | tuple[int, int]]] = {}
        self._new: deque[int] = deque()  # chunks whose first piece is here
        self._file = None

    def __len__(self) -> int:
        return sum(map(len, self._chunks.values()))

    def put(self, piece: TracePiece) -> None:
        if piece.number == 0:
            self._new.append(piece.first_block)
        self._chunks.setdefault(piece.first_block, deque()).append(self._kept(piece))

    def take(self, order: Order) -> TracePiece | None:
        """The piece that was ordered: the next of a chunk. None when a new chunk is ordered and there is none."""
        if order.first_block < 0 and not self._new:
            return None
        piece = self._chunks[order.first_block if order.first_block >= 0 else self._new.popleft()].popleft()
        if isinstance(piece, TracePiece):
            return piece
        self._file.seek(piece[0])
        return pickle.load(self._file)

    def _kept(self, piece: TracePiece) -> TracePiece | tuple[int, int]:
        nbytes = sum(value.nbytes for value in piece if isinstance(value, np.ndarray))
        if nbytes <= self._room_nbytes:
            self._room_nbytes -= nbytes
            return piece
        try:
            return self._written(piece, nbytes)
        except OSError as error:
            text = (
                f"the temporary file of {self._why} cannot be written: {error.strerror or error}; set TMPDIR to a "
                f"folder with more room, or {self._advice}"
            )
            raise GpuprofError(text) from None

    def _written(self, piece: TracePiece, nbytes: int) -> tuple[int, int]:
        """Writes a piece to the file: (where it begins, how long it is), in bytes."""
        if self._file is None:
            self._file = tempfile.TemporaryFile(prefix="gpuprof-")  # noqa: SIM115 (it lives as long as the shelf)
        start = self._file.seek(0, 2)
        if start + nbytes > self._most_nbytes:
            raise GpuprofError(
                f"{self._why} need more than a temporary file of {self._most_nbytes / (1 << 30):.3g} GiB; "
                f"{self._advice}"
            )
        pickle.dump(piece, self._file, protocol=pickle.HIGHEST_PROTOCOL)
        # A full disk must show here, where it becomes an error with advice, and not in a later read.
        self._file.flush()
        return start, self._file.tell() - start


class Queue:
    """Emulations in the order of their requests: `first_open` is the number of the first that is not known to have
    ended.
    """

    def __init__(self) -> None:
        self.pieces: list[Pieces] = []
        self.first_open = 0

    def finish(self, end: int) -> None:
        """Emulates all before number `end`."""
        while self.first_open < end:
            self.pieces[self.first_open].put_rest_by()
            self.first_open += 1

    def run_through(self) -> None:
        """Emulates all, without a trace."""
        for pieces in self.pieces[self.first_open :]:
            pieces.run_through()
            self.first_open += 1

    def forget(self, first: int) -> None:
        """Removes those from number `first` on."""
        del self.pieces[first:]
        self.first_open = min(self.first_open, first)


class Pieces:
    """The trace of a launch of `n_blocks` blocks, a piece for each order, after the emulation of those before it.

    The emulator runs on its own thread while the timing has something to do: after the first piece, of a launch that
    has more than that. Most launches have not, and handing one over takes as long as emulating it.
    """

    def __init__(self, emulate: Emulate, queue: Queue, n_blocks: int):
        self._orders = Orders()
        self._emulation = emulate(self._orders)
        self._live: Iterator[TracePiece] | None = None  # the emulation, once its first piece is there
        self._n_blocks = n_blocks
        self._open: deque[Order] = deque()  # orders without a piece yet
        self._shelf: Shelf | None = None
        self._queue, self._number = queue, len(queue.pieces)
        queue.pieces.append(self)

    def order(self, order: Order) -> None:
        self._open.append(order)
        if self._shelf is None:
            self._orders.put(order)

    def __iter__(self) -> "Pieces":
        return self

    def __next__(self) -> TracePiece:
        # Effects on memory come in the order of the requests, so all earlier launches are emulated first.
        self._queue.finish(self._number)
        if self._shelf is not None:
            return self._take()
        piece = self._next()
        # an order for a new chunk, when there was none, is passed over
        while not _answers(piece, self._open.popleft()):
            assert self._open, "a piece without an order"
        return piece

    def _next(self) -> TracePiece:
        if self._live is not None:
            return next(self._live)
        piece = next(self._emulation)
        is_all = piece.n_blocks == self._n_blocks and piece.final.all()
        self._live = self._emulation if is_all else self._ahead()
        return piece

    def _ahead(self) -> Iterator[TracePiece]:
        """The emulation on its thread."""
        with uninterrupted():  # or a signal might leave a thread at work without a reference to it
            # Without a bound of the queue's own: orders bound the pieces that are made.
            self._live = ahead(self._emulation, depth=0)
        return self._live

    def put_rest_by(self) -> None:
        """Emulates to the launch's end; pieces that are on order, or not ordered yet, are stored."""
        self._shelf = Shelf(
            "traces of a launch that later ones overtake",
            "wait for that launch before the later ones, or stop it earlier with --max-cycles",
        )
        self._orders.put(Order(REST))
        self._orders.close()
        for piece in self._live or self._emulation:
            self._shelf.put(piece)

    def run_through(self) -> None:
        """Emulates to the launch's end, without a trace."""
        self._orders.put(Order(REST, traced=False))
        self._orders.close()
        for _ in self._live or self._emulation:
            pass

    def close(self) -> None:
        """Ends the emulation, wherever it is."""
        (self._live or self._emulation).close()

    def _take(self) -> TracePiece:
        while self._open:
            if (piece := self._shelf.take(self._open.popleft())) is not None:
                return piece
        raise StopIteration


def _answers(piece: TracePiece, order: Order) -> bool:
    return piece.number == 0 if order.first_block < 0 else piece.first_block == order.first_block


class BegunLaunch(NamedTuple):
    """A launch that was requested: its emulation, which fills the counters, the filter of its samples, the priority
    that its stream had at the request, how it is measured, and the cycle in which the GPU gets it.
    """

    launch: cmd.Launch
    counters: LaunchCounters
    emulate: Emulate
    filter: Filter
    priority: int
    control: CacheControl = AS_THE_PROGRAM
    arrival: int = 0


@dataclass(eq=False)
class PendingLaunch:
    """A launch in flight. `after`, `after_signal`, `launched_by` and `arrival` are as in timing.batch.Grid;
    `launch_cycles` too, None: the chip's.
    """

    launch: cmd.Launch
    counters: LaunchCounters
    pieces: Pieces
    filter: Filter
    priority: int
    after: tuple[int, ...]
    after_signal: tuple[int, ...]
    launched_by: tuple[int, int, int] | None
    control: CacheControl
    arrival: int = 0
    launch_cycles: int | None = None
    # of a draw's shader, as in timing.batch.Grid
    shades: Shades | None = None
    draw: DrawWork | None = None


@dataclass
class _Stream:
    """A stream of launches and operations. The next one waits for the flights `tail`, by number (-1 - n: operation n),
    and, once, for those in `events`.
    """

    tail: set[int] = field(default_factory=set)
    last: int | None = None
    events: set[int] = field(default_factory=set)


@dataclass
class _Mark:
    """A recorded event: it happens at `cycle`, or when the last of these flights ends."""

    cycle: int
    flights: frozenset[int] = frozenset()


class InFlight:
    """The flights, in the order of their requests, and what waits for what."""

    def __init__(self) -> None:
        self.flights: list[PendingLaunch] = []
        self.operations: list[StreamOperation] = []  # that wait for flights, or may
        self.n_instructions = 0  # of the flights' programs
        self._queue = Queue()
        self._streams: dict[int, _Stream] = {}
        self._marks: dict[int, _Mark] = {}

    def add(self, begun: BegunLaunch, launch_cycles: int | None = None, cross_stream_cycles: int = 0) -> None:
        """A launch on a stream: after what the stream has, or when it is dependent and there is a launch before, as
        that lets it. launch_cycles: before its first block; and cross_stream_cycles, if it waits for an event.
        """
        stream = self._stream(begun.launch.stream)
        number = len(self.flights)
        if begun.launch.dependent and stream.last is not None:
            after, after_signal = stream.events, (stream.last,)
        else:
            after, after_signal, stream.tail = stream.tail | stream.events, (), set()
        if launch_cycles is not None and stream.events:
            launch_cycles += cross_stream_cycles
        self._take_off(begun, after, after_signal, launch_cycles=launch_cycles)
        stream.tail.add(number)
        stream.last, stream.events = number, set()

    def operate(self, operation: StreamOperation) -> None:
        """An operation of a stream: after what the stream has."""
        stream = self._stream(operation.stream)
        operation.after = tuple(sorted(stream.tail | stream.events))
        self.operations.append(operation)
        stream.tail, stream.last, stream.events = {-len(self.operations)}, None, set()

    def operate_before(self, number: int, operations: Iterable[StreamOperation]) -> None:
        """Operations that bring memory to a launch in flight: after all that the launch waits for."""
        flight = self.flights[number]
        after = flight.after
        for operation in operations:
            operation.after = after
            self.operations.append(operation)
            flight.after = (*flight.after, -len(self.operations))

    @property
    def are_draws(self) -> bool:
        """True if something is in flight, all of it shaders of draws."""
        return bool(self.flights) and all(flight.shades for flight in self.flights)

    @property
    def control(self) -> CacheControl | None:
        """How they are measured, all alike; None if nothing is in flight."""
        return self.flights[0].control if self.flights else None

    @property
    def is_full(self) -> bool:
        return len(self.flights) >= MOST_FLIGHTS or self.n_instructions > MOST_INSTRUCTIONS

    def add_shader(self, begun: BegunLaunch, shades: Shades) -> PendingLaunch:
        """A shader of a draw: the fixed-function units say when its blocks start."""
        self._take_off(begun, ())
        self.flights[-1].shades = shades
        return self.flights[-1]

    def add_launched(self, begun: BegunLaunch, after: list[int], launched_by: tuple[int, int, int]) -> None:
        """A launch by a kernel in flight. What waits for that on its stream waits for both."""
        self._stream(begun.launch.stream).tail.add(len(self.flights))
        self._take_off(begun, after, launched_by=launched_by)

    def _take_off(
        self,
        begun: BegunLaunch,
        after: Iterable[int],
        after_signal: tuple[int, ...] = (),
        launched_by: tuple[int, int, int] | None = None,
        launch_cycles: int | None = None,
    ) -> None:
        self.n_instructions += len(begun.launch.module.code)
        self.flights.append(
            PendingLaunch(
                begun.launch,
                begun.counters,
                Pieces(begun.emulate, self._queue, begun.launch.n_blocks),
                begun.filter,
                begun.priority,
                tuple(sorted(after)),
                after_signal,
                launched_by,
                begun.control,
                begun.arrival,
                launch_cycles,
            )
        )

    def tail(self, stream: int) -> list[PendingLaunch]:
        """The flights at the end of a stream."""
        return self._numbered(self._stream(stream).tail)

    def before_event(self, event: int) -> list[PendingLaunch]:
        """The flights that an event waits for; none of an event that was not recorded."""
        mark = self._marks.get(event)
        return self._numbered(mark.flights) if mark else []

    def _numbered(self, numbers: Iterable[int]) -> list[PendingLaunch]:
        """The launches among these flights."""
        return [self.flights[number] for number in sorted(numbers) if number >= 0]

    def mark(self, event: int, stream: int, cycle: int) -> None:
        """Records an event at the end of a stream: not before `cycle`."""
        there = self._stream(stream)
        self._marks[event] = _Mark(cycle, frozenset(there.tail | there.events))

    def wait(self, event: int, stream: int) -> None:
        """Later work on the stream waits for the event, too."""
        if event in self._marks:
            self._stream(stream).events |= self._marks[event].flights

    def depends(self, event: int) -> bool:
        """True if the event's cycle is not known before the flights have been timed."""
        return bool(self._marks[event].flights)

    def known_cycle(self, event: int) -> int | None:
        """The cycle of a recorded event that depends on nothing in flight."""
        mark = self._marks.get(event)
        return mark.cycle if mark and not mark.flights else None

    def cycle_of(self, event: int) -> int:
        return self._marks[event].cycle

    def finish_emulation(self) -> None:
        """Emulates everything that was requested so far, so that memory has its effects."""
        with emulating([(flight.launch, flight.counters) for flight in self.flights]):
            self._queue.finish(len(self.flights))

    def run_through(self) -> None:
        """Emulates everything that was requested so far, without a trace: nothing of it is timed."""
        with emulating([(flight.launch, flight.counters) for flight in self.flights]):
            self._queue.run_through()

    def landed(self, end_cycle: Callable[[int], int]) -> None:
        """All flights are over; `end_cycle` gives the end of one by its number, -1 - n of operation n."""
        for mark in self._marks.values():
            mark.cycle = max([mark.cycle, *(end_cycle(number) for number in mark.flights)])
        self.drop()

    def take_back(self, first: int) -> list[PendingLaunch]:
        """Forgets the shaders of draws from number `first` on, and gives them; all before have been emulated."""
        flights, self.flights = self.flights[first:], self.flights[:first]
        for flight in flights:
            flight.pieces.close()
            self.n_instructions -= len(flight.launch.module.code)
        self._queue.forget(first)
        return flights

    def drop(self) -> None:
        """Forgets the flights, and what was to wait for them."""
        for mark in self._marks.values():
            mark.flights = frozenset()
        for flight in self.flights:
            flight.pieces.close()
        self.flights, self.operations, self.n_instructions, self._queue = [], [], 0, Queue()
        self._streams = {}

    def _stream(self, number: int) -> _Stream:
        return self._streams.setdefault(number, _Stream())
