"""Facts of programs in version 5 of the gpubin format, in which they are comments in the PTX:

    // gpuprof: a.cu:12:15 copies 24 bytes; padding: bits 8-32 144-192
    // gpuprof: a.cu:13:15 stores 2 bytes at 16 of 24; padding: bits 8-32 144-192; fields: none
    // gpuprof: line 52 multiplies %f5 of line 48, with no wgmma.fence between

The variables of optimized code are not read: the debugger compiles what it runs.
"""

import re

from gpuprof.isa.facts import (
    NEVER_FENCED,
    OVERWRITTEN,
    SOMETIMES_FENCED,
    UNFENCED,
    Facts,
    MemberStore,
    PaddedCopy,
    Range,
    RegisterHazard,
)

_NUMBER = r"\d{1,9}"
_SIZE = r"[1-9]\d{0,8}"
_RANGE = f"{_NUMBER}-{_NUMBER}"
_BITS = f"(none|bits {_RANGE}(?: {_RANGE})*)"
_POSITION = rf"^// gpuprof: (.+):({_NUMBER}):({_NUMBER})"
_COPY = re.compile(rf"{_POSITION} copies ({_SIZE}) bytes; padding: {_BITS}$", re.MULTILINE)
_STORE = re.compile(
    rf"{_POSITION} stores ({_SIZE}) bytes at ({_NUMBER}) of ({_SIZE}); padding: {_BITS}; fields: {_BITS}$", re.MULTILINE
)
_HAZARDS = {
    UNFENCED: rf"multiplies (?P<register>[^ ,]+) of line (?P<earlier>{_NUMBER}), with no wgmma\.fence between",
    OVERWRITTEN: rf"writes (?P<register>[^ ,]+), which line (?P<earlier>{_NUMBER}) may still read",
    NEVER_FENCED: r"multiplies with no wgmma\.fence before it",
    SOMETIMES_FENCED: r"multiplies with no wgmma\.fence before it on some way",
}


def facts_in_comments(ptx: str) -> Facts:
    return Facts(
        tuple(
            PaddedCopy(file, int(line), int(column), int(nbytes), _ranges(padding))
            for file, line, column, nbytes, padding in _COPY.findall(ptx)
        ),
        tuple(
            MemberStore(file, *map(int, numbers), _ranges(padding), _ranges(fields))
            for file, *numbers, padding, fields in _STORE.findall(ptx)
        ),
        tuple(
            _hazard(kind, match)
            for kind, text in _HAZARDS.items()
            for match in re.finditer(rf"^// gpuprof: line (?P<line>{_NUMBER}) {text}$", ptx, re.MULTILINE)
        ),
    )


def _hazard(kind: str, match: re.Match) -> RegisterHazard:
    given = match.groupdict()
    return RegisterHazard(kind, int(given["line"]), int(given.get("earlier", 0)), given.get("register", ""))


def _ranges(text: str) -> tuple[Range, ...]:
    ranges = [] if text == "none" else text.removeprefix("bits").split()
    return tuple((int(first), int(end)) for first, end in (each.split("-") for each in ranges))
