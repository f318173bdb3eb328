"""Loops whose step is known only when they run: `for (int i = first; i < end; i += step)`.

LLVM works out the number of turns only if the step is known to be positive, or the loop to end: with a step of 0 or
less it might run for ever. nvcc does, and takes four turns of such a loop at a time; it takes no other loop to end
(`compile.undefined`). Here clang's IR, not optimized yet, says so of these loops.

nvcc 13.0 does not of loops that compare in other ways (`>`, `!=`), and cannot, as LLVM, where the sum may wrap around:
a counter without a sign, or a step without one, as `blockDim.x` is.

    %32 = add nsw i32 %31, %30                br label %16, !llvm.loop !5
                                              !5 = distinct !{!5, !3, !{!"llvm.loop.mustprogress"}}
"""

import re

from gpuprof.compile.llvm.loops import (
    Definition,
    Loop,
    comparison,
    definitions,
    functions,
    loops,
    marked,
    stored,
    variables,
)

_LESS = re.compile(r" s(?:lt|le) i(?:32|64) %")
_STEP = re.compile(r" nsw i(?:32|64) %[\w.]+, %[\w.]+$")
_STORE = re.compile(r"  store i(?:32|64) (%[\w.]+), ptr (%[\w.]+),")
_ENDS = '!{!"llvm.loop.mustprogress"}'


def let_end(ir: str) -> str:
    return marked(ir, {node for function in functions(ir) for node in _loops_with_step(function)}, _ENDS)


def _loops_with_step(function: str) -> list[str]:
    lines = function.split("\n")
    found = loops(lines)
    made = definitions(lines) if found else {}
    return [loop.node for loop in found if _has_step(lines, loop, made)]


def _has_step(lines: list[str], loop: Loop, made: dict[str, Definition]) -> bool:
    """True when a counter that a loop compares gets, in the loop, its sum with something that is no constant."""
    test = comparison(lines, loop)
    if test is None or not _LESS.match(made[test].text):
        return False
    counters = stored(lines, loop) & variables(made[test].operands[:1], made)
    sums = (match for line in lines[loop.first : loop.last] if (match := _STORE.match(line)))
    return any(
        name in counters and value in made and _is_step(made[value], name, made)
        for value, name in (each.groups() for each in sums)
    )


def _is_step(value: Definition, counter: str, made: dict[str, Definition]) -> bool:
    return value.op == "add" and bool(_STEP.match(value.text)) and counter in variables(value.operands, made)
