"""Basic blocks that a change adds to a program: steps of a trace are then theirs."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from gpuprof.timing.state.static_program import StaticProgram


class Code(NamedTuple):
    """Instructions in a row. inst: layout.INSTRUCTION (n,); deps: of each, int32, the scoreboard numbers that it reads,
    and then those that it writes.
    """

    inst: np.ndarray
    deps: list[np.ndarray]


def code_of(program: StaticProgram, first: int, end: int) -> Code:
    """Some instructions of a program, as they are."""
    inst = program.inst[first:end].copy()
    return Code(inst, [program.dep[row["first_dep"] : row["first_dep"] + row["n_deps"]] for row in inst])


def joined(*parts: Code) -> Code:
    return Code(np.concatenate([part.inst for part in parts]), [deps for part in parts for deps in part.deps])


def with_code(program: StaticProgram, code: Code) -> StaticProgram:
    """The program of some code in place of its own, with as many instructions."""
    counts = np.array([len(deps) for deps in code.deps], np.int32)
    inst = code.inst.copy()
    inst["n_deps"], inst["first_dep"] = counts, np.cumsum(counts) - counts
    n_registers = max(program.n_registers, 1 + max((int(deps.max(initial=0)) for deps in code.deps), default=0))
    return replace(program, inst=inst, dep=np.concatenate([*code.deps, [0]]).astype(np.int32), n_registers=n_registers)


def with_blocks(program: StaticProgram, blocks: Sequence[Code]) -> StaticProgram:
    """The program with basic blocks after its own. They are fetched with the lines that their instructions name."""
    whole = joined(code_of(program, 0, len(program.inst)), *blocks)
    ends = len(program.inst) + np.cumsum([len(code.inst) for code in blocks])
    return replace(with_code(program, whole), block=np.append(program.block, ends).astype(np.int32))
