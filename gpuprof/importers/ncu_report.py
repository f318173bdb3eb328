"""The container of a report of Nsight Compute, .ncu-rep: blocks of messages, and strings that they refer to.

    "NVR\\0", u32 n, FILE of n bytes, then blocks: u32 n, BLOCK of n bytes, its payload
    payload: the block's sources, then its results, each a u32 n and a message of n bytes

NVIDIA publishes no description. The layout is that of public reports of Nsight Compute 2020.2 to 2026.2, all of which
have the file version 7. Strings are numbered through all blocks.
"""

import struct
from collections.abc import Iterator
from typing import Any, NamedTuple

from gpuprof.base.protobuf.decode import Malformed, decode
from gpuprof.base.protobuf.message import Field, Message

MAGIC = b"NVR\0"
VERSION = 7
SIZE = struct.Struct("<I")


def _list(number: int, message: Message) -> Field:
    return Field(number, message, repeated=True)


VALUE = Message(
    "value",
    {
        "string": Field(1, "string"),
        "float": Field(2, "float"),
        "double": Field(3, "double"),
        "uint32": Field(4, "uint"),
        "uint64": Field(5, "uint"),
    },
)
INSTANCE = Message("instance", {"id": Field(1, VALUE), "value": Field(2, VALUE)})
METRIC = Message("metric", {"name": Field(1, "uint"), "value": Field(2, VALUE), "instances": _list(3, INSTANCE)})
EXTENT = Message("extent", {"x": Field(1, "uint"), "y": Field(2, "uint"), "z": Field(3, "uint")})
MODULE = Message("module", {"id": Field(1, "uint")})
RESULT = Message(
    "result",
    {
        "symbol": Field(5, "string"),
        "name": Field(6, "string"),
        "grid": Field(10, EXTENT),
        "block": Field(11, EXTENT),
        "metrics": _list(13, METRIC),
        "module": Field(15, MODULE),
    },
)
TEXT = Message("text", {"path": Field(1, "string"), "text": Field(2, "string")})
TEXTS = Message("texts", {"texts": _list(1, TEXT)})
FUNCTION = Message("function", {"symbol": Field(1, "string"), "address": Field(2, "uint")})
FUNCTIONS = Message("functions", {"functions": _list(1, FUNCTION)})
SOURCE = Message(
    "source",
    {
        "module": Field(1, "uint"),
        "cubin": Field(4, "bytes"),
        "arch": Field(6, "uint"),  # major << 16 | minor
        "texts": _list(8, TEXTS),
        "functions": _list(9, FUNCTIONS),
    },
)
FACT = Message("fact", {"key": Field(1, "string"), "value": Field(2, "string")})
EXTRA = Message("extra", {"fact": Field(8, FACT)})
STRINGS = Message("strings", {"strings": Field(1, "string", repeated=True)})
BLOCK = Message(
    "block",
    {
        "n_sources": Field(1, "uint"),
        "n_results": Field(2, "uint"),
        "extra": _list(3, EXTRA),
        "strings": _list(4, STRINGS),
        "nbytes": Field(5, "uint"),
    },
)
FILE = Message("file", {"version": Field(1, "uint")})


class Report(NamedTuple):
    """Dicts as `decode` gives them; results as bytes, since a launch as a dict takes many times its length."""

    strings: list[str]
    facts: dict[str, str]  # versions of the tool, the driver, CUDA
    sources: list[dict[str, Any]]
    results: list[memoryview]  # messages of RESULT


def parse(data: bytes) -> Report:
    """Raises Malformed; its text says why."""
    view = memoryview(data)
    if view[: len(MAGIC)] != MAGIC:
        raise Malformed("it is no report of Nsight Compute")
    header, at = _message(view, len(MAGIC))
    version = decode(FILE, header).get("version", 0)
    if version != VERSION:
        raise Malformed(f"it has file version {version}, and this gpuprof reads version {VERSION} (2020.2 to 2026.2)")
    report = Report([], {}, [], [])
    while at < len(view):
        block, at = _message(view, at)
        payload, at = _add_block(report, decode(BLOCK, block), view, at)
        if payload:
            raise Malformed(f"a block has {payload:,} bytes that no message of it has")
    return report


def _add_block(report: Report, block: dict[str, Any], view: memoryview, at: int) -> tuple[int, int]:
    """Bytes that are left over, and where the next block is."""
    for table in block["strings"]:
        report.strings.extend(table["strings"])
    for extra in block["extra"]:
        fact = extra.get("fact", {})
        if "key" in fact:
            report.facts[fact["key"]] = fact.get("value", "")
    end = at + block.get("nbytes", 0)
    if end > len(view):
        raise Malformed("it ends in the middle of a block")
    for raw in _messages(view[:end], at, block.get("n_sources", 0)):
        report.sources.append(decode(SOURCE, raw))
        at += SIZE.size + len(raw)
    for raw in _messages(view[:end], at, block.get("n_results", 0)):
        report.results.append(raw)
        at += SIZE.size + len(raw)
    return end - at, end


def _messages(view: memoryview, at: int, n: int) -> Iterator[memoryview]:
    for _ in range(n):
        raw, at = _message(view, at)
        yield raw


def _message(view: memoryview, at: int) -> tuple[memoryview, int]:
    """The message after its size field, and the offset of its end."""
    if at + SIZE.size > len(view):
        raise Malformed("it ends in the middle of a size")
    (nbytes,) = SIZE.unpack_from(view, at)
    at += SIZE.size
    if nbytes > len(view) - at:
        raise Malformed("it ends in the middle of a message")
    return view[at : at + nbytes], at + nbytes


def value_of(value: dict[str, Any] | None) -> Any:
    """A value's one field, whichever it is; None where it has none."""
    return next(iter(value.values()), None) if value else None
