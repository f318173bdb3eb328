"""What one thread does: an event for each instruction that it comes by."""

from typing import NamedTuple


class Access(NamedTuple):
    """Memory that one thread touches: `space` is never generic; `address` counts from the start of the space."""

    space: str
    address: int
    nbytes: int


class Event(NamedTuple):
    """`row` indexes the code. `operands` and `results` are registers' values, as unsigned numbers, in the order of the
    slots (a, b, c, e; dst, c, e); both are empty where the guard did not hold, and so is `access`.
    """

    row: int
    held: bool  # the guard
    depth: int  # calls under way
    next_row: int  # -1: the thread exits
    operands: tuple[int, ...] = ()
    results: tuple[int, ...] = ()
    access: Access | None = None
