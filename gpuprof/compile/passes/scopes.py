"""The scopes of atomics: `atomicAdd_block` and `atomicAdd_system` in PTX.

Clang gives the scope of a builtin no word in the IR for this target, and LLVM prints only that of a compare-and-swap.
So atomics in our header's functions of these names get their `syncscope` (`name_scopes`); before code generation the
location of each such instruction gets a column of its own (`mark`, after `lineinfo.encode`, whose labels need none);
and the PTX instruction at that location gets the word (`show`, before `lineinfo.decode`). No other change is made: code
is the same with a scope and without.
"""

import re

_FUNCTION = re.compile(r"^define [^\n]*@_ZL\d+atomic[A-Z]\w*?_(block|system)\w*\(.*?^\}$", re.MULTILINE | re.DOTALL)
_ATOMIC = re.compile(r"(\b(?:atomicrmw|cmpxchg) [^\n]*?)( monotonic\b)")
_CHANGE = re.compile(r"(\batomicrmw [^\n]*?)( monotonic\b)")
_SCOPED = re.compile(
    r'^(.*= (?:atomicrmw|cmpxchg) [^\n]*syncscope\("(block|gpuprof_system)"\)[^\n]*, !dbg )!(\d+)', re.MULTILINE
)
_LOCATION = re.compile(r"^!(\d+) = (?:distinct )?!DILocation\(line: (\d+), (scope: !\d+)\)$", re.MULTILINE)
_NODE = re.compile(r"^!(\d+) = ", re.MULTILINE)
# By the name in CUDA: the scope of LLVM (one of our own, as the system's has no name), by that the column, the word.
_LLVM_SCOPES = {"block": "block", "system": "gpuprof_system"}
_COLUMNS = {"block": 1, "gpuprof_system": 2}
_WORDS = {1: "cta", 2: "sys"}
_LOC = re.compile(r"^\t\.loc\t\d+ \d+ (\d+)")
_INSTRUCTION = re.compile(r"^(\t(?:@!?%p\d+ )?(?:atom|red))((?:\.relaxed)?)(?:\.(?:sys|gpu|cta))?(?=\.)")


def name_scopes(ir: str) -> str:
    """Clang's IR, not optimized yet, with the scopes of these functions' atomics."""

    def scoped(match: re.Match) -> str:
        atomic = _ATOMIC if match[1] == "block" else _CHANGE  # a compare-and-swap is the system's already
        return atomic.sub(rf'\1 syncscope("{_LLVM_SCOPES[match[1]]}")\2', match[0])

    return _FUNCTION.sub(scoped, ir)


def mark(ir: str) -> str:
    """IR whose locations are labels: those of scoped atomics are nodes of their own, with a column that says which."""
    if not _SCOPED.search(ir):
        return ir
    locations = {int(number): (line, scope) for number, line, scope in _LOCATION.findall(ir)}
    free = max(int(number) for number in _NODE.findall(ir)) + 1
    nodes: list[str] = []

    def with_column(match: re.Match) -> str:
        line, scope = locations[int(match[3])]
        number = free + len(nodes)
        nodes.append(f"!{number} = !DILocation(line: {line}, column: {_COLUMNS[match[2]]}, {scope})")
        return f"{match[1]}!{number}"

    return _SCOPED.sub(with_column, ir) + "\n" + "\n".join(nodes) + "\n"


def show(ptx: str) -> str:
    """PTX with labels, in which the marked instructions say their scope."""
    word, lines = None, []
    for line in ptx.split("\n"):
        location = _LOC.match(line)
        if location:
            word = _WORDS.get(int(location[1]))
        lines.append(_INSTRUCTION.sub(rf"\1\2.{word}", line) if word else line)
    return "\n".join(lines)
