"""Instructions of one generation that later ones have not (PTX ISA 9.0, target notes of wgmma and tcgen05).

Targets that are older than an instruction are not compared: code for them may be timed here all the same.
"""

from typing import NamedTuple


class Generations(NamedTuple):
    """`since`: the first that has an instruction; `targets`: all that have it."""

    since: int
    targets: tuple[str, ...]


_ONLY_ON = {
    "wgmma": Generations(90, ("sm_90a",)),
    "tcgen05": Generations(100, ("sm_100a", "sm_103a", "sm_110a")),
}


def refusal(opcode: str, target: str) -> str:
    """Why no chip of `target`, such as "sm_120a", has an instruction; "" for one that it has, or that is newer."""
    only = _ONLY_ON.get(opcode)
    number = target.removeprefix("sm_").rstrip("af")
    if only is None or not number.isdigit() or int(number) <= only.since or f"sm_{number}a" in only.targets:
        return ""
    *others, last = only.targets
    having = f"{', '.join(others)} and {last} have" if others else f"{last} has"
    return f": only {having} {opcode}, the target is {target}"
