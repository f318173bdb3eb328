"""What one thread does: an event for each instruction that it comes by."""

from typing import NamedTuple


class Access(NamedTuple):
    """Memory that one thread touches: `space` is never generic; `address` counts from the start of the space."""

    space: str
    operation: str  # load, store, atomic, reduction
    address: int
    nbytes: int


class Event(NamedTuple):
    """`row` indexes the code. `operands` are the values of registers and constants, as unsigned numbers, in the order
    of the slots a, b, c, e; `results` those that registers get, in the order dst, c, e. Where the guard did not hold,
    these and `accesses` are empty.
    """

    row: int
    held: bool  # the guard
    depth: int  # calls under way
    next_row: int  # -1: the thread exits
    operands: tuple[int, ...] = ()
    results: tuple[int, ...] = ()
    accesses: tuple[Access, ...] = ()
