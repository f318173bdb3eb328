"""Marks of source positions in the code, so that a debugger knows how far optimized code has come.

LLVM moves instructions, and leaves in their places what it says about variables. An instruction of line 7 may then
be where line 5 has not set a variable yet. So clang's IR, not optimized yet, is cut into positions: a new one begins
with each block and each line, and after a change of a variable. A record at each says its number, as if a
variable of the function, `@K`, had this value; passes move and copy it with the code around. It is one of many
pieces of `@K`, so that no pass drops it where another follows. After them the debugger compares: `Positions` has the
order of the positions in the source, and what each changes.

    #dbg_value(i32 4, !90, !DIExpression(DW_OP_LLVM_fragment, 32, 8), !91)        position 4
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from gpuprof.compile.llvm.flow import ENDS, NAME, ir_blocks
from gpuprof.compile.llvm.metadata import Metadata

PIECE_BITS = 8
SIGN = "@"  # begins the names of these variables: no name of C++ does

_FUNCTION = re.compile(r"^define [^\n]*?!dbg !(\d+) \{\n(.*?)^\}$", re.MULTILINE | re.DOTALL)
_LINE = re.compile(r"!dbg !(\d+)")
_VALUE = re.compile(rf"%{NAME}")
_RESULT = re.compile(rf"^  (%{NAME}) = ")
_DECLARED = re.compile(r"#dbg_declare\(ptr(?: addrspace\(\d+\))? (%[^,]+), !(\d+), ")
_SET = re.compile(r"#dbg_(?:value|assign)\(.*?, !(\d+), !DIExpression")
_PART = re.compile(r"^  %\S+ = (?:getelementptr|addrspacecast)\b")
_STORE = re.compile(r"^  store (?:volatile )?.*?, ptr(?: addrspace\(\d+\))? ([%@][^,]+)")
_LOAD = re.compile(r"^  %\S+ = load ")
_FILL = re.compile(r"@llvm\.mem(?:cpy|move|set)[\w.]*\(ptr[^%@,]*([%@][\w.$\"-]+)(.*)")
_NOTHING = re.compile(r"@llvm\.(?:lifetime|dbg|assume|experimental)")


@dataclass
class Positions:
    """The positions of one function: by position its line, 0 for none, and those that may follow; `sets`: those that
    begin after a change of a variable, by its name and line as `variable_key` gives them; `ends`: those before a
    return.
    """

    lines: list[int] = field(default_factory=list)
    following: list[list[int]] = field(default_factory=list)
    sets: dict[str, list[int]] = field(default_factory=dict)
    ends: list[int] = field(default_factory=list)


def variable_key(node) -> str:
    """A variable of a function, by what stays the same in all copies of its node."""
    return f"{node.text('name')}:{node.number('line')}"


def mark_positions(ir: str) -> tuple[str, list[Positions]]:
    """Clang's IR with these records, and of each function what they mean: variable `@K` is of number K."""
    metadata = Metadata(ir)
    free = max(metadata.nodes | metadata.tuples, default=0) + 1
    by_function: list[Positions] = []
    added: list[str] = []

    def mark(match: re.Match) -> str:
        function, node = int(match[1]), free + 2 * len(by_function)
        added.append(f'!{node} = !DILocalVariable(name: "{SIGN}{len(by_function)}", scope: !{function})')
        added.append(f"!{node + 1} = !DILocation(line: 0, scope: !{function})")
        marker = _Marker(metadata, _Locals(match[2], metadata), node)
        body = "".join(f"{line}\n" for line in marker.marked(match[2].split("\n")[:-1]))
        by_function.append(marker.positions)
        return match[0].replace(match[2], body)

    marked = _FUNCTION.sub(mark, ir)
    return "\n".join([marked.rstrip("\n"), *added]) + "\n", by_function


class _Locals:
    """The changes of a function's variables by its instructions."""

    def __init__(self, body: str, metadata: Metadata):
        self._keys: dict[str, list[str]] = {}  # by value, the variables that its memory holds
        for value, node in _DECLARED.findall(body):
            self._keys.setdefault(value, []).append(variable_key(metadata.nodes[int(node)]))
        self._metadata = metadata
        self._parts = {value: value for value in self._keys}  # values that lead to memory of a variable
        lines = body.split("\n")
        for line in lines:
            if _PART.match(line):
                base = next((self._parts[each] for each in _VALUE.findall(line)[1:] if each in self._parts), None)
                if base is not None:
                    self._parts[_RESULT.match(line)[1]] = base
        # Whose address is known elsewhere: what follows it, a call or a store, may change them.
        self._open = {self._parts[each] for line in lines for each in self._taken(line)}

    def _taken(self, line: str) -> Iterator[str]:
        """Values that lead to a variable and are more than read, written, or made others."""
        if "#dbg" in line or " = alloca " in line or _PART.match(line) or _LOAD.match(line) or _NOTHING.search(line):
            return
        used = [each for each in _VALUE.findall(line) if each in self._parts]
        target = _target(line)
        if target in used:
            used.remove(target)
        if (copied := _FILL.search(line)) and used and used[-1] in copied[2]:
            used.pop()  # the source of a copy
        yield from used

    def set_by(self, line: str) -> set[str]:
        """Keys of the variables that an instruction or record may change."""
        if "#dbg" in line:
            return {variable_key(self._metadata.nodes[int(number)]) for number in _SET.findall(line)}
        target = _target(line)
        if target in self._parts:
            return set(self._keys[self._parts[target]])
        is_call = " call " in line and not _NOTHING.search(line)
        if target is not None or is_call or "  atomicrmw" in line or "= atomicrmw" in line or "= cmpxchg" in line:
            return {key for value in self._open for key in self._keys[value]}
        return set()


def _target(line: str) -> str | None:
    """The target of a store or copy."""
    match = _STORE.match(line) or _FILL.search(line)
    return match[1] if match else None


class _Marker:
    """Writes the records of one function; `node` is the variable's, and the next one that of the place."""

    def __init__(self, metadata: Metadata, known: _Locals, node: int):
        self.metadata, self.known, self.node = metadata, known, node
        self.positions = Positions()

    def marked(self, lines: list[str]) -> Iterator[str]:
        ends = []  # of each block, its first and last position
        blocks = ir_blocks(lines)
        for block in blocks:
            first = len(self.positions.lines)
            yield from self._block(lines[block.first : block.end])
            ends.append((first, len(self.positions.lines) - 1))
        for block, (_, last) in zip(blocks, ends, strict=True):
            self.positions.following[last] += [ends[each][0] for each in block.following]

    def _block(self, lines: list[str]) -> Iterator[str]:
        line, changed, is_first, is_over = 0, set(), True, False
        for text in lines:
            if "#dbg" in text:
                changed |= self.known.set_by(text)
            elif not is_over and text.startswith("  ") and " = phi " not in text:
                at, is_end = _LINE.search(text), text.startswith("  ret ")
                new = (self.metadata.nodes[int(at[1])].number("line") if at else 0) or line
                if is_first or changed or is_end or new != line:
                    yield self._record(new, changed, is_end, is_first)
                line, changed, is_first = new, self.known.set_by(text), False
                is_over = text.startswith(ENDS)
            yield text

    def _record(self, line: int, changed: set[str], is_end: bool, is_first: bool) -> str:
        number = len(self.positions.lines)
        self.positions.lines.append(line)
        self.positions.following.append([])
        if not is_first:
            self.positions.following[number - 1].append(number)
        for key in sorted(changed):
            self.positions.sets.setdefault(key, []).append(number)
        if is_end:
            self.positions.ends.append(number)
        piece = f"DW_OP_LLVM_fragment, {PIECE_BITS * number}, {PIECE_BITS}"
        return f"    #dbg_value(i32 {number}, !{self.node}, !DIExpression({piece}), !{self.node + 1})"
