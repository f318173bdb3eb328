"""What is in a recording and where, without its rows: enough to compare two of them, and to read any chunk again."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from gpuprof.errors import FileFormatError, NotComparable
from gpuprof.records.encoding import CHUNK_HEADER, HOLDS, Rows, checksum, decode
from gpuprof.records.reader import Module, open_file, read_chunks
from gpuprof.records.schema import BY_TYPE

SAMPLED = (b"SMPC", b"SMPW", b"SMCN")  # what a pass of its own adds rows to
LOSSES = b"SMDR"  # ... and what it adds numbers to


@dataclass
class LaunchIndex:
    """A launch: `places` are where the chunks of each type start, `digests` what its exact rows are."""

    begin: dict[str, Any]
    end: dict[str, Any] | None = None
    places: dict[bytes, list[int]] = field(default_factory=dict)
    digests: dict[bytes, Any] = field(default_factory=dict)


@dataclass
class Index:
    """A whole recording. `order` is its chunks, META and CHIP aside: type, and the launch or id or path that they are of, each run of them once."""

    path: Path
    meta: dict[str, Any] = field(default_factory=dict)
    chip: dict[str, Any] = field(default_factory=dict)
    modules: dict[int, Module] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)
    launches: dict[int, LaunchIndex] = field(default_factory=dict)
    marks: list[dict[str, Any]] = field(default_factory=list)
    stream: list[int] = field(default_factory=list)  # where the pieces of its command stream start
    order: list[tuple[bytes, Any]] = field(default_factory=list)

    @property
    def end_cycle(self) -> int:
        """The cycle in which the last launch ended."""
        return max((launch.end["end_cycle"] for launch in self.launches.values() if launch.end), default=0)

    def rows(self, launch: int, type_: bytes) -> Iterator[np.ndarray]:
        """The rows of a launch's chunks of a type, a chunk at a time."""
        with open_file(self.path) as file:
            for start in self.launches[launch].places.get(type_, ()):
                yield self._read(file, start, type_).rows

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
        return decode(BY_TYPE[type_], payload)


def read_index(path: Path | str) -> Index:
    """Raises UsageError for a file that is not there, FileFormatError for a damaged one, NotComparable for one that was stopped."""
    chunks = read_chunks(path)
    index = Index(chunks.path)
    for chunk, payload in chunks:
        _add(index, chunk.type, payload, chunks.start)
    if chunks.damage:
        raise FileFormatError(f"{path}: {chunks.damage}")
    if not chunks.complete:
        raise NotComparable(f"{path}: the run was stopped before its end; only whole recordings can be merged")
    return index


def _add(index: Index, type_: bytes, payload: Any, start: int) -> None:
    if not index.meta and type_ != b"META":
        raise FileFormatError(f"{index.path}: its first chunk is {type_.decode()}, not META")
    if type_ in ADDERS:
        ADDERS[type_](index, payload, start)
    elif isinstance(payload, Rows):
        _rows(index, type_, payload, start)


def _rows(index: Index, type_: bytes, payload: Rows, start: int) -> None:
    launch = _launch(index, payload.launch)
    launch.places.setdefault(type_, []).append(start)
    if type_ not in SAMPLED:
        _order(index, type_, payload.launch)
        if type_ != LOSSES:
            launch.digests.setdefault(type_, sha256()).update(payload.rows.tobytes())


def _meta(index: Index, fields: dict, start: int) -> None:
    if index.meta:
        raise _contradiction(index, "a second META chunk")
    index.meta = fields


def _chip(index: Index, fields: dict, start: int) -> None:
    index.chip = fields


def _module(index: Index, fields: dict, start: int) -> None:
    if fields["id"] in index.modules:
        raise _contradiction(index, f"a second module {fields['id']}")
    index.modules[fields["id"]] = Module(fields)
    _order(index, b"MODL", fields["id"])


def _image(index: Index, piece: Any, start: int) -> None:
    if piece.id not in index.modules:
        raise _contradiction(index, f"an image for module {piece.id}, which it has not named")
    index.modules[piece.id].image += piece.data


def _source(index: Index, fields: dict, start: int) -> None:
    path = fields["path"]
    index.sources[path] = index.sources.get(path, "") + fields["text"]
    _order(index, b"SRCF", path)


def _launch_begin(index: Index, fields: dict, start: int) -> None:
    number = fields["launch"]
    if number in index.launches:
        raise _contradiction(index, f"a second launch {number}")
    if fields["module"] not in index.modules:
        raise _contradiction(index, f"a launch of module {fields['module']}, which it has not named")
    if type(fields.get("parent", 0)) is not int or not HOLDS["map"](fields.get("sampling", {})):
        raise _contradiction(index, f"a parent or sampler registers of launch {number} that are none")
    index.launches[number] = LaunchIndex(fields)
    _order(index, b"LNCH", number)


def _launch_end(index: Index, fields: dict, start: int) -> None:
    _launch(index, fields["launch"]).end = fields
    _order(index, b"LEND", fields["launch"])


def _mark(index: Index, fields: dict, start: int) -> None:
    if type(fields.get("launch", 0)) is not int:
        raise _contradiction(index, "a note on a launch that is no number")
    index.marks.append(fields)
    _order(index, b"MARK", len(index.marks) - 1)


def _stream(index: Index, piece: Any, start: int) -> None:
    index.stream.append(start)
    _order(index, b"STRM", len(index.stream) - 1)


def _end(index: Index, fields: dict, start: int) -> None:
    pass


ADDERS = {
    b"META": _meta,
    b"CHIP": _chip,
    b"MODL": _module,
    b"IMAG": _image,
    b"SRCF": _source,
    b"LNCH": _launch_begin,
    b"LEND": _launch_end,
    b"MARK": _mark,
    b"STRM": _stream,
    b"ENDF": _end,
}


def _order(index: Index, type_: bytes, what: Any) -> None:
    if index.order[-1:] != [(type_, what)]:
        index.order.append((type_, what))


def _launch(index: Index, number: int) -> LaunchIndex:
    if number not in index.launches:
        raise _contradiction(index, f"data of launch {number}, which has not begun")
    return index.launches[number]


def _contradiction(index: Index, what: str) -> FileFormatError:
    return FileFormatError(f"{index.path}: contradicts itself: it has {what}")
