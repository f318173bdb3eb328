"""The facts of each instruction that timing needs, computed once per loaded module from the code, the instruction table
and the chip.

Registers get dense scoreboard numbers: only those the code names, in the order R, D, P.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gpuprof.chips import Chip
from gpuprof.chips.fields import LATENCIES
from gpuprof.isa.encoding import INSTRUCTION_NBYTES, PT, RZ, Instruction, decode, reads, writes
from gpuprof.isa.families.tensor import GROUPS, NBITS, Form, form_of
from gpuprof.isa.kinds import ATOMICS, BLOCK_BARRIERS, KINDS, kinds_of
from gpuprof.isa.modifiers import unpack_name
from gpuprof.isa.opcodes import COMPARE_AND_SWAPS, check_latencies
from gpuprof.isa.program import Function, basic_block_starts, first_uniform_words
from gpuprof.isa.row import NO_LATENCY, Opcode
from gpuprof.isa.sleeps import clock_khz_of, is_sleep_traced, sleep_cycles
from gpuprof.isa.slow_paths import slow_path_of
from gpuprof.isa.special import LAUNCH_SERVICE
from gpuprof.isa.spin_loops import is_signal, polling_loads
from gpuprof.isa.stalls import INDEX
from gpuprof.timing.sampling.triggers import events_of
from gpuprof.timing.state.expansion import chain_cycles, counts_lanes, on_chip, shares_fp64, slot_interval
from gpuprof.timing.state.latency_tables import kind_of
from gpuprof.timing.state.layout import (
    CLASS_LONG,
    CLASS_SHORT,
    CLASS_WAIT,
    INSTRUCTION,
    N_GROUPS,
    PORT_INDEX,
    PORT_LSU,
    PORTS,
    TICKS,
)
from gpuprof.timing.state.register_reads import register_reads

# Kinds of instructions, by their effect when the last slot issues.
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
    SLOW_PATH,
) = range(27)
LOAD, STORE, ATOMIC, REDUCTION, COPY = range(5)

KIND_OF_SPACE = {
    "global": GLOBAL, "local": GLOBAL, "generic": GENERIC, "shared": SHARED, "const": CONSTANT, "param": CONSTANT,
    "texture": GLOBAL, "surface": GLOBAL,
}  # fmt: skip
BULK_OPERATIONS = kinds_of(
    "bulk_load", "bulk_store", "bulk_copy", "bulk_reduction", "bulk_reduction_shared", "bulk_prefetch"
)
BY_SPACE = BULK_OPERATIONS | kinds_of(
    "load", "store", "atomic", "reduction", "copy", "matrix_load", "matrix_store", "fetch", "surface_load",
    "surface_store", "surface_reduction",
)  # fmt: skip
KIND_OF_THE_OTHERS = {
    **dict.fromkeys(
        (
            "compute", "hint", "meet", "branch", "branch_indirect", "call", "call_indirect", "return",
            "breakpoint", "syscall", "stack_save", "stack_change", "warp_sync", "bulk_commit", "bulk_wait_read",
            "vote", "match", "elect", "warp_reduction", "matrix",
        ),
        PLAIN,
    ),
    # through the queue of memory instructions, without touching memory
    **dict.fromkeys(("shuffle", "query", "special", "cluster_barrier", "matrix_transpose"), SHUFFLE),
    "barrier": BARRIER,
    "barrier_vote": BARRIER,
    "barrier_arrive": ARRIVE,
    "fence": MEMBAR,
    "exit": EXIT,
    "trap": EXIT,
    "sleep": SLEEP,
    "bulk_wait": BULK_WAIT,
    "copy_commit": COPY_COMMIT,
    "copy_wait": COPY_WAIT,
    "mbarrier": MBARRIER,
    "mbarrier_wait": MBARRIER_WAIT,
    "matrix_async": MULTIPLY,
    "matrix_commit": PRODUCT_COMMIT,
    "matrix_wait": PRODUCT_WAIT,
    "grid_signal": GRID_SIGNAL,
    "grid_wait": GRID_WAIT,
}  # fmt: skip
assert BY_SPACE | KIND_OF_THE_OTHERS.keys() == KINDS.keys(), BY_SPACE | KIND_OF_THE_OTHERS.keys() ^ KINDS.keys()
# Operations of accesses on memory. Copies to another block's shared memory read their own.
OPERATION_OF_KIND = {
    **dict.fromkeys(
        (
            "load",
            "fetch",
            "surface_load",
            "matrix_load",
            "bulk_load",
            "bulk_prefetch",
            "bulk_copy",
            "bulk_reduction_shared",
        ),
        LOAD,
    ),
    **dict.fromkeys(("store", "surface_store", "matrix_store", "bulk_store"), STORE),
    **dict.fromkeys(("reduction", "surface_reduction", "bulk_reduction"), REDUCTION),
    "atomic": ATOMIC,
    "copy": COPY,
}
assert OPERATION_OF_KIND.keys() == BY_SPACE
# How the result of a latency class is waited for: by a fixed count of cycles, or with a scoreboard.
CLASS_OF_LATENCY = {
    **dict.fromkeys(
        (
            "alu", "fma", "imad", "imad_hi", "fp64", "half", "vote", "division", "iterative", "iterative64", "tensor",
            "tensor_long", "tensor64", *NO_LATENCY,
        ),
        CLASS_WAIT,
    ),
    **dict.fromkeys(("memory", "texture", "atomic"), CLASS_LONG),
    **dict.fromkeys(
        ("shared", "atomic_shared", "constant", "xu", "conversion", "s2r", "shuffle"), CLASS_SHORT
    ),
}  # fmt: skip
assert CLASS_OF_LATENCY.keys() == {*LATENCIES, *NO_LATENCY}
check_latencies(CLASS_OF_LATENCY)
# These kinds keep their warp, so its next instruction is looked at when the hold ends.
HOLDS = (BARRIER, BULK_WAIT, FENCE, GRID_WAIT, MBARRIER_WAIT, MEMBAR, PRODUCT_WAIT, SLEEP)
CONTROL = kinds_of("branch", "branch_indirect", "call", "call_indirect", "return", "exit", "meet")
MATRIX_ACCESSES = kinds_of("matrix_load", "matrix_store")
PIPE_OF_ROW = {"tex": "lsu"}
# Special registers are read through the queue of memory instructions. Conversions and special functions pass it, too,
# but wait at issue, for their unit.
PIPE_OF_KIND = {"special": "lsu"}
THROTTLE_OF_PIPE = {"lsu": "mio_throttle", "xu": "mio_throttle", "tex": "tex_throttle"}
# Latency classes that do not use the whole width of their pipe: half of a 32-lane FMA pipe multiplies integers.
LANES_OF_LATENCY = {"imad": "imad", "imad_hi": "imad"}
GROUP_UNITS = frozenset(unit for unit, *_ in GROUPS)  # what wgmma multiplies faster than mma.sync
BANK_NBYTES = 4
SHARED_NBYTES_PER_CYCLE = 32 * BANK_NBYTES
BYPASS_L1 = frozenset(("cg", "cv"))
# Loads that must see what other multiprocessors write: the L1 is not coherent, so the L2 answers them. Within a block
# it need not.
STRONG = frozenset(("volatile", "relaxed", "acquire", "sc", "mmio"))
ACQUIRING = frozenset(("acquire", "acq_rel", "sc"))


@dataclass(frozen=True, eq=False)
class StaticProgram:
    """inst: layout.INSTRUCTION (n,); dep: int32, scoreboard numbers, inst[i] owns dep[first_dep : first_dep + n_deps],
    the written ones last; block: int32 (n_blocks + 1,), first instruction of each basic block, and n. Programs that
    copy or multiply asynchronously have scoreboard entries for groups of these after the registers', from `first_group`
    and `first_product` on.
    """

    inst: np.ndarray
    dep: np.ndarray
    block: np.ndarray
    n_registers: int
    first_group: int = -1
    first_product: int = -1

    @cached_property
    def accesses_per_block(self) -> np.ndarray:
        """int64 (n_blocks,): access records that one run of each basic block writes."""
        return self._per_block(self.inst["has_access"])

    @cached_property
    def n_blocks_without_issue(self) -> int:
        """Basic blocks of which no instruction is issued."""
        return int(np.count_nonzero(self._per_block(~np.isin(self.inst["kind"], (FOLDED, JOINED))) == 0))

    @cached_property
    def has_mbarriers(self) -> bool:
        return bool((self.inst["kind"] == MBARRIER_WAIT).any())

    def _per_block(self, counts: np.ndarray) -> np.ndarray:
        """int64 (n_blocks,): the sums of numbers that instructions have."""
        return np.diff(np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])[self.block])


def static_program(code: np.ndarray, functions: tuple[Function, ...], chip: Chip, load_base: int = 0) -> StaticProgram:
    """The tables for an array of isa.encoding.INSTRUCTION_DTYPE that is loaded at `load_base`, and has `functions`."""
    decoded = [on_chip(decode(row), chip) for row in code]
    numbers = _scoreboard_numbers(decoded)
    starts = basic_block_starts(code)
    parts = parts_of_multiplications(decoded, starts)
    polls = polling_loads(code)
    from_banks = register_reads(
        decoded, frozenset(starts.tolist()), first_uniform_words(functions, len(code)), shares_fp64(chip)
    )
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
        row["polls"], row["signals"] = index in polls, len(polls) > 0 and is_signal(instruction)
        row["even"], row["odd"], row["even_left"], row["odd_left"] = from_banks[index]
        if index in parts:
            _fill_multiplication(row, form_of(instruction.op), len(parts[index]))
        row["guard"] = numbers[guard] if (guard := _guard(instruction)) else -1
        row["line"] = (load_base + INSTRUCTION_NBYTES * index) // chip.instruction_line_nbytes
    block = np.append(starts, len(code)).astype(np.int32)
    n_registers, firsts = len(numbers), {}
    for kind, entries in (("copy", N_GROUPS + 1), ("matrix_async", N_GROUPS)):
        exists = any(instruction.op.kind == kind for instruction in decoded)
        firsts[kind] = n_registers if exists else -1
        n_registers += entries if exists else 0
    return StaticProgram(
        inst, np.array(dep or [0], np.int32), block, max(1, n_registers), firsts["copy"], firsts["matrix_async"]
    )


def parts_of_multiplications(decoded: list[Instruction], starts: np.ndarray) -> dict[int, tuple[int, ...]]:
    """The rows that are one wgmma, each of which has 8 columns: first row -> all rows; the others -> ().

    They follow each other in a basic block, and imm counts the columns.
    """
    parts: dict[int, tuple[int, ...]] = {}
    begins = frozenset(starts.tolist())
    first = -1
    for index, instruction in enumerate(decoded):
        if index in begins:
            first = -1
        if instruction.op.kind != "matrix_async":
            continue
        if first >= 0 and instruction.imm == len(parts[first]) and instruction.op is decoded[first].op:
            parts[first] += (index,)
            parts[index] = ()
        else:
            first = index
            parts[first] = (index,)
    return parts


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


def _scoreboard_numbers(decoded: list[Instruction]) -> dict[tuple[str, int], int]:
    named = set()
    for instruction in decoded:
        for operand in (*reads(instruction), *writes(instruction)):
            named.update((operand.file, operand.index + k) for k in range(operand.count))
    return {register: number for number, register in enumerate(sorted(named, key=lambda r: ("RDP".index(r[0]), r[1])))}


def _guard(instruction: Instruction) -> tuple[str, int] | None:
    """The predicate that a vote or a reduction over a barrier takes, or else the one that guards the instruction."""
    predicates = [(operand.file, operand.index) for operand in reads(instruction) if operand.file == "P"]
    taken = instruction.op.kind in ("vote", "barrier_vote")
    guarded = instruction.guard & 0x7F != PT
    return (predicates[-1] if taken else predicates[0] if guarded else None) if predicates else None


def _registers(operands, numbers: dict[tuple[str, int], int]) -> list[int]:
    entries = [numbers[operand.file, operand.index + k] for operand in operands for k in range(operand.count)]
    return list(dict.fromkeys(entries))


def atomic_cycles(op: Opcode, chip: Chip) -> float:
    """Cycles of an L2 slice for each lane of several on one word: sums of floats take longer."""
    is_float = op.kind in ATOMICS and op.types[0].startswith(("f", "bf"))
    return chip.atomic_float_cycles if is_float else chip.atomic_cycles


def _fill(row: np.void, instruction: Instruction, chip: Chip) -> None:
    op = instruction.op
    row["kind"] = FENCE if op.kind == "fence" and unpack_name(instruction.mods, "scope") == "cta" else _kind(op)
    row["kind"] = LAUNCH if op.kind == "syscall" and instruction.imm == LAUNCH_SERVICE else row["kind"]
    row["kind"] = SLOW_PATH if slow_path_of(instruction) else row["kind"]
    row["operation"] = _operation(op)
    row["has_access"] = (
        op.space in KIND_OF_SPACE
        or op.kind == "mbarrier_wait"
        or is_barrier_in_registers(instruction)
        or is_sleep_traced(instruction)
        or row["kind"] == SLOW_PATH
    )
    row["is_local"] = op.space == "local"
    row["slots"] = op.slots
    row["chain"] = chain_cycles(op, chip)
    row["slot_interval"] = slot_interval(op)
    row["latency"] = _sleep_cycles(instruction, chip) if row["kind"] == SLEEP else _latency(op, chip)
    row["atomic_passes"] = chip.cas_passes if op.number in COMPARE_AND_SWAPS else 1
    row["lane_turns"] = not counts_lanes(op, chip)
    row["atomic_lane_ticks"] = max(1, round(atomic_cycles(op, chip) * TICKS))
    row["width"] = max(1, op.nbytes // BANK_NBYTES) if op.kind in ("load", "store") else 1
    row["least_passes"] = int(op.types[0]) if op.kind in MATRIX_ACCESSES else row["width"]
    row["lane_nbytes"] = (
        op.nbytes if op.space in ("global", "local", "generic") and op.kind not in MATRIX_ACCESSES else 0
    )
    row["latency"] += chip.copy_cycles if op.kind == "copy" else 0
    shared_fp64 = op.pipe == "fp64" and shares_fp64(chip)
    row["result_class"] = CLASS_SHORT if shared_fp64 else CLASS_OF_LATENCY[op.latency]
    row["port"] = _port(op)
    row["bypass_kind"] = kind_of(op, row["port"])
    # Constant loads have a unit of their own, and no queue that is known (docs/model/instructions.md, Constant cache).
    row["port"] = PORT_INDEX["none"] if row["kind"] == CONSTANT else row["port"]
    row["port_ticks"] = _port_ticks(op, chip)
    # One unit that the partitions share has a queue before it, like textures, and a scoreboard for its results.
    row["throttle"] = INDEX["tex_throttle"] if shared_fp64 else _throttle(op)
    row["gap"] = chip.control_cycles if op.kind in CONTROL else 1
    row["again"] = 1 if shared_fp64 else _again(row, chip)
    row["meets"] = chip.meet_cycles if op.kind == "meet" else 0
    row["events"] = events_of(op.kind)
    row["bypass_l1"] = op.space in ("global", "generic") and _bypasses_l1(instruction)
    row["invalidates"] = _invalidates(instruction)
    row["constant_line"] = instruction.imm // 64 if instruction.reads_constant_bank else -1
    if op.kind in ("copy_wait", "matrix_wait"):
        row["newest"] = min(instruction.imm, N_GROUPS - 1 if op.kind == "copy_wait" else N_GROUPS - 2)
    if row["kind"] in (BARRIER, ARRIVE):
        row["barrier"] = instruction.imm & 15 if instruction.a == RZ else 0
        row["barrier_threads"] = instruction.imm >> 16 if instruction.b == RZ else 0


def _latency(op: Opcode, chip: Chip) -> int:
    return 1 if op.latency in NO_LATENCY else chip.latency[op.latency]


def _sleep_cycles(instruction: Instruction, chip: Chip) -> int:
    """The cycles of a sleep whose time is in the code."""
    return sleep_cycles(instruction.imm, clock_khz_of(chip.clock_mhz))


def is_barrier_in_registers(instruction: Instruction) -> bool:
    """True when registers hold the barrier's number or its thread count, so that the trace has to record them."""
    return instruction.op.kind in BLOCK_BARRIERS and (instruction.a != RZ or instruction.b != RZ)


def _bypasses_l1(instruction: Instruction) -> bool:
    cache, order, scope = (
        unpack_name(instruction.mods, name) if name in instruction.op.fields else ""
        for name in ("cache", "sem", "scope")
    )
    return cache in BYPASS_L1 or (order in STRONG and scope != "cta")


def _invalidates(instruction: Instruction) -> bool:
    """ptxas has CCTL.IVALL after fences and acquiring accesses that are not only the block's, from sm_75 to sm_100;
    a release has none.
    """
    op = instruction.op
    order, scope = (unpack_name(instruction.mods, name) if name in op.fields else "" for name in ("sem", "scope"))
    if scope == "cta":
        return False
    if op.kind == "fence":
        return order != "release"
    return op.space in ("global", "generic") and order in ACQUIRING


def _kind(op: Opcode) -> int:
    if op.slots == 0:
        return FOLDED
    if op.kind not in BY_SPACE:
        return KIND_OF_THE_OTHERS[op.kind]
    return BULK if op.kind in BULK_OPERATIONS and op.space == "global" else KIND_OF_SPACE[op.space]


def _operation(op: Opcode) -> int:
    """The operation on memory. For an instruction that does not access memory it is LOAD, which is not read there."""
    if op.kind == "mbarrier":  # sm_80 has its arrivals as ATOMS.ARRIVE.64
        return ATOMIC
    return OPERATION_OF_KIND[op.kind] if op.kind in BY_SPACE else LOAD


def _port(op: Opcode) -> int:
    if _kind(op) in (BARRIER, ARRIVE, MEMBAR):
        return PORT_INDEX["none"]
    return PORT_INDEX[PIPE_OF_KIND.get(op.kind) or PIPE_OF_ROW.get(op.pipe, op.pipe)]


def _throttle(op: Opcode) -> int:
    if op.pipe == "lsu" and op.space in ("global", "local", "generic"):
        return INDEX["lg_throttle"]
    return INDEX[THROTTLE_OF_PIPE.get(op.pipe, "math_pipe_throttle")]


def _port_ticks(op: Opcode, chip: Chip) -> int:
    """Ticks that one issue slot occupies its port; the memory queue and the port of no pipe have none."""
    if op.pipe == "tensor":
        return round(TICKS * form_of(op).products / tensor_rate(form_of(op), chip))
    lanes = chip.lanes.get(LANES_OF_LATENCY.get(op.latency, PORTS[_port(op)]))
    if op.pipe == "fp64" and shares_fp64(chip):
        lanes *= chip.partitions
    return round(TICKS * chip.warp_lanes * _passes(op, chip) / lanes) if lanes else 0


def tensor_rate(form: Form, chip: Chip) -> float:
    """Multiply-adds of a shape that a partition's tensor pipe does in a cycle."""
    share = chip.mma_share if not form.wgmma and form.unit in GROUP_UNITS else 1
    sums = chip.f32_sum_share if form.sums_in_f32 else 1
    return chip.tensor[form.unit] * share * sums


def _again(row: np.void, chip: Chip) -> int:
    """Cycles from an instruction to the warp's next one on the same port. ptxas writes them into the first one's stall
    count: what the warp itself keeps busy, it waits for.
    """
    if row["port"] == PORT_LSU:
        return 1 if row["kind"] in HOLDS else chip.mio_gap_cycles
    return max(1, int(row["port_ticks"]) // TICKS)


def _passes(op: Opcode, chip: Chip) -> int:
    """How often an instruction takes its pipe: two single-precision operations side by side take it twice, a matrix
    product on the fp64 unit once for each multiply-add of a lane.
    """
    return form_of(op).products // chip.warp_lanes if op.kind == "matrix" else 2 if "f32x2" in op.types else 1
