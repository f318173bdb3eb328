"""Depth and stencil tests of one sample, before or after the shader."""

from typing import NamedTuple

import numpy as np

from gpuprof.device.graphics_state.draw_state import (
    COMPARES,
    DEPTH_NBYTES,
    DISCARDS,
    STENCIL_NBYTES,
    STENCIL_OPERATIONS,
    WRITES_DEPTH,
    DepthState,
    DrawState,
    StencilSide,
    Targets,
)
from gpuprof.jit.internal import internal_njit

LESS, LEQUAL = COMPARES.index("less"), COMPARES.index("lequal")
NEVER, ALWAYS = COMPARES.index("never"), COMPARES.index("always")
COMPARE, REFERENCE, READ_MASK, WRITE_MASK, FAIL, DEPTH_FAIL, PASSES = range(7)


class Tests(NamedTuple):
    """The state of both tests, as numbers. sides: int64 (2, 7), the stencil test of back and front; a column each."""

    has_depth: bool
    compare: int
    writes_depth: bool
    has_stencil: bool
    sides: np.ndarray


def tests_of(state: DrawState, targets: Targets) -> Tests:
    """Without a target, a test passes."""
    depth = state.depth if targets.depth else DepthState()
    sides = [state.back_stencil, state.front_stencil] if targets.stencil else [StencilSide(), StencilSide()]
    return Tests(
        depth != DepthState(),
        COMPARES.index(depth.compare),
        depth.write,
        sides != [StencilSide(), StencilSide()],
        np.array([_numbers(side) for side in sides], np.int64),
    )


def nbytes_of(tests: Tests, n_tested: int, n_passed: int) -> int:
    """Bytes of the targets that tests of samples read and write."""
    reads = n_tested * (DEPTH_NBYTES * reads_depth(tests) + STENCIL_NBYTES * tests.has_stencil)
    writes = n_passed * DEPTH_NBYTES * tests.writes_depth + n_tested * STENCIL_NBYTES * writes_stencil(tests)
    return reads + writes


def alpha_covers(state: DrawState, targets: Targets) -> bool:
    """True when the first color's alpha takes samples out of a pixel."""
    return state.alpha_to_coverage and targets.samples > 1


def are_early(state: DrawState, targets: Targets, abilities: int) -> bool:
    """True when the tests precede a pixel shader with these abilities: nothing that it does changes their results."""
    return not (alpha_covers(state, targets) or abilities & (DISCARDS | WRITES_DEPTH))


def reads_depth(tests: Tests) -> bool:
    """True when the outcome depends on the target's depths."""
    return tests.compare not in (NEVER, ALWAYS)


def writes_stencil(tests: Tests) -> bool:
    """True when a test may change the target's stencils."""
    return bool(tests.sides[:, WRITE_MASK].any() and tests.sides[:, FAIL:].any())


def _numbers(side: StencilSide) -> list[int]:
    operations = (side.fail, side.depth_fail, side.passes)
    return [COMPARES.index(side.compare), side.reference, side.read_mask, side.write_mask] + [
        STENCIL_OPERATIONS.index(operation) for operation in operations
    ]


@internal_njit
def compares(compare, a, b):
    """True when `a` COMPARE `b` holds: the bits of `compare` say for which of <, = and > it does."""
    if a < b:
        return compare & 1 != 0
    if a == b:
        return compare & 2 != 0
    if a > b:
        return compare & 4 != 0
    return compare == 5 or compare == 7  # a depth that is no number is unequal to all


@internal_njit
def operated(operation, value, reference):
    """A stencil value after an operation, before the write mask."""
    if operation == 1:
        return 0
    if operation == 2:
        return reference & 0xFF
    if operation == 3:
        return min(value + 1, 0xFF)
    if operation == 4:
        return max(value - 1, 0)
    if operation == 5:
        return ~value & 0xFF
    if operation == 6:
        return value + 1 & 0xFF
    if operation == 7:
        return value - 1 & 0xFF
    return value


@internal_njit
def tested(tests, depth, stencil, at, z, is_front):
    """Tests sample `at` of the targets, with a depth z, and writes their depth and stencil. Gives whether it passes."""
    side = tests.sides[int(is_front)]
    held = np.int64(0)
    if tests.has_stencil:
        held = np.int64(stencil[at])
        reference = side[REFERENCE] & side[READ_MASK]
        if not compares(side[COMPARE], reference, held & side[READ_MASK]):
            new = operated(side[FAIL], held, side[REFERENCE])
            stencil[at] = held & ~side[WRITE_MASK] | new & side[WRITE_MASK]
            return False
    passes = not tests.has_depth or compares(tests.compare, z, depth[at])
    if tests.has_stencil:
        new = operated(side[PASSES] if passes else side[DEPTH_FAIL], held, side[REFERENCE])
        stencil[at] = held & ~side[WRITE_MASK] | new & side[WRITE_MASK]
    if passes and tests.writes_depth:
        depth[at] = z
    return passes
