"""mbarrier objects: phases that end when all expected arrivals have come and all expected bytes have been copied.

`isa/families/mbarrier.py` draws an object.

An arrival returns the object as it was before. A phase with state s is over when the object's phase bit is no longer
that of s.

Copies are done at once, so most waits find their phase over. A warp that has to wait stays in place until an arrival
ends the phase. When no other warp can run, all waits end without success, like the hardware's after its time limit;
when that happens PATIENCE times without progress, it is a deadlock.
"""

from typing import NamedTuple

import numpy as np

from gpuprof.device.memory import SHARED_WINDOW, WINDOW_NBYTES
from gpuprof.emulate.collectives.barriers import with_idle_records
from gpuprof.emulate.collectives.control import End, fall_through, split_by_guard
from gpuprof.emulate.core.faults import fault, fault_of_element, first_active, place_of
from gpuprof.emulate.core.lanes import WARP, Lanes, pack_masks, unpack_masks
from gpuprof.emulate.core.operands import PRED, U32, U64, destination, source
from gpuprof.emulate.core.operation import Env, Op, full_row
from gpuprof.emulate.memory.access import Site, make_site, touch
from gpuprof.emulate.memory.access_records import records_of
from gpuprof.emulate.trace_log.trace_entries import N_MBARRIERS, access_word
from gpuprof.isa.encoding import PT, RZ, Instruction
from gpuprof.isa.families.mbarrier import BYTES_BIAS, BYTES_MASK, COUNT, VALID
from gpuprof.isa.flow.graph import BasicBlock
from gpuprof.jit.cached import cached_njit

PATIENCE = 100
NOT_THERE, TOO_MANY, TOO_MANY_BYTES = range(3)
PROBLEMS = (
    "there is no mbarrier (mbarrier.init has not run, or inval has)",
    "more arrivals than the phase expects",
    "more than 2**20 - 1 bytes in one phase",
)


@cached_njit
def update(objects, index, arrivals, transactions, drops, old, ended):
    """Carries out one operation for each i, in order: bytes are added to those expected, then arrivals counted. old[i]
    becomes the object before, ended[i] 1 when that ends a phase.

    All arrays are int64. Gives (-1, 0), or the i at which something is wrong, and which of PROBLEMS.
    """
    for i in range(len(index)):
        word = objects[index[i]]
        old[i] = word
        if word >> 61 & 3 != 1:
            return i, NOT_THERE
        pending, expected = word & COUNT, word >> 20 & COUNT
        nbytes = (word >> 40 & BYTES_MASK) - BYTES_BIAS + transactions[i]
        if abs(nbytes) > COUNT:
            return i, TOO_MANY_BYTES
        if arrivals[i] > pending:
            return i, TOO_MANY
        pending -= arrivals[i]
        expected -= drops[i]
        phase = word >> 63 & 1
        if pending == 0 and nbytes == 0:
            phase, pending = 1 - phase, expected
            ended[i] = 1
        objects[index[i]] = -phase << 63 | VALID | (nbytes + BYTES_BIAS) << 40 | expected << 20 | pending
    return -1, 0


class Waiting(NamedTuple):
    """Lanes in front of one wait. `index`: their object in 64-bit words of shared memory; `parity`: the phase they wait
    for.
    """

    lanes: Lanes
    index: np.ndarray  # int64 (lanes,) in the order of the set bits of the lanes' masks
    parity: np.ndarray  # uint64 (lanes,)
    dst: int
    after: int
    at: int


class Mbarriers:
    """The waits of one chunk."""

    def __init__(self, chunk):
        self.chunk = chunk
        self.waiting: list[Waiting] = []
        self.changed = False
        self.in_vain = 0
        self.ended = np.zeros((chunk.n_blocks, N_MBARRIERS), np.int64)  # phases, by key; see `key_of`

    def key_of(self, index) -> tuple:
        """(block of the chunk, key) of objects by their word in shared memory: timing distinguishes objects by their
        keys.
        """
        block, offset = np.divmod(np.asarray(index) * 8, max(self.chunk.spaces["shared"].stride, 1))
        return block, (offset >> 3) % N_MBARRIERS

    @property
    def objects(self) -> np.ndarray:
        return self.chunk.spaces["shared"].views[8]

    def over(self, index: np.ndarray, parity: np.ndarray) -> np.ndarray:
        return self.objects[index] >> np.uint64(63) != parity

    def release(self) -> None:
        """Lets waits whose phase is over continue, with success."""
        self.changed = False
        waiting, self.waiting = self.waiting, []
        for entry in waiting:
            over = self.over(entry.index, entry.parity)
            if over.any():
                self.in_vain = 0
                self._go(entry, over, True)
            if not over.all():
                self.waiting.append(_part(entry, ~over))

    def waiters(self) -> list[Lanes]:
        return [entry.lanes for entry in self.waiting]

    def time_out(self) -> bool:
        """Ends all waits without success, when no other warp can run. Returns False when none waits; raises KernelFault
        when it has happened too often.
        """
        if not self.waiting:
            return False
        self.in_vain += 1
        if self.in_vain > PATIENCE:
            raise self.deadlock()
        waiting, self.waiting = self.waiting, []
        for entry in waiting:
            self._go(entry, np.ones(len(entry.index), np.bool_), False)
        return True

    def _go(self, entry: Waiting, chosen: np.ndarray, success: bool) -> None:
        group = _part(entry, chosen).lanes
        rows = self.chunk.file.rows[2]
        if entry.dst < len(rows):
            bits = rows[entry.dst].reshape(-1, WARP)
            merged = bits[group.warps]
            np.copyto(merged, success, where=unpack_masks(group.masks).reshape(-1, WARP))
            bits[group.warps] = merged
        self.chunk.push(group, entry.after)

    def deadlock(self):
        """KernelFault that names the first lane that waits, and every line where lanes wait."""
        entry = min(self.waiting, key=lambda entry: int(entry.lanes.warps[0]))
        warp, mask = int(entry.lanes.warps[0]), int(entry.lanes.masks[0])
        word = int(self.objects[entry.index[0]])
        pending, nbytes = word & COUNT, (word >> 40 & BYTES_MASK) - BYTES_BIAS
        program = self.chunk.launch.module.program
        lines = sorted({place_of(program, wait.at) for wait in self.waiting})
        missing = " and ".join(
            [f"{pending} arrival{'s' * (pending != 1)}"] * (pending > 0) + [f"{nbytes} bytes"] * (nbytes != 0)
            or ["nothing but the next phase"]
        )
        text = f"deadlock: waits at an mbarrier for {missing}, and no lane can run; lanes wait at {', '.join(lines)}"
        return fault(self.chunk, entry.at, text, warp, (mask & -mask).bit_length() - 1)


def _part(entry: Waiting, chosen: np.ndarray) -> Waiting:
    """The lanes of an entry for which `chosen` holds (one element for each of its lanes)."""
    if chosen.all():
        return entry
    active = unpack_masks(entry.lanes.masks)
    remaining = active.copy()
    remaining[active] = chosen
    return entry._replace(
        lanes=entry.lanes.part(pack_masks(remaining)), index=entry.index[chosen], parity=entry.parity[chosen]
    )


# -- instructions ----------------------------------------------------------------------------------


def shared_address(site: Site, lanes: Lanes) -> np.ndarray:
    """Addresses in shared memory; generic ones lose their window. What lies elsewhere stays as it is, and is out of
    bounds.
    """
    address = site.address(lanes)
    is_generic = (address >= SHARED_WINDOW) & (address < SHARED_WINDOW + WINDOW_NBYTES)
    return np.where(is_generic, address - SHARED_WINDOW, address)


def objects_of(lanes: Lanes, site: Site) -> tuple[np.ndarray, np.ndarray]:
    """(elements, word index in shared memory) of the active lanes; traced as one access."""
    active = lanes.active if site.guard is None else site.guard(lanes)
    touched = touch(lanes, site, lanes.chunk.spaces["shared"], shared_address(site, lanes), active)
    records_of(lanes)["uniform"] = 0  # means something else here: see `note_ends`
    elements = np.arange(lanes.n) if touched.active is None else np.flatnonzero(touched.active)
    return elements, touched.flat[elements] >> 3


def build_init(inst: Instruction, env: Env) -> Op:
    site = make_site(inst, env, "mbarrier.init")
    kind, count = source(inst, "b", U32, env.pool)

    def op(lanes: Lanes) -> None:
        elements, index = objects_of(lanes, site)
        counts = full_row(lanes, lanes.v[kind][count])[elements].astype(np.uint64)
        wrong = (counts == 0) | (counts > COUNT)
        if wrong.any():
            element = int(elements[np.flatnonzero(wrong)[0]])
            raise fault_of_element(
                lanes,
                site.at,
                element,
                f"mbarrier.init with a count of {int(counts[wrong][0])}; it must be 1 to {COUNT}",
            )
        lanes.chunk.spaces["shared"].views[8][index] = (
            counts | counts << np.uint64(20) | np.uint64(BYTES_BIAS << 40 | VALID)
        )

    return op


def build_inval(inst: Instruction, env: Env) -> Op:
    site = make_site(inst, env, "mbarrier.inval")

    def op(lanes: Lanes) -> None:
        _, index = objects_of(lanes, site)
        lanes.chunk.spaces["shared"].views[8][index] = 0

    return op


# Semantics -> what register b means, as (arrivals, bytes, drops): None is b itself, "-" b negated.
EFFECTS = {
    "mbar_arrive": (None, 0, 0), "mbar_arrive_drop": (None, 0, None), "mbar_arrive_tx": (1, None, 0),
    "mbar_arrive_drop_tx": (1, None, 1),
    "mbar_expect_tx": (0, None, 0), "mbar_complete_tx": (0, "-", 0),
}  # fmt: skip


def build_update(inst: Instruction, env: Env) -> Op:
    site = make_site(inst, env, "mbarrier operation")
    kind, given = source(inst, "b", U32, env.pool)
    effects = EFFECTS[inst.op.semantics]

    def op(lanes: Lanes) -> None:
        elements, index = objects_of(lanes, site)
        if not len(elements):
            return
        b = full_row(lanes, lanes.v[kind][given])[elements].astype(np.int64)
        columns = [
            b if effect is None else -b if effect == "-" else np.full(len(b), effect, np.int64) for effect in effects
        ]
        old = np.empty(len(elements), np.int64)
        ended = change(lanes, site.at, elements, index, *columns, old)
        if ended.any():
            note_ends(lanes, elements[ended > 0], index[ended > 0])
        if inst.op.dst and inst.dst != RZ:
            lanes.v[U64][inst.dst][elements] = old.view(np.uint64)

    return op


def change(
    lanes: Lanes, at: int, elements: np.ndarray, index: np.ndarray, arrivals, transactions, drops, old: np.ndarray
) -> np.ndarray:
    """`update` on the chunk's shared memory; raises KernelFault. Gives which operations ended a phase, 0 or 1 each."""
    barriers = lanes.chunk.mbarriers
    ended = np.zeros(len(index), np.int64)
    wrong, problem = update(barriers.objects.view(np.int64), index, arrivals, transactions, drops, old, ended)
    if wrong >= 0:
        raise fault_of_element(lanes, at, int(elements[wrong]), PROBLEMS[problem])
    barriers.changed = True
    if ended.any():
        np.add.at(barriers.ended, barriers.key_of(index), ended)
    return ended


def complete(lanes: Lanes, at: int, element: int, index: int, nbytes: int) -> bool:
    """A copy of nbytes reports to the object at word `index` of shared memory; gives whether that ends a phase."""
    none = np.zeros(1, np.int64)
    return bool(
        change(
            lanes, at, np.array([element]), np.array([index]), none, np.array([-nbytes]), none, np.empty(1, np.int64)
        )[0]
    )


def note_ends(lanes: Lanes, elements: np.ndarray, index: np.ndarray) -> None:
    """Adds to the warps' last records what their operations ended: the key in `tag_passes`, the number of phases
    in `uniform`.
    """
    if lanes.chunk.cluster > 1:  # it may be another block's, which timing cannot find
        return
    rows = elements // WARP
    _, keys = lanes.chunk.mbarriers.key_of(index)
    rank = np.cumsum(lanes.masks != 0) - 1  # of each row's record among those of this instruction
    records = records_of(lanes)
    ended, first, number = np.unique(rows, return_index=True, return_inverse=True)
    n_ended = np.bincount(number, keys == keys[first][number], len(ended))
    records["tag_passes"][rank[ended]] = keys[first]
    records["uniform"][rank[ended]] = np.minimum(n_ended, 255)


def note_waits(lanes: Lanes, active: np.ndarray, index: np.ndarray, over: np.ndarray) -> None:
    """A record for each warp: the key of its first lane's object, and how many phases must have ended, modulo 256, in
    `uniform`.

    In clusters nothing is traced (no lanes): the phase may be ended from another block.
    """
    barriers = lanes.chunk.mbarriers
    rows = np.flatnonzero(active) // WARP
    blocks, keys = barriers.key_of(index)
    needed = barriers.ended[blocks, keys] + ~over
    _, first = np.unique(rows, return_index=True)
    is_traced = int(lanes.chunk.cluster == 1)
    words = access_word(lanes=is_traced, conflicts=keys[first], uniform=needed[first] & 0xFF)
    lanes.chunk.log.accesses(lanes.step_warps, words)


def build_wait(block: BasicBlock, env: Env) -> End:
    inst, after, at = block.last, fall_through(block, env), block.after - 1
    env.at = at
    # As a place in shared memory of 8 bytes: the row's space is "barrier", which is not traced.
    site = make_site(inst._replace(op=inst.op._replace(space="shared", nbytes=8)), env, "mbarrier wait")._replace(
        guard=None
    )
    parity = inst.op.types[0] == "parity"
    kind, given = source(inst, "b", U32 if parity else U64, env.pool)
    dst = destination(inst, PRED).index

    def act(lanes: Lanes) -> None:
        barriers = lanes.chunk.mbarriers
        space = lanes.chunk.spaces["shared"]
        address = shared_address(site, lanes)
        active = np.ones(lanes.n, np.bool_) if lanes.active is None else lanes.active
        refused = lanes.chunk.refused(at)
        if refused is not None:  # they look at nothing, and wait for nothing
            address = np.where(refused, 0, address)
        waits = active if refused is None else active & ~refused
        check_places(lanes, site, space, address, waits)
        index = space.flat(lanes, address)[active] >> 3
        none = barriers.objects[index] >> np.uint64(61) & np.uint64(3) != 1
        none &= waits[active]
        if none.any():
            raise fault_of_element(lanes, at, int(np.flatnonzero(active)[none.argmax()]), PROBLEMS[NOT_THERE])
        value = full_row(lanes, lanes.v[kind][given])[active]
        awaited = (value & 1).astype(np.uint64) if parity else value >> np.uint64(63)
        over = barriers.over(index, awaited) | ~waits[active]
        note_waits(lanes, active, index, over)
        lanes.v[PRED][dst][active] = True
        if over.any():
            barriers.in_vain = 0
        if over.all():
            lanes.chunk.push(lanes, after)
            return
        late = np.zeros(lanes.n, np.bool_)
        late[active] = ~over
        if over.any():
            waiting = lanes.split_off(pack_masks(late))
            lanes.chunk.push(lanes, after)
        else:
            lanes.flush()
            waiting = lanes.part(lanes.masks)
        lanes.chunk.call(waiting.step_warps)
        barriers.waiting.append(Waiting(waiting, index[~over], awaited[~over], dst, after, at))

    end = split_by_guard(block, env, act)
    return end if inst.guard == PT else with_idle_records(inst, env, end)


def check_places(lanes: Lanes, site: Site, space, address: np.ndarray, active: np.ndarray) -> None:
    """Raises KernelFault for the first active lane whose place is not aligned or not in shared memory."""
    bad = active & ((address & (site.nbytes - 1) != 0) | ~space.inside(lanes, address, site.nbytes))
    if bad.any():
        element = first_active(lanes, bad)
        value = int(address[element])
        text = f"misaligned or out of bounds {site.verb} at 0x{value:x}; {space.describe(value)}"
        raise fault_of_element(lanes, site.at, element, text, "alignment" if value % site.nbytes else "address")


SEMANTICS = {"mbar_init": build_init, "mbar_inval": build_inval} | dict.fromkeys(EFFECTS, build_update)
ENDS = {"mbar_wait": build_wait}
