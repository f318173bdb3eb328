"""Columns that fit: widths from the contents, the least important columns dropped when the page is narrow."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rich.cells import cell_len
from rich.text import Text

from gpuprof.report.terminal.look import DIM, Look, fitted

GAP = 2


@dataclass(frozen=True)
class Column:
    """`cell(row)` gives the text. `drop`: where there is no room, columns with the largest go first; those with 0
    stay.
    """

    title: str
    cell: Callable[..., Text]
    drop: int = 0
    left: bool = False
    gap: int = GAP  # cells before it


class Layout(NamedTuple):
    """The columns that are shown, with their widths in cells."""

    columns: tuple[Column, ...]
    widths: tuple[int, ...]
    look: Look

    def heading(self) -> Text:
        return self.line([Text(column.title, DIM) for column in self.columns])

    def row(self, row) -> Text:
        return self.line([column.cell(row) for column in self.columns])

    def line(self, cells: list[Text]) -> Text:
        text = Text()
        for index, (cell, column, width) in enumerate(zip(cells, self.columns, self.widths, strict=True)):
            pad = " " * (width - cell_len(cell.plain))
            text.append(" " * (column.gap if index else 0))
            if not column.left:
                text.append(pad)
            text.append_text(cell)
            if column.left and index < len(cells) - 1:
                text.append(pad)
        if self.look.width is not None:
            text = fitted(text, self.look.width, self.look)
        text.rstrip()
        return text


def layout(columns: Sequence[Column], rows: Sequence, look: Look, least_cells: int = 12) -> Layout:
    """Which columns to show of these rows, and how wide.

    The last column is flexible: it takes the room that is left, at least `least_cells` when it needs them, and is cut
    there.
    A column that may be dropped is left out when it is empty in every row.
    """
    contents = [max((cell_len(column.cell(row).plain) for row in rows), default=0) for column in columns]
    widths = [max(content, cell_len(column.title)) for content, column in zip(contents, columns, strict=True)]
    last = len(columns) - 1
    present = [i for i, column in enumerate(columns) if contents[i] or column.drop == 0]
    while look.width is not None:
        taken = sum(widths[i] + columns[i].gap for i in present if i != last)
        victim = max(present, key=lambda i: columns[i].drop)
        if taken + min(widths[last], least_cells) <= look.width or columns[victim].drop == 0:
            break
        present.remove(victim)
    return Layout(tuple(columns[i] for i in present), tuple(widths[i] for i in present), look)


def table(columns: Sequence[Column], rows: Sequence, look: Look, least_cells: int = 12) -> Iterator[Text]:
    """The heading, then a line per row."""
    shown = layout(columns, rows, look, least_cells)
    yield shown.heading()
    for row in rows:
        yield shown.row(row)
