"""The values of optimized LLVM IR that exist at a place of it. Records of variables may name others: a pass that moves
an instruction down leaves them where they are.
"""

import re
from bisect import bisect_right

from gpuprof.compile.llvm.flow import NAME, ir_blocks
from gpuprof.isa.flow.dominators import dominators

_FUNCTION = re.compile(r"^define [^\n]*\{\n(.*?)^\}$", re.MULTILINE | re.DOTALL)
_RESULT = re.compile(rf"^  (%{NAME}) = ")
_VALUE = re.compile(rf"%{NAME}")


class Available:
    """The values that exist at each place of a module's text."""

    def __init__(self, ir: str):
        self._functions = [_Function(match.start(1), match[1]) for match in _FUNCTION.finditer(ir)]
        self._starts = [each.start for each in self._functions]

    def is_so(self, values: str, at: int) -> bool:
        """True if the values that a text names exist at a place in the module's text, which is in a function."""
        function = self._functions[self._number(at)]
        return all(function.has(name, at) for name in _VALUE.findall(values))

    def block(self, at: int) -> int:
        """The number of the block that a place is in, over all functions."""
        number = self._number(at)
        return sum(each.n_blocks for each in self._functions[:number]) + self._functions[number].block(at)

    def most_writes(self, value: str, at: int) -> int | None:
        """How many writes of the register of a value its block has up to a place at most: none where ways meet, one
        where it is computed. None for a value that another block makes.
        """
        function = self._functions[self._number(at)]
        return next((function.most_writes(name, at) for name in _VALUE.findall(value)), None)

    def _number(self, at: int) -> int:
        return bisect_right(self._starts, at) - 1


class _Function:
    def __init__(self, start: int, text: str):
        self.start = start
        lines = text.split("\n")
        self._ends, end = [], start
        for line in lines:
            end += len(line) + 1
            self._ends.append(end)
        blocks = ir_blocks(lines)
        self._above = dominators([block.following for block in blocks])
        self._block_of = [number for number, block in enumerate(blocks) for _ in range(block.first, block.end)]
        self._made = {match[1]: number for number, line in enumerate(lines) if (match := _RESULT.match(line))}
        self._met = {name for name, number in self._made.items() if " = phi " in lines[number]}

    @property
    def n_blocks(self) -> int:
        return self._block_of[-1] + 1

    def block(self, at: int) -> int:
        return self._block_of[bisect_right(self._ends, at)]

    def has(self, name: str, at: int) -> bool:
        made, line = self._made.get(name), bisect_right(self._ends, at)
        if made is None:  # an argument, or the name of a type
            return True
        home, block = self._block_of[made], self._block_of[line]
        if block == home:
            return made < line
        while block in self._above and block != self._above[block]:
            block = self._above[block]
            if block == home:
                return True
        return False

    def most_writes(self, name: str, at: int) -> int | None:
        home = self._block_of[self._made[name]] if name in self._made else 0
        return int(name not in self._met) if home == self.block(at) else None
