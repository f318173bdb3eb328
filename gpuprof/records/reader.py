"""Reads NAME.gprec: a stream of chunks in bounded memory, or the whole recording as one value."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from gpuprof.errors import FileFormatError
from gpuprof.files import unreadable
from gpuprof.records.encoding import CHUNK_HEADER, FILE_HEADER, MalformedPayload, Payload, Piece, Rows, checksum, decode
from gpuprof.records.schema import (
    BY_TYPE,
    CAUSES_DTYPE,
    COUNTERS_DTYPE,
    LEDGER_DTYPE,
    LOSSES_DTYPE,
    MAGIC,
    MAX_PAYLOAD_NBYTES,
    SAMPLED_COUNTERS_DTYPE,
    STALL_LENGTHS_DTYPE,
    STALLS_DTYPE,
    VERSION,
    WIDE_DTYPE,
    Chunk,
)
from gpuprof.records.stalls import as_vectors, holds_numbers

SAMPLE_CHUNKS = (b"SMPC", b"SMPW")


class ChunkStream:
    """The chunks of a file in order, one at a time: iterating gives (Chunk, payload) pairs, payload as `encoding.decode` gives it.

    Once the iteration is over, `complete` says whether the ENDF chunk was there, and `damage` what is wrong and at which
    byte, or None. A recording that was stopped and says so in its last chunk is not complete, but not damaged either.
    Raises UsageError for a file that is not there, FileFormatError for one that is no recording or of a newer version.
    """

    def __init__(self, path: Path | str):
        self.path = Path(path)
        self.complete = False
        self.damage: str | None = None
        self._position = 0
        self.start = 0  # of the chunk that the iteration gave last

    @property
    def position(self) -> int:
        """The byte after the chunk that the iteration gave last."""
        return self._position

    def __iter__(self) -> Iterator[tuple[Chunk, Payload]]:
        with open_file(self.path) as file:
            check_header(self.path, file.read(FILE_HEADER.size))
            self._position = FILE_HEADER.size
            last = b""
            while (framed := self._next(file)) is not None:
                last, payload = framed
                if last in BY_TYPE:  # an older reader skips what a newer writer adds
                    chunk = BY_TYPE[last]
                    try:
                        value = decode(chunk, payload)
                    except MalformedPayload as error:
                        self.damage = f"the {last.decode()} chunk before byte {self._position} {error}"
                        return
                    yield chunk, value
                if last == b"ENDF":
                    self._check_end(file)
                    return
            if self.damage is None and last != b"MARK":
                self.damage = f"it ends at byte {self._position} without an ENDF chunk: the recording was cut off"

    def _next(self, file: BinaryIO) -> tuple[bytes, bytes] | None:
        """Type and payload of the next chunk; None at the end of the file or at damage."""
        header = file.read(CHUNK_HEADER.size)
        if not header:
            return None
        if len(header) < CHUNK_HEADER.size:
            return self._damaged(f"a chunk's header ends after {len(header)} of {CHUNK_HEADER.size} bytes: the recording was cut off")
        type_, nbytes, crc = CHUNK_HEADER.unpack(header)
        if nbytes > MAX_PAYLOAD_NBYTES:
            return self._damaged(f"a chunk says it is {nbytes} bytes long, and the longest allowed is {MAX_PAYLOAD_NBYTES}")
        payload = file.read(nbytes)
        if len(payload) < nbytes:
            return self._damaged(f"a chunk of {nbytes} bytes ends after {len(payload)}: the recording was cut off")
        if checksum(type_, payload) != crc:
            return self._damaged("a chunk's CRC is wrong")
        self.start = self._position
        self._position += CHUNK_HEADER.size + nbytes
        return type_, payload

    def _damaged(self, what: str) -> None:
        self.damage = f"at byte {self._position} {what}"

    def _check_end(self, file: BinaryIO) -> None:
        self.complete = True
        if file.read(1):
            self.damage = f"more bytes follow its last chunk, which ends at byte {self._position}"


def read_chunks(path: Path | str) -> ChunkStream:
    """The chunks of a recording; see `ChunkStream`."""
    return ChunkStream(path)


def open_file(path: Path) -> BinaryIO:
    """Raises UsageError for a file that cannot be opened."""
    try:
        return open(path, "rb")
    except OSError as error:
        raise unreadable(path, error) from None


def check_header(path: Path, header: bytes) -> None:
    """Raise FileFormatError unless the file's first 16 bytes are those of a recording this reader knows."""
    if not header:
        raise FileFormatError(f"{path}: is empty, not a gpuprof recording")
    if not header.startswith(MAGIC):
        cut = len(header) < len(MAGIC) and MAGIC.startswith(header)
        raise FileFormatError(f"{path}: " + ("is cut off inside its header" if cut else "is not a gpuprof recording (.gprec)"))
    if len(header) < FILE_HEADER.size:
        raise FileFormatError(f"{path}: is cut off inside its header")
    _, version, zero = FILE_HEADER.unpack(header)
    if version > VERSION:
        raise FileFormatError(f"{path}: has format version {version}, and this gpuprof reads up to {VERSION}: use a newer gpuprof")
    if version == 0 or zero != 0:
        raise FileFormatError(f"{path}: its header is damaged (version {version}, reserved word {zero})")


@dataclass
class Module:
    """A MODL chunk and its image, the ELF."""

    fields: dict[str, Any]
    image: bytes = b""


@cache
def _no_rows(dtype: np.dtype) -> np.ndarray:
    """What an array is until it gets rows. All launches share it: there may be a million of them."""
    empty = np.empty(0, dtype)
    empty.flags.writeable = False
    return empty


@dataclass(slots=True)
class Launch:
    """What was recorded of a launch. `samples` is WIDE_DTYPE or COMPACT_DTYPE, in record order. Arrays may be read-only."""

    begin: dict[str, Any]  # schema.LAUNCH_FIELDS
    end: dict[str, Any] | None = None  # schema.LAUNCH_END_FIELDS; None when the stream ended inside the launch
    samples: np.ndarray = field(default_factory=partial(_no_rows, WIDE_DTYPE))
    ledger: np.ndarray = field(default_factory=partial(_no_rows, LEDGER_DTYPE))
    counters: np.ndarray = field(default_factory=partial(_no_rows, COUNTERS_DTYPE))
    sampled_counters: np.ndarray = field(default_factory=partial(_no_rows, SAMPLED_COUNTERS_DTYPE))
    stalls: np.ndarray = field(default_factory=partial(_no_rows, STALLS_DTYPE))
    stall_lengths: np.ndarray = field(default_factory=partial(_no_rows, STALL_LENGTHS_DTYPE))
    causes: np.ndarray = field(default_factory=partial(_no_rows, CAUSES_DTYPE))
    losses: np.ndarray = field(default_factory=partial(_no_rows, LOSSES_DTYPE))


@dataclass
class Recording:
    """A whole recording. `damage` says what is wrong and where when the file could only be read up to some byte."""

    path: Path
    meta: dict[str, Any] = field(default_factory=dict)
    chip: dict[str, Any] = field(default_factory=dict)
    modules: dict[int, Module] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)
    launches: dict[int, Launch] = field(default_factory=dict)
    marks: list[dict[str, Any]] = field(default_factory=list)
    has_stream: bool = False  # the command stream was saved: stream.read gives it
    complete: bool = False
    damage: str | None = None

    def registers(self, launch: int) -> dict[str, Any]:
        """The sampler's that were in force for a launch, with the period that was found where the sampler looked for one."""
        own = self.launches[launch].begin.get("sampling", {})
        return self.meta["sampling"] | (own if isinstance(own, dict) else {})


SampleSink = Callable[[Chunk, Rows], None]
BeginSink = Callable[[int, dict[str, Any]], None]


def read_recording(path: Path | str, sample_sink: SampleSink | None = None, begin_sink: BeginSink | None = None) -> Recording:
    """The recording up to its end or its damage.

    With a `sample_sink`, samples go there chunk by chunk and are not kept, so that memory stays bounded. A `begin_sink` hears of each launch
    before its first sample: its index, and the sampler's registers in force for it.
    Raises UsageError for a file that is not there, FileFormatError for one that is no recording, is newer, contradicts
    itself, or is damaged before its META chunk.
    """
    stream = read_chunks(path)
    builder = _Builder(Recording(stream.path), sample_sink, begin_sink)
    for chunk, payload in stream:
        builder.add(chunk, payload)
    recording = builder.finish()
    recording.complete, recording.damage = stream.complete, stream.damage
    if not recording.meta:
        raise FileFormatError(f"{path}: nothing in it can be read: {stream.damage or 'it has no META chunk'}")
    return recording


class _Builder:
    """Puts chunks into a Recording; array pieces are gathered and joined at the end."""

    def __init__(self, recording: Recording, sample_sink: SampleSink | None, begin_sink: BeginSink | None):
        self.recording = recording
        self.begin_sink = begin_sink
        self.sample_sink = sample_sink or self._keep_rows
        self.gathered: dict[tuple[int, str], list[np.ndarray]] = {}
        self.images: dict[int, list[bytes]] = {}  # pieces, joined at the end: to add each to what is there takes the square of the time
        self.texts: dict[str, list[str]] = {}
        self.n_samples: Counter[int] = Counter()  # by launch

    def add(self, chunk: Chunk, payload: Payload) -> None:
        if not self.recording.meta and chunk.type != b"META":
            raise FileFormatError(f"{self.recording.path}: its first chunk is {chunk.type.decode()}, not META")
        ADDERS[chunk.type](self, chunk, payload)

    def finish(self) -> Recording:
        for (launch, name), parts in self.gathered.items():
            setattr(self.recording.launches[launch], name, np.concatenate(parts) if len(parts) > 1 else parts[0])
        for number, pieces in self.images.items():
            self.recording.modules[number].image = b"".join(pieces)
        self.recording.sources = {path: "".join(pieces) for path, pieces in self.texts.items()}
        return self.recording

    def _meta(self, chunk: Chunk, fields: dict) -> None:
        if self.recording.meta:
            raise self._contradiction("a second META chunk")
        self.recording.meta = fields

    def _chip(self, chunk: Chunk, fields: dict) -> None:
        self.recording.chip = fields

    def _module(self, chunk: Chunk, fields: dict) -> None:
        if fields["id"] in self.recording.modules:
            raise self._contradiction(f"a second module {fields['id']}")
        self.recording.modules[fields["id"]] = Module(fields)

    def _image(self, chunk: Chunk, piece: Piece) -> None:
        if piece.id not in self.recording.modules:
            raise self._contradiction(f"an image for module {piece.id}, which it has not named")
        self.images.setdefault(piece.id, []).append(piece.data)

    def _source(self, chunk: Chunk, fields: dict) -> None:
        self.texts.setdefault(fields["path"], []).append(fields["text"])

    def _launch(self, chunk: Chunk, fields: dict) -> None:
        if fields["launch"] in self.recording.launches:
            raise self._contradiction(f"a second launch {fields['launch']}")
        if fields["module"] not in self.recording.modules:
            raise self._contradiction(f"a launch of module {fields['module']}, which it has not named")
        self.recording.launches[fields["launch"]] = Launch(fields)
        if self.begin_sink:
            self.begin_sink(fields["launch"], self.recording.registers(fields["launch"]))

    def _launch_end(self, chunk: Chunk, fields: dict) -> None:
        launch = self._begun(fields["launch"])
        n_samples = self.n_samples[fields["launch"]]
        if fields["samples_kept"] != n_samples:
            raise self._contradiction(f"{n_samples} samples of launch {fields['launch']}, which kept {fields['samples_kept']}")
        launch.end = fields
        if "sampling_period_cycles" in fields["counters"]:  # it was found while the launch ran
            found = {"period_cycles": fields["counters"]["sampling_period_cycles"]}
            launch.begin["sampling"] = launch.begin.get("sampling", {}) | found

    def _samples(self, chunk: Chunk, rows: Rows) -> None:
        launch = self._begun(rows.launch)
        self.n_samples[rows.launch] += len(rows.rows)
        if holds_numbers(self.recording.meta, launch.begin):
            rows = rows._replace(rows=as_vectors(rows.rows))
        self.sample_sink(chunk, rows)

    def _keep_rows(self, chunk: Chunk, rows: Rows) -> None:
        self._begun(rows.launch)
        if not len(rows.rows):
            return
        parts = self.gathered.setdefault((rows.launch, ATTRIBUTES[chunk.type]), [])
        if parts and parts[0].dtype != rows.rows.dtype:
            raise self._contradiction(f"compact and wide samples of launch {rows.launch}")
        parts.append(rows.rows)

    def _stream(self, chunk: Chunk, piece: Piece) -> None:
        self.recording.has_stream = True

    def _mark(self, chunk: Chunk, fields: dict) -> None:
        self.recording.marks.append(fields)

    def _end(self, chunk: Chunk, fields: dict) -> None:
        for name, found in (("launches", len(self.recording.launches)), ("records", self.n_samples.total())):
            if fields[name] != found:
                raise self._contradiction(f"{found} {name}, where its last chunk counts {fields[name]}")

    def _begun(self, launch: int) -> Launch:
        if launch not in self.recording.launches:
            raise self._contradiction(f"data of launch {launch}, which has not begun")
        return self.recording.launches[launch]

    def _contradiction(self, what: str) -> FileFormatError:
        return FileFormatError(f"{self.recording.path}: contradicts itself: it has {what}")


ATTRIBUTES = {
    b"SMPC": "samples",
    b"SMPW": "samples",
    b"LEDG": "ledger",
    b"CNTR": "counters",
    b"SMCN": "sampled_counters",
    b"STLN": "stalls",
    b"STLH": "stall_lengths",
    b"CAUS": "causes",
    b"SMDR": "losses",
}
ADDERS = {
    b"META": _Builder._meta,
    b"CHIP": _Builder._chip,
    b"MODL": _Builder._module,
    b"IMAG": _Builder._image,
    b"SRCF": _Builder._source,
    b"LNCH": _Builder._launch,
    b"SMPC": _Builder._samples,
    b"SMPW": _Builder._samples,
    b"LEDG": _Builder._keep_rows,
    b"CNTR": _Builder._keep_rows,
    b"SMCN": _Builder._keep_rows,
    b"STLN": _Builder._keep_rows,
    b"STLH": _Builder._keep_rows,
    b"CAUS": _Builder._keep_rows,
    b"SMDR": _Builder._keep_rows,
    b"STRM": _Builder._stream,
    b"LEND": _Builder._launch_end,
    b"MARK": _Builder._mark,
    b"ENDF": _Builder._end,
}
