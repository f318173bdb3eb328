"""A module's code as basic blocks of callables, built once per module and shared by its launches."""

from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from gpuprof.emulate.bulk import bulk_copies, tiles
from gpuprof.emulate.collectives import barriers, cluster, control, mbarrier, services, warp
from gpuprof.emulate.collectives.control import End, build_fall
from gpuprof.emulate.collectives.rendezvous import Members, members_of_block
from gpuprof.emulate.core.convergence_order import OrderedGraph
from gpuprof.emulate.core.lanes import Lanes, RegisterFile
from gpuprof.emulate.core.operands import KINDS_OF_FILE, SCRATCH_P2, TRASH, TRASH_P2, Pool, Ref, code_of
from gpuprof.emulate.core.operation import Env, Op, guard_reader
from gpuprof.emulate.core.spaces import ReadOnlySpace
from gpuprof.emulate.matrices import fragments, tensor
from gpuprof.emulate.memory import atomic, copies, load_store, signals, stack
from gpuprof.emulate.scalar import bits, convert, floating, half, integer, moves, sleep, slow_paths, small_floats, video
from gpuprof.emulate.textures import surface, texture  # fmt: skip
from gpuprof.emulate.trace_log.trace import TraceLog
from gpuprof.emulate.warp_sync import Site, sites_of_block
from gpuprof.isa.encoding import PT, RZ, Instruction, reads, writes
from gpuprof.isa.flow.graph import BasicBlock
from gpuprof.isa.kinds import BETWEEN_LANES, COLLECTIVE, kinds_of
from gpuprof.isa.opcodes import BY_NAME, TABLE, ends_block
from gpuprof.isa.row import Opcode
from gpuprof.isa.slow_paths import slow_path_of
from gpuprof.isa.special import SPECIAL
from gpuprof.isa.spin_loops import is_signal, observed_loads, polling_loads

FAMILIES = (
    integer,
    bits,
    moves,
    sleep,
    floating,
    half,
    convert,
    small_floats,
    load_store,
    atomic,
    copies,
    stack,
    video,
    warp,
    texture,
    tiles,
    surface,
    mbarrier,
    cluster,
    bulk_copies,
    tensor,
    fragments,
)  # fmt: skip
# (semantics, type) -> builder where a type needs its own, else semantics -> builder.
SEMANTICS = {name: builder for family in FAMILIES for name, builder in family.SEMANTICS.items()}
ENDS = control.ENDS | barriers.ENDS | services.ENDS | mbarrier.ENDS | cluster.ENDS


def _builder(op: Opcode):
    table = ENDS if ends_block(op) else SEMANTICS
    of_type = (op.semantics, *op.types[:1])
    builder = table[of_type] if of_type in table else table.get(op.semantics)
    assert builder, f"{op.name}: nothing under gpuprof/emulate computes {op.semantics!r}"
    return builder


BUILDERS = tuple(_builder(op) for op in TABLE)  # by opcode number
FILES = "RDP"
MOST_KEPT_LANES = 4096  # whose registers the next launch may have
MOST_KEPT = 4  # of each that launches of a module have made
SYSTEM_SHARED = frozenset(name for name in SPECIAL if name.startswith("reserved_smem_offset"))
# The operands of lanes whose guard fails must not be looked at.
ONLY_HELD = (BETWEEN_LANES - COLLECTIVE) | kinds_of("fetch", "query")


class Block(NamedTuple):
    """A basic block ready to run. Registers are numbered file * 256 + index."""

    index: int
    first: int
    n_instructions: int
    ops: tuple[Op, ...]
    end: End
    needs: tuple[int, ...]  # registers whose old values it uses
    fresh: tuple[int, ...]  # registers it only writes
    writes: frozenset[int]
    spins: bool  # looks like part of a loop that waits for other threads
    takes: bool  # looks like part of a loop that takes its work, by number, from what all blocks share
    polls: bool  # has loads that wait for what other warps write
    is_ordered: bool  # when it runs shows in what it reads, or in what others do
    guarded: tuple[int, ...]  # instructions that count their lanes themselves
    members: tuple[Members, ...]  # member masks of its warp operations, as far as they are known when it begins
    uncertain: bool  # it has warp operations of which they are not
    sites: dict[int, Site]  # warp operations by position
    fused: tuple[Op, ...]  # `ops`, with what can be done together made one

    @property
    def meets_guarded(self) -> bool:
        return any(site.guard for site in self.sites.values())


class Launched:
    """Keeps what the last launches of a module have made for the next ones, as far as these need the same: most
    launches of a kernel differ in little, and kernels are often launched by turns.
    """

    def __init__(self) -> None:
        self._constants: dict[tuple, tuple[list, ...]] = {}
        self._spaces: dict[str, tuple[bytes, ReadOnlySpace]] = {}
        self._registers: list[RegisterFile] = []
        self._log: TraceLog | None = None

    def constants(self, pool: Pool, bank: bytes) -> tuple[list, ...]:
        """`pool.rows(bank)`."""
        known = (bank, *map(len, pool.entries))
        if known not in self._constants:
            if len(self._constants) >= MOST_KEPT:
                del self._constants[next(iter(self._constants))]  # the oldest
            self._constants[known] = pool.rows(bank)
        return self._constants[known]

    def read_only(self, data: bytes, name: str, has_sectors: bool) -> ReadOnlySpace:
        if name not in self._spaces or self._spaces[name][0] != data:
            self._spaces[name] = data, ReadOnlySpace(data, name, has_sectors)
        return self._spaces[name][1]

    def take_registers(self, n_lanes: int, counts: tuple[int, int, int], constants: tuple[list, ...]) -> RegisterFile:
        """Registers that are all zero, as new."""
        for place, file in enumerate(self._registers):
            if file.is_for(n_lanes, counts, constants):
                del self._registers[place]
                file.clear()
                return file
        return RegisterFile(n_lanes, counts, constants)

    def give_back(self, registers: RegisterFile) -> None:
        """No lane has them any more."""
        if registers.n_lanes <= MOST_KEPT_LANES:
            self._registers = [registers, *self._registers[: MOST_KEPT - 1]]

    def take_log(self) -> TraceLog:
        """A log for all chunks of a launch: its arrays grow to the length of a segment once."""
        log, self._log = self._log, None
        if log is None:
            return TraceLog(0)
        log.is_wanted = True
        return log

    def give_back_log(self, log: TraceLog) -> None:
        """Nothing is written to it any more."""
        if log.has_first_capacity:
            self._log = log


class CompiledModule:
    """A module's blocks by index, each built on first use; `pool` grows with them."""

    def __init__(self, code: np.ndarray, load_base: int, const_base: int):
        self.graph = OrderedGraph(code)
        polls, observed = polling_loads(code), observed_loads(self.graph)
        self.env = Env(self.graph, Pool(), load_base, const_base, polls=polls, observed=observed)
        self.blocks: dict[int, Block] = {}
        self.ranks: dict[int, int] = {}
        self.block_of_rank: dict[int, int] = {}
        self._prepared: set[int] = set()  # first instructions of kernels
        self.launched = Launched()
        self._loops: tuple[int, tuple[bool, bool]] | None = None  # of so many blocks; see `waits`
        reads_special = np.isin(code["opcode"], [BY_NAME[name].number for name in ("S2R", "S2R.64")])
        self.special_registers = frozenset(SPECIAL[number] for number in np.unique(code["imm"][reads_special]).tolist())
        self.uses_system_shared = not self.special_registers.isdisjoint(SYSTEM_SHARED)

    @property
    def waits(self) -> bool:
        """True if blocks may wait for each other."""
        return self._looks_like()[0]

    @property
    def takes_turns(self) -> bool:
        """True if they may, or share work out among themselves."""
        return self._looks_like()[1]

    @property
    def is_ordered(self) -> bool:
        """True if what a block finds, or has to do, depends on when it comes: it takes its work from what all share, or
        uses what it has waited for. Loops that only wait end for all when the last has come. Barriers of the grid take
        numbers, too.
        """
        takes = any(block.takes for block in self.blocks.values())
        return bool(self.env.observed) if self.env.polls else takes

    def _looks_like(self) -> tuple[bool, bool]:
        if self._loops is None or self._loops[0] != len(self.blocks):
            blocks = self.blocks.values()
            waits = any(block.spins for block in blocks)
            self._loops = len(blocks), (waits, waits or any(block.takes for block in blocks))
        return self._loops[1]

    def prepare(self, first_instruction: int, functions) -> None:
        """Builds all blocks that can run from a kernel's first instruction on, once."""
        if first_instruction in self._prepared:
            return
        self._prepared.add(first_instruction)
        entries = [self.graph.block_at[first_instruction]]
        done: set[int] = set()
        while entries:
            entry = entries.pop()
            if entry in done:
                continue
            done.add(entry)
            new_blocks = self._add_function(entry, functions)
            entries.extend(new_blocks)

    def _add_function(self, entry: int, functions) -> list[int]:
        """Builds a function's blocks; gives the entries of those it calls. With indirect jumps, that is any function
        and label.
        """
        ranks = self.graph.ranks(entry)
        callees, indirect = [], False
        for block in ranks:
            callees += self.graph.callees(block)
            indirect |= self.graph.block(block).last.op.kind in ("call_indirect", "branch_indirect")
        base = len(self.ranks)
        order = [block for block in ranks if block not in self.ranks]
        if indirect:
            callees += [
                self.graph.block_at[function.first] for function in functions if function.first in self.graph.block_at
            ]
            order += [
                block for block in range(len(self.graph.starts)) if block not in self.ranks and block not in ranks
            ]
        for position, block in enumerate(order):
            self.ranks[block] = base + position
            self.block_of_rank[base + position] = block
            self.blocks[block] = build_block(self.graph.block(block), self.env)
        return callees


_compiled: WeakKeyDictionary = WeakKeyDictionary()


def compiled(module) -> CompiledModule:
    """The compiled form of a device.module.LoadedModule, cached as long as the module exists."""
    if module not in _compiled:
        _compiled[module] = CompiledModule(module.code, module.load_base, module.const_base)
    return _compiled[module]


def build_block(block: BasicBlock, env: Env) -> Block:
    ops: list[Op] = []
    needs: dict[int, None] = {}
    defined: dict[int, None] = {}
    guarded: list[int] = []
    last_is_end = ends_block(block.last.op)
    for k, inst in enumerate(block.instructions):
        env.at = block.first + k
        for operand in reads(inst):
            needs.update((code, None) for code in code_of(operand) if code not in defined)
        for operand in writes(inst):
            if inst.guard != PT:
                needs.update((code, None) for code in code_of(operand) if code not in defined)
            defined.update((code, None) for code in code_of(operand))
        if inst.guard != PT:
            guarded.append(env.at)
        if not (last_is_end and inst is block.last):
            ops.append(build_op(inst, env))
    end = BUILDERS[block.last.op.number](block, env) if last_is_end else build_fall(block, env)
    fresh = [code for code in defined if code not in needs] + scratch_codes(block)
    indexes = range(block.first, block.after)
    spins = any(at in env.spins for at in indexes)
    polls = any(at in env.polls for at in indexes)
    is_ordered = any(_is_ordered(inst, at, env) for at, inst in zip(indexes, block.instructions, strict=True))
    takes = any(at in env.takes for at in indexes) and env.graph.is_in_loop(block.index)
    return Block(
        block.index,
        block.first,
        len(block.instructions),
        tuple(ops),
        end,
        tuple(needs),
        tuple(fresh),
        frozenset(defined),
        spins,
        takes,
        polls,
        is_ordered,
        tuple(guarded),
        *members_of_block(block.instructions),
        sites_of_block(block.instructions, block.first, env),
        tensor.fused(block.instructions, ops, env),
    )


def _is_ordered(inst: Instruction, at: int, env: Env) -> bool:
    """True if it sees what others have written by then, ends their waiting, or is served in turn. Loops of
    compare-and-swaps take turns in their own way (`core.contended_loops`).
    """
    if at in env.polls:
        return at in env.observed
    return at not in env.spins and (at in env.takes or (bool(env.polls) and is_signal(inst)))


def scratch_codes(block: BasicBlock) -> list[int]:
    """Scratch rows that a block may write: for unused results and for guarded instructions."""
    codes: set[int] = set()
    for inst in block.instructions:
        for slot in ("dst", "c", "e"):
            spec = inst.op.dst if slot == "dst" else getattr(inst.op, slot)
            if not spec or (slot != "dst" and not spec.startswith(">")):
                continue
            file = FILES.index(spec.lstrip(">")[0])
            if inst.guard != PT or getattr(inst, slot) in (RZ, PT):
                codes.update([file * 256 + TRASH, file * 256 + TRASH_P2] if file == 2 else [file * 256 + TRASH])
    return sorted(codes)


def build_op(inst: Instruction, env: Env) -> Op:
    run = build_result(inst, env)
    if env.at in env.polls:
        return signals.waiting(run)
    if env.polls and is_signal(inst):
        return signals.counting(run)
    return run if slow_path_of(inst) is None else slow_paths.with_slow_path(inst, env, run)


def build_result(inst: Instruction, env: Env) -> Op:
    """The callable of one instruction; a guarded one computes into scratch rows and keeps the lanes whose guard
    holds.
    """
    builder = BUILDERS[inst.op.number]
    # Accesses to memory read the guard themselves: a lane without it may have any address. Matrix instructions compute
    # with the registers of all lanes.
    if inst.guard == PT or inst.op.space or inst.op.kind in ("matrix", "matrix_async"):
        return builder(inst, env)
    aimed, later = retarget(inst)
    run = builder(aimed, env)
    guard = guard_reader(inst, env)
    only_held = inst.op.kind in ONLY_HELD

    def op(lanes: Lanes) -> None:
        held = guard(lanes)
        if only_held:
            with lanes.only(held):
                run(lanes)
        else:
            run(lanes)
        # Complete rows are computed and only the active lanes stored: to leave lanes out, numpy would copy the rows.
        for (kind, to), (_, scratch) in later:
            np.copyto(lanes.v[kind][to], lanes.v[kind][scratch], where=held)

    return op


def retarget(inst: Instruction) -> tuple[Instruction, list[tuple[Ref, Ref]]]:
    """The instruction with its results sent to scratch rows, and what to copy from there."""
    later = []
    changes = {}
    for slot in ("dst", "c", "e"):
        spec = inst.op.dst if slot == "dst" else getattr(inst.op, slot)
        if not spec or (slot != "dst" and not spec.startswith(">")):
            continue
        file = FILES.index(spec.lstrip(">")[0])
        index = getattr(inst, slot)
        if index == (PT if file == 2 else RZ):
            continue
        second = file == 2 and slot != "dst"
        changes[slot] = SCRATCH_P2 if second else PT if file == 2 else RZ
        kind = KINDS_OF_FILE[file][0]
        later.append((Ref(kind, index), Ref(kind, TRASH_P2 if second else TRASH)))
    return inst._replace(**changes), later
