"""A whole recording as one value, put together from its chunks."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gpuprof.base.compared_results import Result
from gpuprof.errors import FileFormatError
from gpuprof.records.chunk_stream import read_chunks
from gpuprof.records.encoding import LaunchRows, Payload, Piece, TableRows
from gpuprof.records.sampling_registers import as_vectors, holds_numbers
from gpuprof.records.schema import Chunk
from gpuprof.tables.order import RECORDED
from gpuprof.tables.samples import COMPACT, WIDE
from gpuprof.tables.table import Table
from gpuprof.tables.tasks import OPERATIONS

HOST = "host"  # in META, the name of the host whose time is in it
FOUND_PERIOD = "sampling_period_cycles"  # a counter of LEND


@dataclass
class Module:
    """A MODL chunk and its image, the ELF."""

    fields: dict[str, Any]
    image: bytes = b""


@cache
def no_rows(table: Table) -> np.ndarray:
    """An array before it gets rows. All launches share it: there may be a million of them."""
    empty = np.empty(0, table.dtype)
    empty.flags.writeable = False
    return empty


class Rows(dict[Table, np.ndarray]):
    """The recorded rows by table; a table without rows has an empty array. Arrays may be read-only."""

    __slots__ = ()

    def __missing__(self, table: Table) -> np.ndarray:
        return no_rows(table)


@dataclass(slots=True)
class Launch:
    """A launch in a recording. `samples` are rows of WIDE or COMPACT, in record order; `rows` has all other tables."""

    begin: dict[str, Any]  # schema.LAUNCH_FIELDS
    end: dict[str, Any] | None = None  # schema.LAUNCH_END_FIELDS; None when the stream ended inside the launch
    samples: np.ndarray = field(default_factory=partial(no_rows, WIDE))
    rows: Rows = field(default_factory=Rows)


class TraceKey(NamedTuple):
    launch: int
    generator: str
    table: str


@dataclass
class Trace:
    """The rows of a trace generator's table in one launch. `fields`: schema.TRACE_FIELDS without the rows."""

    fields: dict[str, Any]
    rows: list[list] = field(default_factory=list)


@dataclass
class Recording:
    """A whole recording. `damage` says what is wrong and where when the file could only be read up to some byte."""

    path: Path
    meta: dict[str, Any] = field(default_factory=dict)
    chip: dict[str, Any] = field(default_factory=dict)
    modules: dict[int, Module] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)
    launches: dict[int, Launch] = field(default_factory=dict)
    results: list[Result] = field(default_factory=list)
    traces: dict[TraceKey, Trace] = field(default_factory=dict)
    findings: list[dict[str, Any]] = field(default_factory=list)  # schema.FINDING_FIELDS
    names: list[str] = field(default_factory=list)  # of tasks and rows
    parameters: list[dict[str, Any]] = field(default_factory=list)  # schema.PARAMETER_FIELDS
    draws: dict[int, dict[str, Any]] = field(default_factory=dict)  # schema.DRAW_FIELDS, by number
    rows: Rows = field(default_factory=Rows)  # tables of no launch: tasks, relations, calls and so on
    marks: list[dict[str, Any]] = field(default_factory=list)
    has_stream: bool = False  # the command stream was saved: saved.read gives it
    complete: bool = False
    damage: str | None = None

    @property
    def host_clock_mhz(self) -> float | None:
        """The chip's clock where a run has one clock for host and GPU: a cycle is the host's time in ns times this
        in GHz. It then names its host, or has rows of OPERATIONS. None in others, whose two times do not compare.
        """
        clock = self.chip.get("clock_mhz")
        has_one = HOST in self.meta or len(self.rows[OPERATIONS]) > 0
        return float(clock) if has_one and clock else None

    def registers(self, launch: int) -> dict[str, Any]:
        """The sampler's that were in force for a launch, with the period that was found where the sampler looked for
        one.
        """
        own = self.launches[launch].begin.get("sampling", {})
        return self.meta["sampling"] | (own if isinstance(own, dict) else {})


RowSink = Callable[[Chunk, LaunchRows], None]
BeginSink = Callable[[int, dict[str, Any]], None]


def read_recording(
    path: Path | str, sample_sink: RowSink | None = None, begin_sink: BeginSink | None = None
) -> Recording:
    """The recording up to its end or its damage.

    With a `sample_sink`, samples go there chunk by chunk and are not stored, so that memory stays bounded. A
    `begin_sink` is called for each launch before its first sample with its index and the sampler's registers.
    Raises UsageError for a file that is not there, FileFormatError for one that is no recording, is newer, contradicts
    itself, or is damaged before its META chunk.
    """
    stream = read_chunks(path)
    recording = Recording(stream.path)
    builder = Builder(recording, sample_sink, begin_sink=begin_sink)
    for chunk, payload in stream:
        builder.add(chunk, payload)
    builder.finish()
    recording.complete, recording.damage = stream.complete, stream.damage
    if not recording.meta:
        raise FileFormatError(f"{path}: nothing in it can be read: {stream.damage or 'it has no META chunk'}")
    for launch in recording.launches.values():
        _put_found_period(launch)
    return recording


def found_period(launch: Launch) -> int | None:
    """The period in cycles that the sampler found while the launch ran; None where it looked for none, or where the
    launch has no end.
    """
    return launch.end["counters"].get(FOUND_PERIOD) if launch.end else None


def _put_found_period(launch: Launch) -> None:
    """Puts the period that the sampler found during the launch into the launch's registers, as if it had been given."""
    if (period := found_period(launch)) is not None:
        launch.begin["sampling"] = launch.begin.get("sampling", {}) | {"period_cycles": period}


def leave(chunk: Chunk, payload: LaunchRows) -> None:
    """A sink for rows that are not needed now."""


def joined(parts: list[np.ndarray]) -> np.ndarray:
    return np.concatenate(parts) if len(parts) > 1 else parts[0]


class Builder:
    """Puts chunks into a Recording, and refuses those that contradict each other; what comes in pieces is joined at the
    end.

    Rows go to the sinks, those of samples to the first, once it is known that their launch has begun; without a sink,
    into the recording.
    """

    def __init__(
        self,
        recording: Recording,
        sample_sink: RowSink | None = None,
        row_sink: RowSink | None = None,
        begin_sink: BeginSink | None = None,
    ):
        self.recording = recording
        self.begin_sink = begin_sink
        self.sample_sink = sample_sink or self._keep_samples
        self.row_sink = row_sink or self._keep_rows
        # pieces, joined at the end: to add each to those before takes the square of the time
        self.samples: dict[int, list[np.ndarray]] = {}
        self.gathered: dict[tuple[int, Table], list[np.ndarray]] = {}
        self.images: dict[int, list[bytes]] = {}
        self.texts: dict[str, list[str]] = {}
        self.tables: dict[Table, list[np.ndarray]] = {}
        self.n_samples: Counter[int] = Counter()  # by launch

    def add(self, chunk: Chunk, payload: Payload) -> None:
        if not self.recording.meta and chunk.type != b"META":
            raise FileFormatError(f"{self.recording.path}: its first chunk is {chunk.type.decode()}, not META")
        ADDERS[chunk.type](self, chunk, payload)

    def finish(self) -> None:
        for number, parts in self.samples.items():
            self.recording.launches[number].samples = joined(parts)
        for (number, table), parts in self.gathered.items():
            self.recording.launches[number].rows[table] = joined(parts)
        for table in list(self.tables):
            self.recording.rows[table] = np.concatenate(self.tables.pop(table))
        for number, pieces in self.images.items():
            self.recording.modules[number].image = b"".join(pieces)
        self.recording.sources = {path: "".join(pieces) for path, pieces in self.texts.items()}

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
            raise self._contradiction(f"an image for module {piece.id}, which is not declared")
        self.images.setdefault(piece.id, []).append(piece.data)

    def _source(self, chunk: Chunk, fields: dict) -> None:
        self.texts.setdefault(fields["path"], []).append(fields["text"])

    def _launch(self, chunk: Chunk, fields: dict) -> None:
        if fields["launch"] in self.recording.launches:
            raise self._contradiction(f"a second launch {fields['launch']}")
        if fields["module"] not in self.recording.modules:
            raise self._contradiction(f"a launch of module {fields['module']}, which is not declared")
        if ("draw" in fields) != ("stage" in fields):
            raise self._contradiction(f"launch {fields['launch']} with one of draw and stage")
        self.recording.launches[fields["launch"]] = Launch(fields)
        if self.begin_sink:
            self.begin_sink(fields["launch"], self.recording.registers(fields["launch"]))

    def _launch_end(self, chunk: Chunk, fields: dict) -> None:
        launch = self._begun(fields["launch"])
        n_samples = self.n_samples[fields["launch"]]
        if fields["samples_kept"] != n_samples:
            raise self._contradiction(
                f"{n_samples} samples of launch {fields['launch']}, which has recorded {fields['samples_kept']}"
            )
        launch.end = fields

    def _samples(self, chunk: Chunk, payload: LaunchRows) -> None:
        launch = self._begun(payload.launch)
        self.n_samples[payload.launch] += len(payload.rows)
        if holds_numbers(self.recording.meta, launch.begin):
            payload = payload._replace(rows=as_vectors(payload.rows))
        self.sample_sink(chunk, payload)

    def _rows(self, chunk: Chunk, payload: LaunchRows) -> None:
        self._begun(payload.launch)
        self.row_sink(chunk, payload)

    def _keep_samples(self, chunk: Chunk, payload: LaunchRows) -> None:
        if not len(payload.rows):
            return
        parts = self.samples.setdefault(payload.launch, [])
        if parts and parts[0].dtype != payload.rows.dtype:
            raise self._contradiction(f"compact and wide samples of launch {payload.launch}")
        parts.append(payload.rows)

    def _keep_rows(self, chunk: Chunk, payload: LaunchRows) -> None:
        if len(payload.rows):
            self.gathered.setdefault((payload.launch, chunk.rows_table), []).append(payload.rows)

    def _stream(self, chunk: Chunk, piece: Piece) -> None:
        self.recording.has_stream = True

    def _result(self, chunk: Chunk, fields: dict) -> None:
        self._begun(fields["launch"])
        self.recording.results.append(Result(**fields))

    def _trace(self, chunk: Chunk, fields: dict) -> None:
        self._begun(fields["launch"])
        rows = fields.pop("rows")
        key = TraceKey(fields["launch"], fields["generator"], fields["table"])
        trace = self.recording.traces.setdefault(key, Trace(fields))
        if trace.fields != fields:
            raise self._contradiction(f"two tables {key.table} of trace generator {key.generator} in one launch")
        kinds = [KIND_OF_VALUE.get(column["type"], ()) for column in fields["columns"]]
        for row in rows:
            if len(row) != len(kinds) or not all(map(isinstance, row, kinds)):
                raise self._contradiction(f"a row in table {key.table} of {key.generator} that its columns do not fit")
        trace.rows += rows

    def _finding(self, chunk: Chunk, fields: dict) -> None:
        self._begun(fields["launch"])
        self.recording.findings.append(fields)

    def _name(self, chunk: Chunk, fields: dict) -> None:
        if fields["name"] != len(self.recording.names):
            raise self._contradiction(f"name {fields['name']} where {len(self.recording.names)} is the next")
        self.recording.names.append(fields["text"])

    def _parameter(self, chunk: Chunk, fields: dict) -> None:
        if fields["parameter"] != len(self.recording.parameters):
            raise self._contradiction(
                f"parameter {fields['parameter']} where {len(self.recording.parameters)} is the next"
            )
        self.recording.parameters.append(fields)

    def _draw(self, chunk: Chunk, fields: dict) -> None:
        if fields["draw"] in self.recording.draws:
            raise self._contradiction(f"a second draw {fields['draw']}")
        if ("start_cycle" in fields) != ("end_cycle" in fields):
            raise self._contradiction(f"draw {fields['draw']} with one of start_cycle and end_cycle")
        for unit in fields["units"]:
            if len(unit) != len(UNIT) or not all(map(isinstance, unit, UNIT)):
                raise self._contradiction(f"a unit of draw {fields['draw']} that is none: {str(unit)[:40]}")
        for unit in fields.get("traffic", ()):
            if len(unit) != len(TRAFFIC) or not all(map(isinstance, unit, TRAFFIC)):
                raise self._contradiction(f"traffic of draw {fields['draw']} that is none: {str(unit)[:40]}")
        self.recording.draws[fields["draw"]] = fields

    def _table(self, chunk: Chunk, table: TableRows) -> None:
        self.tables.setdefault(chunk.rows_table, []).append(table.rows)

    def _mark(self, chunk: Chunk, fields: dict) -> None:
        self.recording.marks.append(fields)

    def _end(self, chunk: Chunk, fields: dict) -> None:
        for name, found in (("launches", len(self.recording.launches)), ("records", self.n_samples.total())):
            if fields[name] != found:
                raise self._contradiction(f"{found} {name}, but its last chunk counts {fields[name]}")

    def _begun(self, launch: int) -> Launch:
        if launch not in self.recording.launches:
            raise self._contradiction(f"data of launch {launch}, which has not begun")
        return self.recording.launches[launch]

    def _contradiction(self, what: str) -> FileFormatError:
        return FileFormatError(f"{self.recording.path}: contradicts itself: it has {what}")


UNIT = (str, (int, float), (int, float), int, int)  # of a draw: name, cycles busy and blocked, first and last cycle
TRAFFIC = (str, int, int, int, int)  # of a draw's unit: name, bytes of the L2 read and written, bytes of the DRAM
KIND_OF_VALUE: dict[str, tuple[type, ...]] = {"integer": (int,), "real": (int, float), "text": (str,)}
ADDERS: dict[bytes, Callable[[Builder, Chunk, Any], None]] = {
    b"DRAW": Builder._draw,
    b"NAME": Builder._name,
    b"PARM": Builder._parameter,
    **{table.chunk: Builder._rows if table.of_launch else Builder._table for table in RECORDED},
    **dict.fromkeys((WIDE.chunk, COMPACT.chunk), Builder._samples),
    b"META": Builder._meta,
    b"CHIP": Builder._chip,
    b"MODL": Builder._module,
    b"IMAG": Builder._image,
    b"SRCF": Builder._source,
    b"LNCH": Builder._launch,
    b"STRM": Builder._stream,
    b"LEND": Builder._launch_end,
    b"RSLT": Builder._result,
    b"TRAC": Builder._trace,
    b"FIND": Builder._finding,
    b"MARK": Builder._mark,
    b"ENDF": Builder._end,
}
