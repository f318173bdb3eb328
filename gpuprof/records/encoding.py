"""Chunks as bytes and back: the framing and the four payload kinds of `schema`.

  0        4          8         12
+--------+----------+---------+-------------------+
| type   | nbytes   | CRC-32  | payload (nbytes)  |
+--------+----------+---------+-------------------+
"""

import json
import math
import struct
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np

from gpuprof.records.schema import FIELD_TYPES, MAGIC, MAX_PAYLOAD_NBYTES, VERSION, Chunk
from gpuprof.tables.table import Table

FILE_HEADER = struct.Struct("<8sII")
CHUNK_HEADER = struct.Struct("<4sII")
CHECKED_HEADER = struct.Struct("<4sI")  # of it, what the checksum covers besides the payload
ROWS_HEADER = struct.Struct("<II")
TABLE_HEADER = struct.Struct("<I")
BYTES_HEADER = struct.Struct("<I")
OPEN_OBJECTS = (b"META", b"CHIP")  # whose other fields mean something to a reader, too
MAX_COUNT = (1 << 63) - 1  # what an integer column of SQLite holds


class LaunchRows(NamedTuple):
    """Payload of an array chunk: `rows` has the chunk's dtype, shape (n,), and is read-only when it was read from a
    file.
    """

    launch: int
    rows: np.ndarray


class TableRows(NamedTuple):
    """Payload of a table chunk, like `LaunchRows`, of no launch."""

    rows: np.ndarray


class Piece(NamedTuple):
    """Payload of a bytes chunk."""

    id: int
    data: bytes


Payload = dict[str, Any] | LaunchRows | TableRows | Piece


class MalformedPayload(ValueError):
    """A payload that passes its CRC and is still not what the schema says."""


def file_header() -> bytes:
    return FILE_HEADER.pack(MAGIC, VERSION, 0)


def checksum(type_: bytes, payload: bytes | memoryview) -> int:
    return crc32(payload, crc32(CHECKED_HEADER.pack(type_, len(payload))))


def frame(type_: bytes, payload: bytes) -> bytes:
    """A whole chunk."""
    nbytes = len(payload)
    assert nbytes <= MAX_PAYLOAD_NBYTES, (type_, nbytes)
    return CHUNK_HEADER.pack(type_, nbytes, crc32(payload, crc32(CHECKED_HEADER.pack(type_, nbytes)))) + payload


class RowsChunk:
    """An array chunk that is filled in place: no row is copied more than once on its way to the file.

    `rows`, shape (n,), has the capacity for rows of the table; write to it, then `framed` gives the chunk of the
    first few.
    """

    def __init__(self, table: Table, count: int):
        start = CHUNK_HEADER.size + ROWS_HEADER.size
        self.type = table.chunk
        self._chunk = bytearray(start + count * table.dtype.itemsize)
        self.rows = np.frombuffer(self._chunk, table.dtype, count, start)

    def framed(self, launch: int, count: int) -> memoryview:
        """The whole chunk of the first n rows; it is good until a row is written again."""
        nbytes = ROWS_HEADER.size + count * self.rows.itemsize
        chunk = memoryview(self._chunk)[: CHUNK_HEADER.size + nbytes]
        ROWS_HEADER.pack_into(chunk, CHUNK_HEADER.size, launch, count)
        CHUNK_HEADER.pack_into(chunk, 0, self.type, nbytes, checksum(self.type, chunk[CHUNK_HEADER.size :]))
        return chunk


ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def encode_json(chunk: Chunk, value: dict[str, Any]) -> bytes:
    """Canonical JSON; raises MalformedPayload when a field of the schema is missing or of another type."""
    value = {name: item if type(item) in PLAIN else _plain(item) for name, item in value.items()}
    check_fields(chunk, value)
    # A lone surrogate (a file name that is not UTF-8) becomes "?".
    return ENCODER.encode(value).encode("utf-8", "replace")


PLAIN = frozenset((int, str, float, bool))  # almost all are


def _plain(value):
    """numpy's scalars as Python's, also inside an object or a list."""
    if type(value) in PLAIN:
        return value
    if isinstance(value, dict):
        return {name: item if type(item) in PLAIN else _plain(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [item if type(item) in PLAIN else _plain(item) for item in value]
    return value.item() if isinstance(value, np.generic) else value


def encode_rows(launch: int, rows: np.ndarray) -> bytes:
    return ROWS_HEADER.pack(launch, len(rows)) + rows.tobytes()


def encode_table(rows: np.ndarray) -> bytes:
    return TABLE_HEADER.pack(len(rows)) + rows.tobytes()


def encode_piece(id_: int, data: bytes) -> bytes:
    return BYTES_HEADER.pack(id_) + data


def decode(chunk: Chunk, payload: bytes, version: int = VERSION) -> Payload:
    """The value of a payload in a file of a format version; raises MalformedPayload. An object has the fields of the
    schema, and any others if it is open to them.
    """
    return DECODERS[chunk.kind](chunk, payload, version)


def _decode_json(chunk: Chunk, payload: bytes, version: int) -> dict[str, Any]:
    try:
        value = DECODER.decode(payload.decode("utf-8"))
        if b"\\u" in payload:
            json.dumps(value, ensure_ascii=False).encode("utf-8")  # refuses "\ud800", which is no text
    except (ValueError, RecursionError) as error:
        raise MalformedPayload(f"is not JSON ({error})") from None
    if not isinstance(value, dict):
        raise MalformedPayload("is JSON, but not an object")
    check_fields(chunk, value)
    if chunk.type in OPEN_OBJECTS:
        return value
    return {field.name: value[field.name] for field in chunk.fields if field.name in value}


def _refuse_constant(name: str):
    raise ValueError(f"{name} is not a number")


def _finite(text: str) -> float:
    value = float(text)
    if abs(value) == math.inf:
        raise ValueError(f"{text[:40]} is too large a number")
    return value


DECODER = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_finite)


def _decode_rows(chunk: Chunk, payload: bytes, version: int) -> LaunchRows:
    if len(payload) < ROWS_HEADER.size:
        raise MalformedPayload(f"has {len(payload)} bytes, fewer than its own header")
    launch, n = ROWS_HEADER.unpack_from(payload)
    expected = ROWS_HEADER.size + n * chunk.rows_table.dtype_of(version).itemsize
    if len(payload) != expected:
        raise MalformedPayload(f"says {n} rows, which take {expected} bytes, and has {len(payload)}")
    rows = chunk.rows_table.rows_of(version, payload, n, ROWS_HEADER.size)
    if "launch" in (rows.dtype.names or ()) and (rows["launch"] != launch).any():
        raise MalformedPayload(f"belongs to launch {launch} and has rows of another")
    return LaunchRows(launch, rows)


def _decode_table(chunk: Chunk, payload: bytes, version: int) -> TableRows:
    if len(payload) < TABLE_HEADER.size:
        raise MalformedPayload(f"has {len(payload)} bytes, fewer than its own header")
    (n,) = TABLE_HEADER.unpack_from(payload)
    expected = TABLE_HEADER.size + n * chunk.rows_table.dtype_of(version).itemsize
    if len(payload) != expected:
        raise MalformedPayload(f"says {n} rows, which take {expected} bytes, and has {len(payload)}")
    return TableRows(chunk.rows_table.rows_of(version, payload, n, TABLE_HEADER.size))


def _decode_piece(chunk: Chunk, payload: bytes, version: int) -> Piece:
    if len(payload) < BYTES_HEADER.size:
        raise MalformedPayload(f"has {len(payload)} bytes, fewer than its own header")
    return Piece(*BYTES_HEADER.unpack_from(payload), payload[BYTES_HEADER.size :])


DECODERS = {"json": _decode_json, "array": _decode_rows, "table": _decode_table, "bytes": _decode_piece}


def is_count(value) -> bool:
    return type(value) is int and 0 <= value <= MAX_COUNT


def _is_plain(value) -> bool:
    return type(value) in (str, bool, float) or (type(value) is int and -MAX_COUNT <= value <= MAX_COUNT)


COLUMN_KEYS = ("name", "text", "type", "unit")


def _is_column(value) -> bool:
    return (
        isinstance(value, dict)
        and tuple(sorted(value)) == COLUMN_KEYS
        and all(isinstance(text, str) for text in value.values())
    )


def _is_row(value) -> bool:
    return isinstance(value, list) and all(type(item) is not bool and _is_plain(item) for item in value)


HOLDS = {
    "text": lambda value: isinstance(value, str),
    "count": is_count,
    "integer": lambda value: type(value) is int and -MAX_COUNT - 1 <= value <= MAX_COUNT,
    "flag": lambda value: isinstance(value, bool),
    "dim3": lambda value: isinstance(value, list) and len(value) == 3 and all(map(is_count, value)),
    "map": lambda value: isinstance(value, dict) and all(map(_is_plain, value.values())),
    "columns": lambda value: isinstance(value, list) and all(map(_is_column, value)),
    "rows": lambda value: isinstance(value, list) and all(map(_is_row, value)),
}


def check_fields(chunk: Chunk, value: dict[str, Any]) -> None:
    """Raise MalformedPayload unless `value` has the chunk's fields in the types of the schema."""
    for field in chunk.fields:
        name = field.name
        if name in value:
            if not HOLDS[field.type](value[name]):
                raise MalformedPayload(
                    f"has {name!r} = {_brief(value[name])!r}, which is not {FIELD_TYPES[field.type]}"
                )
        elif not field.optional:
            raise MalformedPayload(f"has no {name!r}")


def _brief(value) -> str:
    try:
        return str(value)[:40]
    except ValueError:  # Python writes no integer of thousands of digits
        return "a very long number"
