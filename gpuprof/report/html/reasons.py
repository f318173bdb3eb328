"""The colours of stall reasons on a page, in light and dark.

A kind of wait has a hue: red is memory, yellow arithmetic, blue synchronisation, purple on-chip memory, cyan
instruction fetch, green useful work. Reasons of one hue differ in lightness or in their stripes.
"""

from typing import NamedTuple

from gpuprof.isa.stalls import NAMES

STRIPES = {
    "": "none",
    "/": "repeating-linear-gradient(45deg, transparent 0 3px, var(--stripe) 3px 5px)",
    "\\": "repeating-linear-gradient(-45deg, transparent 0 3px, var(--stripe) 3px 5px)",
    "|": "repeating-linear-gradient(90deg, transparent 0 3px, var(--stripe) 3px 5px)",
    "-": "repeating-linear-gradient(0deg, transparent 0 2px, var(--stripe) 2px 3px)",
}


class Paint(NamedTuple):
    colour: str
    stripes: str = ""  # a key of STRIPES


PAINTS = {
    "selected": Paint("#009e73"),
    "not_selected": Paint("#a7d8b0"),
    "wait": Paint("#f0c808"),
    "long_scoreboard": Paint("#d55e00"),
    "short_scoreboard": Paint("#cc79a7"),
    "barrier": Paint("#0072b2"),
    "membar": Paint("#0072b2", "/"),
    "mio_throttle": Paint("#cc79a7", "/"),
    "lg_throttle": Paint("#d55e00", "/"),
    "tex_throttle": Paint("#d55e00", "|"),
    "math_pipe_throttle": Paint("#f0c808", "/"),
    "dispatch_stall": Paint("#999999", "\\"),
    "imc_miss": Paint("#56b4e9", "/"),
    "no_instructions": Paint("#56b4e9"),
    "branch_resolving": Paint("#56b4e9", "|"),
    "drain": Paint("#661f4a"),
    "sleeping": Paint("#777777", "-"),
    "warpgroup_arrive": Paint("#0072b2", "|"),
    "misc": Paint("#6e6e6e"),
}
assert tuple(PAINTS) == NAMES


def reason_style() -> str:
    """A rule for each reason: the class that paints its part of a bar."""
    return "\n".join(
        f".reason-{name} {{ background-color: {paint.colour}; background-image: {STRIPES[paint.stripes]}; }}"
        for name, paint in PAINTS.items()
    )
