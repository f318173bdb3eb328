"""Stores what a launch of a command stream needs to be timed again: its whole trace, and the GPU as it was before."""

import json
from collections.abc import Collection, Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from gpuprof.chips import Chip
from gpuprof.emulate.trace_log.trace import TracePiece
from gpuprof.emulate.trace_log.whole_pieces import nbytes, whole
from gpuprof.errors import GpuprofError, NotComparable
from gpuprof.isa.opcodes import ISA_VERSION
from gpuprof.records.command_stream.read import SavedStream, read_stream
from gpuprof.run.launching.sampling_overhead import copy_of
from gpuprof.run.replay import chip_of, replay
from gpuprof.run.run_settings import Observer, Settings
from gpuprof.run.subject import Subject
from gpuprof.run.trace_file.layout import Identity
from gpuprof.run.trace_file.read import holds_traces, read_traces, wanted_of
from gpuprof.run.trace_file.write import write_traces
from gpuprof.timing.batch import Grid
from gpuprof.timing.state.machine import Machine
from gpuprof.timing.state.model_version import MODEL_VERSION

MOST_TRACE_NBYTES = 6 << 30  # of all traces that are stored: they stay in memory


class Capture:
    """The TraceKeeper of some launches, by their indexes."""

    def __init__(self, wanted: Collection[int], most_nbytes: int = MOST_TRACE_NBYTES):
        self._wanted, self._room_nbytes = set(wanted), most_nbytes
        self._kept: list[tuple[Machine, list[Grid], list[list[TracePiece]]]] = []

    def keep(self, machine: Machine, grids: list[Grid]) -> list[Grid]:
        """See `TraceKeeper`. Raises NotComparable for shaders: what feeds them is no trace."""
        wanted = [grid for grid in grids if grid.launch.index in self._wanted]
        if not wanted:
            return grids
        if wanted[0].shades:
            raise NotComparable(
                f"{wanted[0].launch.function.display} is a shader of a draw: only launches can be stored"
            )
        pieces: list[list[TracePiece]] = [[] for _ in grids]
        self._kept.append((copy_of(machine), grids, pieces))
        return [replace(grid, pieces=self._through(grid, some)) for grid, some in zip(grids, pieces, strict=True)]

    def _through(self, grid: Grid, kept: list[TracePiece]) -> Iterator[TracePiece]:
        for piece in grid.pieces:
            self._room_nbytes -= nbytes(piece)
            if self._room_nbytes < 0:
                raise GpuprofError(
                    f"the trace of {grid.launch.function.display} is too large to be stored; choose a shorter launch "
                    "with --launch-index, or a smaller problem"
                )
            kept.append(piece)
            yield piece

    def subjects(self) -> dict[int, Subject]:
        """The stored launches by index. They can be taken once."""
        found = {}
        for machine, grids, pieces in self._kept:
            traces = tuple(map(_by_chunk, pieces))
            timed = tuple(_without_pieces(grid) for grid in grids)
            for number, grid in enumerate(grids):
                if grid.launch.index in self._wanted:
                    found[grid.launch.index] = Subject(timed, traces, number, machine)
        self._kept.clear()
        return found


def _by_chunk(pieces: list[TracePiece]) -> tuple[TracePiece, ...]:
    chunks: dict[int, list[TracePiece]] = {}
    for piece in pieces:
        chunks.setdefault(piece.first_block, []).append(piece)
    pieces.clear()
    return tuple(whole(chunks[first]) for first in sorted(chunks))


def _without_pieces(grid: Grid) -> Grid:
    """A grid that waits for launches only: copies belong to another moment of the program."""
    return replace(grid, pieces=iter(()), order=None, after=tuple(number for number in grid.after if number >= 0))


def read_launches(recording: Path, wanted: Collection[int], traces: Path | None = None) -> dict[int, Subject]:
    """The launches of a recording with these indexes, carried out once more on the chip that it was recorded on. With a
    file of traces they are taken from there; what is none is written.

    Raises UsageError for a file that is not there; NotComparable for a recording without a command stream, or of which
    only a part of the blocks was timed; GpuprofError where the traces are too large; what `replay` raises, and what
    `read_traces` and `write_traces` do.
    """
    stream = read_stream(recording)
    if stream.header.sample_blocks:
        raise NotComparable(f"{stream.path}: --sample-blocks timed a part of the blocks; collect without it")
    chip = chip_of(stream)
    if traces is None:
        return _carried_out(stream, chip, wanted)
    identity = _identity(stream, chip)
    if holds_traces(traces):
        return wanted_of(traces, read_traces(traces, identity, stream, chip), wanted)
    found = _carried_out(stream, chip, wanted)
    write_traces(traces, identity, found.values())
    return found


def _identity(stream: SavedStream, chip: Chip) -> Identity:
    numbers = json.dumps(stream.chip, sort_keys=True).encode()
    return Identity(stream.digest(), chip.name, sha256(numbers).hexdigest(), MODEL_VERSION, ISA_VERSION)


def _carried_out(stream: SavedStream, chip: Chip, wanted: Collection[int]) -> dict[int, Subject]:
    capture = Capture(wanted)
    settings = Settings(
        chip=chip,
        max_cycles=stream.header.max_cycles,
        max_instructions=stream.header.max_instructions,
        observer=Observer(),
        keeper=capture,
    )
    replay(stream, settings)
    found = capture.subjects()
    if missing := sorted(set(wanted) - found.keys()):
        raise NotComparable(f"{stream.path}: launch {missing[0]} is not timed in it")
    return found
