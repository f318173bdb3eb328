"""The instruction table: one row per opcode.

A row says what the assembler, the disassembler, the emulator and the timing model need to know:

* operands by register file: R (32-bit), D (64-bit), P (predicate); a digit is a count of consecutive registers ("R4");
  "A" is an address, D when the `addr64` modifier is set and R otherwise, to which the signed `imm` is added.
  A ">" marks a slot that is written. The slots are dst, a, b, c, e (see `encoding`).
* `kind`: what it is, load, barrier, call and so on (see `kinds`).
* `pipe`: the unit that executes it. `slots`: how many issue slots it takes in the common path, which is what the real
  assembler expands the operation to (measured with ptxas 13.0 for sm_80 for what kernels use most, estimated for the
  rest). `latency`: a key of a chip file's `[latency]` table; it is the distance from the last slot to the first use of
  the result. Rows without a latency have a key of `row.NO_LATENCY`.
* `semantics` and `types`: what it computes, by name; `emulate` has one function per name, and importing it fails for a
  row without one.

Numbers are assigned in table order. `families` has one file for each kind of instruction. Changing the table changes
the numbers: raise `ISA_VERSION` then (a test pins both).
"""

from collections.abc import Container, Iterator
from importlib import import_module
from typing import TypeVar

from gpuprof.isa.kinds import kinds_of
from gpuprof.isa.row import Opcode

Value = TypeVar("Value")

ISA_VERSION = 5

# Files of `families`, in the order of their numbers.
FAMILIES = (
    "control", "moves", "integer", "video", "floating", "half", "conversions", "small_floats", "memory", "atomics",
    "warp", "addresses", "copies", "texture", "mbarrier", "cluster", "bulk", "tensor",
)  # fmt: skip


def _rows() -> Iterator[Opcode]:
    for family in FAMILIES:
        yield from import_module(f"gpuprof.isa.families.{family}").rows()


TABLE: list[Opcode] = [each._replace(number=number) for number, each in enumerate(_rows())]
BY_NAME: dict[str, Opcode] = {each.name: each for each in TABLE}
assert len(BY_NAME) == len(TABLE)
SPACES = tuple(sorted({each.space for each in TABLE} - {"", "barrier"}))  # state spaces that instructions access


def ends_block(op: Opcode) -> bool:
    """True if a basic block ends with it: it may change the program counter, or other threads are waited for."""
    return op.pipe == "cbu" or op.space == "barrier"


def numbers(*names: str) -> frozenset[int]:
    """The rows of these names, by number. Raises KeyError for a name that is not in the table."""
    return frozenset(BY_NAME[name].number for name in names)


def named(name: str) -> Opcode | None:
    """The row of this name; None for that of a recording by another version."""
    return BY_NAME.get(name)


def names_of_kinds(*kinds: str) -> tuple[str, ...]:
    """The names of the rows of these kinds. Raises KeyError for a kind that is not in `kinds.KINDS`."""
    wanted = kinds_of(*kinds)
    return tuple(each.name for each in TABLE if each.kind in wanted)


def by_number(table: dict[str, Value]) -> dict[int, Value]:
    """A table by opcode name as one by opcode number. Raises KeyError for a name that is not in the instruction
    table."""
    return {BY_NAME[name].number: value for name, value in table.items()}


def check_latencies(known: Container[str]) -> None:
    """Checks a room's table by latency class. Raises AssertionError when a row's class is not in `known`."""
    unknown = {each.name: each.latency for each in TABLE if each.latency not in known}
    assert not unknown, f"rows with an unknown latency class: {unknown}"


# Atomics that compare before they store.
COMPARE_AND_SWAPS = frozenset(each.number for each in TABLE if each.semantics == "atom_cas")
# Atomic -> the same operation without its result, where there is one.
REDUCTION_OF = {
    each.number: reduction
    for each in TABLE
    if each.kind == "atomic" and (reduction := BY_NAME.get("RED" + each.name.removeprefix("ATOM")))
}
