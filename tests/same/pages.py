"""The items of reports and exports: texts for people, JSON, the data of the HTML page, files of other tools."""

import base64
import gzip
import json
import re
import zlib
from collections.abc import Iterator

import numpy as np

from tests.same.texts import Item, Side, comparable, leaves, numbers

_BLOCK = re.compile(rb'<script type="application/octet-stream" class="data">([^<]*)</script>')


def number_items(data: bytes, side: Side) -> Iterator[Item]:
    """The numbers of a text in their order: its words may change, and with them its lines."""
    for index, number in enumerate(numbers(side.text(data))):
        yield Item(f"number {index}", number)


def line_items(data: bytes, side: Side) -> Iterator[Item]:
    for index, line in enumerate(side.text(data).splitlines()):
        yield Item(f"line {index + 1}", side.names.of("text", line))


def json_items(data: bytes, side: Side) -> Iterator[Item]:
    yield from leaves(json.loads(data), "json", side, "")


def gzip_items(data: bytes, side: Side) -> Iterator[Item]:
    yield Item("unpacked", side.plain(gzip.decompress(data)))


def byte_items(data: bytes, side: Side) -> Iterator[Item]:
    yield Item("bytes", side.plain(data))


def html_items(data: bytes, side: Side) -> Iterator[Item]:
    """The tables of the page's data, by docs/page.md; script, style and text of the page are not compared."""
    blocks = _BLOCK.findall(data)
    yield Item("blocks", len(blocks))
    for index, block in enumerate(blocks):
        for place, value in _block_items(zlib.decompress(base64.b64decode(block)), side):
            yield Item(f"block {index} {place}", value)


def _block_items(data: bytes, side: Side) -> Iterator[Item]:
    nbytes = int.from_bytes(data[:4], "little")
    directory, columns = json.loads(data[4 : 4 + nbytes]), data[4 + nbytes :]
    texts = directory["texts"]
    tables = {side.names.of("table", table["name"]): table for table in directory["tables"]}
    yield Item("tables", sorted(tables))
    for name in sorted(tables):
        table = tables[name]
        named = {side.names.column(table["name"], column["name"]): column for column in table["columns"]}
        yield Item(f"{name} columns", sorted(named))
        for column in sorted(named):
            values = _decoded(named[column], table["rows"], columns)
            if named[column]["type"] == "text":
                values = [comparable(f"{name}.{column}", texts[int(number)], side) for number in values]
            yield from (Item(f"{name}.{column} row {row}", value) for row, value in enumerate(values))


def _decoded(column: dict, n_rows: int, data: bytes) -> list:
    """The values of a column; an unknown real is None, since a NaN does not equal itself."""
    coding = np.dtype("<" + column["coding"].rstrip("+"))
    values = np.frombuffer(data, coding, n_rows, column["at"])
    if column["coding"].endswith("+"):
        values = np.cumsum(values, dtype=np.int64)
    return [None if value != value else value for value in values.tolist()]


# Format of `gpuprof export` -> how its files are compared. Texts that say sentences are compared by their numbers.
EXPORTS = {
    "folded": line_items,
    "pprof": gzip_items,
    "speedscope": json_items,
    "callgrind": number_items,
    "firefox": json_items,
    "hatchet": json_items,
    "flame": number_items,
    "flame-difference": number_items,
    "perfetto": byte_items,
    "chrome": json_items,
    "ncu-source": line_items,
    "ncu-details": line_items,
    "ncu-raw": line_items,
    "openmetrics": number_items,
    "markdown": number_items,
    "comparison": number_items,
    "cfg-dot": line_items,
    "cfg-svg": number_items,
    "dot": line_items,
    "csv": line_items,
}
AGAINST = {"flame-difference", "comparison"}  # they need a second profile
