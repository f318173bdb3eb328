"""The origins of NaN, infinities and subnormal numbers."""

import numpy as np

from gpuprof.tables.table import Column, Table
from gpuprof.trace.event import TraceEvent
from gpuprof.trace.generator import TraceGenerator
from gpuprof.trace.generators.values.float_values import kinds, numbers, scalar
from gpuprof.trace.kernel import Instruction, Kernel

ORIGINS = Table(
    "origins",
    "instructions that produce such a number from operands that are none",
    (
        Column("pc", "integer", "", "code address of the instruction"),
        Column("number", "text", "", "nan, inf or subnormal"),
        Column("threads", "integer", "executions", "by threads that produce one"),
        Column("block", "integer", "", "linear index in the grid of the first one's block"),
        Column("thread", "integer", "", "linear index of the first one in its block"),
    ),
)
WORDS = {"nan": "a NaN", "inf": "an infinity", "subnormal": "a subnormal number"}
SEVERITY = {"nan": "warning", "inf": "warning", "subnormal": "note"}


class Origins(TraceGenerator):
    """Finds the instructions that make NaN, infinities or subnormal numbers of operands that are none."""

    name = "origins"
    kinds = ("compute", "shuffle", "load", "matrix")
    values = True
    tables = (ORIGINS,)

    def initialize(self, kernel: Kernel) -> None:
        self.found: dict[tuple[int, str], list[int]] = {}  # threads, block and thread of the first
        self.first: dict[str, Instruction] = {}
        self.types: dict[int, tuple[str, str]] = {}

    def post_event(self, event: TraceEvent) -> None:
        instruction = event.instruction
        types = self.types.get(instruction.number)
        if types is None:
            types = self.types[instruction.number] = float_types(instruction)
        to, start = types
        if not to or not event.results:
            return
        held = event.true
        with np.errstate(invalid="ignore"):
            made = _merged([kinds(numbers(value.bits, to), to) for value in event.results if _is_float(value, to)])
            if not any((lanes & held).any() for lanes in made.values()):
                return
            had = _merged([kinds(numbers(value.bits, start), start) for value in event.operands
                           if start and _is_float(value, start)])  # fmt: skip
        for number, lanes in made.items():
            new = lanes & held
            if number in had:
                new &= ~had[number]
            if new.any():
                self._note(event, number, new)

    def _note(self, event: TraceEvent, number: str, new: np.ndarray) -> None:
        row, lane = (int(indices[0]) for indices in np.nonzero(new))
        key = event.pc, number
        if key not in self.found:
            self.found[key] = [0, int(event.block[row]), 32 * int(event.warp[row]) + lane]
        self.found[key][0] += int(np.count_nonzero(new))
        self.first.setdefault(number, event.instruction)

    def finish(self) -> None:
        for (pc, number), (threads, block, thread) in sorted(self.found.items()):
            self.add_row("origins", pc, number, threads, block, thread)
        for number, instruction in self.first.items():
            threads, block, thread = self.found[instruction.pc, number]
            self.find(
                f"first_{number}",
                SEVERITY[number],
                f"{WORDS[number]} is produced by {instruction.opcode} from operands without one",
                pc=instruction.pc,
                block=block,
                warp=thread // 32,
                thread=thread,
                count=threads,
            )


def float_types(instruction: Instruction) -> tuple[str, str]:
    """The floating-point type of the results, and that of the operands; "" for none."""
    types = instruction.op.types
    if instruction.kind != "compute" or not types:
        return "", ""
    return (types[0] if scalar(types[0]) else "", types[-1] if scalar(types[-1]) else "")


def _is_float(value, type_name: str) -> bool:
    return value.bits.dtype.itemsize == (8 if scalar(type_name) == "f64" else 4)


def _merged(parts: list[dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    merged: dict[str, np.ndarray] = {}
    for part in parts:
        for number, lanes in part.items():
            merged[number] = merged[number] | lanes if number in merged else lanes
    return merged
