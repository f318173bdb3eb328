"""Writes the traces of the launches of a sweep: a run writes those of its program as they are made, and the sweep puts
the programs of several files into one.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

import numpy as np

from gpuprof.base.files import replacing
from gpuprof.base.inputs import GIB, TRACES, open_input
from gpuprof.device.commands import Launch
from gpuprof.emulate.order_free import is_order_free
from gpuprof.emulate.trace_log.launch_counters import COUNTER_NAMES, LaunchCounters
from gpuprof.emulate.trace_log.trace import TracePiece
from gpuprof.emulate.trace_log.whole_pieces import nbytes, whole
from gpuprof.records.command_stream.codec import text_of
from gpuprof.run.trace_file.layout import COUNTERS, END, LAUNCH, PROGRAM, SWEEP, SweptLaunch, SweptProgram, Versions
from gpuprof.run.trace_file.write import begin, put, put_piece
from gpuprof.timing.batch import Grid
from gpuprof.timing.state.machine import Machine

COPIED_NBYTES = 1 << 20  # at a time
# Of a chunk of blocks: a worker has in memory those that are on the chip, some eight, and two more.
MOST_CHUNK_NBYTES = 128 << 20
OUT_OF_ORDER = "the trace of {} is long, and may depend on the order in which the timing asks for it"


class SweptWriter:
    """The TraceKeeper of a run whose traces other chips are timed with. `why_not`: why they cannot be, "" while they
    may: the file is then of no use.

    A chunk of blocks whose trace comes in one piece ran from its begin to its end while no other did, so its trace does
    not depend on the timing. A trace that comes in several pieces is made to the orders of the timing: it is taken only
    where it is the same in every order.
    """

    def __init__(self, path: Path, program: SweptProgram, versions: Versions, most_nbytes: int = TRACES.most_nbytes):
        self.why_not = ""
        self._n_blocks: dict[int, int] = {}  # that are in the file, by launch
        # Pieces of chunks that have not ended, by launch and first block, of launches whose trace comes in parts.
        self._parts: dict[int, dict[int, list[TracePiece]]] = {}
        self._path, self._most_nbytes = path, most_nbytes
        self._file = open(path, "wb")  # noqa: SIM115 (it lives as long as the writer)
        with self._writing():
            begin(self._file)
            put(self._file, SWEEP, text_of(versions))
            put(self._file, PROGRAM, text_of(program))

    def __enter__(self) -> "SweptWriter":
        return self

    def __exit__(self, *_) -> None:
        if not self.why_not:
            with self._writing():
                put(self._file, END, b"")
                self._file.close()

    def keep(self, machine: Machine, grids: list[Grid]) -> list[Grid]:
        """See `TraceKeeper`."""
        for grid in grids:
            if grid.launched_by is not None:
                self._give_up(f"{grid.launch.function.display} was launched by a kernel")
        return [replace(grid, pieces=self._through(grid)) for grid in grids]

    def finished(self, launch: Launch, counters: LaunchCounters) -> None:
        """A launch has ended, and its counters are complete."""
        if self.why_not:
            return
        if launch.index in self._parts and counters.divergent_branches.any():
            self._give_up(OUT_OF_ORDER.format(launch.function.display))
            return
        assert self._n_blocks.get(launch.index) == launch.n_blocks, "blocks without a trace"
        row = SweptLaunch(launch.index, len(launch.module.code), tuple(sorted(counters.slow_slots.items())))
        with self._writing():
            put(self._file, LAUNCH, text_of(row))
            put(self._file, COUNTERS, np.stack([getattr(counters, name) for name in COUNTER_NAMES]).data.cast("B"))

    def _through(self, grid: Grid) -> Iterator[TracePiece]:
        for piece in grid.pieces:
            if not self.why_not:
                self._take(grid.launch, piece)
            yield piece

    def _take(self, launch: Launch, piece: TracePiece) -> None:
        if piece.number or not piece.final.all():
            self._take_part(launch, piece)
        else:
            self._put(launch, piece)

    def _take_part(self, launch: Launch, piece: TracePiece) -> None:
        """One of several pieces of a chunk, which is written once it has ended."""
        if launch.index not in self._parts:
            if not is_order_free(launch.module, launch.function):
                self._give_up(OUT_OF_ORDER.format(launch.function.display))
                return
            self._parts[launch.index] = {}
        parts = self._parts[launch.index].setdefault(piece.first_block, [])
        parts.append(piece)
        if sum(map(nbytes, parts)) > MOST_CHUNK_NBYTES:
            self._give_up(f"the trace of {launch.function.display} is too long for a worker's memory")
        elif np.logical_or.reduce([part.final for part in parts]).all():
            self._put(launch, whole(self._parts[launch.index].pop(piece.first_block)))

    def _put(self, launch: Launch, piece: TracePiece) -> None:
        self._n_blocks[launch.index] = self._n_blocks.get(launch.index, 0) + piece.n_blocks
        with self._writing():
            put_piece(self._file, launch.index, piece)
            if self._file.tell() > self._most_nbytes:
                self._give_up(f"the traces need more than {self._most_nbytes / GIB:.3g} GiB")

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Gives up where the disk refuses: the run itself needs no file."""
        try:
            yield
        except OSError as error:
            self._give_up(f"the temporary file of the traces cannot be written: {error.strerror or error}")

    def _give_up(self, why: str) -> None:
        self.why_not = why
        self._parts.clear()
        with suppress(OSError):
            self._file.close()
        with suppress(OSError):
            self._path.unlink()


def write_programs(path: Path, versions: Versions, parts: Iterable[tuple[Path, int, int]]) -> None:
    """A file of the programs of others. parts: of each program the file that has it, and where its chunks begin and
    end. Raises what `replacing` raises.
    """
    with replacing(path) as partial, open(partial, "wb") as file:
        begin(file)
        put(file, SWEEP, text_of(versions))
        for source, start, end in parts:
            with open_input(source, TRACES) as given:
                _copy(given, file, start, end)
        put(file, END, b"")


def _copy(given: BinaryIO, file: BinaryIO, start: int, end: int) -> None:
    given.seek(start)
    while start < end and (data := given.read(min(COPIED_NBYTES, end - start))):
        file.write(data)
        start += len(data)
