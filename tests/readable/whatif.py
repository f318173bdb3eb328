"""The readable twin with interventions on its program."""

from dataclasses import dataclass

from gpuprof.isa.encoding import writes
from tests.readable.timing import QUANTUM, Gpu


@dataclass(frozen=True)
class Changes:
    """Instructions, by number: those whose reads the L2 has; those whose results come sooner by so many cycles; those
    that are not there; barriers at which no warp waits.
    """

    hits_l2: frozenset = frozenset()
    sooner: frozenset = frozenset()
    cycles: int = 0
    gone: frozenset = frozenset()
    open: frozenset = frozenset()


class ChangedGpu(Gpu):
    def __init__(self, changes, *args, **more):
        super().__init__(*args, **more)
        self.changes = changes
        for pc in changes.gone:
            self.change(pc, slots=0)
        for pc in changes.open:
            self.change(pc, semantics="nop", kind="compute", pipe="none", space="", latency="barrier")

    def change(self, pc, **fields):
        instruction = self.instructions[pc]
        self.instructions[pc] = instruction._replace(op=instruction.op._replace(**fields))

    def write(self, warp, instruction, result, cause, reason=""):
        super().write(warp, instruction, result, cause, reason)
        if warp.pc in self.changes.sooner:
            for operand in writes(instruction):
                for written in warp.registers[operand.file, operand.index]:
                    if written.cycle is not None:
                        written.cycle = max(warp.issued + 1, written.cycle - self.changes.cycles)

    def serve(self, quantum_start):
        loads = list(self.loads)
        super().serve(quantum_start)
        for load in loads:
            if load.result.cause and load.result.cause.pc in self.changes.sooner:
                load.result.cycle = max(load.result.cycle - self.changes.cycles, quantum_start + QUANTUM)

    def is_there(self, r):
        _, pc = r.asked_by
        return pc in self.changes.hits_l2
