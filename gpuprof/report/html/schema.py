"""How a table of the page's data is declared.

Version history: 1 the first.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from gpuprof.tables.table import Column

VERSION = 1
Columns = Mapping[str, Sequence]


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
