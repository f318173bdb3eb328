"""Loops whose step is known only when they run: `for (int i = first; i < end; i += step)`.

LLVM works out the number of turns only if the step is known to be positive, or the loop to end: with a step of 0 or
less it might run for ever. nvcc does, and takes four turns of such a loop at a time; it takes no other loop to end
(`compile.undefined`). Here clang's IR, not optimized yet, says so of these loops.

nvcc 13.0 does not of loops that compare in other ways (`>`, `!=`), nor where the sum may wrap around: a counter without
a sign, or a step without one, as `blockDim.x` is. LLVM knows how large that can be, and would take four turns where
the end is a constant, so such a loop is not to be unrolled by turns that are counted when it runs.

    %32 = add nsw i32 %31, %30                br label %16, !llvm.loop !5
                                              !5 = distinct !{!5, !3, !{!"llvm.loop.mustprogress"}}
    %32 = add i32 %31, %30                    !5 = distinct !{!5, !3, !{!"llvm.loop.unroll.runtime.disable"}}
"""

import re
from collections.abc import Iterator

from gpuprof.compile.llvm.functions import functions
from gpuprof.compile.llvm.loops import (
    Definition,
    Loop,
    comparison,
    definitions,
    loops,
    marked,
    stored,
    variables,
)

_LESS = re.compile(r" [su]l[te] i(?:32|64) %")
_SIGNED = re.compile(r" s")
_STEP = re.compile(r"( nsw)? i(?:32|64) %[\w.]+, %[\w.]+$")
_STORE = re.compile(r"  store i(?:32|64) (%[\w.]+), ptr (%[\w.]+),")
_ENDS = '!{!"llvm.loop.mustprogress"}'
_NOT_COUNTED = '!{!"llvm.loop.unroll.runtime.disable"}'


def count_as_nvcc(ir: str) -> str:
    """Clang's IR with marks at these loops."""
    steps = [step for function in functions(ir) for step in _steps_of(function)]
    for mark in (_ENDS, _NOT_COUNTED):
        ir = marked(ir, {node for node, wanted in steps if wanted == mark}, mark)
    return ir


def _steps_of(function: str) -> Iterator[tuple[str, str]]:
    """(loop's metadata, mark) of the loops of a function with such a step."""
    lines = function.split("\n")
    found = loops(lines)
    made = definitions(lines) if found else {}
    for loop in found:
        if mark := _mark(lines, loop, made):
            yield loop.node, mark


def _mark(lines: list[str], loop: Loop, made: dict[str, Definition]) -> str | None:
    """The mark of a loop that compares a counter and adds to it something that is no constant; None for others."""
    test = comparison(lines, loop)
    if test is None or not _LESS.match(made[test].text):
        return None
    counters = stored(lines, loop) & variables(made[test].operands[:1], made)
    stores = (match.groups() for line in lines[loop.first : loop.last] if (match := _STORE.match(line)))
    sums = (made[value] for value, name in stores if name in counters and _is_sum(value, name, made))
    for match in (_STEP.match(each.text) for each in sums):
        if match:
            return _NOT_COUNTED if match[1] is None else _ENDS if _SIGNED.match(made[test].text) else None
    return None


def _is_sum(value: str, counter: str, made: dict[str, Definition]) -> bool:
    return value in made and made[value].op == "add" and counter in variables(made[value].operands, made)
