"""The live trace: pieces come in, are checked, and leave when their blocks are done, so that memory stays bounded."""

from collections.abc import Iterator

import numpy as np

from gpuprof.emulate.trace import ACCESS_DTYPE, STEP_DTYPE, TracePiece
from gpuprof.timing.layout import EMPTY
from gpuprof.timing.state import State, Trace
from gpuprof.timing.static import StaticProgram, accesses_per_block

SECTOR_COUNTS = (("n_sectors", 1), ("more_sectors", 256))
EMPTY_START = np.zeros(1, np.int64)
NO_TRACE = Trace(EMPTY_START, np.zeros(0, STEP_DTYPE), EMPTY_START, np.zeros(0, ACCESS_DTYPE), EMPTY_START, np.zeros(0, np.int64))


class LiveTrace:
    """Pieces of one launch, from the block that runs longest on."""

    def __init__(self, pieces: Iterator[TracePiece], program: StaticProgram, warps_per_block: int):
        self.source = iter(pieces)
        self.program = program
        self.accesses = accesses_per_block(program)
        self.warps_per_block = warps_per_block
        self.pieces: list[TracePiece] = []
        self.known_blocks = 0

    def feed(self, state: State) -> State:
        """The state with the next piece in its trace and finished pieces gone."""
        piece = next(self.source, None)
        assert piece is not None, f"the trace ends at block {self.known_blocks}, before the launch's last"
        self._check(piece)
        self._drop_finished(state)
        self.pieces.append(piece)
        self.known_blocks += piece.n_blocks
        machine = state.machine[0]
        machine["known_blocks"], machine["first_block"] = self.known_blocks, self.pieces[0].first_block
        return state._replace(trace=_joined(self.pieces)).link()

    def _check(self, piece: TracePiece) -> None:
        assert piece.first_block == self.known_blocks, f"a piece starts at block {piece.first_block}, not {self.known_blocks}"
        assert piece.warps_per_block == self.warps_per_block, f"{piece.warps_per_block} warps a block, not {self.warps_per_block}"
        steps = np.diff(piece.step_start)
        assert len(steps) == piece.n_blocks * self.warps_per_block and (steps > 0).all(), "a warp without a step"
        assert int(piece.steps["block"].max()) < len(self.program.block) - 1, "a step in a basic block that the code has not"
        due = np.add.reduceat(self.accesses[piece.steps["block"]], piece.step_start[:-1])
        assert (due == np.diff(piece.access_start)).all(), "access records that do not match the steps"
        assert int(sum(scale * piece.accesses[name].sum(dtype=np.int64) for name, scale in SECTOR_COUNTS)) == len(piece.sectors), (
            "sectors that do not match the access records"
        )

    def _drop_finished(self, state: State) -> None:
        """Frees the pieces before the first block that still runs or is to come; the running warps' places move along."""
        block = state.core.block
        first = min([int(state.machine[0]["next_block"]), *block["index"][block["used"] == 1].tolist()])
        while self.pieces and self.pieces[0].first_block + self.pieces[0].n_blocks <= first:
            gone = self.pieces.pop(0)
            warp = state.core.warp
            live = warp["state"] != EMPTY
            for name, array in (("step", gone.steps), ("step_end", gone.steps), ("access", gone.accesses), ("sector", gone.sectors)):
                warp[name][live] -= len(array)


def _joined(pieces: list[TracePiece]) -> Trace:
    return Trace(
        _joined_starts([p.step_start for p in pieces]),
        np.concatenate([p.steps for p in pieces]),
        _joined_starts([p.access_start for p in pieces]),
        np.concatenate([p.accesses for p in pieces]),
        _joined_starts([p.sector_start for p in pieces]),
        np.concatenate([p.sectors for p in pieces]),
    )


def _joined_starts(starts: list[np.ndarray]) -> np.ndarray:
    offset, parts = 0, [EMPTY_START]
    for start in starts:
        parts.append(start[1:] + offset)
        offset += int(start[-1])
    return np.concatenate(parts)
