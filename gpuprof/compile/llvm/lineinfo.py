"""Carries inlined call chains through LLVM's PTX printer.

LLVM 22 prints `.loc file line column` and forgets where the code was inlined. Line numbers are mere labels to code
generation, so after optimization every location is replaced by a unique label (`encode`), and in the PTX each label is
replaced by the chain of directives that PTX has for it (`decode`), outermost first, as nvcc writes them:

    .loc 1 7 6
    .loc 1 4 3, function_name $L__info_string0, inlined_at 1 7 6
"""

import re
from typing import NamedTuple

from gpuprof.base.ptx_strings import quoted, unquoted
from gpuprof.compile.llvm.metadata import Metadata
from gpuprof.compile.llvm.naming import symbol_of

AT = "\t//@at "  # begins a comment on the scopes around the code, for `compile.variables.locations`

# Below 2**31, and above the real lines that still come from the heads of functions: `#line` can say more than that, and
# such a function has no line.
_FIRST_LABEL = 1_000_000_000

_LOCATION = re.compile(r"^!(\d+) = (distinct )?!DILocation\(.*\)$", re.MULTILINE)
_SCOPE = re.compile(r"^!\d+ = (?:distinct )?!DI(?:Subprogram|LexicalBlock\w*)\(.*\)$", re.MULTILINE)
_FAR_LINE = re.compile(r"\b((?:line|scopeLine): )[0-9]{10,}")
_LOC = re.compile(r"^\t\.loc\t(\d+) (\d+) (\d+).*$")
_FILE = re.compile(r'^\t\.file\t(\d+) "(.*)"$', re.MULTILINE)
_EMPTY_MACINFO = "\t.section\t.debug_macinfo\t{\t}\n"
_LABEL = re.compile(r"^\$?[\w$]+:")
_RECORD = re.compile(r"^\s+#dbg_\w+\(.*, !(\d+)\)\n", re.MULTILINE)
_TEMPORARY = re.compile(r"^\$L__(tmp\d+|func_begin\d+|func_end\d+):$")


class Place(NamedTuple):
    file: str
    line: int
    column: int
    function: str  # symbol of the function whose source this is
    scope: int = 0  # for the debugger of optimized code: numbers of the nodes of the scope and of the inlined call
    call: int = 0


Chain = tuple[Place, ...]  # innermost first


def _chain(metadata: Metadata, number: int, has_scopes: bool) -> Chain:
    places = []
    node = metadata.nodes[number]
    while node is not None:
        scope = metadata.follow(node, "scope")
        function = metadata.subprogram_of(scope)
        position = Place(metadata.file_of(scope), node.number("line"), node.number("column"), symbol_of(function))
        if has_scopes:
            position = position._replace(scope=node.reference("scope"), call=node.reference("inlinedAt") or 0)
        places.append(position)
        node = metadata.follow(node, "inlinedAt")
    return tuple(places)


def _root_scope(metadata: Metadata, number: int) -> int:
    node = metadata.nodes[number]
    while node.reference("inlinedAt") is not None:
        node = metadata.follow(node, "inlinedAt")
    return node.reference("scope")


def encode(ir: str, has_scopes: bool = False) -> tuple[str, list[Chain]]:
    """The IR with every location replaced by a label, and the chains the labels stand for (label - first = index).
    `has_scopes`: places in other scopes are other ones, and the PTX says so.
    """
    metadata = Metadata(ir)
    chains: dict[Chain, int] = {}

    def replace(match: re.Match) -> str:
        number = int(match[1])
        chain = _chain(metadata, number, has_scopes)
        if chain[0].line == 0:  # compiler-made code: let it take the line of its neighbour
            label = 0
        else:
            label = _FIRST_LABEL + chains.setdefault(chain, len(chains))
        return f"!{number} = {match[2] or ''}!DILocation(line: {label}, scope: !{_root_scope(metadata, number)})"

    near = _SCOPE.sub(lambda match: _FAR_LINE.sub(r"\g<1>0", match[0]), ir)
    return _LOCATION.sub(replace, near), list(chains)


def label_index(label: int) -> int | None:
    """The index of the chain that a line number in LLVM's messages stands for; None when it is a real line."""
    return label - _FIRST_LABEL if label >= _FIRST_LABEL else None


def blamed(chain: Chain) -> str:
    """The line to report to the user: the innermost one in a file of theirs."""
    position = next((each for each in chain if not each.file.startswith("<")), chain[0])
    return f"{position.file}:{position.line}"


class _Writer:
    """Numbers files and function names in the order they are met."""

    def __init__(self):
        self.files: dict[str, int] = {}
        self.functions: dict[str, int] = {}

    def file(self, name: str) -> int:
        return self.files.setdefault(name, len(self.files) + 1)

    def place(self, place: Place) -> str:
        return f"{self.file(place.file)} {place.line} {place.column}"

    def directives(self, chain: Chain) -> list[str]:
        lines = [f"\t.loc\t{self.place(chain[-1])}"]
        for inner, outer in zip(chain[-2::-1], chain[:0:-1], strict=True):
            name = self.functions.setdefault(inner.function, len(self.functions))
            lines.append(
                f"\t.loc\t{self.place(inner)}, function_name $L__info_string{name}, inlined_at {self.place(outer)}"
            )
        if chain[0].scope:
            lines.append(AT + " ".join(f"{position.scope}:{position.call}" for position in chain))
        return lines

    def tables(self) -> str:
        parts = [f'\t.file\t{number} "{quoted(name)}"\n' for name, number in self.files.items()]
        if self.functions:
            strings = "".join(
                f"$L__info_string{number}:\n.b8 {','.join(map(str, name.encode()))},0\n"
                for name, number in self.functions.items()
            )
            parts.append(f"\t.section\t.debug_str\n\t{{\n{strings}\n\t}}\n")
        return "".join(parts)


def without_inlined_variables(ir: str) -> str:
    """The IR without records of variables of inlined functions: `encode` forgets where these were inlined."""
    metadata = Metadata(ir)

    def kept(match: re.Match) -> str:
        location = metadata.nodes.get(int(match[1]))
        return "" if location is None or location.reference("inlinedAt") is not None else match[0]

    return _RECORD.sub(kept, ir)


def decode(ptx: str, chains: list[Chain], for_debugger: bool = False) -> tuple[str, list[str]]:
    """The PTX with real locations, and the names in its `.file` table, in order. `for_debugger`: the labels stay that
    its debug sections name.
    """
    # Names are relative to the compilation directory, which `toolchain` sets to ".".
    llvm_files = {int(number): unquoted(name).removeprefix("./") for number, name in _FILE.findall(ptx)}
    text = _FILE.sub("", ptx).replace(_EMPTY_MACINFO, "")
    writer = _Writer()
    lines = []
    for line in text.split("\n"):
        match = _LOC.match(line)
        if not for_debugger and _TEMPORARY.match(line):
            continue
        if match is None:
            lines.append(line)
            continue
        file, number, column = map(int, match.groups())
        if number >= _FIRST_LABEL:
            lines.extend(writer.directives(chains[number - _FIRST_LABEL]))
        else:
            lines.append(f"\t.loc\t{writer.file(llvm_files[file])} {number} {column}")
    return "\n".join(_fill_unknown(lines, for_debugger)).rstrip("\n") + "\n" + writer.tables(), list(writer.files)


def _fill_unknown(lines: list[str], for_debugger: bool) -> list[str]:
    """Code without a line (address computations, copies at joins) takes the next location of its block, else the last
    before it. `for_debugger`: in front of a function's first statement it has that of the function's head, so that one
    sees where the arguments are in their places.
    """
    kept: list[str] = []
    head = ""
    for index, line in enumerate(lines):
        match = _LOC.match(line)
        if match is not None and match[2] != "0":
            head = line if for_debugger and lines[index + 1].startswith("$L__func_begin") else head
            head = head if line == head else ""
        if match is None or match[2] != "0":
            kept.append(line)
        elif head:
            kept.append(head)
        else:
            kept.extend(_next_location(lines, index + 1))
    return kept


def _next_location(lines: list[str], start: int) -> list[str]:
    """The run of directives of the next known location before the block ends."""
    directives: list[str] = []
    for line in lines[start:]:
        match = _LOC.match(line)
        is_location = match is not None or line.startswith(AT)
        if directives and not is_location:
            return directives
        if is_location and (match is None or match[2] != "0"):
            directives.append(line)
        if _LABEL.match(line) or line == "}" or "\tbra" in line:
            return directives
    return directives
