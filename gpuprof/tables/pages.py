"""Tables as Markdown, for docs/gprec.md and docs/gpudb.md."""

from collections.abc import Iterable, Iterator, Sequence
from textwrap import fill

from gpuprof.tables.sql import rules
from gpuprof.tables.table import Column, Table

INTEGER_NAMES = {"u1": "u8", "u2": "u16", "u4": "u32", "u8": "u64", "i4": "i32", "i8": "i64"}
WIDTH = 100


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(header)} |"
    yield f"|{'---|' * len(header)}"
    yield from (f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows)
    yield ""


def _meaning(column: Column) -> str:
    return f"{column.text}; since version {column.since}" if column.since else column.text


def recorded(table: Table) -> Iterator[str]:
    """The layout of a table's rows in a recording."""
    order = f"; {table.rows}" if table.rows else ""
    size = f"{table.dtype.itemsize} bytes a row"
    yield f"## `{table.chunk.decode()}`: {table.name}\n"
    yield f"{fill(f'{table.text}{order}. {size}, since version {table.since}.', WIDTH)}\n"
    offsets: dict[str, int] = {name: place[1] for name, place in (table.dtype.fields or {}).items()}
    yield from markdown_table(
        ("field", "offset", "type", "unit", "meaning"),
        [
            (f"`{each.name}`", str(offsets[each.name]), INTEGER_NAMES[each.type[-2:]], each.unit, _meaning(each))
            for each in table.columns
        ],
    )


def stored(table: Table) -> Iterator[str]:
    """The columns of a table of the database."""
    yield f"### {table.name}\n"
    yield f"{fill(f'{table.text}. Since version {table.since}.', WIDTH)}\n"
    yield from markdown_table(
        ("column", "type", "unit", "meaning"),
        [(f"`{each.name}`", rules(table, each), each.unit, _meaning(each)) for each in table.in_database],
    )
