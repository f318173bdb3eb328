"""Records of variables in the order of the IR: the code generator reports them in another.

Within a block, it reports a value as soon as that is computed, and other records where they were among
instructions that it has moved. So a report holds from where all records before it have been reported. Up to there a
variable is nowhere, and the code may have reached any of the positions that have been reported.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple


class Record(NamedTuple):
    """A record of the optimized IR: the number of its variable; its block, which no other function has; ` @32:32` for
    a piece of the variable. `position`: of the source, for a variable that says this; else None. `value`: of the IR;
    `most_writes`: how many writes of the value's register its block has in front of the record at most, for a value
    that the block makes, or None.
    """

    number: int
    block: int
    piece: str
    position: int | None
    value: str = ""
    most_writes: int | None = None


class Report(NamedTuple):
    """The code generator's report on a record: where the variable is."""

    record: int
    place: str


class Comment(NamedTuple):
    """A comment that holds from here on: "3 rd5"; "6 | 4 5" for positions that the code may have reached, too."""

    text: str


LOST = "?"


def in_order(
    items: Sequence[str | Report],
    records: Sequence[Record],
    elsewhere: set[int],
    is_written: Callable[[str, str], bool],
) -> Iterator[str | Comment]:
    """A block of the code: its lines, and the comments that hold between them. `elsewhere`: records that are reported
    in other blocks; `is_written`: whether a line of code changes a place.
    """
    here = {item.record for item in items if isinstance(item, Report)}
    of_block: dict[int, list[int]] = {}
    blocks = {records[each].block for each in here}
    for number, record in enumerate(records):
        if record.block in blocks and (number in here or number not in elsewhere):
            of_block.setdefault(record.block, []).append(number)
    orders = {block: _Order(numbers, records, here) for block, numbers in of_block.items()}
    for item in items:
        if isinstance(item, Report):
            yield from orders[records[item.record].block].report(item)
            continue
        for order in orders.values():
            order.passed(item, is_written)
        yield item


class _Order:
    """The records of one block. `_next`: how many hold so far; `_top`: one more than the last that is reported."""

    def __init__(self, numbers: list[int], records: Sequence[Record], here: set[int]):
        self._records = [records[number] for number in numbers]
        self._at = {number: at for at, number in enumerate(numbers)}
        # One that is never reported is nowhere, in its turn.
        self._places: dict[int, str] = {at: LOST for at, number in enumerate(numbers) if number not in here}
        self._next = self._top = 0

    def passed(self, line: str, is_written: Callable[[str, str], bool]) -> None:
        """A line is passed: it may change a location that has been reported and does not hold yet."""
        for at, location in self._places.items():
            if self._next <= at < self._top and is_written(line, location):
                self._places[at] = LOST

    def report(self, item: Report) -> Iterator[Comment]:
        at = self._at[item.record]
        self._places[at] = item.place
        if at < self._next:  # once more
            yield self._set(at)
            return
        known = self._top
        self._top = max(self._top, at + 1)
        first = self._next
        while self._next in self._places and self._next < self._top:
            yield self._set(self._next)
            self._next += 1
        yield from self._open(known if self._next == first else self._next)

    def _set(self, at: int) -> Comment:
        record = self._records[at]
        location = self._places[at]
        return Comment(f"{record.number} {location if location != LOST else LOST + record.piece}")

    def _open(self, first: int) -> Iterator[Comment]:
        """Comments for records from `first` on that do not hold yet, but may have been reached."""
        positions: dict[int, list[int]] = {}
        for record in self._records[first : self._top]:
            if record.position is None:
                yield Comment(f"{record.number} {LOST}{record.piece}")
            else:
                positions.setdefault(record.number, []).append(record.position)
        for number, reached in positions.items():
            yield Comment(f"{number} | {' '.join(map(str, reached))}")
