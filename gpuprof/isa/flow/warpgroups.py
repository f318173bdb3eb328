"""What wgmma asks of registers and the PTX of a program does not do. Comments behind the PTX tell of it, with lines of
that text:

    // gpuprof: line 52 multiplies %f5 of line 48, with no wgmma.fence between
    // gpuprof: line 61 writes %r7, which line 52 may still read
    // gpuprof: line 70 multiplies with no wgmma.fence before it
    // gpuprof: line 75 multiplies with no wgmma.fence before it on some way
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

# What a line of the PTX does with a register that an earlier one has written, or multiplies.
UNFENCED = "multiplies {register} of line {earlier}, with no wgmma.fence between"
OVERWRITTEN = "writes {register}, which line {earlier} may still read"
NEVER_FENCED = "multiplies with no wgmma.fence before it"
SOMETIMES_FENCED = "multiplies with no wgmma.fence before it on some way"
_GROUPS = {"register": r"(?P<register>[^ ,]+)", "earlier": r"(?P<earlier>\d{1,9})"}
_LINES = {
    kind: re.compile(rf"^// gpuprof: line (?P<line>\d{{1,9}}) {kind.format(**_GROUPS)}$", re.MULTILINE)
    for kind in (UNFENCED, OVERWRITTEN, NEVER_FENCED, SOMETIMES_FENCED)
}


class RegisterHazard(NamedTuple):
    """Line `line` of the PTX does what `kind` says."""

    kind: str
    line: int
    earlier: int = 0
    register: str = ""

    def __str__(self) -> str:
        return f"// gpuprof: line {self.line} {self.kind.format(**self._asdict())}"


def register_hazards(ptx: str) -> Iterator[RegisterHazard]:
    for kind, lines in _LINES.items():
        for found in lines.finditer(ptx):
            given = found.groupdict()
            yield RegisterHazard(kind, int(given["line"]), int(given.get("earlier", 0)), given.get("register", ""))


def with_hazards(ptx: str, found: Iterable[RegisterHazard]) -> str:
    """The text with these comments behind it, in place of those that it had."""
    for lines in _LINES.values():
        ptx = re.sub(rf"{lines.pattern}\n?", "", ptx, flags=re.MULTILINE)
    added = "".join(f"{each}\n" for each in found)
    return ptx + "\n" * (bool(added) and not ptx.endswith("\n")) + added
