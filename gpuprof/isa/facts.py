"""Facts about a program that neither its PTX nor its instructions hold: the compiler and the assembler record them, and
checkers and the debugger read them. They are plain values, which `isa.gpubin.layout` writes to a section of their own.
"""

from dataclasses import dataclass
from typing import NamedTuple

Range = tuple[int, int]  # the first, and one more than the last


class PaddedCopy(NamedTuple):
    """Code of a source position copies `nbytes`. The bits in `padding`, ascending, lie between the members of a
    structure or after them, and have no value.
    """

    file: str
    line: int
    column: int
    nbytes: int
    padding: tuple[Range, ...]


class MemberStore(NamedTuple):
    """Code of a source position writes `nbytes` at byte `offset` of a structure of `of_nbytes`. The structure's bits in
    `padding`, ascending, have no value, and those in `fields` belong to bit fields.
    """

    file: str
    line: int
    column: int
    nbytes: int
    offset: int
    of_nbytes: int
    padding: tuple[Range, ...]
    fields: tuple[Range, ...]


# Kinds of register hazards of wgmma.
UNFENCED = "unfenced"  # multiplies `register` of line `earlier`, with no wgmma.fence between
OVERWRITTEN = "overwritten"  # writes `register`, which line `earlier` may still read
NEVER_FENCED = "never_fenced"  # multiplies with no wgmma.fence before it
SOMETIMES_FENCED = "sometimes_fenced"  # multiplies with no wgmma.fence before it on some path
HAZARDS = (UNFENCED, OVERWRITTEN, NEVER_FENCED, SOMETIMES_FENCED)


class RegisterHazard(NamedTuple):
    """Line `line` of the PTX breaks a rule of wgmma about registers: `kind` is one of HAZARDS."""

    kind: str
    line: int
    earlier: int = 0  # another line of the PTX
    register: str = ""


class Setting(NamedTuple):
    """From line `line` of the PTX on, a variable of optimized code is in another place. `location` is one of

        rd5           the register %rd5
        r5 + 8        a sum, difference or product of a register's low bits with a number
        =-7           a number
        ?             unknown
        | 5 6         only for a variable that gives the position in the source: it may also be 5 or 6

    A location that ends with ` @32:16` holds 16 bits of the variable from bit 32 on.
    """

    line: int
    variable: int
    location: str


class ScopeChange(NamedTuple):
    """From line `line` of the PTX up to its next `.loc`, code has these functions around it, the innermost first: the
    scope in each, and the inlined call (0: none), as numbers of the table of `VariableFacts`.
    """

    line: int
    around: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class VariableFacts:
    """The variables of optimized code, for the debugger. `settings` and `scopes` are ascending by line. `table`
    describes variables, scopes and types (`compile.variables.numbering.number_variables`); its keys are text, as in
    JSON.
    """

    settings: tuple[Setting, ...]
    scopes: tuple[ScopeChange, ...]
    table: dict


@dataclass(frozen=True)
class Facts:
    padded_copies: tuple[PaddedCopy, ...] = ()
    member_stores: tuple[MemberStore, ...] = ()
    register_hazards: tuple[RegisterHazard, ...] = ()
    variables: VariableFacts | None = None


NO_FACTS = Facts()
