"""The live trace: pieces come in, are checked, and leave when their blocks are done, so that memory stays bounded.

The engine has addresses in them: a warp those of its next step, access and sector, a grid those of its newest piece.
"""

import numpy as np

from gpuprof.emulate.trace import TracePiece
from gpuprof.timing.batch import PreparedGrid
from gpuprof.timing.state import State
from gpuprof.timing.static import accesses_per_block

SECTOR_COUNTS = (("n_sectors", 1), ("more_sectors", 256))
# Fields of a grid's record that hold addresses of a piece's arrays of the same name.
PLACES = ("step_start", "access_start", "sector_start", "steps", "accesses", "sectors")


class LiveTrace:
    """The pieces that grids have blocks in, by number: of all grids in the order they came."""

    def __init__(self, grids: list[PreparedGrid]):
        self.sources = [_Source(grid) for grid in grids]
        self.pieces: dict[int, TracePiece] = {}
        self.n_pieces = 0

    def feed(self, state: State) -> None:
        """Takes the next piece of the grid whose blocks are to start; pieces that nobody needs any more go."""
        head = int(state.machine[0]["head"])
        piece = self.sources[head].next_piece()
        number, self.n_pieces = self.n_pieces, self.n_pieces + 1
        self.pieces[number] = piece
        record = state.core.grid[head]
        record["piece"], record["piece_block"] = number, piece.first_block
        record["known_blocks"] = piece.first_block + piece.n_blocks
        for name in PLACES:
            record[name] = getattr(piece, name).ctypes.data
        self._drop_finished(state)

    def _drop_finished(self, state: State) -> None:
        block, grid = state.core.block, state.core.grid
        used = {*block["piece"][block["used"] == 1].tolist(), *grid["piece"][grid["next_block"] < grid["total_blocks"]].tolist()}
        for number in [number for number in self.pieces if number not in used]:
            del self.pieces[number]


class _Source:
    """A grid's pieces, checked as they come."""

    def __init__(self, grid: PreparedGrid):
        self.pieces = iter(grid.grid.pieces)
        self.n_basic_blocks = len(grid.program.block) - 1
        self.accesses = accesses_per_block(grid.program)
        self.warps_per_block = grid.fit.warps_per_block
        self.known_blocks = 0

    def next_piece(self) -> TracePiece:
        piece = next(self.pieces, None)
        assert piece is not None, f"the trace ends at block {self.known_blocks}, before the launch's last"
        self._check(piece)
        self.known_blocks += piece.n_blocks
        return _contiguous(piece)

    def _check(self, piece: TracePiece) -> None:
        assert piece.first_block == self.known_blocks, f"a piece starts at block {piece.first_block}, not {self.known_blocks}"
        assert piece.warps_per_block == self.warps_per_block, f"{piece.warps_per_block} warps a block, not {self.warps_per_block}"
        steps = np.diff(piece.step_start)
        assert len(steps) == piece.n_blocks * self.warps_per_block and (steps > 0).all(), "a warp without a step"
        assert int(piece.steps["block"].max()) < self.n_basic_blocks, "a step in a basic block that the code has not"
        due = np.add.reduceat(self.accesses[piece.steps["block"]], piece.step_start[:-1])
        assert (due == np.diff(piece.access_start)).all(), "access records that do not match the steps"
        assert int(sum(scale * piece.accesses[name].sum(dtype=np.int64) for name, scale in SECTOR_COUNTS)) == len(piece.sectors), (
            "sectors that do not match the access records"
        )


def _contiguous(piece: TracePiece) -> TracePiece:
    """The engine reads records through addresses, one behind the other."""
    return piece._replace(**{name: np.ascontiguousarray(getattr(piece, name)) for name in PLACES})
