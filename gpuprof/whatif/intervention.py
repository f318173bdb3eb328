"""What is changed: one thing, as a plain value."""

from typing import NamedTuple


class Intervention(NamedTuple):
    """kind: a name of `kinds.KINDS`. insts: the instructions of the program that it is about, ascending; none for the
    whole chip. amount: cycles of `sooner`; unit: of `unit`. place: where, as a reader sees it.
    """

    kind: str
    insts: tuple[int, ...] = ()
    amount: int = 0
    unit: str = ""
    place: str = ""
