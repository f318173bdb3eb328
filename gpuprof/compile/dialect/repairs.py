"""Repairs of the forms that clang refuses: a table from its messages to edits and flags.

A repair is certain where nothing but the form that nvcc takes has that message. One that is not may turn another error
into a worse message, so it counts only if the source compiles with it.
"""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from gpuprof.compile.dialect.diagnostics import Diagnostic, Place
from gpuprof.compile.dialect.edits import Edit, blank, inserted, offset_of
from gpuprof.compile.dialect.shared_objects import unconstructed
from gpuprof.cuda import INCLUDE

BOTH_SIDES = "__attribute__((host)) __attribute__((device)) "
LATE = "-fdelayed-template-parsing"  # templates are read when they are instantiated

_QUALIFIER = re.compile(r"(?:\w+\s*(?:<[^<>;{}()]*>)?\s*::\s*)+$")
_REDEFINED = re.compile(r"(?:redefinition|redeclaration) of '(\w+)'")
_CLASS = re.compile(r"\b(?:struct|class|union)\s+(\w+)[^;{}()]*\{")
_HOST_CALL = re.compile(r"call to __host__ function from __(?:device|global)__ function")
_ATTRIBUTE = re.compile(r"\[\[[\w\s,:]*(?:\(\s*\"[^\"]*\"\s*\))?\s*\]\]")


# A global name of our headers that programs have, too, and the flag that leaves it out. cudaDeviceProp has one, too.
LEFT_OUT = {"warpSize": "-DGPUPROF_OWN_WARP_SIZE"}


class Change(NamedTuple):
    """Edits of one file; flags, and names of our headers that are not to be seen, for all of them."""

    file: str
    edits: tuple[Edit, ...] = ()
    flags: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()


Repair = Callable[[Diagnostic, Callable[[str], str | None]], Sequence[Change]]


def _at(place: Place, text_of: Callable[[str], str | None]) -> tuple[str, int] | None:
    """The text of a file of the user's, and the index of a place in it."""
    source = text_of(place.file)
    at = offset_of(source, place.line, place.column) if source is not None else None
    return None if source is None or at is None else (source, at)


def _shared_object(error: Diagnostic, text_of: Callable[[str], str | None]) -> Sequence[Change]:
    found = _at(error.place, text_of)
    edits = unconstructed(*found) if found else []
    return [Change(error.place.file, tuple(edits))] if edits else []


def _attribute(error: Diagnostic, text_of: Callable[[str], str | None]) -> Sequence[Change]:
    """`__device__ [[noreturn]] void f()`: of the standard's attributes, none changes what a function computes."""
    found = _at(error.place, text_of)
    attribute = _ATTRIBUTE.match(*found) if found else None
    if not found or not attribute:
        return []
    return [Change(error.place.file, (blank(found[0], *attribute.span()),))]


def _check(error: Diagnostic, text_of: Callable[[str], str | None]) -> Sequence[Change]:
    """A static_assert of a function that this side only sees: it counts where the function is used on this side.

    `gpuprof_check` (language.h) has as many letters, and calls a function of the other side where the condition fails.
    """
    found = _at(error.place, text_of)
    start = found[0].rfind("static_assert", 0, found[1] + len("static_assert")) if found else -1
    if not found or start < 0 or ";" in found[0][start : found[1]]:
        return []
    return [Change(error.place.file, (Edit(start, start + len("static_assert"), "gpuprof_check"),))]


def _declared_for_both(error: Diagnostic, text_of: Callable[[str], str | None]) -> Sequence[Change]:
    """A definition without the qualifiers of its declaration."""
    return _for_both(error.place, text_of)


def _defined_for_both(error: Diagnostic, text_of: Callable[[str], str | None]) -> Sequence[Change]:
    """A declaration without the qualifiers of its definition."""
    places = [place for place, note in error.notes if note == "previous declaration is here"]
    return _for_both(places[0], text_of) if places else []


def _device_sees_it(error: Diagnostic, text_of: Callable[[str], str | None]) -> Sequence[Change]:
    """`#ifdef __CUDA_ARCH__` around the qualifiers of a function that a kernel calls: the host's text has none."""
    notes = ((place, _HOST_CALL.search(note)) for place, note in error.notes)
    return [change for place, found in notes if found for change in _for_both(place, text_of)]


def _called_for_both(error: Diagnostic, text_of: Callable[[str], str | None]) -> Sequence[Change]:
    """A host function that a function of both sides calls. nvcc warns (20011-D, 20014-D); it is compiled for both."""
    places = [place for place, note in error.notes if note.endswith(" declared here")]
    return _for_both(places[0], text_of) if places else []


def _for_both(place: Place, text_of: Callable[[str], str | None]) -> Sequence[Change]:
    found = _at(place, text_of)
    if not found:
        return []
    source, at = found
    qualifier = _QUALIFIER.search(source[:at])
    edit = inserted(source, qualifier.start() if qualifier else at, BOTH_SIDES)
    return [Change(place.file, (edit,))] if edit else []


def _unused_template(error: Diagnostic, text_of: Callable[[str], str | None]) -> Sequence[Change]:
    return [Change(error.place.file, flags=(LATE,))]


def _host_call(error: Diagnostic, text_of: Callable[[str], str | None]) -> Sequence[Change]:
    """A device function's call of a host function, which nvcc finds only in a template that is used."""
    return _unused_template(error, text_of) if any(_HOST_CALL.search(note) for _, note in error.notes) else []


def _own_name(error: Diagnostic, text_of: Callable[[str], str | None]) -> Sequence[Change]:
    """A global name of the program's that is one of our headers' before it."""
    name, places = _REDEFINED.match(error.text), [place for place, note in error.notes if note.startswith("previous ")]
    if not name or not places or not Path(places[0].file).is_relative_to(INCLUDE):
        return []
    if name[1] in LEFT_OUT:
        return [Change(error.place.file, flags=(LEFT_OUT[name[1]],))]
    return [Change(error.place.file, hidden=(name[1],))]


def _default_argument(error: Diagnostic, text_of: Callable[[str], str | None]) -> Sequence[Change]:
    """`static const int n; void f(int n = n)`: the class's n, in nvcc."""
    found = _at(error.place, text_of)
    heads = list(_CLASS.finditer(found[0], 0, found[1])) if found else []
    opened = [head[1] for head in heads if found and _is_open(found[0][head.end() : found[1]])]
    edit = inserted(*found, f"{opened[-1]}::") if found and opened else None
    return [Change(error.place.file, (edit,))] if edit else []


def _is_open(text: str) -> bool:
    return text.count("{") >= text.count("}")


CERTAIN: tuple[tuple[re.Pattern, Repair], ...] = (
    (re.compile(r"initialization is not supported for __shared__ variables"), _shared_object),
    (re.compile(r"an attribute list cannot appear here"), _attribute),
    (_REDEFINED, _own_name),
    (re.compile(r"default argument references parameter '(\w+)'"), _default_argument),
)
TRIED: tuple[tuple[re.Pattern, Repair], ...] = (
    (re.compile(r"static assertion failed"), _check),
    (re.compile(r"__host__ function '.*' cannot overload __host__ __device__ function"), _declared_for_both),
    (re.compile(r"__host__ __device__ function '.*' cannot overload __host__ function"), _defined_for_both),
    (re.compile(r"reference to __host__ function '.*' in __host__ __device__ function"), _called_for_both),
    (re.compile(r"member access into incomplete type|incomplete type '.*' named in nested name"), _unused_template),
    (re.compile(r"no matching function for call to '.*'"), _host_call),
)
# As these, in the host's text. Its kernels are not compiled, and the device's text has what they call.
TRIED_ON_HOST: tuple[tuple[re.Pattern, Repair], ...] = (
    *TRIED,
    (re.compile(r"no matching function for call to '.*'"), _device_sees_it),
)


def changes_for(
    errors: Sequence[Diagnostic], text_of: Callable[[str], str | None], table: Sequence[tuple[re.Pattern, Repair]]
) -> list[Change]:
    """Changes that the table has for these errors. `text_of`: the text of a file of the user's, None of others."""
    return [
        change
        for error in errors
        for pattern, repair in table
        if pattern.match(error.text)
        for change in repair(error, text_of)
    ]
