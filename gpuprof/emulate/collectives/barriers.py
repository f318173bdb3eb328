"""Barriers of blocks and of warps: the lanes that have arrived, those that wait, and those that may continue."""

from functools import cached_property
from typing import NamedTuple

import numpy as np

from gpuprof.emulate.collectives.control import End, fall_through, split_by_guard
from gpuprof.emulate.collectives.rendezvous import complete, lanes_outside, partners_of
from gpuprof.emulate.core.faults import fault
from gpuprof.emulate.core.lanes import WARP, Lanes, pack_masks, unpack_masks
from gpuprof.emulate.core.operands import PRED, U32, destination, source
from gpuprof.emulate.core.operation import Env, full_row, read_predicate
from gpuprof.emulate.trace_log.trace_entries import access_word
from gpuprof.isa.encoding import PT, RZ, Instruction
from gpuprof.isa.families.control import N_BARRIERS
from gpuprof.isa.flow.graph import BasicBlock


class Waiting(NamedTuple):
    """Lanes that wait at a barrier. `barrier` is -1 for a warp's own synchronisation."""

    lanes: Lanes
    barrier: int
    after: int
    at: int  # instruction
    reduce: "Reduction | None"


class Reduction(NamedTuple):
    operation: str  # popc, and, or
    kind: int
    index: int


class Barriers:
    """Per block and barrier: lanes arrived, lanes for which a reduction's predicate held, and lanes expected (0: all
    that live).

    Counts of threads are multiples of 32, so lanes of an arriving warp that are not there, because the block ends
    within the warp or because they have exited, count as arrived where a count is given: they are `absent`.
    """

    def __init__(self, chunk):
        self.chunk = chunk
        shape = (chunk.n_blocks, N_BARRIERS)
        self.arrived = np.zeros(shape, np.int64)
        self.absent = np.zeros(shape, np.int64)
        self.votes = np.zeros(shape, np.int64)
        self.expected = np.zeros(shape, np.int64)
        self.waiting: list[Waiting] = []
        self.warp_arrived = np.zeros(chunk.n_warps, np.uint32)

    # Of __syncwarp, which most kernels do without.

    @cached_property
    def warp_members(self) -> np.ndarray:
        return np.zeros((self.chunk.n_warps, WARP), np.uint32)

    @cached_property
    def warp_places(self) -> np.ndarray:
        return np.zeros((self.chunk.n_warps, WARP), np.int64)

    def lanes_per_block(self, lanes: Lanes, masks: np.ndarray) -> np.ndarray:
        return np.bincount(
            lanes.warps // self.chunk.warps_per_block, np.bitwise_count(masks), self.chunk.n_blocks
        ).astype(np.int64)

    def arrive(self, lanes: Lanes, barrier: int, count: int, votes: np.ndarray | None = None) -> None:
        """All active lanes of `lanes` arrive; `count` lanes are expected in all, 0 for the whole block."""
        counts = self.lanes_per_block(lanes, lanes.masks)
        self.arrived[:, barrier] += counts
        live = self.chunk.live[lanes.warps]
        lowest = live & (~live + np.uint32(1))  # whoever brings a warp's lowest lane brings those that are not there
        self.absent[:, barrier] += self.lanes_per_block(lanes, np.where(lanes.masks & lowest, ~live, np.uint32(0)))
        self.expected[counts > 0, barrier] = count
        if votes is not None:
            self.votes[:, barrier] += self.lanes_per_block(lanes, pack_masks(votes))

    def wait(
        self,
        lanes: Lanes,
        barrier: int,
        count: int,
        after: int,
        at: int,
        reduce: Reduction | None = None,
        votes: np.ndarray | None = None,
    ) -> None:
        if (
            not self.waiting
            and count == 0
            and reduce is None
            and not self.arrived[:, barrier].any()
            and self.chunk.is_everyone(lanes)
        ):
            self.chunk.push(lanes, after)
            return
        self.arrive(lanes, barrier, count, votes)
        self.chunk.call(lanes.step_warps)
        lanes.flush()
        self.waiting.append(Waiting(lanes, barrier, after, at, reduce))
        self.release()

    def waiters(self) -> list[Lanes]:
        """The lanes that wait at a barrier of their block."""
        return [entry.lanes for entry in self.waiting if entry.barrier >= 0]

    def sync_warp(self, lanes: Lanes, after: int, at: int, members: np.ndarray) -> None:
        """members: uint32, each lane's member mask, (warps, 32) or what broadcasts to it."""
        here = unpack_masks(lanes.masks).reshape(-1, WARP)
        if lanes.active is None or not (here & (members & lanes_outside(lanes)[:, None] != 0)).any():
            self.chunk.push(lanes, after)
            return
        self.warp_arrived[lanes.warps] |= lanes.masks
        self.warp_members[lanes.warps] = np.where(here, members, self.warp_members[lanes.warps])
        self.warp_places[lanes.warps] = np.where(here, at, self.warp_places[lanes.warps])
        lanes.flush()
        self.waiting.append(Waiting(lanes, -1, after, at, None))
        self.release()

    def release(self) -> None:
        """Lets all lanes continue whose barrier is complete."""
        if not self.waiting:
            return
        block_live = (
            np.bitwise_count(self.chunk.live).reshape(-1, self.chunk.warps_per_block).sum(axis=1, dtype=np.int64)
        )
        needed = np.where(self.expected > 0, self.expected, block_live[:, None])
        block_complete = (self.arrived > 0) & (self.arrived + np.where(self.expected > 0, self.absent, 0) >= needed)
        warp_complete = self.warps_complete()
        if not block_complete.any() and not warp_complete.any():
            return
        waiting, self.waiting = self.waiting, []
        for entry in waiting:
            self._release_entry(entry, block_complete, warp_complete)
        self.arrived[block_complete] = 0
        self.absent[block_complete] = 0
        self.votes[block_complete] = 0
        self.expected[block_complete] = 0
        self.warp_arrived &= ~warp_complete

    def warps_complete(self) -> np.ndarray:
        """uint32 (warps,): the lanes in warp synchronisations whose members have all come, to the same place or with
        the same mask.
        """
        arrived = self.warp_arrived
        if not arrived.any():
            return arrived
        return complete(
            arrived, self.warp_members, self.chunk.live, partners_of(arrived, self.warp_members, self.warp_places)
        )

    def _release_entry(self, entry: Waiting, block_complete: np.ndarray, warp_complete: np.ndarray) -> None:
        x = entry.lanes
        blocks = x.warps // self.chunk.warps_per_block
        going = (
            x.masks & warp_complete[x.warps]
            if entry.barrier < 0
            else np.where(block_complete[blocks, entry.barrier], x.masks, np.uint32(0))
        )
        staying = x.masks & ~going
        if going.any():
            group = x.part(going)
            if entry.reduce:
                self._store_reduction(group, entry)
            self.chunk.push(group, entry.after)
        if staying.any():
            self.waiting.append(entry._replace(lanes=x.part(staying)))

    def _store_reduction(self, group: Lanes, entry: Waiting) -> None:
        blocks = group.warps // self.chunk.warps_per_block
        votes, arrived = self.votes[blocks, entry.barrier], self.arrived[blocks, entry.barrier]
        values = {"popc": votes, "and": votes == arrived, "or": votes > 0}[entry.reduce.operation]
        file = 2 if entry.reduce.kind == PRED else 0
        rows = self.chunk.file.rows[file]
        if entry.reduce.index >= len(rows):  # RZ or PT
            return
        row = rows[entry.reduce.index].reshape(-1, WARP)
        merged = row[group.warps]
        np.copyto(merged, values[:, None], where=unpack_masks(group.masks).reshape(-1, WARP), casting="unsafe")
        row[group.warps] = merged

    def deadlock(self):
        """A KernelFault that names the first lanes that wait for others that will never arrive."""
        entry = min(self.waiting, key=lambda entry: int(entry.lanes.warps[0]))
        warp = int(entry.lanes.step_warps[0])
        lane = (int(entry.lanes.step_masks[0]) & -int(entry.lanes.step_masks[0])).bit_length() - 1
        if entry.barrier < 0:
            text = "deadlock: waits in a warp synchronisation for lanes that never reach it"
            return fault(self.chunk, entry.at, text, warp, lane)
        block = warp // self.chunk.warps_per_block
        arrived = int(self.arrived[block, entry.barrier])
        live = int(np.bitwise_count(self.chunk.live).reshape(-1, self.chunk.warps_per_block)[block].sum())
        needed = int(self.expected[block, entry.barrier]) or live
        text = (
            f"deadlock: waits at barrier {entry.barrier}, where {arrived} of {needed} threads have arrived and no "
            "other thread of the block can run"
        )
        return fault(self.chunk, entry.at, text, warp, lane)


def build_barrier(block: BasicBlock, env: Env) -> End:
    """bar.sync, bar.arrive and bar.red; register 255 in a or b takes the low or high half of imm."""
    inst = block.last
    after, at = fall_through(block, env), block.after - 1
    kind_a, a = source(inst, "a", U32, env.pool)
    kind_b, b = source(inst, "b", U32, env.pool)
    kind = inst.op.kind
    reduce = vote = None
    if kind == "barrier_vote":
        vote = read_predicate(inst.c, env)
        reduce = Reduction(inst.op.types[0], *destination(inst, PRED if inst.op.dst == "P" else U32))

    def act_uniform(lanes: Lanes, barrier: int, count: int) -> None:
        if barrier >= N_BARRIERS or count % WARP:
            raise fault(
                lanes.chunk,
                at,
                f"barrier {barrier} with {count} threads: barriers are 0 to {N_BARRIERS - 1}, counts multiples of 32",
                int(lanes.step_warps[0]),
            )
        if kind == "barrier_arrive":
            lanes.chunk.barriers.arrive(lanes, barrier, count)
            lanes.chunk.push(lanes, after)
            lanes.chunk.barriers.release()
            return
        votes = None
        if vote is not None:
            held = full_row(lanes, vote(lanes))
            votes = held if lanes.active is None else held & lanes.active
        lanes.chunk.barriers.wait(lanes, barrier, count, after, at, reduce, votes)

    def act_separately(lanes: Lanes, key: int) -> None:
        """Runs lanes that were just separated from others: they read their predicate again (file P is number 2)."""
        if vote is not None and inst.c & PT != PT:
            lanes.prepare((2 * 256 + (inst.c & PT),), (), frozenset())
        act_uniform(lanes, key >> 32, key & 0xFFFFFFFF)

    def act(lanes: Lanes) -> None:
        """The access record of each warp says where its first lane arrives."""
        barriers = np.full(lanes.n, inst.imm & 0xFFFF) if inst.a == RZ else full_row(lanes, lanes.v[kind_a][a])
        counts = np.full(lanes.n, inst.imm >> 16) if inst.b == RZ else full_row(lanes, lanes.v[kind_b][b])
        keys = barriers.astype(np.uint64) << 32 | counts.astype(np.uint64)
        active = np.ones(lanes.n, np.bool_) if lanes.active is None else lanes.active
        note_arrivals(lanes, active, barriers, counts)
        first, *others = np.unique(keys[active]).tolist()
        # A warp may leave entirely, which moves the rows of the warps after it.
        masks = np.zeros((len(others), lanes.chunk.n_warps), np.uint32)
        for key, row in zip(others, masks, strict=True):
            row[lanes.warps] = pack_masks(active & (keys == key))
        for key, row in zip(others, masks, strict=True):
            act_separately(lanes.split_off(row[lanes.warps]), key)
        act_separately(lanes, first)

    if inst.a == RZ and inst.b == RZ:
        return split_by_guard(block, env, lambda x: act_uniform(x, inst.imm & 0xFFFF, inst.imm >> 16))
    end = split_by_guard(block, env, act)
    if inst.guard == PT:
        return end
    return with_idle_records(inst, env, end)


def note_arrivals(group: Lanes, active: np.ndarray, barriers: np.ndarray, counts: np.ndarray) -> None:
    """A record for each warp with a lane in `active`: its first lane's barrier in `conflicts`, the warps it waits for
    in `uniform`.
    """
    _, first = np.unique(np.flatnonzero(active) // WARP, return_index=True)
    lanes = np.flatnonzero(active)[first]
    waits_for = np.minimum(counts[lanes] // WARP, 255)
    words = access_word(lanes=1, conflicts=barriers[lanes] & 0xFF, uniform=waits_for)
    group.chunk.log.accesses(group.step_warps, words)


def with_idle_records(inst: Instruction, env: Env, end: End) -> End:
    """`end`, before which warps of which no lane has the guard get an empty access record: every warp that runs the
    instruction has one.
    """
    guard = read_predicate(inst.guard, env)

    def guarded(lanes: Lanes) -> None:
        held = pack_masks(guard(lanes)) & lanes.masks
        idle = lanes.step_warps[held[np.flatnonzero(lanes.masks)] == 0]
        lanes.chunk.log.accesses(idle, np.zeros(len(idle), np.uint64))
        end(lanes)

    return guarded


ENDS = {"bar_sync": build_barrier, "bar_arrive": build_barrier, "bar_red": build_barrier}
