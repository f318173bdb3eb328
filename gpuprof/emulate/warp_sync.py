"""Lanes of one warp that do the same warp operation together at different instructions: both sides of a branch may hold
a shuffle.

PTX lets a lane continue once all lanes of its member mask have executed the operation "with the same qualifiers and
same membermask value", wherever that was (independent thread scheduling, sm_70). Blocks whose lanes may have to wait in
their midst are run here, operation by operation. Lanes that wait are stored, each with the part of the trace that its
run of the block has made so far: a run of a block enters the trace when it is complete, so steps and accesses of a warp
stay in one order.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from gpuprof.emulate.collectives import warp
from gpuprof.emulate.collectives.rendezvous import Members, complete, mask_slot, meets, members_of, partners_of
from gpuprof.emulate.core.faults import fault_of_element
from gpuprof.emulate.core.lanes import SCRATCH, WARP, Lanes, pack_masks, set_row, unpack_masks
from gpuprof.emulate.core.operands import FILE_OF_KIND, POOL, U32, U64, Ref, predicate, source
from gpuprof.emulate.core.operation import Env, Op, read_predicate
from gpuprof.emulate.trace_log.trace import TraceLog
from gpuprof.isa.encoding import PT, RZ, SLOTS, Instruction
from gpuprof.isa.kinds import COLLECTIVE
from gpuprof.isa.modifiers import FIELDS, unpack

LOG_CAPACITY = 64
OF_EACH_LANE = frozenset(["has_lane", "lane", "has_clamp", "clamp"])  # operands that are immediates, not qualifiers
FILES = "RDP"


class Operand(NamedTuple):
    """A register or constant; `slot` is where the common form of the operation has it."""

    slot: str
    ref: Ref
    negated: bool = False


class Site(NamedTuple):
    """A warp operation. Sites of one `kind` can be done together; `common` is its form with the same registers at all
    of them.
    """

    at: int
    kind: tuple
    members: Members
    guard: Callable[[Lanes], np.ndarray] | None
    common: Instruction
    sources: tuple[Operand, ...]
    numbers: tuple[tuple[str, int], ...]  # sources that are numbers, by slot
    results: tuple[tuple[str, int, int], ...]  # slot, file, register


def sites_of_block(instructions: tuple[Instruction, ...], first: int, env: Env) -> dict[int, Site]:
    """The warp operations of a block, by position in the block."""
    return {k: make_site(inst, first + k, env) for k, inst in enumerate(instructions) if meets(inst)}


def make_site(inst: Instruction, at: int, env: Env) -> Site:
    guard = None if inst.guard == PT else read_predicate(inst.guard, env)
    members = members_of(inst)
    if inst.op.kind in COLLECTIVE:  # all lanes have to execute the very same instruction
        return Site(at, (inst.op.name, at), members, guard, inst, (), (), ())
    mods = sum(FIELDS[name].put(unpack(inst.mods, name)) for name in inst.op.fields if name not in OF_EACH_LANE)
    slots = [slot for slot in SLOTS if getattr(inst.op, slot)]
    common = Instruction(inst.op, mods=mods)._replace(**{slot: SLOTS.index(slot) for slot in slots})
    mask_at = mask_slot(inst)
    sources, numbers, results = [], [], []
    for slot in slots:
        spec = getattr(inst.op, slot)
        file, index = FILES.index(spec.lstrip(">")[0]), getattr(inst, slot)
        if slot == "dst" or spec.startswith(">"):
            if index & (PT if file == 2 else RZ) != (PT if file == 2 else RZ):
                results.append((slot, file, index))
        elif slot == mask_at and members.register == RZ:
            numbers.append((slot, members.mask))
        elif (
            inst.op.kind == "shuffle" and slot in "bc" and unpack(inst.mods, {"b": "has_lane", "c": "has_clamp"}[slot])
        ):
            numbers.append((slot, unpack(inst.mods, {"b": "lane", "c": "clamp"}[slot])))
        elif file == 2:
            sources.append(Operand(slot, *predicate(index, env.pool)))
        elif slot == mask_at:
            sources.append(Operand(slot, Ref(U32, index)))
        else:
            sources.append(Operand(slot, source(inst, slot, U64 if file == 1 else U32, env.pool)))
    return Site(at, (inst.op.name, mods), members, guard, common, tuple(sources), tuple(numbers), tuple(results))


class Pause(NamedTuple):
    """Lanes that wait in front of operation `at` of a block; their registers are in the chunk's rows."""

    lanes: Lanes
    block: object  # program.Block
    at: int
    log: TraceLog

    @property
    def site(self) -> Site:
        return self.block.sites[self.at]


class Meetings:
    """The lanes that wait for others, which arrive at the same or another instruction. `stirred`: something has
    happened since the last call of `meet`.
    """

    def __init__(self, chunk):
        self.chunk = chunk
        self.paused: list[Pause] = []
        self.operations: dict[tuple, Op] = {}
        self.stirred = False

    # Running a block in parts

    def begin(self, lanes: Lanes, block) -> None:
        self.go_on(lanes, block, 0, TraceLog(self.chunk.n_warps, LOG_CAPACITY, self.chunk.log.is_wanted))

    def go_on(self, lanes: Lanes, block, at: int, log: TraceLog) -> None:
        """Runs a block from operation `at` on."""
        chunk, main = self.chunk, self.chunk.log
        chunk.log = log
        try:
            fetch(lanes, block)
            for k in range(at, len(block.ops)):
                if k in block.sites:
                    waiting = self.waiting(lanes, block.sites[k])
                    if waiting.any():
                        if not self.put_aside(lanes, waiting, Pause(lanes, block, k, log)):
                            return
                        fetch(lanes, block)
                block.ops[k](lanes)
        finally:
            chunk.log = main
        chunk.log.extend(log)
        chunk.count_step(block, lanes)
        chunk.spend(block.spins)
        block.end(lanes)

    def waiting(self, lanes: Lanes, site: Site) -> np.ndarray:
        """uint32 (warps,): the active lanes that take part and miss others."""
        taking = lanes.masks
        if site.guard is not None:
            taking = pack_masks(np.broadcast_to(site.guard(lanes), lanes.n)) & lanes.masks
        return taking & ~complete(taking, site.members.rows(lanes), self.chunk.live[lanes.warps])

    def put_aside(self, lanes: Lanes, waiting: np.ndarray, pause: Pause) -> bool:
        """Puts the `waiting` lanes aside. Returns whether any of `lanes` are left."""
        self.stirred = True
        if (waiting == lanes.masks).all():
            # Registers rest in the chunk's rows, where the operation that others begin can read them.
            lanes.flush()
            self.paused.append(pause)
            return False
        other = lanes.split_off(waiting)
        self.paused.append(pause._replace(lanes=other, log=pause.log.split(other.step_warps, lanes.step_warps)))
        return True

    # Meeting

    def meet(self) -> bool:
        """Lets all lanes continue whose members have arrived. Returns False when there are none and no other lane can
        run.
        """
        chunk = self.chunk
        self.stirred = False
        # In the program's order, whatever the order in which the lanes came.
        for key in sorted(chunk.held):
            x = chunk.merge(chunk.held.pop(key))
            if chunk.awake is None or chunk.stays_awake(key, x):
                self.begin(x, chunk.block_at(key))
        met = [self.meet_kind(kind) for kind in sorted({pause.site.kind for pause in self.paused})]
        return any(met) or bool(chunk.ready)

    def meet_kind(self, kind: tuple) -> bool:
        mine = [pause for pause in self.paused if pause.site.kind == kind]
        shape = self.chunk.n_warps, WARP
        present, masks, sites = np.zeros(shape[0], np.uint32), np.zeros(shape, np.uint32), np.full(shape, -1, np.int64)
        for pause in mine:
            x = pause.lanes
            x.prepare(tuple({pause.site.members.register} - {RZ}), (), frozenset())
            present[x.warps] |= x.masks
            self.fill(masks, x, pause.site.members.rows(x))
            self.fill(sites, x, np.int64(pause.site.at))
        going = complete(present, masks, self.chunk.live, partners_of(present, masks, sites))
        if self.chunk.awake is not None:
            # The trace of a sleeping lane is not needed yet: it would pile up.
            going &= self.chunk.awake
        if not going.any():
            return False
        self.paused = [pause for pause in self.paused if pause.site.kind != kind]
        parts = [part for pause in mine for part in self.divide(pause, going)]
        self.operate(kind, parts)
        for part in parts:
            self.go_on(part.lanes, part.block, part.at + 1, part.log)
        return True

    @staticmethod
    def fill(rows: np.ndarray, lanes: Lanes, values: np.ndarray) -> None:
        """rows (all warps, 32): `values` for the active lanes of x."""
        merged = rows[lanes.warps]
        np.copyto(merged, values, where=unpack_masks(lanes.masks).reshape(-1, WARP))
        rows[lanes.warps] = merged

    def divide(self, pause: Pause, going: np.ndarray) -> list[Pause]:
        """The lanes of `going`, in a list; the others wait on."""
        x = pause.lanes
        mine = x.masks & going[x.warps]
        rest = x.masks & ~mine
        if not rest.any():
            return [pause]
        if not mine.any():
            self.paused.append(pause)
            return []
        other, part = x.part(rest), x.part(mine)
        self.paused.append(pause._replace(lanes=other, log=pause.log.split(other.step_warps, part.step_warps)))
        return [pause._replace(lanes=part)]

    def operate(self, kind: tuple, parts: list[Pause]) -> None:
        """Runs the operation that `parts`, which wait before it, execute together."""
        if len({pause.site.at for pause in parts}) == 1:
            self.operate_at_one_place(parts)
        else:
            self.operate_separately(kind, parts)

    def operate_at_one_place(self, parts: list[Pause]) -> None:
        chunk, main = self.chunk, self.chunk.log
        block, at = parts[0].block, parts[0].at
        x = parts[0].lanes if len(parts) == 1 else chunk.merge([pause.lanes for pause in parts])
        fetch(x, block)
        chunk.log = log = TraceLog(chunk.n_warps, LOG_CAPACITY, main.is_wanted)
        try:
            block.ops[at](x)
        finally:
            chunk.log = main
        x.flush()
        # Parts may share a warp. The first of them keeps its access, and the others' copies have no lanes
        # (TraceLog.split).
        for k in range(len(parts) - 1, 0, -1):
            earlier = np.concatenate([pause.lanes.step_warps for pause in parts[:k]])
            parts[k].log.extend(log.split(parts[k].lanes.step_warps, earlier))
        parts[0].log.extend(log)

    def operate_separately(self, kind: tuple, parts: list[Pause]) -> None:
        """Every lane's own operands go to the registers of the operation's common form, and the results to its own."""
        chunk = self.chunk
        masks = np.zeros(chunk.n_warps, np.uint32)
        for pause in parts:
            pause.lanes.flush()  # what it holds may be changed
            masks[pause.lanes.warps] |= pause.lanes.masks
        x = Lanes(chunk, np.arange(chunk.n_warps, dtype=np.int64), masks, 0)
        x.v = chunk.file.lists()
        lanes = [unpack_masks(scattered(pause.lanes, chunk.n_warps)) for pause in parts]
        common = parts[0].site.common
        rows = {}
        for slot in SLOTS:
            if spec := getattr(common.op, slot):
                file = FILES.index(spec.lstrip(">")[0])
                rows[slot] = np.zeros(x.n, (np.uint32, np.uint64, np.bool_)[file])
                set_row(x.v, file, getattr(common, slot), rows[slot])
        for pause, here in zip(parts, lanes, strict=True):
            for slot, number in pause.site.numbers:
                rows[slot][here] = number
            for slot, ref, negated in pause.site.sources:
                value = np.broadcast_to(register_or_constant(chunk, ref), x.n)[here]
                rows[slot][here] = ~value if negated else value
        if kind not in self.operations:
            env = Env(
                chunk.module.graph,
                chunk.module.env.pool,
                chunk.module.env.load_base,
                chunk.module.env.const_base,
                parts[0].site.at,
            )
            self.operations[kind] = warp.SEMANTICS[common.op.semantics](common, env)
        self.operations[kind](x)
        for pause, here in zip(parts, lanes, strict=True):
            for slot, file, index in pause.site.results:
                chunk.file.rows[file][index][here] = rows[slot][here]
            if pause.site.guard is not None:
                chunk.count_guarded(pause.site.at, here)

    def deadlock(self):
        """A KernelFault that names the first lanes that wait for others that will never arrive."""
        chunk = self.chunk
        for pause in sorted(
            self.paused, key=lambda pause: (-pause.lanes.depth, chunk.rank(pause.block.index), pause.at)
        ):
            x, members = pause.lanes, pause.site.members
            x.prepare(tuple({members.register} - {RZ}), (), frozenset())
            masks = np.broadcast_to(members.rows(x), (len(x.warps), WARP)).reshape(-1)
            missing = masks & np.repeat(chunk.live[x.warps] & ~x.masks, WARP)
            stuck = np.flatnonzero((missing != 0) & unpack_masks(x.masks))
            if len(stuck):
                mask, absent = int(masks[stuck[0]]), int(missing[stuck[0]])
                text = (
                    f"deadlock: the member mask 0x{mask:08x} names lanes 0x{absent:08x}, which have not exited and "
                    "never come here"
                )
                return fault_of_element(x, pause.site.at, int(stuck[0]), text)
        raise AssertionError("lanes wait for each other and have not met")


def fetch(lanes: Lanes, block) -> None:
    """Makes rows of all registers of a block, wherever in it `lanes` is."""
    lanes.prepare((*block.needs, *(code for code in block.fresh if code not in SCRATCH)), SCRATCH, block.writes)


def scattered(lanes: Lanes, n_warps: int) -> np.ndarray:
    """The masks of `lanes` by warp of the chunk: uint32 (n_warps,)."""
    masks = np.zeros(n_warps, np.uint32)
    masks[lanes.warps] = lanes.masks
    return masks


def register_or_constant(chunk, ref: Ref) -> np.ndarray:
    if ref.index >= POOL:
        return chunk.file.template[ref.kind][ref.index]
    return chunk.file.rows[FILE_OF_KIND[ref.kind]][ref.index]
