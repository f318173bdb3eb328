"""What a rule says."""

from typing import NamedTuple


class Advised(NamedTuple):
    """`pc`: of the worst instruction, None for the whole kernel; `count`: how often it happened, in the rule's unit;
    `cost_cycles`: warp-cycles that it cost, None where they are not known.
    """

    text: str
    pc: int | None
    count: int
    cost_cycles: int | None
