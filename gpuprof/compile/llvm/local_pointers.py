"""Local arrays in functions of clang's IR, not optimized yet: their own, and those that callers give to them.

define void @k() {                                     k: %1, its own
  %1 = alloca %struct.Tile, align 4
  call void @add(ptr align 4 %1, i32 8)
define void @add(ptr align 4 %0, i32 %1) #5 {          add: %0, an array of k
  %3 = alloca ptr, align 8
  store ptr %0, ptr %3, align 8
  %4 = load ptr, ptr %3, align 8                       begins at %0
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable
from typing import NamedTuple

from gpuprof.compile.llvm.functions import functions
from gpuprof.compile.llvm.loops import Definition, definitions

_HEAD = re.compile(r"define [^@]*@([\w.$]+|\"[^\"]+\")\(")
_ALLOCA = re.compile(r"^  (%[\w.]+) = alloca (.+?)(?:, align|, !|$)", re.MULTILINE)
_CALL = re.compile(r"^  (?:%[\w.]+ = )?(?:tail |musttail |notail )?call [^@\n]*@([\w.$]+|\"[^\"]+\")\(", re.MULTILINE)
_STORE = re.compile(r"^  store \S+ (\S+), ptr (%[\w.]+),", re.MULTILINE)
_ATTRIBUTES = re.compile(r"^attributes (#\d+) = \{.*\bnoinline\b", re.MULTILINE)
_GROUP = re.compile(r"#\d+")
_LAST = re.compile(r"(%[\w.]+)$")


class Function(NamedTuple):
    """`kept`: the variables that are stored once, with the value. `parameters`: an empty name where there is none."""

    text: str
    parameters: tuple[str, ...]
    made: dict[str, Definition]
    kept: dict[str, str]

    def given(self, arguments: Iterable[str]) -> list[tuple[str, str]]:
        """The parameters that have a name, and what a call gives to each. A variadic function has fewer."""
        return [pair for pair in zip(self.parameters, arguments, strict=False) if pair[0]]

    def base_of(self, pointer: str) -> str:
        """The variable, parameter or other value that an address begins at."""
        seen: set[str] = set()  # a variable may only be stored what it holds itself: `p = p + 1`
        while pointer not in seen and (definition := self.made.get(pointer)) is not None:
            seen.add(pointer)
            source = next(iter(definition.operands), "")
            if definition.op in ("getelementptr", "addrspacecast"):
                pointer = source
            elif definition.op == "load" and source in self.kept:
                pointer = self.kept[source]
            else:
                break
        return pointer


def with_local_arrays(ir: str, is_array: Callable[[str], bool]) -> dict[str, tuple[Function, set[str]]]:
    """The functions, by name, that have local arrays, or get such from a caller into which they can be inlined, with
    these: variables and parameters. `is_array` says it of a variable's type, as text.
    """
    texts = {match[1]: text for text in functions(ir) if (match := _HEAD.match(text))}
    kept_apart = set(_ATTRIBUTES.findall(ir))
    arrays = {
        name: found
        for name, text in texts.items()
        if (found := {variable for variable, kind in _ALLOCA.findall(text) if is_array(kind)})
    }
    known: dict[str, Function] = {}
    todo = list(arrays)
    while todo:
        name = todo.pop()
        caller = known.setdefault(name, _function(texts[name]))
        for callee, arguments in calls(caller.text):
            if callee not in texts or kept_apart & set(_GROUP.findall(texts[callee].partition("\n")[0])):
                continue
            function = known.setdefault(callee, _function(texts[callee]))
            new = {own for own, given in function.given(arguments) if caller.base_of(given) in arrays[name]}
            if new - arrays.setdefault(callee, set()):
                arrays[callee] |= new
                todo.append(callee)
    return {name: (known[name], found) for name, found in arrays.items() if found}


def calls(text: str) -> list[tuple[str, tuple[str, ...]]]:
    """The functions that lines call, by name, and the registers that they are given."""
    return [(match[1], _between_commas(text, match.end())) for match in _CALL.finditer(text)]


def _function(text: str) -> Function:
    stores = _STORE.findall(text)
    often = Counter(variable for _, variable in stores)
    return Function(
        text,
        _between_commas(text, _HEAD.match(text).end()),
        definitions(text.split("\n")),
        {variable: value for value, variable in stores if often[variable] == 1},
    )


def _between_commas(text: str, start: int) -> tuple[str, ...]:
    """The registers that the parts of a list end with, up to its closing bracket; "" for another part."""
    depth, begin, parts = 1, start, []
    for match in re.compile(r"[()\[\]{},]").finditer(text, start):
        mark = match[0]
        depth += (mark in "([{") - (mark in ")]}")
        if depth == 0 or (depth == 1 and mark == ","):
            parts.append(text[begin : match.start()].strip())
            begin = match.end()
        if depth == 0:
            break
    return tuple(found[1] if (found := _LAST.search(part)) else "" for part in parts)
