"""A launch by the emulator and, on the same memory, one thread after the other; and how the two differ."""

import struct
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator
from functools import partial
from itertools import zip_longest
from typing import NamedTuple

import numpy as np

from gpuprof.chips import load_chip
from gpuprof.device.commands import Launch
from gpuprof.device.memory import AddressSpace
from gpuprof.device.module import load
from gpuprof.emulate.run import emulate
from gpuprof.emulate.trace_log.launch_counters import LaunchCounters
from gpuprof.emulate.trace_log.trace import Order, TracePiece
from gpuprof.isa.opcodes import TABLE
from gpuprof.isa.program import Program, basic_block_starts
from gpuprof.run.observers.tracing import Attached, Tracers
from gpuprof.trace.finding_report import Findings
from gpuprof.trace.generator import TraceGenerator
from tests.one_thread.events import Event
from tests.one_thread.launch import Done, run_launch
from tests.one_thread.watched import Everything, Runs, Told, expected

CHIP = load_chip("a100")
WARP = 32
SEGMENT_NBYTES = 200  # of trace: short, so that a kernel has many segments
PerThread = list[list[list[int]]]  # by block and thread


class Emulated(NamedTuple):
    arena: bytes
    pieces: list[TracePiece]
    counters: LaunchCounters


def prepared(program: Program, arrays: list[np.ndarray], grid=(1, 1, 1), block=(32, 1, 1), dynamic_shared_nbytes=0):
    """A launch of the program's one kernel, with the arrays as its first parameters; what is behind these is zero."""
    memory = AddressSpace()
    module = load(program, memory)
    (kernel,) = [function for function in program.functions if function.is_kernel]
    addresses = []
    for array in arrays:
        addresses.append(memory.allocate(array.nbytes, "array").address)
        memory.write(addresses[-1], array)
    nbytes = max([0, *(param.offset + param.nbytes for param in kernel.params)])
    params = struct.pack(f"<{len(addresses)}Q", *addresses).ljust(nbytes, b"\0")
    return Launch(0, module, kernel, grid, block, dynamic_shared_nbytes, params, 0, kernel.name), memory


class InParts:
    """Orders for short segments of trace, each of some of the warps, as the timing model gives them. `pieces`: what
    came.
    """

    def __init__(self, seed: int):
        self.random, self.pieces = np.random.default_rng(seed), []

    def __iter__(self) -> Iterator[Order]:
        n_pieces = -1
        while n_pieces < len(self.pieces):  # an order for blocks that there are not brings none
            n_pieces = len(self.pieces)
            if not n_pieces or self.pieces[-1].final.all():
                yield Order()
            else:
                last = self.pieces[-1]
                warps = self.random.random(len(last.final)) < 0.5
                yield Order(last.first_block, warps if (warps & ~last.final).any() else None)


def emulated(launch: Launch, memory: AddressSpace, *generators: TraceGenerator, parts: int | None = None) -> Emulated:
    """`memory` stays as it was. `parts`: the seed of orders for some warps at a time, None for all of them at once."""
    before = memory.arena.copy()
    counters = LaunchCounters.zeros(len(launch.module.code))
    orders = None if parts is None else InParts(parts)
    pieces = [] if orders is None else orders.pieces
    how = {"orders": orders, "segment_nbytes": SEGMENT_NBYTES} if orders else {}
    run = partial(emulate, launch, memory, chip=CHIP, max_warp_instructions=1_000_000, counters=counters, **how)
    tracers = Tracers(CHIP, memory, Findings())
    for generator in generators:
        tracers.attach(Attached(generator))
    watching = tracers.watch(launch, "")
    for piece in watching.watched(run) if watching else run():
        pieces.append(piece)  # before the next order is asked for
    arena = memory.arena.tobytes()
    memory.arena[:] = before
    return Emulated(arena, pieces, counters)


def differences(
    launch: Launch, memory: AddressSpace, unordered: Collection[int] = (), parts: int | None = None
) -> list[str]:
    """What the emulator does otherwise than the threads one by one, or tells generators otherwise; nothing where they
    agree. `unordered`: rows whose values depend on the order of the threads, so that only all of them together are
    compared. `parts`: as in `emulated`, of the emulation that generators watch.
    """
    alone, together = run_launch(launch, memory), emulated(launch, memory)
    everything, runs = Everything(), Runs()
    watched = emulated(launch, memory, everything, runs, parts=parts)
    return [
        *memory_differences(alone, together),
        *count_differences(launch, alone, together),
        *path_differences(launch, alone, blocks_of_threads(launch, together.pieces)),
        *path_differences(launch, alone, blocks_of_threads(launch, watched.pieces)),
        *path_differences(launch, alone, runs.threads),
        *event_differences(launch, alone, everything, frozenset(unordered)),
        *(["watching changes memory"] if watched.arena != together.arena else []),
    ]


def memory_differences(alone: Done, together: Emulated) -> list[str]:
    one, other = np.frombuffer(alone.arena, np.uint8), np.frombuffer(together.arena, np.uint8)
    at = np.flatnonzero(one != other)
    return [f"{len(at)} bytes of memory differ, at {at[:8].tolist()}"] if len(at) else []


def count_differences(launch: Launch, alone: Done, together: Emulated) -> list[str]:
    """How often threads came by each instruction, and how often the guard held."""
    events = [event for block in alone.events for thread in block for event in thread]
    came, held = Counter(event.row for event in events), Counter(event.row for event in events if event.held)
    counters = together.counters
    return [
        f"row {row}, {TABLE[launch.module.code['opcode'][row]].name}: {given} threads {verb}, not {wanted[row]}"
        for wanted, column, verb in (
            (came, counters.thread_inst_executed, "come by"),
            (held, counters.thread_inst_executed_pred_on, "execute it"),
        )
        for row, given in enumerate(column.tolist())
        if given != wanted[row]
    ]


def path_differences(launch: Launch, alone: Done, paths: PerThread) -> list[str]:
    """The basic blocks of each thread, in order."""
    starts = {row: block for block, row in enumerate(basic_block_starts(launch.module.code).tolist())}
    found = []
    for block, threads in enumerate(alone.events):
        for thread, events in enumerate(threads):
            wanted = path(events, starts)
            if paths[block][thread] != wanted:
                found.append(f"thread {thread} of block {block} runs blocks {paths[block][thread]}, not {wanted}")
    return found


def event_differences(launch: Launch, alone: Done, everything: Everything, unordered: frozenset[int]) -> list[str]:
    """The first event of each thread that generators are told otherwise, and all values of rows without an order."""
    ops = [TABLE[number] for number in launch.module.code["opcode"].tolist()]
    found = []
    values: dict[int, Counter] = defaultdict(Counter)  # row -> values that one side has more often
    for block, threads in enumerate(alone.events):
        for thread, events in enumerate(threads):
            told = everything.threads[block][thread]
            wanted = [expected(event, ops[event.row]) for event in events]
            for one, sign in ((told, 1), (wanted, -1)):
                for event in one:
                    if event.row in unordered:
                        values[event.row][event.operands, event.results] += sign
            pairs = zip_longest(hidden(told, unordered), hidden(wanted, unordered))
            first = next(((given, want) for given, want in pairs if given != want), None)
            if first:
                found.append(f"thread {thread} of block {block}: {first[0]}, not {first[1]}")
    wrong = {row: left for row, counts in values.items() if (left := {v: n for v, n in counts.items() if n})}
    return [*found, *(f"row {row}, {ops[row].name}: values {left}" for row, left in wrong.items())]


def hidden(events: list[Told], unordered: frozenset[int]) -> list[Told]:
    """Without the values that depend on the order of the threads."""
    return [event._replace(operands=(), results=()) if event.row in unordered else event for event in events]


def path(events: list[Event], starts: dict[int, int]) -> list[int]:
    return [starts[event.row] for event in events if event.row in starts]


def blocks_of_threads(launch: Launch, pieces: list[TracePiece]) -> PerThread:
    """The trace of the warps, as the basic blocks of each thread."""
    found: PerThread = [[[] for _ in range(launch.threads_per_block)] for _ in range(launch.n_blocks)]
    for piece in sorted(pieces, key=lambda piece: piece.number):
        for warp in range(len(piece.step_start) - 1):
            block, number = divmod(warp, piece.warps_per_block)
            threads = found[piece.first_block + block][WARP * number : WARP * (number + 1)]
            for step in piece.steps[piece.step_start[warp] : piece.step_start[warp + 1]].tolist():
                for lane, blocks in enumerate(threads):
                    if step[1] >> lane & 1:
                        blocks.append(step[0])
    return found
