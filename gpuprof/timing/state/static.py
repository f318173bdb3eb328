"""What timing needs to know of each instruction, worked out once per launch from the code, the instruction table and
the chip.

Registers get dense scoreboard numbers: only those the code names, in the order R, D, P.
"""

from typing import NamedTuple

import numpy as np

from gpuprof.chips import Chip
from gpuprof.isa.encoding import INSTRUCTION_NBYTES, PT, RZ, Instruction, decode, reads, writes
from gpuprof.isa.families.tensor import FORMS, GROUPS, NBITS, Form
from gpuprof.isa.modifiers import unpack_name
from gpuprof.isa.program import basic_block_starts
from gpuprof.isa.row import Opcode
from gpuprof.isa.special import LAUNCH_SERVICE
from gpuprof.isa.stalls import INDEX
from gpuprof.timing.sampling.triggers import events_of
from gpuprof.timing.state.bypass import kind_of
from gpuprof.timing.state.expansion import chain_cycles, on_architecture, slots_apart
from gpuprof.timing.state.layout import (
    CLASS_LONG,
    CLASS_SHORT,
    CLASS_WAIT,
    INSTRUCTION,
    N_GROUPS,
    PORT_INDEX,
    PORTS,
    TICKS,
)

# What an instruction does when its last slot issues. Everything that is not named here is PLAIN.
(
    PLAIN,
    FOLDED,
    GLOBAL,
    SHARED,
    CONSTANT,
    GENERIC,
    SHUFFLE,
    BARRIER,
    ARRIVE,
    MEMBAR,
    EXIT,
    SLEEP,
    COPY_COMMIT,
    COPY_WAIT,
    BULK,
    MBARRIER,
    MBARRIER_WAIT,
    BULK_WAIT,
    MULTIPLY,
    JOINED,
    PRODUCT_COMMIT,
    PRODUCT_WAIT,
    FENCE,
    GRID_SIGNAL,
    GRID_WAIT,
    LAUNCH,
) = range(26)
LOAD, STORE, ATOMIC, REDUCTION, COPY = range(5)

KIND_OF_SPACE = {
    "global": GLOBAL, "local": GLOBAL, "generic": GENERIC, "shared": SHARED, "const": CONSTANT, "param": CONSTANT,
    "texture": GLOBAL, "surface": GLOBAL,
}  # fmt: skip
KIND_OF_SEMANTICS = {
    "bar_sync": BARRIER,
    "bar_red": BARRIER,
    "bar_arrive": ARRIVE,
    "membar": MEMBAR,
    "exit": EXIT,
    "trap": EXIT,
    "nanosleep": SLEEP,
    "bulk_wait": BULK_WAIT,
    "copy_commit": COPY_COMMIT,
    "copy_wait": COPY_WAIT,
    "mma_group": MULTIPLY,
    "group_commit": PRODUCT_COMMIT,
    "group_wait": PRODUCT_WAIT,
    "grid_launch": GRID_SIGNAL,
    "grid_wait": GRID_WAIT,
}
# Latency classes whose result is waited for with a scoreboard, not by a fixed count.
SCOREBOARD = {
    "memory": CLASS_LONG, "texture": CLASS_LONG, "atomic": CLASS_LONG, "shared": CLASS_SHORT,
    "atomic_shared": CLASS_SHORT, "constant": CLASS_SHORT,
    "xu": CLASS_SHORT, "conversion": CLASS_SHORT, "s2r": CLASS_SHORT, "shuffle": CLASS_SHORT,
}  # fmt: skip
BULK_REDUCTIONS = frozenset(("bulk_red", "bulk_tensor_red"))
STORES = frozenset(("store", "bulk_store", "bulk_tensor_store", "surface_store", "surface_put", "store_matrix"))
MATRIX_ACCESSES = ("load_matrix", "store_matrix")
PIPE_OF_ROW = {"tex": "lsu"}
# Latency classes that do not use the whole width of their pipe: half of a 32-lane FMA pipe multiplies integers.
LANES_OF_LATENCY = {"imad": "imad", "imad_hi": "imad"}
GROUP_UNITS = frozenset(unit for unit, *_ in GROUPS)  # what wgmma multiplies faster than mma.sync
BANK_NBYTES = 4
SHARED_NBYTES_PER_CYCLE = 32 * BANK_NBYTES
BYPASS_L1 = frozenset(("cg", "cv"))
# Loads that must see what other multiprocessors write: the L1 is not kept coherent, so the L2 answers them. Within a
# block it need not.
STRONG = frozenset(("volatile", "relaxed", "acquire", "sc", "mmio"))


class StaticProgram(NamedTuple):
    """inst: layout.INSTRUCTION (n,); dep: int32, scoreboard numbers, inst[i] owns dep[first_dep : first_dep + n_deps],
    the written ones last; block: int32 (n_blocks + 1,), first instruction of each basic block, and n. Programs that
    copy or multiply asynchronously have scoreboard entries for groups of these behind the registers', from
    `first_group` and `first_product` on."""

    inst: np.ndarray
    dep: np.ndarray
    block: np.ndarray
    n_registers: int
    first_group: int = -1
    first_product: int = -1


def static_program(code: np.ndarray, chip: Chip, load_base: int = 0) -> StaticProgram:
    """The tables for an array of isa.encoding.INSTRUCTION_DTYPE that is loaded at `load_base`."""
    decoded = [on_architecture(decode(row), chip.arch) for row in code]
    numbers = _scoreboard_numbers(decoded)
    starts = basic_block_starts(code)
    parts = parts_of_multiplications(decoded, starts)
    inst = np.zeros(len(code), INSTRUCTION)
    dep: list[int] = []
    for index, instruction in enumerate(decoded):
        group = [decoded[k] for k in parts.get(index, (index,))]
        read = _registers([operand for part in group for operand in reads(part)], numbers)
        written = _registers([operand for part in group for operand in writes(part)], numbers)
        row = inst[index]
        row["first_dep"], row["n_deps"], row["n_writes"] = len(dep), len(read) + len(written), len(written)
        dep += read + written
        _fill(row, instruction, chip)
        if index in parts:
            _fill_multiplication(row, FORMS[instruction.op.name], len(parts[index]))
        row["guard"] = numbers[guard] if (guard := _guard(instruction)) else -1
        row["line"] = (load_base + INSTRUCTION_NBYTES * index) // chip.instruction_line_nbytes
    block = np.append(starts, len(code)).astype(np.int32)
    n_registers, firsts = len(numbers), {}
    for semantics, entries in (("copy_async", N_GROUPS + 1), ("mma_group", N_GROUPS)):
        there = any(instruction.op.semantics == semantics for instruction in decoded)
        firsts[semantics] = n_registers if there else -1
        n_registers += entries if there else 0
    return StaticProgram(
        inst, np.array(dep or [0], np.int32), block, max(1, n_registers), firsts["copy_async"], firsts["mma_group"]
    )


def parts_of_multiplications(decoded: list[Instruction], starts: np.ndarray) -> dict[int, tuple[int, ...]]:
    """The rows that are one wgmma, each of which has 8 columns: first row -> all rows; the others -> ().

    They follow each other in a basic block, and imm counts the columns.
    """
    found: dict[int, tuple[int, ...]] = {}
    begins = frozenset(starts.tolist())
    first = -1
    for index, instruction in enumerate(decoded):
        if index in begins:
            first = -1
        if instruction.op.semantics != "mma_group":
            continue
        if first >= 0 and instruction.imm == len(found[first]) and instruction.op is decoded[first].op:
            found[first] += (index,)
            found[index] = ()
        else:
            first = index
            found[first] = (index,)
    return found


def _fill_multiplication(row: np.void, form: Form, n_rows: int) -> None:
    """A wgmma issues once, in its first row, and takes the pipe for all of its columns. Shared memory gives 128 bytes a
    cycle to the four warps together: each reads its own rows of A, unless they are in registers, and a fourth of B."""
    if n_rows == 0:
        row["kind"] = JOINED
        return
    row["port_ticks"] *= n_rows
    nbytes_of_k = form.k * NBITS[form.unit] // 8
    nbytes = n_rows * form.n * nbytes_of_k / 4 + (form.m * nbytes_of_k if form.wgmma == "SS" else 0)
    row["operand_ticks"] = round(TICKS * nbytes / SHARED_NBYTES_PER_CYCLE)


def accesses_per_block(program: StaticProgram) -> np.ndarray:
    """int64 (n_blocks,): access records that one run of each basic block writes."""
    total = np.concatenate([[0], np.cumsum(program.inst["has_access"], dtype=np.int64)])
    return total[program.block[1:]] - total[program.block[:-1]]


def _scoreboard_numbers(decoded: list[Instruction]) -> dict[tuple[str, int], int]:
    named = set()
    for instruction in decoded:
        for operand in (*reads(instruction), *writes(instruction)):
            named.update((operand.file, operand.index + k) for k in range(operand.count))
    return {register: number for number, register in enumerate(sorted(named, key=lambda r: ("RDP".index(r[0]), r[1])))}


def _guard(instruction: Instruction) -> tuple[str, int] | None:
    """The predicate that a vote or a reduction over a barrier takes, or else the one that guards the instruction."""
    found = [(operand.file, operand.index) for operand in reads(instruction) if operand.file == "P"]
    taken = instruction.op.semantics.startswith(("vote_", "bar_red"))
    guarded = instruction.guard & 0x7F != PT
    return (found[-1] if taken else found[0] if guarded else None) if found else None


def _registers(operands, numbers: dict[tuple[str, int], int]) -> list[int]:
    found = [numbers[operand.file, operand.index + k] for operand in operands for k in range(operand.count)]
    return list(dict.fromkeys(found))


def _fill(row: np.void, instruction: Instruction, chip: Chip) -> None:
    op = instruction.op
    row["kind"] = FENCE if op.semantics == "membar" and unpack_name(instruction.mods, "scope") == "cta" else _kind(op)
    row["kind"] = LAUNCH if op.semantics == "syscall" and instruction.imm == LAUNCH_SERVICE else row["kind"]
    row["operation"] = _operation(op)
    row["has_access"] = op.space in KIND_OF_SPACE or op.semantics == "mbar_wait" or is_barrier_in_registers(instruction)
    row["is_local"] = op.space == "local"
    row["slots"] = op.slots
    row["chain"] = chain_cycles(op, chip)
    row["slots_apart"] = slots_apart(op)
    row["latency"] = _sleep_cycles(instruction, chip) if row["kind"] == SLEEP else chip.latency.get(op.latency, 1)
    row["atomic_passes"] = chip.cas_passes if op.semantics == "atom_cas" else 1
    row["width"] = max(1, op.nbytes // BANK_NBYTES) if op.semantics in ("load", "store") else 1
    row["least_passes"] = int(op.name[-1]) if op.semantics in MATRIX_ACCESSES else row["width"]
    row["lane_nbytes"] = (
        op.nbytes if op.space in ("global", "local", "generic") and op.semantics not in MATRIX_ACCESSES else 0
    )
    row["latency"] += chip.copy_cycles if op.semantics == "copy_async" else 0
    row["result_class"] = SCOREBOARD.get(op.latency, CLASS_WAIT)
    row["port"] = _port(op)
    row["bypass_kind"] = kind_of(op, row["port"])
    row["port_ticks"] = _port_ticks(op, chip)
    row["throttle"] = _throttle(op)
    row["events"] = events_of(op.semantics)
    row["bypass_l1"] = op.space in ("global", "generic") and _bypasses_l1(instruction)
    row["constant_line"] = instruction.imm // 64 if instruction.reads_constant_bank else -1
    if op.semantics in ("copy_wait", "group_wait"):
        row["newest"] = min(instruction.imm, N_GROUPS - 1 if op.semantics == "copy_wait" else N_GROUPS - 2)
    if row["kind"] in (BARRIER, ARRIVE):
        row["barrier"] = instruction.imm & 15 if instruction.a == RZ else 0
        row["barrier_threads"] = instruction.imm >> 16 if instruction.b == RZ else 0


def _sleep_cycles(instruction: Instruction, chip: Chip) -> int:
    """The time that is asked for, in nanoseconds, when it is in the instruction."""
    return max(1, round(instruction.imm * chip.clock_mhz / 1000)) if instruction.imm_slot == "b" else chip.sleep_cycles


def is_barrier_in_registers(instruction: Instruction) -> bool:
    """Whether the trace says which barrier it is, and for how many."""
    return instruction.op.semantics in ("bar_sync", "bar_arrive", "bar_red") and (
        instruction.a != RZ or instruction.b != RZ
    )


def _bypasses_l1(instruction: Instruction) -> bool:
    cache, order, scope = (
        unpack_name(instruction.mods, name) if name in instruction.op.fields else ""
        for name in ("cache", "sem", "scope")
    )
    return cache in BYPASS_L1 or (order in STRONG and scope != "cta")


def _kind(op: Opcode) -> int:
    if op.slots == 0:
        return FOLDED
    if op.semantics in KIND_OF_SEMANTICS:
        return KIND_OF_SEMANTICS[op.semantics]
    if op.space == "global" and op.semantics.startswith("bulk_"):
        return BULK
    if op.semantics.startswith("mbar_"):
        return MBARRIER_WAIT if op.semantics == "mbar_wait" else MBARRIER
    if op.space in KIND_OF_SPACE:
        return KIND_OF_SPACE[op.space]
    return SHUFFLE if op.pipe in ("lsu", "tex") else PLAIN


def _operation(op: Opcode) -> int:
    if op.semantics.startswith("atom_"):
        return ATOMIC
    if op.semantics.startswith("red_"):
        return REDUCTION
    if op.semantics in BULK_REDUCTIONS:
        return REDUCTION
    return {**dict.fromkeys(STORES, STORE), "copy_async": COPY}.get(op.semantics, LOAD)


def _port(op: Opcode) -> int:
    if _kind(op) in (BARRIER, ARRIVE, MEMBAR):
        return PORT_INDEX["none"]
    return PORT_INDEX[PIPE_OF_ROW.get(op.pipe, op.pipe)]


def _throttle(op: Opcode) -> int:
    if op.pipe == "lsu":
        return INDEX["lg_throttle" if op.space in ("global", "local", "generic") else "mio_throttle"]
    return INDEX["tex_throttle" if op.pipe == "tex" else "math_pipe_throttle"]


def _port_ticks(op: Opcode, chip: Chip) -> int:
    """Ticks that one issue slot occupies its port; the memory queue and the port of no pipe have none."""
    if op.pipe == "tensor":
        form = FORMS[op.name]
        share = chip.mma_share if not form.wgmma and form.unit in GROUP_UNITS else 1
        return round(TICKS * form.products / (chip.tensor[form.unit] * share))
    lanes = chip.lanes.get(LANES_OF_LATENCY.get(op.latency, PORTS[_port(op)]))
    return round(TICKS * chip.warp_lanes / lanes) if lanes else 0
