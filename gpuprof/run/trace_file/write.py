"""Writes the traces of launches to a file, which appears whole or not at all."""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import BinaryIO
from zlib import compress, crc32

import numpy as np

from gpuprof.base.files import replacing
from gpuprof.emulate.trace_log.trace import TracePiece
from gpuprof.emulate.trace_log.whole_pieces import words_of
from gpuprof.errors import NotComparable
from gpuprof.records.command_stream.codec import text_of
from gpuprof.run.subject import Subject
from gpuprof.run.trace_file.layout import (
    ARRAYS,
    BATCH,
    CHUNK_HEADER,
    END,
    FILE_HEADER,
    HEAD,
    MAGIC,
    PIECE,
    PIECE_HEADER,
    TABLE,
    VERSION,
    Batch,
    GridRow,
    Identity,
    PieceHeader,
)
from gpuprof.timing.batch import Grid
from gpuprof.timing.state.machine import lasting_tables

FASTEST = 1  # of zlib: most of a table is zeros


def write_traces(path: Path, identity: Identity, subjects: Collection[Subject]) -> None:
    """Raises NotComparable for launches that a kernel has made, UsageError for a name that is never written, and
    GpuprofError where the disk refuses.
    """
    wanted = {each.launch.index for each in subjects}
    batches = {id(each.traces): each for each in subjects}.values()  # several may be of one
    with replacing(path) as partial, open(partial, "wb") as file:
        begin(file)
        put(file, HEAD, text_of(identity))
        for each in batches:
            _put_batch(file, each, wanted)
        put(file, END, b"")


def begin(file: BinaryIO) -> None:
    file.write(FILE_HEADER.pack(MAGIC, VERSION, 0))


def put(file: BinaryIO, type_: bytes, *parts: bytes | memoryview) -> None:
    crc = nbytes = 0
    for part in parts:
        crc, nbytes = crc32(part, crc), nbytes + len(part)
    file.write(CHUNK_HEADER.pack(type_, crc, nbytes))
    for part in parts:
        file.write(part)


def _put_batch(file: BinaryIO, subject: Subject, wanted: Collection[int]) -> None:
    machine = subject.machine
    rows = tuple(_row(grid, wanted) for grid in subject.grids)
    put(file, BATCH, text_of(Batch(int(machine.cycle), int(machine.l2_uses), rows)))
    for _, table in lasting_tables(machine):
        put(file, TABLE, compress(_bytes_of(table), FASTEST))
    for number, trace in enumerate(subject.traces):
        _put_trace(file, number, trace)


def _bytes_of(table: np.ndarray) -> bytes:
    """Its bytes, with zeros between the fields of records: what is there in memory is left over."""
    if not table.dtype.names:
        return table.tobytes()
    clean = np.zeros(table.shape, table.dtype)
    for name in table.dtype.names:
        clean[name] = table[name]
    return clean.tobytes()


def _row(grid: Grid, wanted: Collection[int]) -> GridRow:
    launch = grid.launch
    if grid.launched_by is not None:
        raise NotComparable(f"{launch.function.display} was launched by a kernel: leave out --traces")
    return GridRow(
        launch.index,
        launch.module.load_base,
        launch.function.name,
        launch.name,
        launch.grid,
        launch.block,
        launch.cluster,
        launch.dynamic_shared_nbytes,
        launch.dependent,
        grid.after,
        grid.after_signal,
        grid.priority,
        grid.launch_cycles,
        grid.arrival,
        launch.index in wanted,
    )


def _put_trace(file: BinaryIO, number: int, trace: Sequence[TracePiece]) -> None:
    for piece in trace:
        put_piece(file, number, piece)


def put_piece(file: BinaryIO, number: int, piece: TracePiece) -> None:
    """A whole piece of grid or launch `number`."""
    counts = len(piece.steps), len(piece.accesses), len(piece.sectors)
    header = PieceHeader(number, piece.first_block, piece.n_blocks, piece.warps_per_block, *counts)
    arrays = [words_of(getattr(piece, name)).data.cast("B") for name, _, _ in ARRAYS]
    put(file, PIECE, PIECE_HEADER.pack(*header), *arrays)
