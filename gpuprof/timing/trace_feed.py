"""The live trace: pieces come in, are checked, and leave when all warps are past them, so that memory stays bounded by
the chip.

The engine has addresses in them: each warp's, and those of a record for each piece. A piece holds a stretch of the
trace of a chunk of blocks. The pieces of a chunk are linked, and the next is there before any of its warps can reach
the end of the last: a warp that gets within a quantum's steps of it sets a flag, and `feed_warps` waits for the
emulator. The orders and their times follow only from the simulated machine; so the order in which blocks are emulated
is the same in every run.
"""

from collections import deque
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from gpuprof.emulate.trace_log.trace import Order, TracePiece
from gpuprof.emulate.trace_log.trace_entries import join_sectors
from gpuprof.timing.batch import PreparedGrid
from gpuprof.timing.state.layout import EMPTY, PIECE_PLACES, STARVED, STEP_NBYTES
from gpuprof.timing.state.machine import State
from gpuprof.timing.trace_compaction import MOST_PIECES, Link, gather, lengths, link_of, standing

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
        """Makes sure that every warp can run on for the next quantum, and through the one after."""
        assert state.machine[0]["hungry"] != STARVED, "a warp ran further in a quantum than state.steps_of_quantum says"
        state.machine[0]["hungry"] = 0
        for source in self.sources:
            source.feed_warps(state)


class _Chunk:
    """Blocks that are emulated together. `links`: the pieces that some warp is in or will reach. A row is a warp of the
    chunk.
    """

    def __init__(self, piece: TracePiece):
        self.first_block, self.n_blocks, self.warps_per_block = piece.first_block, piece.n_blocks, piece.warps_per_block
        self.links: list[Link] = []
        self.n_pieces = 0
        self.final = np.zeros(len(piece.final), np.bool_)  # warps whose trace is complete
        self.stretch = 1.0  # steps of a warp in the newest piece
        self.is_ordered = False

    @property
    def end(self) -> int:
        return self.first_block + self.n_blocks

    def add(self, piece: TracePiece) -> None:
        assert (piece.number, piece.n_blocks) == (self.n_pieces, self.n_blocks), (
            "a piece that does not follow the one before"
        )
        steps, ended = lengths(piece.step_start), piece.final != 0
        assert not steps[self.final].any(), "steps of a warp that has ended"
        assert self.n_pieces or (steps[ended] > 0).all(), "a warp without a step"
        self.n_pieces += 1
        self.final |= ended
        self.stretch = float(steps.sum()) / max(1, int(np.count_nonzero(steps)))
        self.links.append(link_of(piece))
        self._chain()

    def _chain(self) -> None:
        for link, following in pairwise(self.links):
            link.record["next"] = following.address

    @property
    def is_open(self) -> bool:
        """True when the chunk's trace continues, and the next piece has not been ordered."""
        return not self.is_ordered and not self.final.all()

    def are_mine(self, warps: "_Warps") -> np.ndarray:
        return (warps.block >= self.first_block) & (warps.block < self.end)

    def mine(self, warps: "_Warps") -> "_Warps":
        here = self.are_mine(warps)
        return _Warps(*(column[here] for column in warps))

    def rows(self, warps: "_Warps") -> np.ndarray:
        return (warps.block - self.first_block) * self.warps_per_block + warps.in_block

    def places(self, warps: "_Warps") -> np.ndarray:
        """For each warp, the index of the link that it is in: int64 (warps,)."""
        # A warp knows its piece only by the address of the piece's record.
        addresses = np.array([link.address for link in self.links])
        order = np.argsort(addresses)
        return order[np.searchsorted(addresses, warps.piece, sorter=order)]

    def steps_left(self, warps: "_Warps") -> tuple[np.ndarray, np.ndarray]:
        """(row, known steps still to run), int64 each, of those `warps` of this chunk whose trace continues beyond the
        newest piece.
        """
        mine = self.mine(warps)
        row, link_of, left = self.rows(mine), self.places(mine), (mine.trace_end - mine.step) // STEP_NBYTES
        for number, link in enumerate(self.links):
            if number:
                left += np.where(link_of < number, link.steps[row], 0)
        open_ended = ~self.final[row]
        return row[open_ended], left[open_ended]

    def drop_passed(self, state: State, warps: "_Warps", next_block: int) -> None:
        """Frees the pieces that no warp is in, or has steps in that are still to come; the newest stays until the chunk
        goes.

        Blocks that start late have steps in the first piece, and none in the many that others have needed since: those
        leave the chain.
        """
        if len(self.links) == 1:
            return
        mine = self.mine(warps)
        # Rows without a warp on the chip have ended, but for the blocks that have not started yet.
        link_of = np.full(len(self.final), len(self.links))  # of each row in the chain
        link_of[max(0, next_block - self.first_block) * self.warps_per_block :] = 0
        link_of[self.rows(mine)] = self.places(mine)
        is_needed = [
            ((link_of == number) | (link_of < number) & (link.steps > 0)).any()
            for number, link in enumerate(self.links)
        ]
        # The next piece will be linked to the newest, even when no warp is in that now.
        is_needed[-1] = True
        link_of = np.concatenate([[0], np.cumsum(is_needed)])[link_of]
        self.links = [link for link, stays in zip(self.links, is_needed, strict=True) if stays]
        if len(self.links) > MOST_PIECES:
            self.links = gather(state, self.links, standing(state, link_of, mine.number, self.rows(mine)))
        self._chain()


class _Warps(NamedTuple):
    """Warps on the chip, one column for each field of layout.WARP that is used here, all int64; `number`: the
    machine's.
    """

    number: np.ndarray
    block: np.ndarray
    in_block: np.ndarray
    piece: np.ndarray
    step: np.ndarray
    trace_end: np.ndarray


class _Source:
    """A grid's chunks, checked as they come."""

    def __init__(self, number: int, grid: PreparedGrid):
        self.number = number
        self.pieces, self.order = iter(grid.grid.pieces), grid.grid.order
        self.n_basic_blocks = len(grid.program.block) - 1
        self.accesses = grid.program.accesses_per_block
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
        record["known_blocks"], record["piece"] = chunk.end, chunk.links[0].address
        if any(chunk.is_open for chunk in self.chunks.values()):
            self._order_ahead(state, self._warps(state))

    def feed_warps(self, state: State) -> None:
        warps = self._warps(state)
        has_more = False
        for chunk in list(self.chunks.values()):
            # A piece ends by its bytes, so one may bring a warp fewer steps than it needs.
            while (chunk.steps_left(warps)[1] < _least_steps(state)).any():
                if not chunk.is_ordered:
                    self._order_more(chunk, state, warps)
                self._take(state)
                has_more = True
        self._order_ahead(state, warps)
        if has_more:
            self.tidy(state)

    def _warps(self, state: State) -> _Warps:
        """The warps of this grid that are on the chip."""
        table = state.core.warp
        number = ((table["state"] != EMPTY) & (table["grid"] == self.number)).nonzero()[0]
        return _Warps(number, *(table[name][number].astype(np.int64) for name in _Warps._fields[1:]))

    def _take(self, state: State) -> None:
        """The next piece, whatever it is."""
        piece = next(self.pieces, None)
        assert piece is not None, f"the trace ends at block {self.known_blocks}, before the launch's last"
        self._check(piece)
        if piece.number == 0:
            assert piece.first_block == self.known_blocks, (
                f"a piece starts at block {piece.first_block}, not {self.known_blocks}"
            )
            self.known_blocks += piece.n_blocks
            chunk = self.chunks[piece.first_block] = _Chunk(piece)
            self.waiting.append(chunk)
            # A new chunk is ordered for each that comes, so that CHUNKS_AHEAD of them are always under way.
            self._order(Order())
        chunk = self.chunks[piece.first_block]
        chunk.is_ordered = False
        chunk.add(_contiguous(piece))

    def _order_ahead(self, state: State, warps: _Warps) -> None:
        """Has the next piece of every chunk made while the newest is being played."""
        for chunk in self.chunks.values():
            if chunk.is_open:
                self._order_more(chunk, state, warps)

    def _order_more(self, chunk: _Chunk, state: State, warps: _Warps) -> None:
        """Orders the next piece, of those warps that run and have not much more left than the newest piece brought
        them.
        """
        row, left = chunk.steps_left(warps)
        # A slow warp has enough: more of its trace now would only pile up in memory.
        is_short = left < max(1.5 * chunk.stretch, _least_steps(state))
        if is_short.any():
            rows = np.zeros(len(chunk.final), np.bool_)
            rows[row[is_short]] = True
            self._order(Order(chunk.first_block, rows))
            chunk.is_ordered = True

    def tidy(self, state: State) -> None:
        """Frees what no warp will need: pieces, and chunks all of whose blocks have ended."""
        next_block = int(state.core.grid["next_block"][self.number])
        begun = [chunk for chunk in self.chunks.values() if chunk.first_block < next_block]
        warps = self._warps(state) if begun else None
        for chunk in begun:
            if chunk.end <= next_block and not chunk.are_mine(warps).any():
                del self.chunks[chunk.first_block]
            else:
                chunk.drop_passed(state, warps, next_block)

    def _check(self, piece: TracePiece) -> None:
        assert piece.warps_per_block == self.warps_per_block, (
            f"{piece.warps_per_block} warps a block, not {self.warps_per_block}"
        )
        # Compiled code follows these records without bounds checks (state/table_rows.py): a wrong piece must stop here.
        steps = lengths(piece.step_start)
        assert len(steps) == len(piece.final) == piece.n_blocks * self.warps_per_block, (
            "a piece of other warps than it says"
        )
        assert not len(piece.steps) or int(piece.steps["block"].max()) < self.n_basic_blocks, (
            "a step in a basic block that the code has not"
        )
        so_far = np.zeros(len(piece.steps) + 1, np.int64)
        np.add.accumulate(self.accesses[piece.steps["block"]], out=so_far[1:])
        due = lengths(so_far[piece.step_start])
        assert (due == lengths(piece.access_start)).all(), "access records that do not match the steps"
        n_sectors, more_sectors = (piece.accesses[name].sum(dtype=np.int64) for name in ("n_sectors", "more_sectors"))
        assert join_sectors(n_sectors, more_sectors) == len(piece.sectors), (
            "sectors that do not match the access records"
        )


def _least_steps(state: State) -> int:
    """The steps that a warp should have ahead of it: as many as two quanta can take."""
    return 2 * int(state.machine[0]["lookahead_nbytes"]) // STEP_NBYTES


def _contiguous(piece: TracePiece) -> TracePiece:
    """Makes the arrays of a piece contiguous: the engine reads consecutive records through addresses."""
    arrays = {name: np.ascontiguousarray(getattr(piece, name)) for name in PIECE_PLACES}
    # Compiled code reads every field of a piece as 64-bit words (tables.WORD).
    return piece._replace(**arrays | {"final": piece.final.astype(np.int64)})
