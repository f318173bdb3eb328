"""The state of lanes between two instructions of a watched launch: positions, registers, memory. It serves a debugger,
which looks at one lane at a time, so nothing here is optimised for speed.
"""

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np

from gpuprof.emulate.core.lanes import FULL, WARP, Lanes
from gpuprof.emulate.core.operands import KINDS_OF_FILE
from gpuprof.isa.encoding import writes

FILES = "RDP"


class Lane(NamedTuple):
    """A lane of a chunk: numbers of its warp in the chunk, and in the warp."""

    warp: int
    lane: int


class State:
    """The chunk of a launch when instruction `at` is about to run for `lanes`."""

    def __init__(self, chunk, lanes: Lanes, at: int):
        self.chunk, self._lanes, self._at = chunk, lanes, at
        self._warps: dict[int, Lanes] = {}  # one each

    @cached_property
    def places(self) -> np.ndarray:
        """int64 (warps, 32): the instruction that each lane runs next, or waits in; -1 of lanes that have exited."""
        positions = np.full((self.chunk.n_warps, WARP), -1, np.int64)
        for lanes, at in self._standing():
            here = _unpacked(lanes.masks)
            positions[lanes.warps] = np.where(here, at, positions[lanes.warps])
        return np.where(_unpacked(self.chunk.live), positions, -1)

    def _standing(self) -> Iterator[tuple[Lanes, int]]:
        """Sets of lanes, and the position of each."""
        chunk = self.chunk
        yield self._lanes, self._at
        for crowd in (chunk.ready, chunk.held, chunk.asleep, chunk.crowd.parked):
            for key, groups in crowd.items():
                for lanes in groups:
                    yield lanes, chunk.block_at(key).first
        for pause in chunk.meetings.paused:
            yield pause.lanes, pause.block.first + pause.at
        for entry in (*chunk.barriers.waiting, *chunk.mbarriers.waiting):
            yield entry.lanes, entry.at
        for lanes, _, at in chunk.cluster_barrier.waiting:
            yield lanes, at

    def register(self, file: str, index: int, warp: int) -> np.ndarray:
        """The values of a register in the 32 lanes of a warp: uint32 (R), uint64 (D) or bool (P), a copy."""
        number = FILES.index(file)
        rows = self.chunk.file.rows[number][index].reshape(-1, WARP)
        values_of_lanes = rows[warp].copy()
        code = number * 256 + index
        for lanes, _ in self._standing():
            # Sets that are not direct hold copies, which may be newer than the chunk's rows.
            if lanes.direct or code not in lanes.held or (lanes is self._lanes and code in self._unset()):
                continue
            for row in np.flatnonzero(lanes.warps == warp):
                values = lanes.v[KINDS_OF_FILE[number][0]][index].reshape(-1, WARP)[row]
                np.copyto(values_of_lanes, values, where=_unpacked(lanes.masks[row : row + 1])[0])
        return values_of_lanes

    def _unset(self) -> set[int]:
        """Registers that the block that runs has rows for, and has not written yet."""
        if not self.chunk.unset:
            return set()
        graph = self.chunk.module.graph
        block = graph.block(int(np.searchsorted(graph.starts, self._at, "right")) - 1)
        done = block.instructions[: self._at - block.first]
        written = {FILES.index(operand.file) * 256 + operand.index + k
                   for inst in done for operand in writes(inst) for k in range(operand.count)}  # fmt: skip
        return set(self.chunk.unset) - written

    def counts(self) -> tuple[int, int, int]:
        """Registers of the files R, D and P."""
        return tuple(map(len, self.chunk.file.rows))

    def depth(self, warp: int, lane: int) -> int:
        """The depth of a lane's call stack."""
        for lanes, _ in self._standing():
            for row in np.flatnonzero(lanes.warps == warp):
                if int(lanes.masks[row]) >> lane & 1:
                    return lanes.depth
        return 0

    def frames(self, warp: int, lane: int) -> list[tuple[int, int]]:
        """The callers of a lane's function, innermost first: the instruction after the call, and where the caller's
        frame begins in the thread's local memory. The first entry is the function's own: -1 and its frame.
        """
        calls, base = self.chunk.calls, int(self.chunk.calls.base[warp, lane])
        callers = [(-1, base)]
        for level in range(self.depth(warp, lane) - 1, -1, -1):
            block, frame, grown = (int(value) for value in calls.levels[level][:, warp, lane])
            base -= frame + grown
            callers.append((self.chunk.module.blocks[block].first, base))
        return callers

    def read(self, space: str, address: int, nbytes: int, lane: Lane) -> bytes | None:
        """Bytes of a state space, as addresses of accesses have them; None where the space does not hold them."""
        at = self._index(space, address, nbytes, lane)
        if at is None:
            return None
        return self.chunk.spaces[space].views[1][at : at + nbytes].tobytes()

    def write(self, space: str, address: int, data: bytes, lane: Lane) -> bool:
        """Writes bytes as a lane sees the space; returns False where the space does not hold them, or is read-only."""
        at = self._index(space, address, len(data), lane)
        if at is None or space in ("param", "const"):
            return False
        self.chunk.spaces[space].views[1][at : at + len(data)] = np.frombuffer(data, np.uint8)
        return True

    def _index(self, space: str, address: int, nbytes: int, lane: Lane) -> int | None:
        held = self.chunk.spaces[space]
        if nbytes < 0 or not 0 <= address < 1 << 62 or not held.holds(address, address + nbytes):
            return None
        return int(held.flat(self._warp(lane.warp), np.full(WARP, address, np.int64))[lane.lane])

    def _warp(self, warp: int) -> Lanes:
        if warp not in self._warps:
            self._warps[warp] = Lanes(self.chunk, np.array([warp]), np.array([FULL]), 0)
        return self._warps[warp]


def _unpacked(masks: np.ndarray) -> np.ndarray:
    """Unpacks masks of warps to bool (n, 32)."""
    return (masks[:, None] >> np.arange(WARP, dtype=np.uint32) & 1).astype(np.bool_)
