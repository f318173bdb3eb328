"""The instruction table: one row per opcode.

A row says what the assembler, the disassembler, the emulator and the timing model need to know:

* operands by register file: R (32-bit), D (64-bit), P (predicate); a digit is a count of consecutive registers ("R4");
  "A" is an address, D when the `addr64` modifier is set and R otherwise, to which the signed `imm` is added.
  A ">" marks a slot that is written. The slots are dst, a, b, c, e (see `encoding`).
* `pipe`: the unit that executes it. `slots`: how many issue slots it takes in the common path, which is what the real
  assembler expands the operation to (measured with ptxas 13.0 for sm_80 for what kernels use most, estimated for the
  rest). `latency`: a key of a chip file's `[latency]` table; it is the distance from the last slot to the first use of
  the result.
* `semantics` and `types`: what it computes, by name; `emulate` has one function per name.

Numbers are assigned in table order. `families` has one file for each kind of instruction. Changing the table changes
the numbers: raise `ISA_VERSION` then (a test pins both).
"""

from gpuprof.isa.families import (
    addresses,
    atomics,
    bulk,
    cluster,
    control,
    conversions,
    copies,
    floating,
    half,
    integer,
    mbarrier,
    memory,
    moves,
    small_floats,
    tensor,
    texture,
    video,
    warp,
)  # fmt: skip
from gpuprof.isa.row import Opcode

ISA_VERSION = 3

FAMILIES = (
    control,
    moves,
    integer,
    video,
    floating,
    half,
    conversions,
    small_floats,
    memory,
    atomics,
    warp,
    addresses,
    copies,
    texture,
    mbarrier,
    cluster,
    bulk,
    tensor,
)  # fmt: skip

TABLE: list[Opcode] = [
    each._replace(number=number) for number, each in enumerate(each for family in FAMILIES for each in family.rows())
]
BY_NAME: dict[str, Opcode] = {each.name: each for each in TABLE}
assert len(BY_NAME) == len(TABLE)
