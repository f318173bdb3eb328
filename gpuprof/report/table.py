"""Columns that fit: widths from the contents, the least important columns dropped when the page is narrow."""

from dataclasses import dataclass
from typing import Callable, Iterator, Sequence

from rich.cells import cell_len
from rich.text import Text

from gpuprof.report.look import DIM, Look, fitted

GAP = 2


@dataclass(frozen=True)
class Column:
    """`cell(row)` gives the text. `keep`: the columns with the largest go first when there is no room; 0 always stays."""

    title: str
    cell: Callable[..., Text]
    keep: int = 0
    left: bool = False
    gap: int = GAP  # cells before it


def table(columns: Sequence[Column], rows: Sequence, look: Look, flexible_cells: int = 12) -> Iterator[Text]:
    """The heading and a line per row. The last column is flexible: it takes the room that is left, and is cut there.

    A column that is empty in every row is left out.
    """
    cells = [[column.cell(row) for row in rows] for column in columns]
    widths = [max([cell_len(c.plain) for c in column_cells], default=0) for column_cells in cells]
    last = len(columns) - 1
    present = [i for i, column in enumerate(columns) if widths[i] or column.keep == 0]
    widths = [max(width, cell_len(column.title)) for width, column in zip(widths, columns, strict=True)]
    if look.width is not None:
        room = look.width - min(widths[last], flexible_cells)
        while sum(widths[i] + columns[i].gap for i in present if i != last) > room:
            victim = max(present, key=lambda i: columns[i].keep)
            if columns[victim].keep == 0:
                break
            present.remove(victim)
    yield line([Text(columns[i].title, DIM) for i in present], [columns[i] for i in present], [widths[i] for i in present], look)
    for number in range(len(rows)):
        yield line([cells[i][number] for i in present], [columns[i] for i in present], [widths[i] for i in present], look)


def line(cells: list[Text], columns: list[Column], widths: list[int], look: Look) -> Text:
    text = Text()
    for index, (cell, column, width) in enumerate(zip(cells, columns, widths, strict=True)):
        pad = " " * (width - cell_len(cell.plain))
        text.append(" " * (column.gap if index else 0))
        if not column.left:
            text.append(pad)
        text.append_text(cell)
        if column.left and index < len(cells) - 1:
            text.append(pad)
    if look.width is not None:
        text = fitted(text, look.width, look)
    text.rstrip()
    return text
