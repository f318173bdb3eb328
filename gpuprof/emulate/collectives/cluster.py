"""Clusters: blocks that run together, see each other's shared memory and have a barrier of their own.

Blocks are numbered in the order of their clusters, which is the grid's own order when clusters extend only along x.
An address in shared memory holds, from bit RANK_SHIFT on, the rank of the block it lies in plus one; 0 is the thread's
own block.
"""

import numpy as np

from gpuprof.emulate.collectives.control import End, fall_through, split_by_guard
from gpuprof.emulate.core.faults import fault
from gpuprof.emulate.core.lanes import Lanes, pack_masks, unpack_masks
from gpuprof.emulate.core.operands import U32, destination, source
from gpuprof.emulate.core.operation import Env, Op, elementwise, full_row
from gpuprof.isa.encoding import Instruction
from gpuprof.isa.families.cluster import OFFSET_MASK, RANK_SHIFT
from gpuprof.isa.flow.graph import BasicBlock


class ClusterBarrier:
    """The barriers of a chunk's clusters, one each. A lane that has exited counts as arrived.

    Lanes that wait here have arrived, so an arrival is missing only while other lanes can run or wait elsewhere: no
    deadlock begins here.
    """

    def __init__(self, chunk):
        self.chunk = chunk
        self.warps_per_cluster = chunk.cluster * chunk.warps_per_block
        self.arrived = np.zeros(chunk.n_warps, np.uint32)
        self.phase = np.zeros(chunk.n_warps // self.warps_per_cluster, np.int64)
        # in which a lane has arrived, until it has waited; -1
        self.lane_phase = np.full((chunk.n_warps, 32), -1, np.int64)
        self.waiting: list[tuple[Lanes, int, int]] = []  # lanes, block after, instruction
        self.used = False

    def arrive(self, lanes: Lanes, at: int) -> None:
        again = pack_masks((self.lane_phase[lanes.warps] >= 0).reshape(-1)) & lanes.masks
        if again.any():
            row = int(np.flatnonzero(again)[0])
            lane = (int(again[row]) & -int(again[row])).bit_length() - 1
            raise fault(
                self.chunk, at, "barrier.cluster.arrive for the second time without a wait", int(lanes.warps[row]), lane
            )
        self.used = True
        self.arrived[lanes.warps] |= lanes.masks
        self._set_phase(lanes, self.phase[lanes.warps // self.warps_per_cluster][:, None])
        self.complete()

    def _set_phase(self, lanes: Lanes, phase) -> None:
        mine = self.lane_phase[lanes.warps]
        np.copyto(mine, phase, where=unpack_masks(lanes.masks).reshape(-1, 32))
        self.lane_phase[lanes.warps] = mine

    def _leave(self, lanes: Lanes) -> None:
        self._set_phase(lanes, -1)

    def exited(self) -> None:
        if self.used:
            self.complete()

    def complete(self) -> None:
        """Ends the phases for which every live lane has arrived, and lets the lanes that waited for that continue."""
        missing = (self.chunk.live & ~self.arrived).reshape(-1, self.warps_per_cluster).any(axis=1)
        came = (self.arrived != 0).reshape(-1, self.warps_per_cluster).any(axis=1)
        done = came & ~missing
        if not done.any():
            return
        self.phase[done] += 1
        self.arrived.reshape(-1, self.warps_per_cluster)[done] = 0
        waiting, self.waiting = self.waiting, []
        for x, after, at in waiting:
            self._wait(x, after, at)

    def free(self, lanes: Lanes) -> np.ndarray:
        """uint32 per warp: the lanes of `lanes` whose phase has ended."""
        over = self.lane_phase[lanes.warps] < self.phase[lanes.warps // self.warps_per_cluster][:, None]
        return pack_masks(over.reshape(-1)) & lanes.masks

    def waiters(self) -> list[Lanes]:
        return [x for x, _, _ in self.waiting]

    def wait(self, lanes: Lanes, after: int, at: int) -> None:
        never = pack_masks((self.lane_phase[lanes.warps] < 0).reshape(-1)) & lanes.masks
        if never.any():
            row = int(np.flatnonzero(never)[0])
            lane = (int(never[row]) & -int(never[row])).bit_length() - 1
            raise fault(self.chunk, at, "barrier.cluster.wait without an arrive before it", int(lanes.warps[row]), lane)
        if (self.free(lanes) == lanes.masks).all():
            self._leave(lanes)
            self.chunk.push(lanes, after)
            return
        self.chunk.call(lanes.step_warps)
        lanes.flush()
        self._wait(lanes, after, at)

    def _wait(self, lanes: Lanes, after: int, at: int) -> None:
        going = self.free(lanes)
        staying = lanes.masks & ~going
        if going.any():
            group = lanes.part(going)
            self._leave(group)
            self.chunk.push(group, after)
        if staying.any():
            self.waiting.append((lanes.part(staying), after, at))


ARRIVES = {"cluster_arrive": True, "cluster_wait": False}


def build_barrier(block: BasicBlock, env: Env) -> End:
    after, at = fall_through(block, env), block.after - 1
    arrives = ARRIVES[block.last.op.semantics]

    def act(lanes: Lanes) -> None:
        barrier = lanes.chunk.cluster_barrier
        if not arrives:
            barrier.wait(lanes, after, at)
            return
        barrier.arrive(lanes, at)
        lanes.chunk.push(lanes, after)

    return split_by_guard(block, env, act)


def map_address(address: np.ndarray, rank: np.ndarray) -> np.ndarray:
    kind = address.dtype.type
    upper = address & kind(~0xFFFFFFFF & 0xFFFFFFFFFFFFFFFF) if address.dtype.itemsize == 8 else kind(0)
    return upper | address & kind(OFFSET_MASK) | (rank.astype(address.dtype) & kind(0x7F)) + kind(1) << kind(RANK_SHIFT)


def build_rank(inst: Instruction, env: Env) -> Op:
    kd, d = destination(inst, U32)
    ka, a = source(inst, "a", U32, env.pool)

    def op(lanes: Lanes) -> None:
        field = full_row(lanes, lanes.v[ka][a]) >> np.uint32(RANK_SHIFT)
        own = lanes.chunk.special("cluster_ctarank", lanes).astype(np.uint32)
        np.copyto(lanes.v[kd][d], np.where(field == 0, own, field - np.uint32(1)))

    return op


SEMANTICS = {"mapa": elementwise(map_address), "ctarank": build_rank}
ENDS = dict.fromkeys(ARRIVES, build_barrier)
