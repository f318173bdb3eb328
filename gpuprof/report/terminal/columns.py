"""Columns that fit: widths from the contents, the least important columns dropped when the page is narrow."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rich.cells import cell_len
from rich.text import Text

from gpuprof.report.terminal.styles import DIM, Look, fitted, flow

GAP = 2
# where all columns are to be had; {width} is that which all have room in
OF_REPORTS = "a wider terminal, --width {width} or --format csv"


@dataclass(frozen=True)
class Column:
    """`cell(row)` gives the text. `drop`: where there is no room, columns with the largest go first; those with 0
    stay. `name`: what it is called, where that is not its title.
    """

    title: str
    cell: Callable[..., Text]
    drop: int = 0
    left: bool = False
    gap: int = GAP  # cells before it
    name: str = ""

    @property
    def called(self) -> str:
        return self.name or self.title


class Layout(NamedTuple):
    """The columns that are shown, with their widths in cells; those that had no room, the width that
    all have, and where they are to be had."""

    columns: tuple[Column, ...]
    widths: tuple[int, ...]
    look: Look
    left_out: tuple[Column, ...] = ()
    whole_width: int = 0
    rest: str = ""

    def heading(self) -> Text:
        return self.line([Text(column.title, DIM) for column in self.columns])

    def row(self, row) -> Text:
        return self.line([column.cell(row) for column in self.columns])

    def closing(self) -> Iterator[Text]:
        """The line under the table that names the columns and rows that it leaves out."""
        if self.left_out:
            names = ", ".join(column.called for column in self.left_out)
            how = self.rest.format(width=self.whole_width)
            mark = Text("# " if self.look.plain else "")
            yield from flow(mark, [Text(f"left out at {self.look.width} columns: {names} ({how})", DIM)], self.look)

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


class Widths(NamedTuple):
    """The cells of all columns, and of these the least of the last one, which is flexible."""

    columns: tuple[Column, ...]
    cells: tuple[int, ...]
    least_cells: int
    least_share: float  # of the page

    def needed(self, present: Sequence[int], width: int) -> int:
        """The cells of a page `width` wide that these columns need."""
        last = len(self.columns) - 1
        # a head is never cut
        least = max(self.least_cells, int(self.least_share * width), cell_len(self.columns[last].title))
        cells = sum(min(self.cells[i], least) if i == last else self.cells[i] for i in present)
        return cells + sum(self.columns[i].gap for i in present[1:])

    def whole(self, present: Sequence[int]) -> int:
        """The least width of a page that has room for these columns."""
        width = self.needed(present, 0)
        while self.needed(present, width) > width:
            width += 1
        return width


def layout(
    columns: Sequence[Column],
    rows: Sequence,
    look: Look,
    least_cells: int = 12,
    least_share: float = 0.0,
    rest: str = OF_REPORTS,
) -> Layout:
    """The columns to show of these rows, and their widths.

    The last column is flexible: it takes the room that is left, at least `least_cells` and `least_share` of the page
    when it needs them, and is cut there.
    A column that may be dropped is left out when it is empty in every row.
    """
    contents = [max((cell_len(column.cell(row).plain) for row in rows), default=0) for column in columns]
    cells = tuple(max(content, cell_len(column.title)) for content, column in zip(contents, columns, strict=True))
    widths = Widths(tuple(columns), cells, least_cells, least_share)
    filled = [i for i, column in enumerate(columns) if contents[i] or column.drop == 0]
    present = list(filled)
    while look.width is not None and widths.needed(present, look.width) > look.width:
        victim = max(present, key=lambda i: columns[i].drop)
        if columns[victim].drop == 0:
            break
        present.remove(victim)
    left_out = tuple(columns[i] for i in filled if i not in present)
    return Layout(
        tuple(columns[i] for i in present),
        tuple(cells[i] for i in present),
        look,
        left_out,
        widths.whole(filled) if left_out else 0,
        rest,
    )


def table(
    columns: Sequence[Column], rows: Sequence, look: Look, least_cells: int = 12, rest: str = OF_REPORTS
) -> Iterator[Text]:
    """The heading, a line per row, and what had no room."""
    shown = layout(columns, rows, look, least_cells, rest=rest)
    yield shown.heading()
    for row in rows:
        yield shown.row(row)
    yield from shown.closing()
