"""Reads the traces of a sweep back, a piece at a time. Raises FileFormatError for a file that is damaged, foreign or of
another version, and NotComparable for traces of something other than what is requested.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from gpuprof.base.inputs import TRACES, open_input
from gpuprof.chips import Chip
from gpuprof.device.commands import Launch
from gpuprof.emulate.trace_log.launch_counters import COUNTER_NAMES, LaunchCounters
from gpuprof.emulate.trace_log.trace import REST, Order, TracePiece
from gpuprof.run.trace_file.chunk_reader import ChunkReader
from gpuprof.run.trace_file.layout import (
    COUNTERS,
    END,
    HEAD,
    LAUNCH,
    PIECE,
    PIECE_HEADER,
    PROGRAM,
    SWEEP,
    PieceHeader,
    SweptLaunch,
    SweptProgram,
    Versions,
)
from gpuprof.run.trace_file.pieces import checked_piece, header_of
from gpuprof.timing.state.static_program import StaticProgram

COUNTER, MOST_COUNT = np.dtype("<u8"), 1 << 53


@dataclass
class ProgramPlace:
    """The place of a program in a file: its chunks begin at `start`, and end before `end`. pieces: by launch the first
    block and the offset of each; launches: by number, with the offset of the counters.
    """

    program: SweptProgram
    start: int
    end: int = 0
    pieces: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    launches: dict[int, tuple[SweptLaunch, int]] = field(default_factory=dict)


def programs_of(path: Path, versions: Versions) -> list[ProgramPlace]:
    """The programs of a file, in its order. Of pieces and counters only the headers are read, and nothing of them is
    believed yet.
    """
    with open_input(path, TRACES) as file:
        reader = ChunkReader(path, file)
        reader.check_header()
        type_, payload = reader.chunk()
        if type_ == HEAD:
            raise reader.other("a recording, for `whatif` and `advise`")
        if type_ != SWEEP:
            raise reader.damaged("its first chunk is no SWEP")
        if (found := reader.object(Versions, payload)) != versions:
            raise reader.other(f"gpuprof {found.gpuprof[:40]}, model {found.model[:40]}")
        return _places(reader)


def _places(reader: ChunkReader) -> list[ProgramPlace]:
    found: list[ProgramPlace] = []
    while True:
        start = reader.offset
        type_, crc, nbytes = reader.begin()
        if found:
            found[-1].end = start
        if type_ == PROGRAM:
            found.append(ProgramPlace(reader.object(SweptProgram, reader.payload(crc, nbytes)), start))
        elif type_ == END and not nbytes and not reader.left_nbytes:
            return found
        elif type_ == PIECE and found:
            _note_piece(reader, found[-1], start, nbytes)
        elif type_ == LAUNCH and found:
            row = reader.object(SweptLaunch, reader.payload(crc, nbytes))
            found[-1].launches[row.number] = row, reader.offset
            _pass_counters(reader, row)
        else:
            raise reader.damaged("it does not end with its ENDF")


def _pass_counters(reader: ChunkReader, row: SweptLaunch) -> None:
    type_, _, nbytes = reader.begin()
    if type_ != COUNTERS or nbytes != row.n_instructions * len(COUNTER_NAMES) * COUNTER.itemsize:
        raise reader.damaged(f"it has no counters of launch {row.number}")
    reader.go_to(reader.offset + nbytes)


def _note_piece(reader: ChunkReader, place: ProgramPlace, start: int, nbytes: int) -> None:
    after = reader.offset + nbytes
    header = PieceHeader(*PIECE_HEADER.unpack(reader.some(min(nbytes, PIECE_HEADER.size)).ljust(PIECE_HEADER.size)))
    place.pieces.setdefault(header.grid, []).append((header.first_block, start))
    reader.go_to(after)


class SweptTraces:
    """The traces of one program of a file, in place of the emulator."""

    def __init__(self, path: Path, versions: Versions, program: SweptProgram, chip: Chip):
        self._path, self._chip = path, chip
        self._place = next((each for each in programs_of(path, versions) if each.program == program), None)

    def pieces(
        self, launch: Launch, program: StaticProgram, counters: LaunchCounters, orders: Iterable[Order]
    ) -> Iterator[TracePiece]:
        """Gives, as `emulate` does for a launch, a piece for each order, and exact counters."""
        with open_input(self._path, TRACES) as file:
            reader = ChunkReader(self._path, file)
            self._fill(reader, launch, counters)
            left = self._pieces(reader, launch, program)
            for order in orders:
                if order.first_block == REST:
                    yield from left if order.traced else ()
                elif (piece := next(left, None)) is not None:  # else it is for a new chunk, and there is none
                    yield piece

    def _fill(self, reader: ChunkReader, launch: Launch, counters: LaunchCounters) -> None:
        """The counters of a launch, from the file."""
        if self._place is None or launch.index not in self._place.launches:
            raise reader.damaged(f"it has no launch {launch.index}")
        row, offset = self._place.launches[launch.index]
        reader.go_to(offset)
        _, payload = reader.chunk()
        n = len(launch.module.code)
        if row.n_instructions != n:
            raise reader.damaged(f"launch {launch.index} has {row.n_instructions} instructions, not {n}")
        found = np.frombuffer(payload, COUNTER).reshape(len(COUNTER_NAMES), n)
        slow = np.array(row.slow_slots, np.int64).reshape(-1, 2)
        if (found >= MOST_COUNT).any() or ((slow < 0) | (slow >= (n, MOST_COUNT))).any():
            raise reader.damaged(f"a counter of launch {launch.index} is out of range")
        for name, values in zip(COUNTER_NAMES, found, strict=True):
            getattr(counters, name)[:] = values
        counters.slow_slots.update(row.slow_slots)

    def _pieces(self, reader: ChunkReader, launch: Launch, program: StaticProgram) -> Iterator[TracePiece]:
        due = 0
        for _, offset in sorted(self._place.pieces.get(launch.index, ())):
            reader.go_to(offset)
            _, payload = reader.chunk()
            header = header_of(reader, payload)
            piece = checked_piece(reader, header, payload, due, launch, program, self._chip)
            due += piece.n_blocks
            yield piece
        if due != launch.n_blocks:
            raise reader.damaged(f"it has not all blocks of {launch.function.display}")
