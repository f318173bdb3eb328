"""Objects in shared memory whose class has a constructor. nvcc warns (20054-D), and neither constructs nor destroys
them; clang refuses them. Here the declaration becomes members of a structure that nothing constructs, and names for
these:

    __shared__ barrier bar, more[2];

    struct gpuprof_shared_7_5 { barrier bar, more[2]; };
    static __attribute__((shared)) gpuprof_raw<gpuprof_shared_7_5> gpuprof_raw_7_5;
    static constexpr auto &bar = gpuprof_raw_7_5.value.bar;
    static constexpr auto &more = gpuprof_raw_7_5.value.more;

A static reference is no variable that a lambda would have to capture. `decltype(bar)` is a reference's type, though.
"""

import re

from gpuprof.compile.dialect.edits import Edit, blank, inserted

_BEFORE = re.compile(r"(?:\s|//[^\n]*\n|/\*.*?\*/|\#(?:\\\n|[^\n])*\n)*", re.DOTALL)
_STORAGE = re.compile(r"\b(?:__shared__|static)\b")
_NAME = re.compile(r"[*&\s]*([A-Za-z_]\w*)\s*(?:\[[^=]*\]\s*)*$")  # of a declarator without an initializer
_OPENING, _CLOSING = "([{", ")]}"


def unconstructed(source: str, at: int) -> list[Edit]:
    """The edits for the declaration of the variable whose name is at a place; none where it is not a plain one."""
    start = max(source.rfind(each, 0, at) for each in ";{}") + 1
    start = _BEFORE.match(source, start).end()
    end = _end(source, at)
    specifiers = source[start:at]
    if end is None or "__shared__" not in specifiers or _pieces(specifiers)[1:]:
        return []
    names = [_NAME.match(piece) for piece in _pieces(source[at:end])]
    if None in names:
        return []
    line, column = source.count("\n", 0, start) + 1, start - source.rfind("\n", 0, start)
    own = f"{line}_{column}"
    after = f" }}; static __attribute__((shared)) gpuprof_raw<gpuprof_shared_{own}> gpuprof_raw_{own};"
    for name in names:
        after += f" static constexpr auto &{name[1]} = gpuprof_raw_{own}.value.{name[1]};"
    storage = [blank(source, *each.span()) for each in _STORAGE.finditer(source, start, at)]
    edits = [inserted(source, start, f"struct gpuprof_shared_{own} {{"), inserted(source, end + 1, after), *storage]
    return [] if None in edits else edits


def _end(source: str, at: int) -> int | None:
    """The semicolon that ends a declaration."""
    depth = 0
    for index in range(at, len(source)):
        depth += (source[index] in _OPENING) - (source[index] in _CLOSING)
        if depth < 0:
            return None
        if source[index] == ";" and not depth:
            return index
    return None


def _pieces(text: str) -> list[str]:
    """The parts between commas that no bracket encloses, nor the angle brackets of a template's arguments."""
    pieces, depth = [""], 0
    for character in text:
        depth += (character in "([{<") - (character in ")]}>")
        if character == "," and not depth:
            pieces.append("")
        else:
            pieces[-1] += character
    return pieces
