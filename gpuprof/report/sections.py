"""A kernel as listings: its source, its PTX or its instructions, in sections of rows, every cost in exactly one row.

An instruction's cost belongs to the innermost line it came from; where that code was inlined, the call site's row has
it in its `inclusive` cost too. Code that no line is known for is a row of its own, so that shares always sum to the
whole.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from gpuprof.base.text_lines import lines_of
from gpuprof.correlate.frames import Position
from gpuprof.report.model import Cost, Instruction, Kernel, Row, Section, total

SIGNATURE_LINES = 20  # how far a signature may be from a function's first line with code, and its end from the last
NO_LINE = "(code without a source line)"
NO_PTX_LINE = "(code without a PTX line)"
NO_TEXT = "(the source text is not available)"


class Place(NamedTuple):
    function: str
    path: str


def source_sections(kernel: Kernel) -> tuple[Section, ...]:
    """The kernel's own lines and the code without a line, then inlined and called functions, costliest first."""
    own: dict[Place, dict[int, list[Instruction]]] = {}
    through: dict[Position, list[Instruction]] = {}
    nowhere: list[Instruction] = []
    sites: dict[Place, dict[Position, list[Instruction]]] = {}
    for instruction in kernel.instructions:
        inner = instruction.positions[0]
        if not is_known(inner):
            nowhere.append(instruction)
            continue
        own.setdefault(Place(inner.function, inner.path), {}).setdefault(inner.line, []).append(instruction)
        for position in filter(is_known, set(instruction.positions)):
            own.setdefault(Place(position.function, position.path), {}).setdefault(position.line, [])
            through.setdefault(position, []).append(instruction)
        for callee, site in zip(instruction.positions, instruction.positions[1:], strict=False):
            sites.setdefault(Place(callee.function, callee.path), {}).setdefault(site, []).append(instruction)
    sections = [
        Section(
            place.function, place.path, source_rows(kernel, place, lines, through), call_sites(sites.get(place, {}))
        )
        for place, lines in own.items()
    ]
    sections.sort(key=lambda s: (s.function != kernel.name, -s.cost.warp_cycles, -s.cost.n_samples, s.path, s.function))
    if nowhere:
        first = sections[0] if sections else Section(kernel.name, "", ())
        sections[:1] = [
            Section(first.function, first.path, (*first.rows, row_of(0, NO_LINE, nowhere)), first.call_sites)
        ]
    return tuple(sections)


def is_known(position: Position) -> bool:
    return bool(position.path and position.line)


def source_rows(kernel: Kernel, place: Place, lines: dict[int, list[Instruction]], through: dict) -> tuple[Row, ...]:
    text = kernel.sources.get(place.path)
    texts = lines_of(text or "")
    first, last = whole_function(texts, place.function, min(lines), max(lines), place.path.endswith(".py"))
    rows = []
    for number in numbers_shown(first, last, len(texts), lines):
        known = texts[number - 1] if number <= len(texts) else "" if text is not None else NO_TEXT
        rows.append(row_of(number, known, lines.get(number, []), through.get(Position(*place, number))))
    return tuple(rows)


def numbers_shown(first: int, last: int, n_texts: int, lines: Iterable[int]) -> list[int]:
    """The lines first..last as far as there is text, and those with code wherever they are: `#line 2147483647` puts
    code far past a file's end.
    """
    return sorted({*range(first, min(last, n_texts) + 1), *lines})


def whole_function(
    texts: Sequence[str], function: str, first: int, last: int, is_python: bool = False
) -> tuple[int, int]:
    """The lines first..last, widened to the function's signature and closing brace where the text shows them nearby.

    Line tables begin at a function's first statement; people look for its name.
    """
    name = re.compile(r"\b" + re.escape(function.split("<")[0].split("(")[0].rsplit("::", 1)[-1]) + r"\b")
    for number in range(min(first, len(texts)), max(first - SIGNATURE_LINES, 0), -1):
        if name.search(texts[number - 1].split("//")[0]):
            break
        if number < first and texts[number - 1].startswith("}"):
            return first, last
    else:
        return first, last
    if is_python:
        return number, last
    depth = 0
    for end in range(number, min(last + SIGNATURE_LINES, len(texts)) + 1):
        code = texts[end - 1].split("//")[0]
        depth += code.count("{") - code.count("}")
        if end >= last and depth <= 0 and "}" in code:
            return number, end
    return number, last


def row_of(number: int, text: str, instructions: list[Instruction], through: list[Instruction] | None = None) -> Row:
    cost = total(i.cost for i in instructions)
    inclusive = total(i.cost for i in through) if through and len(through) > len(instructions) else cost
    return Row(number, text, tuple(instructions), cost, inclusive)


def call_sites(sites: dict[Position, list[Instruction]]) -> tuple[tuple[Position, Cost], ...]:
    costs = [(position, total(i.cost for i in instructions)) for position, instructions in sites.items()]
    return tuple(sorted(costs, key=lambda site: (-site[1].warp_cycles, -site[1].n_samples, site[0])))


def ptx_sections(kernel: Kernel) -> tuple[Section, ...]:
    """The PTX of the kernel, then of the functions it calls; `.loc` and empty lines left out, they cost nothing."""
    texts = lines_of(kernel.ptx)
    sections = []
    for function, instructions in by_function(kernel).items():
        lines: dict[int, list[Instruction]] = {}
        for instruction in instructions:
            lines.setdefault(instruction.ptx_line, []).append(instruction)
        nowhere = lines.pop(0, [])
        rows = []
        for number in numbers_shown(min(lines, default=1), max(lines, default=0), len(texts), lines):
            text = texts[number - 1] if number <= len(texts) else NO_TEXT
            if number in lines or (text.strip() and not text.strip().startswith(".loc")):
                rows.append(row_of(number, text, lines.get(number, [])))
        if nowhere:
            rows.append(row_of(0, NO_PTX_LINE, nowhere))
        sections.append(Section(function, kernel.module, tuple(rows)))
    return tuple(sections)


def isa_sections(kernel: Kernel) -> tuple[Section, ...]:
    """Every instruction of the kernel, then of the functions it calls; a row's number is the address."""
    return tuple(
        Section(function, kernel.module, tuple(row_of(i.pc, i.text, [i]) for i in instructions))
        for function, instructions in by_function(kernel).items()
    )


def by_function(kernel: Kernel) -> dict[str, list[Instruction]]:
    """Instructions by the function whose code they are in, the kernel first."""
    functions: dict[str, list[Instruction]] = {kernel.name: []}
    for instruction in kernel.instructions:
        functions.setdefault(instruction.function, []).append(instruction)
    return {name: instructions for name, instructions in functions.items() if instructions}


LISTINGS: dict[str, Callable[[Kernel], tuple[Section, ...]]] = {
    "source": source_sections,
    "ptx": ptx_sections,
    "isa": isa_sections,
}


def select_lines(sections: tuple[Section, ...], first: int, last: int) -> tuple[Section, ...]:
    """The rows first..last of the first section (the kernel's own file) and of every section of that file."""
    if not sections:
        return ()
    path = sections[0].path
    chosen = []
    for section in sections:
        rows = tuple(row for row in section.rows if first <= row.number <= last and section.path == path)
        if rows:
            chosen.append(Section(section.function, section.path, rows, section.call_sites))
    return tuple(chosen)


def hottest(sections: tuple[Section, ...], at_most: int = 3, least: float = 0.10) -> tuple[Row, ...]:
    """The costliest row, and further ones with a share of at least `least`, costliest first. Empty when nothing cost
    anything.
    """
    rows = [row for section in sections for row in section.rows if sum(row.cost.reasons)]
    rows.sort(key=lambda row: (-row.cost.warp_cycles, -row.cost.n_samples, row.number))
    whole = sum(sum(row.cost.reasons) for row in rows)
    return tuple(
        row for index, row in enumerate(rows[:at_most]) if index == 0 or sum(row.cost.reasons) >= least * whole
    )
