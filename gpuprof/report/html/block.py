"""The data of a page: how its tables are declared, and their bytes.

    zlib( length of the directory, u32 | directory, JSON | columns, each at a multiple of 8 bytes )

Everything is little-endian. The directory is {"version", "texts", "tables": [{"name", "rows", "columns": [{"name",
"type", "coding", "at"}]}]}. `coding` is the type of a column's values ("u1", "i2", "f8"), followed by "+" where each
value is the difference to the one before. A text is a number into `texts`. A share is in millionths, and -1 where it is
not known; an unknown real is NaN. Whole numbers beyond 2^53 become the nearest real that there is.

Version history: 1 the first.
"""

import json
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from gpuprof.tables.table import Column

VERSION = 1
Columns = Mapping[str, Sequence]
ALIGNED = 8
MILLION = 1_000_000
WIDTHS = ("u1", "i1", "u2", "i2", "i4")  # the narrowest that fits is taken


class PageTable(NamedTuple):
    """A table of the page. The types of its columns are int, text, real or share (0 to 1, to a millionth); real and
    share may be None, not known. `fill` gives the values of every column, lists or numpy arrays of one length; it takes
    the profile, or the comparison of two.
    """

    name: str
    text: str
    columns: tuple[Column, ...]
    fill: Callable[[Any], Columns]


def by_column(columns: Iterable[Column], rows: Iterable[tuple]) -> Columns:
    """Rows, turned into columns."""
    names = [column.name for column in columns]
    turned = [list(values) for values in zip(*rows, strict=True)] or [[] for _ in names]
    return dict(zip(names, turned, strict=True))


def block_of(content: Any, tables: Iterable[PageTable]) -> bytes:
    """The tables of a profile, or of a comparison. The same content gives the same bytes."""
    texts, columns, directory, at = Texts(), [], [], 0
    for table in tables:
        values = table.fill(content)
        entry = {"name": table.name, "rows": len(values[table.columns[0].name]), "columns": []}
        for column in table.columns:
            coding, data = encoded(column, values[column.name], texts)
            entry["columns"].append({"name": column.name, "type": column.type, "coding": coding, "at": at})
            columns.append(data + bytes(-len(data) % ALIGNED))
            at += len(columns[-1])
        directory.append(entry)
    head = json.dumps({"version": VERSION, "texts": list(texts.numbers), "tables": directory}, separators=(",", ":"))
    start = head.encode() + b" " * (-(4 + len(head.encode())) % ALIGNED)
    return zlib.compress(b"".join([len(start).to_bytes(4, "little"), start, *columns]), 9)


class Texts:
    """Each text once, by its number; the empty one is 0."""

    def __init__(self):
        self.numbers: dict[str, int] = {"": 0}

    def number(self, text: str) -> int:
        return self.numbers.setdefault(text, len(self.numbers))


def encoded(column: Column, values: Sequence, texts: Texts) -> tuple[str, bytes]:
    """A column's coding and bytes. A type that there is not is a KeyError."""
    return CODINGS[column.type](values, texts)


CODINGS = {
    "int": lambda values, texts: whole_numbers(np.array(values, np.int64)),
    "real": lambda values, texts: ("f8", np.array(values, "<f8").tobytes()),  # None becomes NaN
    "share": lambda values, texts: whole_numbers(
        np.array([-1 if value is None else round(value * MILLION) for value in values], np.int64)
    ),
    "text": lambda values, texts: whole_numbers(np.array([texts.number(text) for text in values], np.int64)),
}


def whole_numbers(values: np.ndarray) -> tuple[str, bytes]:
    """int64 values, in as few bytes as hold each, or each difference to the one before."""
    plain = narrowest(values)
    steps = np.diff(values, prepend=0)
    if (short := narrowest(steps)) != plain and np.dtype(short).itemsize < np.dtype(plain).itemsize:
        return f"{short}+", steps.astype(f"<{short}").tobytes()
    return plain, values.astype(f"<{plain}").tobytes()


def narrowest(values: np.ndarray) -> str:
    if not values.size:
        return WIDTHS[0]
    least, most = values.min(), values.max()
    fits = (name for name in WIDTHS if np.iinfo(name).min <= least and most <= np.iinfo(name).max)
    return next(fits, "f8")
