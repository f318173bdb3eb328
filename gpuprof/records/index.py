"""The content of a recording and its places, without the rows: enough to compare two of them, and to read any chunk
again.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from gpuprof.errors import FileFormatError, NotComparable
from gpuprof.records.chunk_stream import open_file, read_chunks
from gpuprof.records.encoding import CHUNK_HEADER, LaunchRows, Payload, checksum, decode
from gpuprof.records.reader import Builder, Recording, leave
from gpuprof.records.schema import BY_TYPE, VERSION
from gpuprof.tables.order import RECORDED
from gpuprof.tables.table import ADDED, SAME, Table
from gpuprof.tables.tasks import CALLS, OPERATIONS


@dataclass
class Index(Recording):
    """A recording whose rows are left in the file.

    `places`: where the chunks of a launch and type start. `digests`: what its exact rows are. `order`: the chunks,
    those of META, CHIP and samples
    aside: type, and the launch or id or path or number that they are of, each run of them once.
    """

    places: dict[tuple[int, bytes], list[int]] = field(default_factory=dict)
    digests: dict[int, dict[bytes, Any]] = field(default_factory=dict)  # by launch and type
    stream: list[int] = field(default_factory=list)  # where the pieces of its command stream start
    order: list[tuple[bytes, Any]] = field(default_factory=list)
    version: int = VERSION  # of the file's format

    @property
    def end_cycle(self) -> int:
        """The cycle in which the last launch, draw, operation or call ended."""
        ends = [launch.end["end_cycle"] for launch in self.launches.values() if launch.end]
        ends.append(int(self.rows[OPERATIONS]["end"].max(initial=0)))
        if clock_mhz := self.host_clock_mhz:
            ends.append(math.ceil(int(self.rows[CALLS]["end_ns"].max(initial=0)) * clock_mhz / 1000))
        return max([*ends, *(fields.get("end_cycle", 0) for fields in self.draws.values())], default=0)

    def read_rows(self, launch: int, table: Table) -> Iterator[np.ndarray]:
        """The rows of a launch in a table, a chunk at a time."""
        with open_file(self.path) as file:
            for start in self.places.get((launch, table.chunk), ()):
                yield self._read(file, start, table.chunk).rows

    def stream_pieces(self) -> Iterator[tuple[int, bytes]]:
        """Id and bytes of each piece of the command stream."""
        with open_file(self.path) as file:
            for start in self.stream:
                piece = self._read(file, start, b"STRM")
                yield piece.id, piece.data

    def _read(self, file, start: int, expected: bytes):
        file.seek(start)
        type_, nbytes, crc = CHUNK_HEADER.unpack(file.read(CHUNK_HEADER.size))
        payload = file.read(nbytes)
        if type_ != expected or checksum(type_, payload) != crc:
            raise FileFormatError(f"{self.path}: was changed while it was read; try again")
        return decode(BY_TYPE[type_], payload, self.version)

    def note(self, type_: bytes, payload: Payload, start: int) -> None:
        """The next chunk, which contradicts none before it."""
        if isinstance(payload, LaunchRows):
            self.places.setdefault((payload.launch, type_), []).append(start)
        if type_ == b"STRM":
            self.stream.append(start)
        if type_ in EXACT and isinstance(payload, LaunchRows):
            self.digests.setdefault(payload.launch, {}).setdefault(type_, sha256()).update(payload.rows.tobytes())
        if type_ in IN_ORDER:
            what = (type_, IN_ORDER[type_](self, payload))
            if self.order[-1:] != [what]:
                self.order.append(what)


def _of_launch(index: Index, rows: LaunchRows) -> int:
    return rows.launch


EXACT = tuple(table.chunk for table in RECORDED if table.of_launch and table.in_passes == SAME)
ADDED_UP = tuple(table.chunk for table in RECORDED if table.in_passes == ADDED)
# The part of a chunk that represents it in `Index.order`.
IN_ORDER: dict[bytes, Callable[[Index, Any], Any]] = {
    **dict.fromkeys((*EXACT, *ADDED_UP), _of_launch),
    b"MODL": lambda index, fields: fields["id"],
    b"SRCF": lambda index, fields: fields["path"],
    b"LNCH": lambda index, fields: fields["launch"],
    b"LEND": lambda index, fields: fields["launch"],
    b"MARK": lambda index, fields: len(index.marks) - 1,
    b"STRM": lambda index, fields: len(index.stream) - 1,
}


def read_index(path: Path | str) -> Index:
    """Raises UsageError for a file that is not there, FileFormatError for a damaged one, NotComparable for one that was
    stopped.
    """
    chunks = read_chunks(path)
    index = Index(chunks.path)
    builder = Builder(index, sample_sink=leave, row_sink=leave)
    for chunk, payload in chunks:
        builder.add(chunk, payload)
        index.note(chunk.type, payload, chunks.start)
    builder.finish()
    index.version = chunks.version
    if chunks.damage:
        raise FileFormatError(f"{path}: {chunks.damage}")
    if not chunks.complete:
        raise NotComparable(f"{path}: the run was stopped before its end; only complete recordings can be merged")
    return index
