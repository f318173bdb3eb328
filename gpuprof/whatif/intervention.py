"""What is changed: one thing, as a plain value."""

from typing import NamedTuple


class Intervention(NamedTuple):
    """kind: a name of `kinds.KINDS`. insts: the instructions of the program that it is about, ascending; none for the
    whole launch. amount: cycles of `sooner`, blocks of `split`, `one_in` and `first_blocks`; unit: of `twice`. place: where, as a reader sees it.
    """

    kind: str
    insts: tuple[int, ...] = ()
    amount: int = 0
    unit: str = ""
    place: str = ""
