"""Runs hand-made programs with trace generators watching, and notes the events as plain values."""

from functools import partial
from typing import NamedTuple

from gpuprof.chips import load_chip
from gpuprof.device.commands import Launch
from gpuprof.device.memory import AddressSpace
from gpuprof.device.module import load
from gpuprof.emulate.run import emulate
from gpuprof.emulate.trace_log.launch_counters import LaunchCounters
from gpuprof.run.observers.tracing import Attached, Tracers
from gpuprof.trace.event import TraceEvent
from gpuprof.trace.finding_report import Findings
from gpuprof.trace.generator import TraceGenerator
from tests.support.emulate_harness import program_of


def watch(instructions, *generators: TraceGenerator, memory=None, params=b"", grid=(1, 1, 1), block=(32, 1, 1),
          dynamic_shared_nbytes=0, where="", max_warp_instructions=1 << 22, **program) -> AddressSpace:  # fmt: skip
    """Emulates a kernel of these instructions, without timing it. The generators keep their results."""
    memory = memory or AddressSpace()
    chip = load_chip("a100")
    module = load(program_of(instructions, **program), memory)
    launch = Launch(0, module, module.program.functions[0], grid, block, dynamic_shared_nbytes, params, 0, "k")
    tracers = Tracers(chip, memory, Findings())
    for generator in generators:
        tracers.attach(Attached(generator, where))
    counters = LaunchCounters.zeros(len(module.code))
    run = partial(emulate, launch, memory, chip=chip, max_warp_instructions=max_warp_instructions, counters=counters)
    trace = tracers.watch(launch, "")
    for _ in trace.watched(run) if trace else run():
        pass
    return memory


class Seen(NamedTuple):
    """An event of one warp: instruction number, block, warp, active and true masks, depth, and of each access its
    space, operation, bytes and the addresses of the lanes that take part.
    """

    at: int
    block: int
    warp: int
    active: int
    true: int
    depth: int
    accesses: tuple


class Notes(TraceGenerator):
    """Notes every event of the wanted instructions, and what they read and wrote, by lane 0 of each warp."""

    def __init__(self, **options):
        super().__init__(**options)
        self.events: list[Seen] = []
        self.operands: list[tuple] = []
        self.written: list[tuple] = []

    def event(self, event: TraceEvent) -> None:
        for row in range(event.n_warps):
            self.events.append(seen(event, row))
            self.operands.append((event.instruction.number, *values(event.operands, row)))

    def post_event(self, event: TraceEvent) -> None:
        for row in range(event.n_warps):
            self.written.append((event.instruction.number, *values(event.results, row)))


def values(found, row: int) -> list[tuple]:
    return [(value.slot, value.name, int(value.bits[row, 0])) for value in found]


def seen(event: TraceEvent, row: int) -> Seen:
    accesses = tuple(
        (access.space, access.operation, access.nbytes, access.addresses[row][access.active[row]].tolist())
        for access in event.accesses
    )
    return Seen(
        event.instruction.number,
        int(event.block[row]),
        int(event.warp[row]),
        int(event.active_masks[row]),
        int(event.true_masks[row]),
        event.depth,
        accesses,
    )
