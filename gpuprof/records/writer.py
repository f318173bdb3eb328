"""Writes NAME.gprec, a whole chunk at a time, so that what is on disk can be read whenever the writer stops."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from gpuprof.base.compared_results import Result
from gpuprof.base.interrupts import uninterrupted
from gpuprof.errors import UsageError
from gpuprof.records.chunk_file import ChunkFile
from gpuprof.records.encoding import RowsChunk, encode_json, encode_piece, encode_rows, encode_table, file_header, frame
from gpuprof.records.schema import BY_TYPE, LAUNCH_END_FIELDS
from gpuprof.tables.samples import COMPACT, WIDE
from gpuprof.tables.table import Table

PIECE_NBYTES = 1 << 18  # array and bytes chunks are cut at this length: what a killed run loses at most
PIECE_CHARACTERS = 1 << 20  # source text; a character takes up to 6 bytes in JSON
SAMPLE_TABLES = {"wide": WIDE, "compact": COMPACT}
# in the cells' FIFOs and the event buffer
RECORD_NBYTES = {record: table.dtype.itemsize for record, table in SAMPLE_TABLES.items()}


class RecordWriter:
    """A recording being written. Use it as a context manager:

    * the block ends: the file is completed;
    * KeyboardInterrupt, also a signal's: once something is measured, a draw has drawn all, or trace generators have
      said something, the records so far stay, with a MARK chunk that says why they end; before, no file is left, and a
      previous one is back;
    * the disk is full: the records so far stay, up to the last whole chunk;
    * any other exception, a KernelFault too: once a launch has ended, a draw has drawn all, or trace generators have
      said something, the same as for an interrupt; before, no file is left, and a previous one is back.

    `is_part` says afterwards that a file stays which is not complete.

    Nothing touches the disk before something is measured (or `end`), so a run that ends earlier leaves no trace. A
    previous file of the name is renamed to NAME.old. Whole samples chunks make the bytes independent of how samples
    arrive.

    Raises UsageError when the path is a folder or in none, GpuprofError when the disk refuses.
    """

    def __init__(self, path: Path | str, record: str = "wide"):
        """`record`: "wide" (32 bytes a sample) or "compact" (8)."""
        if record not in SAMPLE_TABLES:
            raise UsageError(f"record format {record!r} is unknown: {' or '.join(SAMPLE_TABLES)}")
        self.sample_table = SAMPLE_TABLES[record]
        self.n_launches = 0
        self.n_records = 0
        self._says_something = False  # a launch ended, a draw drew all, or trace generators said what they found
        self.draws_alone = False  # of these, draws are all that there is
        self._file = ChunkFile(Path(path))
        self._file.append(file_header())
        self._source_paths: set[str] = set()
        self._chunk = RowsChunk(self.sample_table, rows_per_chunk(self.sample_table.dtype))
        self._n_waiting = 0  # samples of `_waiting_launch` that do not fill the chunk yet
        self._waiting_launch = 0
        self._last_type = b""
        self._finished = False
        self.is_part = False

    def __enter__(self) -> "RecordWriter":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with uninterrupted():
            try:
                if kind is None:
                    self.end()
                elif issubclass(kind, KeyboardInterrupt):
                    self.keep(str(error) or "interrupted")
                elif issubclass(kind, Exception) and self._says_something and not self.cut_short:
                    self.keep(str(error) or kind.__name__)
            finally:
                if self.cut_short:
                    self._close_whole()
                self.discard()  # which does not change a finished file

    @property
    def cut_short(self) -> bool:
        """The disk refused more; the file has what came before, and no last chunk."""
        return self._file.refused is not None

    @property
    def _has_measured(self) -> bool:
        """A reader finds something in it: a launch that ended, samples, draws, or findings."""
        return self._file.created or self._n_waiting > 0

    # The run: its settings, its chip, its modules, its sources.

    def meta(self, fields: dict[str, Any]) -> None:
        self._json(b"META", fields)

    def chip(self, fields: dict[str, Any]) -> None:
        self._json(b"CHIP", fields)

    def module(
        self, id: int, *, name: str, load_base: int, code_nbytes: int, image: bytes, compiler: str, arch: str
    ) -> None:
        """A module was loaded. `image` is its ELF; `load_base` the code address of its first instruction."""
        self._json(
            b"MODL",
            {
                "id": id,
                "name": name,
                "load_base": load_base,
                "code_nbytes": code_nbytes,
                "compiler": compiler,
                "arch": arch,
            },
        )
        for start in range(0, len(image), PIECE_NBYTES):
            self._put(b"IMAG", encode_piece(id, image[start : start + PIECE_NBYTES]))

    def source(self, path: str, text: str) -> None:
        """A source file as it was when collecting. A path that was given before is left as it is: modules share
        headers.
        """
        if path in self._source_paths:
            return
        self._source_paths.add(path)
        for start in range(0, len(text) or 1, PIECE_CHARACTERS):
            self._json(b"SRCF", {"path": path, "text": text[start : start + PIECE_CHARACTERS]})

    # The measurements of its launches.

    def launch_begin(self, fields: dict[str, Any]) -> None:
        """LNCH: see `schema.LAUNCH_FIELDS`."""
        self._json(b"LNCH", fields)
        self.n_launches += 1

    def samples(self, launch: int, rows: np.ndarray) -> None:
        """Samples of a launch, rows of WIDE or of this recording's table, in record order."""
        assert rows.dtype in (WIDE.dtype, self.sample_table.dtype), rows.dtype
        if launch != self._waiting_launch:
            self._flush_samples()
            self._waiting_launch = launch
        self.n_records += len(rows)
        while len(rows):
            room = self._chunk.rows[self._n_waiting :]
            now, rows = rows[: len(room)], rows[len(room) :]
            put_samples(room[: len(now)], now)
            self._n_waiting += len(now)
            if len(now) == len(room):
                self._flush_samples()

    def rows(self, table: Table, launch: int, rows: np.ndarray) -> None:
        """Rows of a launch, in the table's order; samples have a method of their own."""
        assert rows.dtype == table.dtype, (table.name, rows.dtype)
        for piece in pieces(rows):
            self._put(table.chunk, encode_rows(launch, piece))

    def all_rows(self, launch: int, tables: Iterable[tuple[Table, np.ndarray]]) -> None:
        """Rows of several tables of a launch, as `rows` has them."""
        self._flush_samples()
        chunks = []
        for table, rows in tables:
            assert rows.dtype == table.dtype, (table.name, rows.dtype)
            for piece in pieces(rows):
                chunks.append(frame(table.chunk, encode_rows(launch, piece)))
                self._last_type = table.chunk
        self._file.extend(chunks)

    def stream(self, piece_id: int, piece: bytes) -> None:
        """A piece of the saved command stream, as saved.pieces makes them."""
        self._put(b"STRM", encode_piece(piece_id, piece))

    def launch_end(self, launch: int, timing: Any, not_held: str = "") -> None:
        """`timing`: a LaunchTiming, or any object with its attributes. Its arrays are left out: ledger and counters
        have their chunks. `not_held`: see `tables.launch.NUMBERS`.
        """
        fields = timing_fields(launch, timing)
        if not_held:
            fields["counters"]["not_held"] = not_held
        self.launch_end_fields(fields)

    def launch_end_fields(self, fields: dict[str, Any]) -> None:
        """LEND: see `schema.LAUNCH_END_FIELDS`."""
        self._json(b"LEND", fields)
        self.draws_alone = False
        self._says_something = True
        self._create()

    def result(self, result: Result) -> None:
        """RSLT: a comparison of a launch's result."""
        self._json(b"RSLT", result._asdict())

    def trace_table(self, fields: dict[str, Any], rows: Sequence[Sequence[int | float | str]]) -> None:
        """Rows of a trace generator's table. `fields`: those of `schema.TRACE_FIELDS` but for the rows. A table without
        rows is written, too: it says that nothing was found.
        """
        for piece in row_pieces(rows):
            self._json(b"TRAC", fields | {"rows": piece})
        self._says_something = True
        self._create()

    def finding(self, fields: dict[str, Any]) -> None:
        """FIND: see `schema.FINDING_FIELDS`."""
        self._json(b"FIND", fields)
        self._says_something = True
        self._create()

    def task_name(self, number: int, text: str) -> None:
        """NAME: see `schema.NAME_FIELDS`."""
        self._json(b"NAME", {"name": number, "text": text})

    def parameter(self, fields: dict[str, Any]) -> None:
        """PARM: see `schema.PARAMETER_FIELDS`."""
        self._json(b"PARM", fields)

    def draw(self, fields: dict[str, Any]) -> None:
        """DRAW: see `schema.DRAW_FIELDS`."""
        self._json(b"DRAW", fields)
        self.draws_alone = not self._says_something or self.draws_alone
        self._says_something = True
        self._create()

    def table(self, table: Table, rows: np.ndarray) -> None:
        """Rows of a table that is of no launch."""
        assert rows.dtype == table.dtype, (table.name, rows.dtype)
        for piece in pieces(rows):
            self._put(table.chunk, encode_table(piece))

    def mark(self, text: str, launch: int | None = None, cycle: int = 0) -> None:
        """A note in the stream, such as an interrupt."""
        self._json(b"MARK", {"text": text, "cycle": cycle} | ({} if launch is None else {"launch": launch}))

    # How it ends.

    def end(self) -> None:
        """Complete the file. Once the file is finished, `end`, `keep` and `discard` do nothing."""
        if self._finished:
            return
        self._json(b"ENDF", {"launches": self.n_launches, "records": self.n_records})
        self._create()
        self._file.close()
        self._finished = True

    def keep(self, reason: str) -> None:
        """Leave the records so far, marked with the reason they end; nothing is left when nothing was measured."""
        if self._finished:
            return
        if not self._has_measured:
            self.discard()
            return
        self._file.drop_partial_chunk()
        if self._last_type != b"MARK":
            self.mark(reason)
        self._file.close()
        self._finished = self.is_part = True

    def _close_whole(self) -> None:
        """Leave only whole chunks, no MARK chunk on the full disk: readers report that the recording was cut off."""
        if not self._finished:
            self._finished = self.is_part = True
            self._file.drop_partial_chunk()
            self._file.close()

    def discard(self) -> None:
        """Take everything back: no file is left, and a previous one has its name again."""
        if self._finished:
            return
        self._finished = True
        self._file.discard()

    # Chunks to bytes.

    def _json(self, type_: bytes, fields: dict[str, Any]) -> None:
        self._put(type_, encode_json(BY_TYPE[type_], fields))

    def _put(self, type_: bytes, payload: bytes) -> None:
        if self._n_waiting:
            self._flush_samples()
        self._file.append(frame(type_, payload))
        self._last_type = type_

    def _flush_samples(self) -> None:
        if self._n_waiting:
            n_rows, self._n_waiting = self._n_waiting, 0
            self._file.append(self._chunk.framed(self._waiting_launch, n_rows))
            self._create()

    def _create(self) -> None:
        """Begin the file, with all that came before: there is something in it to read."""
        with uninterrupted():  # the file that was there is put aside
            self._file.create()


def timing_fields(launch: int, timing: Any) -> dict[str, Any]:
    """The fields of a LEND chunk: those of the schema, and every other plain value of `timing` under `counters`."""
    values = {name: value.item() if isinstance(value, np.generic) else value for name, value in vars(timing).items()}
    named = {
        field.name: values.pop(field.name) for field in LAUNCH_END_FIELDS if field.name not in ("launch", "counters")
    }
    plain = {name: value for name, value in values.items() if isinstance(value, (int, float, str))}
    return {"launch": launch, "counters": plain} | named


def rows_per_chunk(dtype: np.dtype) -> int:
    return PIECE_NBYTES // dtype.itemsize


def pieces(rows: np.ndarray) -> list[np.ndarray]:
    """The rows, a chunk's worth at a time."""
    if rows.nbytes <= PIECE_NBYTES - rows.itemsize:
        return [rows] if len(rows) else []
    step = rows_per_chunk(rows.dtype)
    return [rows[start : start + step] for start in range(0, len(rows), step)]


NUMBER_NBYTES = 24  # of a number in JSON, more than almost all take


def row_pieces(rows: Sequence[Sequence[int | float | str]]) -> Iterator[list[list]]:
    """Rows of plain values, about PIECE_NBYTES of them at a time; one piece without rows where there are none."""
    piece: list[list] = []
    nbytes = 0
    for row in rows:
        piece.append(list(row))
        nbytes += sum(len(value) if isinstance(value, str) else NUMBER_NBYTES for value in row)
        if nbytes >= PIECE_NBYTES:
            yield piece
            piece, nbytes = [], 0
    if piece or not rows:
        yield piece


def put_samples(room: np.ndarray, rows: np.ndarray) -> None:
    """Writes wide samples to `room`, wide or compact, of the same length."""
    if room.dtype == rows.dtype:
        as_bytes = np.dtype((np.void, rows.itemsize))  # numpy copies a row of fields field by field, and this at once
        room.view(as_bytes)[:] = rows.view(as_bytes)
    else:
        for name in room.dtype.names or ():
            room[name] = rows[name]
