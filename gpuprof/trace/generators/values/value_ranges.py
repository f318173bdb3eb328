"""The ranges of the values that instructions write."""

import numpy as np

from gpuprof.tables.table import Column, Table
from gpuprof.trace.event import TraceEvent
from gpuprof.trace.generator import TraceGenerator
from gpuprof.trace.generators.values.float_values import numbers, scalar
from gpuprof.trace.kernel import Instruction, Kernel

RANGES = Table(
    "ranges",
    "values that arithmetic instructions have written",
    (
        Column("pc", "integer", "", "code address of the instruction"),
        Column("type", "text", "", "of the values"),
        Column("values", "integer", "values", "written by threads, NaN left out"),
        Column("smallest", "real", "", "of the finite ones"),
        Column("largest", "real", "", "of the finite ones"),
        Column("bits", "integer", "bits", "that integers need, including the sign; 0 for floats"),
        Column("exact_in_f16", "integer", "", "1: all values are floats that f16 can represent; 0: otherwise"),
    ),
)
INTEGERS = {"s32": np.int32, "u32": np.uint32, "s64": np.int64, "u64": np.uint64}


class Ranges(TraceGenerator):
    """Finds the range of the values that each arithmetic instruction writes: could it be narrower?"""

    name = "ranges"
    kinds = ("compute",)
    tables = (RANGES,)

    def initialize(self, kernel: Kernel) -> None:
        self.of: dict[int, list] = {}  # by pc: type, values, smallest, largest, exact in f16

    def post_event(self, event: TraceEvent) -> None:
        type_name = type_of(event.instruction)
        if not type_name or not event.results:
            return
        bits = event.results[0].bits
        if bits.dtype == np.bool_:
            return
        held = event.true
        if type_name in INTEGERS:
            # A wide product has 64 bits, while its row's type is that of the factors.
            type_name = f"{type_name[0]}{8 * bits.dtype.itemsize}"
            values, exact = bits.view(INTEGERS[type_name])[held], False
        elif bits.dtype.itemsize != (8 if type_name == "f64" else 4):
            return
        else:
            values = numbers(bits, type_name)[held]
            values = values[np.isfinite(values)]
            with np.errstate(over="ignore"):
                exact = bool((values.astype(np.float16).astype(values.dtype) == values).all())
        if not values.size:
            return
        smallest, largest = values.min().item(), values.max().item()
        if event.pc in self.of:
            row = self.of[event.pc]
            row[1:] = row[1] + values.size, min(row[2], smallest), max(row[3], largest), row[4] and exact
        else:
            self.of[event.pc] = [type_name, values.size, smallest, largest, exact]

    def finish(self) -> None:
        for pc, (type_name, values, smallest, largest, exact) in sorted(self.of.items()):
            bits = 0
            if type_name in INTEGERS:
                signed = smallest < 0
                bits = max(largest.bit_length(), (-smallest - 1).bit_length() if signed else 0, 1) + signed
            self.add_row("ranges", pc, type_name, values, float(smallest), float(largest), bits, int(exact))


def type_of(instruction: Instruction) -> str:
    """The type of the results; "" if they are neither integers of 32 or 64 bits nor floats."""
    types = instruction.op.types
    return types[0] if types and (types[0] in INTEGERS or scalar(types[0])) else ""
