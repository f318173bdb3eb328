"""An intervention: the one thing that is changed, as a plain value."""

from typing import NamedTuple


class Intervention(NamedTuple):
    """kind: a name of `kinds.KINDS`. insts: the instructions of the program that it is about, ascending; none for the
    whole launch. amount: cycles of `sooner`, and the number that some kinds on blocks and steps take; unit: of `twice`.
    place: where, as a reader sees it; path and line: "" and 0 where it is no line.
    """

    kind: str
    insts: tuple[int, ...] = ()
    amount: int = 0
    unit: str = ""
    place: str = ""
    path: str = ""
    line: int = 0
