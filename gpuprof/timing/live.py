"""The live trace: pieces come in, are checked, and leave when all warps are past them, so that memory stays bounded by the chip.

The engine has addresses in them: each warp's, and those of a record for each piece. A piece holds a stretch of the trace of a chunk of
blocks. The pieces of a chunk are linked, and the next is there before any of its warps can come to the end of the last: a warp
that gets within a quantum's steps of it says so, and `feed_warps` waits for the emulator. What is asked for, and when, is read off the
simulated machine alone; so the order in which blocks are emulated is the same in every run.
"""

from collections import deque
from itertools import pairwise

import numpy as np

from gpuprof.emulate.trace import Order, TracePiece, join_sectors
from gpuprof.timing.batch import PreparedGrid
from gpuprof.timing.layout import EMPTY, PIECE, PIECE_PLACES, STARVED, STEP_NBYTES
from gpuprof.timing.state import State
from gpuprof.timing.static import accesses_per_block

CHUNKS_AHEAD = 2  # of blocks that have not started yet


class LiveTrace:
    """The pieces of all grids in which warps are, or will be."""

    def __init__(self, grids: list[PreparedGrid]):
        self.sources = [_Source(number, grid) for number, grid in enumerate(grids)]

    def feed_blocks(self, state: State) -> None:
        """Brings the blocks that are to start next, and has others prepared."""
        self.sources[int(state.machine[0]["head"])].feed_blocks(state)
        for source in self.sources:
            source.tidy(state)

    def feed_warps(self, state: State) -> None:
        """Sees to it that every warp can run on for the next quantum, and through the one after."""
        assert state.machine[0]["hungry"] != STARVED, "a warp ran further in a quantum than state.steps_of_quantum says"
        state.machine[0]["hungry"] = 0
        for source in self.sources:
            source.feed_warps(state)
            source.tidy(state)


class _Chunk:
    """Blocks that are emulated together. `pieces`: those that some warp is in or will come to, each with its record; see layout.PIECE."""

    def __init__(self, piece: TracePiece):
        self.first_block, self.n_blocks, self.warps_per_block = piece.first_block, piece.n_blocks, piece.warps_per_block
        self.pieces: list[tuple[TracePiece, np.ndarray]] = []
        self.n_pieces = 0
        self.final = np.zeros(len(piece.final), np.bool_)  # warps whose trace is complete
        self.stretch = 1.0  # steps of a block in the newest piece
        self.is_ordered = False

    @property
    def end(self) -> int:
        return self.first_block + self.n_blocks

    def add(self, piece: TracePiece) -> None:
        assert (piece.number, piece.n_blocks) == (self.n_pieces, self.n_blocks), "a piece that does not follow the one before"
        steps, ended = np.diff(piece.step_start), piece.final != 0
        assert not steps[self.final].any(), "steps of a warp that has ended"
        assert self.n_pieces or (steps[ended] > 0).all(), "a warp without a step"
        self.n_pieces += 1
        self.final |= ended
        steps_of_block = steps.reshape(self.n_blocks, -1).sum(axis=1)
        self.stretch = float(steps_of_block.sum()) / max(1, int(np.count_nonzero(steps_of_block)))
        record = np.zeros(1, PIECE)
        record["first_block"] = piece.first_block
        for name in PIECE_PLACES:
            record[name] = getattr(piece, name).ctypes.data
        if self.pieces:
            self.pieces[-1][1]["next"] = record.ctypes.data
        self.pieces.append((piece, record))

    def steps_left(self, warps: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(row, steps) of those `warps`, records of layout.WARP, of this chunk whose trace goes on beyond what is known."""
        mine = warps[(warps["block"] >= self.first_block) & (warps["block"] < self.end)]
        row = (mine["block"].astype(np.int64) - self.first_block) * self.warps_per_block + mine["in_block"]
        open_ended = ~self.final[row]
        mine, row = mine[open_ended], row[open_ended]
        left = (mine["trace_end"] - mine["step"]) // STEP_NBYTES
        for (_, before), (piece, _) in zip(self.pieces[:-1], self.pieces[1:], strict=True):
            ahead = self._is_in_or_before(mine["piece"], before)
            left[ahead] += np.diff(piece.step_start)[row[ahead]]
        return row, left

    def _is_in_or_before(self, places: np.ndarray, record: np.ndarray) -> np.ndarray:
        addresses = [each.ctypes.data for _, each in self.pieces]
        return np.isin(places, addresses[: addresses.index(record.ctypes.data) + 1])

    def drop_passed(self, warps: np.ndarray, next_block: int) -> None:
        """Frees the pieces that no warp is in, or has steps in that are still to come; the newest stays until the chunk goes.

        Blocks that start late have steps in the first piece, and none in the many that others have needed since: those leave the chain.
        """
        addresses = [record.ctypes.data for _, record in self.pieces]
        place = np.full(len(self.final), len(addresses))  # of each warp in the chain
        place[max(0, next_block - self.first_block) * self.warps_per_block :] = 0
        mine = warps[(warps["block"] >= self.first_block) & (warps["block"] < self.end)]
        rows = (mine["block"].astype(np.int64) - self.first_block) * self.warps_per_block + mine["in_block"]
        for number, address in enumerate(addresses):
            place[rows[mine["piece"] == address]] = number
        kept = [
            (piece, record)
            for number, (piece, record) in enumerate(self.pieces)
            if record is self.pieces[-1][1] or ((place == number) | (place < number) & (np.diff(piece.step_start) > 0)).any()
        ]
        for (_, record), (_, following) in pairwise(kept):
            record["next"] = following.ctypes.data
        self.pieces = kept


class _Source:
    """A grid's chunks, checked as they come."""

    def __init__(self, number: int, grid: PreparedGrid):
        self.number = number
        self.pieces, self.order = iter(grid.grid.pieces), grid.grid.order
        self.n_basic_blocks = len(grid.program.block) - 1
        self.accesses = accesses_per_block(grid.program)
        self.warps_per_block = grid.fit.warps_per_block
        self.chunks: dict[int, _Chunk] = {}  # by first block
        self.waiting: deque[_Chunk] = deque()  # whose first block is not due yet
        self.known_blocks = 0
        for _ in range(CHUNKS_AHEAD):
            self._order(Order())

    def _order(self, order: Order) -> None:
        if self.order is not None:
            self.order(order)

    def feed_blocks(self, state: State) -> None:
        while not self.waiting:
            self._take(state)
        chunk = self.waiting.popleft()
        record = state.core.grid[self.number]
        record["known_blocks"], record["piece"] = chunk.end, chunk.pieces[0][1].ctypes.data
        self._order_ahead(state)

    def feed_warps(self, state: State) -> None:
        least = 2 * int(state.machine[0]["lookahead_nbytes"]) // STEP_NBYTES
        warps = self._warps(state)
        for chunk in list(self.chunks.values()):
            while (chunk.steps_left(warps)[1] < least).any():
                if not chunk.is_ordered:
                    self._order_more(chunk, state)
                self._take(state)
        self._order_ahead(state)

    def _warps(self, state: State) -> np.ndarray:
        """The grid's warps that are on the chip."""
        warps = state.core.warp
        return warps[(warps["state"] != EMPTY) & (warps["grid"] == self.number)]

    def _take(self, state: State) -> None:
        """The next piece, whatever it is."""
        piece = next(self.pieces, None)
        assert piece is not None, f"the trace ends at block {self.known_blocks}, before the launch's last"
        self._check(piece)
        if piece.number == 0:
            assert piece.first_block == self.known_blocks, f"a piece starts at block {piece.first_block}, not {self.known_blocks}"
            self.known_blocks += piece.n_blocks
            chunk = self.chunks[piece.first_block] = _Chunk(piece)
            self.waiting.append(chunk)
            self._order(Order())
        chunk = self.chunks[piece.first_block]
        chunk.is_ordered = False
        chunk.add(_contiguous(piece))

    def _order_ahead(self, state: State) -> None:
        """Has the next piece of every chunk made while the newest is being played."""
        for chunk in self.chunks.values():
            if not chunk.is_ordered and not chunk.final.all():
                self._order_more(chunk, state)

    def _order_more(self, chunk: _Chunk, state: State) -> None:
        """Orders the next piece, of those blocks that run and have not much more left than the newest piece brought."""
        row, left = chunk.steps_left(self._warps(state))
        block = row // chunk.warps_per_block
        of_block = np.bincount(block, left, chunk.n_blocks)
        blocks = np.zeros(chunk.n_blocks, np.bool_)
        blocks[block] = of_block[block] < 1.5 * chunk.stretch
        blocks[block[left < 2 * int(state.machine[0]["lookahead_nbytes"]) // STEP_NBYTES]] = True
        if blocks.any():
            self._order(Order(chunk.first_block, blocks))
            chunk.is_ordered = True

    def tidy(self, state: State) -> None:
        """Frees what no warp will need: pieces, and chunks all of whose blocks have ended."""
        warps, record = self._warps(state), state.core.grid[self.number]
        for chunk in list(self.chunks.values()):
            if chunk.first_block >= record["next_block"]:
                continue
            if chunk.end <= record["next_block"] and not ((warps["block"] >= chunk.first_block) & (warps["block"] < chunk.end)).any():
                del self.chunks[chunk.first_block]
            else:
                chunk.drop_passed(warps, int(record["next_block"]))

    def _check(self, piece: TracePiece) -> None:
        assert piece.warps_per_block == self.warps_per_block, f"{piece.warps_per_block} warps a block, not {self.warps_per_block}"
        steps = np.diff(piece.step_start)
        assert len(steps) == len(piece.final) == piece.n_blocks * self.warps_per_block, "a piece of other warps than it says"
        assert not len(piece.steps) or int(piece.steps["block"].max()) < self.n_basic_blocks, (
            "a step in a basic block that the code has not"
        )
        due = np.diff(np.concatenate([[0], np.cumsum(self.accesses[piece.steps["block"]])])[piece.step_start])
        assert (due == np.diff(piece.access_start)).all(), "access records that do not match the steps"
        n_sectors, more_sectors = (piece.accesses[name].sum(dtype=np.int64) for name in ("n_sectors", "more_sectors"))
        assert join_sectors(n_sectors, more_sectors) == len(piece.sectors), "sectors that do not match the access records"


def _contiguous(piece: TracePiece) -> TracePiece:
    """The engine reads records through addresses, one behind the other."""
    arrays = {name: np.ascontiguousarray(getattr(piece, name)) for name in PIECE_PLACES}
    return piece._replace(**arrays | {"final": piece.final.astype(np.int64)})
