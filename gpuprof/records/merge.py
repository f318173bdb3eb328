"""Several recordings as one.

Recordings of the same launches that were sampled with other seeds or phases are passes of one run: the samples add up,
launch by launch and cycle by cycle, and what is exact stays. Other recordings follow each other: later launches, later
cycles, modules at free addresses unless they are there already.

    recordings ─ index ─> Index ─ passes ─> [Passes] ─ merge ─> recording

Memory holds what is in an index, and a chunk of rows of each recording.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from gpuprof.base.files import replacing
from gpuprof.base.stages import counted
from gpuprof.errors import FileFormatError, NotComparable
from gpuprof.records.encoding import MalformedPayload
from gpuprof.records.index import Index, read_index
from gpuprof.records.passes import Passes, grouped
from gpuprof.records.relocate import Relocation, Room
from gpuprof.records.schema import BY_TYPE
from gpuprof.records.writer import SAMPLE_TABLES, RecordWriter
from gpuprof.tables.launch import LOSSES
from gpuprof.tables.order import RECORDED
from gpuprof.tables.table import MORE

BETWEEN_COMMANDS = "; "


class Merged(NamedTuple):
    """The result of a merge: its writer, closed; its sampling, as in META; and the recordings whose command streams it
    does not have.
    """

    writer: RecordWriter
    sampling: dict[str, Any]
    without_stream: list[Path]


def merge(
    paths: Sequence[Path], output: Path, interrupted: str = "", save_stream: bool = True, keep_old: bool = False
) -> Merged:
    """Writes `output`, which may be one of `paths`. An error leaves no file.

    `interrupted`: a note that ends the recording when more passes were to come. `save_stream`: keeps the first one's
    command stream, where all are passes of it. `keep_old`: a file that was there stays as NAME.old. Raises
    NotComparable, which says why, for recordings that cannot be one, and FileFormatError for a damaged one.
    """
    indexes = [read_index(path) for path in paths]
    runs = grouped(indexes)
    _check_sources(indexes)
    with (
        replacing(Path(output), keep_old) as partial,
        RecordWriter(partial, str(runs[0].sampling.get("record"))) as writer,
    ):
        try:
            _write(writer, runs, save_stream and len(runs) == 1)
            if interrupted:
                writer.keep(interrupted)
        except MalformedPayload as error:
            raise FileFormatError(f"{output}: a sum is too large for a recording: it {error}") from None
    # A stream is one history of a GPU's memory: those of several runs cannot be one.
    kept = save_stream and len(runs) == 1 and runs[0].first.has_stream
    return Merged(writer, runs[0].sampling, [] if kept else [index.path for index in indexes if index.has_stream])


def _write(writer: RecordWriter, runs: list[Passes], with_stream: bool) -> None:
    first = runs[0].first
    commands = dict.fromkeys(
        text for run in runs for index in run.indexes for text in index.meta["command"].split(BETWEEN_COMMANDS)
    )
    writer.meta(first.meta | {"command": BETWEEN_COMMANDS.join(commands), "sampling": runs[0].sampling})
    writer.chip(first.chip)
    room = Room()
    for number, run in enumerate(runs):
        own_sampling = run.sampling if number and run.sampling != runs[0].sampling else None
        _Run(writer, run, room.place(run.first), own_sampling, with_stream).write()


class _Run:
    """Writes the passes of one run, in the order of the first one's chunks; samples come before what is exact."""

    def __init__(
        self, writer: RecordWriter, run: Passes, relocation: Relocation, sampling: dict | None, with_stream: bool
    ):
        self.writer, self.run, self.first, self.relocation, self.sampling = writer, run, run.first, relocation, sampling
        self.stream = run.first.stream_pieces() if with_stream else None
        self.sampled: set[int] = set()  # launches whose samples are written
        self.losses: set[int] = set()  # ... and whose losses
        self.exact: set[tuple[bytes, int]] = set()  # ... and exact rows of which type

    def write(self) -> None:
        for type_, what in counted(self.first.order, "merging", "parts"):
            WAYS.get(type_, _Run._exact)(self, type_, what)
        for launch in counted(list(self.first.launches), "merging samples", "launches"):
            self._samples(launch)
        # One pass may have been compared and another not; what both found is written once.
        for result in dict.fromkeys(result for index in self.run.indexes for result in index.results):
            self.writer.result(result._replace(launch=self.relocation.number(result.launch)))
        # Passes compute the same, and one of them may have been watched.
        traces = {key: trace for index in reversed(self.run.indexes) for key, trace in index.traces.items()}
        for key, trace in sorted(traces.items(), key=lambda item: item[0].launch):
            fields = trace.fields | {"launch": self.relocation.number(key.launch)}
            self.writer.trace_table(fields, self.relocation.plain_rows(trace.fields["columns"], trace.rows))
        for finding in next((index.findings for index in self.run.indexes if index.findings), ()):
            self.writer.finding(self.relocation.finding(finding))
        self._tasks()

    def _tasks(self) -> None:
        """Passes have the same tasks."""
        first, place = self.first, self.relocation
        for number, name in enumerate(place.names(first.names), place.first_name):
            self.writer.task_name(number, name)
        for fields in first.parameters:
            self.writer.parameter(place.parameter(fields))
        for fields in first.draws.values():
            self.writer.draw(place.draw(fields))
        for table in RECORDED:
            if not table.of_launch:
                self.writer.table(table, place.table(table, first.rows[table]))

    def _module(self, type_: bytes, number: int) -> None:
        if number not in self.relocation.shared:
            module = self.first.modules[number]
            fields = self.relocation.module(module.fields)
            self.writer.module(**{name: fields[name] for name in MODULE_FIELDS}, image=module.image)

    def _source(self, type_: bytes, path: str) -> None:
        self.writer.source(path, self.first.sources[path])

    def _launch(self, type_: bytes, number: int) -> None:
        begin = self.relocation.launch(self.first.launches[number].begin)
        if self.sampling is not None:
            begin = begin | {"sampling": self.sampling | begin.get("sampling", {})}
        self.writer.launch_begin(begin)

    def _exact(self, type_: bytes, launch: int) -> None:
        self._samples(launch)
        if (type_, launch) in self.exact:  # chunks of launches in flight together take turns
            return
        self.exact.add((type_, launch))
        table = BY_TYPE[type_].rows_table
        for rows in self.first.read_rows(launch, table):
            self.writer.rows(table, self.relocation.number(launch), self.relocation.rows(table, rows))

    def _losses(self, type_: bytes, launch: int) -> None:
        self._samples(launch)
        if launch not in self.losses:
            self.losses.add(launch)
            self.writer.rows(LOSSES, self.relocation.number(launch), self.run.losses(launch))

    def _launch_end(self, type_: bytes, launch: int) -> None:
        self._samples(launch)
        self.writer.launch_end_fields(self.relocation.launch_end(self.run.launch_end(launch)))

    def _mark(self, type_: bytes, number: int) -> None:
        mark = self.relocation.mark(self.first.marks[number])
        self.writer.mark(mark["text"], mark.get("launch"), mark["cycle"])

    def _stream(self, type_: bytes, number: int) -> None:
        if self.stream is not None:
            self.writer.stream(*next(self.stream))

    def _samples(self, launch: int) -> None:
        if launch in self.sampled:
            return
        self.sampled.add(launch)
        number = self.relocation.number(launch)
        for table in SAMPLE_TABLES.values():
            for rows in self.run.sampled(launch, table):
                if table is not self.writer.sample_table:
                    raise FileFormatError(
                        f"{self.first.path}: contradicts itself: it has samples of another form than it says"
                    )
                self.writer.samples(number, self.relocation.rows(table, rows))
        for table in MORE_ROWS:
            for rows in self.run.sampled(launch, table):
                self.writer.rows(table, number, self.relocation.rows(table, rows))


# Tables in addition to samples of which each pass has rows of its own.
MORE_ROWS = tuple(table for table in RECORDED if table.in_passes == MORE and table not in SAMPLE_TABLES.values())
MODULE_FIELDS = ("id", "name", "load_base", "code_nbytes", "compiler", "arch")
WAYS = {
    b"MODL": _Run._module,
    b"SRCF": _Run._source,
    b"LNCH": _Run._launch,
    LOSSES.chunk: _Run._losses,
    b"LEND": _Run._launch_end,
    b"MARK": _Run._mark,
    b"STRM": _Run._stream,
}


def _check_sources(indexes: Sequence[Index]) -> None:
    """Raises NotComparable when a file was another one for another recording: their lines would be taken for each
    other's.
    """
    texts: dict[str, tuple[Index, str]] = {}
    for index in indexes:
        for path, text in index.sources.items():
            other, its_text = texts.setdefault(path, (index, text))
            if its_text != text:
                raise NotComparable(
                    f"{index.path} and {other.path}: {path} differs between them; merge recordings of one version"
                )
