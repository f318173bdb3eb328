"""Reads the data of a page as docs/page.md lays it out, sharing nothing with what writes it."""

import base64
import json
import re
import struct
import zlib
from pathlib import Path

SIZES = {"u1": "B", "i1": "b", "u2": "H", "i2": "h", "i4": "i", "f8": "d"}


def tables_of(page: str, block: str = "data") -> dict[str, list[dict]]:
    """The rows of each table of the first block of this class."""
    (text, *_) = re.findall(rf'<script type="application/octet-stream" class="{block}">([^<]*)</script>', page)
    packed = zlib.decompress(base64.b64decode(text))
    (length,) = struct.unpack_from("<I", packed)
    directory = json.loads(packed[4 : 4 + length])
    assert directory["version"] == 1
    found = {}
    for table in directory["tables"]:
        columns = {}
        for column in table["columns"]:
            start, code = 4 + length + column["at"], column["coding"]
            values = list(struct.unpack_from(f"<{table['rows']}{SIZES[code[:2]]}", packed, start))
            if code.endswith("+"):
                values = [sum(values[: row + 1]) for row in range(len(values))]
            if column["type"] == "text":
                values = [directory["texts"][value] for value in values]
            if column["type"] == "share":
                values = [None if value < 0 else value / 1e6 for value in values]
            columns[column["name"]] = [None if value != value else value for value in values]
        found[table["name"]] = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return found


def read(path: Path) -> dict[str, list[dict]]:
    return tables_of(path.read_text(encoding="utf-8"))
