"""Source positions from `.loc`, inlined call chains included.

A `.loc` with `inlined_at` names only the direct call site. Compilers emit the call site's own `.loc` before it when
that was inlined too (LLVM: "ensure the inlined-at locations are emitted first"), so the chain is found by looking the
call site up.
"""

import re

from gpuprof.base.ptx_strings import unquoted
from gpuprof.isa.program import Location

_DEBUG_STR = re.compile(r"\.section\s+\.debug_str\s*\{")
_END_OF_SECTION = re.compile(r"\n[ \t\r]*\}")
_MOST_INLINED = 200  # compilers stay below 100; Python compares nested positions by recursion
_STRING_ENTRY = re.compile(r"([\w$]+):((?:\s*\.b8\s+[\d,\s]+)+)")


def debug_strings(text: str) -> dict[str, str]:
    """label -> text of the .debug_str section: where `function_name` points to."""
    section = _DEBUG_STR.search(text)
    end = section and _END_OF_SECTION.search(text, section.end())
    if not end:
        return {}
    body = re.sub(r"//[^\n]*", "", text[section.end() : end.start()])
    return {label: _text_of(entry) for label, entry in _STRING_ENTRY.findall(body)}


def _text_of(entry: str) -> str:
    data = bytes(int(number) & 0xFF for number in re.findall(r"\b\d+\b", entry.replace(".b8", " ")))
    return data.split(b"\0")[0].decode("utf-8", "replace")


class LineTable:
    """Follows the `.loc` directives of a text; `current` is the position that holds for the next instruction.

    `files` is the index -> name table of the `.file` directives. nvcc writes them after the code, so positions are
    stored with file numbers (as text) until `resolve` is called.
    """

    def __init__(self, files: dict[int, str], text: str):
        self._files = files | {
            int(n): unquoted(name) for n, name in re.findall(r'^[ \t]*\.file\s+(\d+)\s+"((?:[^"\\]|\\.)*)"', text, re.M)
        }
        self._strings = debug_strings(text)
        self._seen: dict[tuple[int, int, int], Location] = {}
        self._depth: dict[tuple[int, int, int], int] = {}
        self._made: dict[tuple, int] = {}
        self.positions: list[Location | None] = []  # of the function, in the order of the directives that say them
        self.marks: list[int] = []  # of each directive of the function, the number of its position
        self._said: dict[tuple[str | None, ...], int] = {}  # by the numbers of a directive, as text
        self._function = ""
        self.current: Location | None = None

    def start_function(self, name: str):
        self._function = name
        self._seen.clear()
        self._depth.clear()
        self._made.clear()
        self._said.clear()
        self.positions: list[Location | None] = []
        self.marks: list[int] = []
        self.current = None

    def loc_of(self, numbers: tuple[str | None, ...]):
        """`loc` of what a directive says: file, line, column, and where it says so label, file, line, column."""
        known = self._said.get(numbers)
        if known is not None:
            self._take(known)
            return
        file, line, column, label, *call_site = numbers
        site = tuple(map(int, call_site)) if label else None
        self.loc(int(file), int(line), int(column), label or "", site)
        self._said[numbers] = self.marks[-1]

    def loc(self, file: int, line: int, column: int, label: str, call_site: tuple[int, int, int] | None):
        """Raises ValueError when the position is inlined deeper than any compiler inlines."""
        key = (file, line, column, label, call_site)
        if key not in self._made:
            self._made[key] = len(self.positions)
            self.positions.append(self._location(*key))
        self._take(self._made[key])
        position = (file, line, column)
        if position not in self._seen:
            self._seen[position] = self.current
            self._depth[position] = self._depth.get(call_site, 0) + 1 if call_site else 0
            if self._depth[position] > _MOST_INLINED:
                raise ValueError(f"inlined more than {_MOST_INLINED} deep")

    def _take(self, number: int):
        self.marks.append(number)
        self.current = self.positions[number]

    def _location(self, file: int, line: int, column: int, label: str, call_site) -> Location | None:
        if line == 0:  # "no line": the code belongs to no source position
            return None
        name = self._files.get(file, "")
        if call_site is None:
            return Location(name, line, column, self._function)
        caller = self._seen.get(call_site) or Location(
            self._files.get(call_site[0], ""), *call_site[1:], self._function
        )
        return Location(name, line, column, self._strings.get(label, label), caller)
