"""The expansion of an instruction of our table on a chip's architecture: how many issue slots, and on which unit.

The table has the slots that ptxas 13.0 gives an operation for sm_80. Here is where other generations differ, by the
same measurement (tests/ptxas/expansion.csv): sm_120 adds and compares 64-bit integers in one instruction, newer parts
have shorter compare-and-swap loops, and from sm_86 on integers become floats on the ALU. Architectures that were not
measured count as the generation before them, other makers' parts as sm_80.
"""

from functools import cache
from typing import NamedTuple

from gpuprof.chips import Chip
from gpuprof.isa.encoding import Instruction
from gpuprof.isa.modifiers import FIELDS, unpack_name
from gpuprof.isa.opcodes import TABLE, by_number, numbers
from gpuprof.isa.row import Opcode

GENERATIONS = (75, 80, 90, 100, 120)
OLDEST = 70  # is taken for the first of them
AS_MEASURED_FOR = 80  # what is not an sm_ of these generations

# By how many issue slots the generations differ from the table's number, which is sm_80's.
DIFFERENCES: dict[int, tuple[int, int, int, int, int]] = by_number({
    **dict.fromkeys(("IADD.64", "ISUB.64", "ISETP.S64", "ISETP.U64", "SEL.64", "CNOT.64", "BFE.U64", "BFI.64",
        "ISSPACEP.GLOBAL"), (0, 0, 0, 0, -1)),
    **dict.fromkeys(("IMIN.S64", "IMIN.U64", "IMAX.S64", "IMAX.U64"), (0, 0, 0, 0, -3)),
    **dict.fromkeys(("SAD.S32", "SAD.U32", "IABS.64"), (0, 0, 0, 0, 2)),
    **dict.fromkeys(("VOTE.ANY", "VOTE.ALL", "VOTE.UNI", "FLO.U64"), (1, 0, 0, 0, 0)),
    "FLO.S64": (2, 0, 0, 0, 0),
    "MOVI.64": (0, 0, 0, 0, -1),
    "CVTA.SHARED": (0, 0, 1, 1, 1),
    "IDIV.S64": (0, 0, 0, 0, -14),
    "IDIV.U64": (0, 0, 0, 0, -12),
    "IREM.S64": (0, 0, 0, 0, -13),
    "IREM.U64": (0, 0, 0, 0, -11),
    "FDIV": (1, 0, 0, 0, -1),
    "FRCP": (1, 0, -1, -1, 0),
    "FSQRT": (1, 0, 0, 0, 0),
    "DDIV": (1, 0, 2, 2, 2),
    "DRCP": (1, 0, 0, 0, 0),
    "DSQRT": (3, 0, 0, 0, -1),
    **{f"{kind}.{operation}": difference for kind in ("ATOMS", "REDS") for operation, difference in (
        ("ADD.F32", (1, 0, 0, -1, -1)), ("ADD.F64", (1, 0, 0, -2, -2)), ("ADD.U64", (1, 0, 0, -2, -3)),
        *((f"{name}.{t}", (1, 0, 0, -2, -3)) for name in ("MIN", "MAX") for t in ("S64", "U64")),
    )},
})  # fmt: skip
# A fence of a block takes one slot. One beyond it also waits for errors and empties the L1 (MEMBAR, ERRBAR, CCTL.IVALL,
# and from sm_90 on one more).
FENCE_BEYOND_BLOCK = (2, 2, 3, 3, 3)

# With a divisor, or a place in a word, that is a constant: steps that ptxas takes when it compiles.
WITH_IMMEDIATE = by_number({"IDIV.U32": -4, "IREM.U32": -4, "IDIV.S32": -6, "IREM.S32": -6, "BFI.64": -5})
# Without .ftz the unit's operand and result are scaled, if they have to be: compares and multiplications around it.
WITHOUT_FTZ = by_number(
    {**dict.fromkeys(("MUFU.EX2", "MUFU.LG2", "MUFU.RSQRT", "MUFU.SQRT", "FDIV.APPROX"), 3), "MUFU.RCP": 7}
)
# Conversions that are not the transcendental unit's: (first generation, row): pipe and latency.
UNITS: dict[int, tuple[int, str, str]] = by_number(
    {
        **{f"CVT.F32.{t}": (86, "alu", "alu") for t in ("S32", "U32", "S16", "U16", "S8", "U8")},  # I2FP
        "CVT.F32.F16": (0, "half", "half"),  # HADD2.F32
    }
)

# Reductions in shared memory that count the lanes on each word, from this generation on; before, lanes take turns.
COUNTING = by_number({"REDS.POPC.INC.U32": 80})

# One slot of every N of an expansion runs on its row's own pipe, and the others are moves, compares and integer steps.
# N is 3 for integer divisions, 2 for iterations in floats.
EVERY = {"division": 3, "iterative": 2, "iterative64": 2}


class Path64(NamedTuple):
    """The path through ptxas 13.0's code for an operation on doubles: a first guess of the transcendental unit, refined
    by operations of the fp64 pipe.
    """

    operations: int  # on the fp64 pipe
    in_a_row: int  # of these, each waiting for the one before
    # a branch past the slow path waits for a multiply-add and a compare of what came out, else for nothing
    checks_result: bool


PATHS64 = by_number({"DDIV": Path64(8, 8, True), "DRCP": Path64(5, 5, False), "DSQRT": Path64(8, 7, False)})
# The fp64 pipe compares, as ptxas 13.0 writes it for all generations (DSETP.MIN, DSETP.MAX); then the ALU selects, and
# mends the result if an operand is no number.
EXTREMA64 = numbers("DMIN", "DMAX")


def slot_interval(op: Opcode) -> int:
    """Slots from one on the row's own pipe to the next. The transcendental unit runs one slot of its operations, or one
    for each word; other units run the rest.
    """
    if op.latency == "xu" and op.pipe == "xu":
        words = 2 if op.types[0].endswith(("64", "x2")) else 1
        return -(-op.slots // words)
    if op.number in PATHS64:
        return max(1, round(op.slots / PATHS64[op.number].operations))
    if op.number in EXTREMA64:
        return op.slots
    return EVERY.get(op.latency, 1)


def chain_cycles(op: Opcode, chip: Chip) -> int:
    """Cycles from one slot of an expansion to the next: the chip's, or what makes the whole as long as its path is."""
    if op.number in EXTREMA64:
        return _interval(op, chip, chip.latency["fp64"] + chip.bypass["fp64_to_math"] + 2 * chip.latency["alu"])
    path = PATHS64.get(op.number)
    if path is None:
        return chip.chain.get(op.latency, chip.chain["other"])
    latency = chip.latency
    cycles = latency["xu"] + chip.bypass["xu"] + path.in_a_row * latency["fp64"] + chip.branch_cycles
    if path.checks_result:
        cycles += chip.bypass["fp64_to_math"] + latency["fma"] + latency["alu"] + chip.guard_cycles
    return _interval(op, chip, cycles)


def _interval(op: Opcode, chip: Chip, cycles: int) -> int:
    """Cycles from one slot of an expansion to the next where its result is there after so many."""
    return max(1, round((cycles - chip.latency[op.latency]) / (op.slots - 1)))


def counts_lanes(op: Opcode, chip: Chip) -> bool:
    """True when lanes of this reduction that meet on a word are one operation."""
    return op.number in COUNTING and generation_of(chip.arch) >= COUNTING[op.number]


def generation_of(arch: str) -> int:
    """The number in an architecture's name; AS_MEASURED_FOR for a name without one, or for an older architecture."""
    digits = arch.removeprefix("sm_").rstrip("af")
    return int(digits) if arch.startswith("sm_") and digits.isdigit() and int(digits) >= OLDEST else AS_MEASURED_FOR


def shares_fp64(chip: Chip) -> bool:
    """True when the partitions of an SM share one fp64 unit: it has fewer lanes than they are."""
    return chip.lanes["fp64"] < 1


def on_chip(instruction: Instruction, chip: Chip) -> Instruction:
    """The instruction with its row as `chip` has it: as its architecture does, but a conversion from or to a 64-bit
    type also needs the fp64 unit. Where that one is narrower than the transcendental one, it takes its time there
    (CUDA C++ Programming Guide, arithmetic throughput: 16 of them per cycle and SM, but 2 on 7.5, 8.6 and 8.9).
    A matrix product of f64 takes the fp64 unit where the partitions share one, as clpeak measured on RTX 5060: no
    faster than multiply-adds.
    """
    expanded = on_architecture(instruction, chip.arch)
    op = expanded.op
    converts = op.latency == "conversion" and any(operand_type.endswith("64") for operand_type in op.types)
    multiplies = op.latency == "tensor64" and shares_fp64(chip)
    narrow = chip.lanes["fp64"] < chip.lanes["xu"]
    return expanded._replace(op=op._replace(pipe="fp64")) if (converts and narrow) or multiplies else expanded


def on_architecture(instruction: Instruction, arch: str) -> Instruction:
    """The instruction with its row as `arch` has it."""
    op = row_on_architecture(instruction.op.number, arch)
    if op.kind == "fence" and unpack_name(instruction.mods, "scope") != "cta":
        op = op._replace(slots=op.slots + _of_generation(FENCE_BEYOND_BLOCK, generation_of(arch)))
    if op.number in WITHOUT_FTZ and not FIELDS["ftz"].get(instruction.mods):
        op = op._replace(slots=op.slots + WITHOUT_FTZ[op.number])
    if op.number in WITH_IMMEDIATE and instruction.imm_slot in ("b", "c"):
        op = op._replace(slots=op.slots + WITH_IMMEDIATE[op.number])
    return instruction._replace(op=op)


@cache
def row_on_architecture(number: int, arch: str) -> Opcode:
    op, generation = TABLE[number], generation_of(arch)
    if op.number in DIFFERENCES:
        op = op._replace(slots=op.slots + _of_generation(DIFFERENCES[op.number], generation))
    if op.number not in UNITS:
        return op
    first, pipe, latency = UNITS[op.number]
    return op._replace(pipe=pipe, latency=latency) if generation >= first else op


def _of_generation(values: tuple[int, ...], generation: int) -> int:
    """The value of the newest measured generation that is not newer than `generation`."""
    return values[max([k for k, known in enumerate(GENERATIONS) if known <= generation], default=0)]
