"""Causes of a difference between a baseline and a profile: why they cannot be compared, or why numbers changed.

A difference has one cause, the first in the order of CAUSES that applies: a compiler that changed makes other code, and
says more than that the code differs.
"""

from typing import NamedTuple

from gpuprof.check.facts import Facts, LaunchFacts
from gpuprof.errors import NotComparable


class Cause(NamedTuple):
    """`compares`: a launch can be compared although this changed. `text`: as it follows a verdict."""

    name: str
    compares: bool
    text: str


CAUSES = {
    cause.name: cause
    for cause in (
        # Another version has other headers, register allocation and scheduling, so it makes other code of one source.
        Cause("gpuprof", False, "gpuprof changed"),
        Cause("compiler", False, "the compiler changed"),
        Cause("chip", False, "the chip changed"),
        Cause("model", False, "the timing model changed"),
        Cause("host", False, "the host changed"),
        Cause("cache", False, "what the caches held changed"),
        Cause("launch", True, "its launch changed"),
        Cause("code", True, "its code changed"),
        Cause("data", True, "only its data changed"),
    )
}
# Names of Facts.origin, in the order of CAUSES -> the cause.
OF_ORIGIN = {"compiler": "compiler", "chip": "chip", "chip_sha256": "chip", "model": "model", "host": "host"}
AGAINST = "`gpuprof check --against REV` compares both states with this gpuprof, or write a new one with --update"


def check_origin(old: Facts, new: Facts) -> None:
    """Raises NotComparable with its cause when gpuprof, compiler, chip, model or host differ."""
    if old.tool != new.tool:
        model = new.origin.get("model", "")
        raise made_by_another("the baseline", old.tool, old.origin.get("model", ""), f"{new.tool}, model {model}")
    different = [name for name in OF_ORIGIN if old.origin.get(name) != new.origin.get(name)]
    if different:
        changes = "; ".join(f"{name} {old.origin.get(name)!r} -> {new.origin.get(name)!r}" for name in different)
        raise NotComparable(f"the baseline is not comparable: {changes}; {AGAINST}", cause=OF_ORIGIN[different[0]])


def made_by_another(what: str, tool: str, model: str, now: str) -> NotComparable:
    """The error for a baseline of another gpuprof. `now`: this gpuprof, in words."""
    return NotComparable(f"{what} was made by gpuprof {tool}, model {model}; this is {now}: {AGAINST}", cause="gpuprof")


def cause_of_change(old: LaunchFacts, new: LaunchFacts, has_other_shape: bool) -> str:
    """The name of the cause by which a launch's numbers differ: its launch, its code, or only its data (arguments,
    contents of memory, launches before it). "" where the baseline does not say which code it had.
    """
    if has_other_shape:
        return "launch"
    if not old.code:
        return ""
    return "data" if old.code == new.code else "code"


def cause_text(cause: str) -> str:
    """ ", only its data changed"; "" for no cause."""
    return f", {CAUSES[cause].text}" if cause else ""
