"""An edge and its parts: how many there are at a level, and where each begins.

A fractional level lies between two whole ones. The parts that the larger has more grow out of nothing, at positions
that are mirrored about the middle; `_new_part` says which vertex of a half appears next.
"""

from gpuprof.graphics.stages.tessellate.levels import ONE
from gpuprof.jit.internal import internal_njit

HALF = ONE // 2


@internal_njit
def parts_of(level, odd):
    """Into how many parts a level, in 1 / ONE, cuts."""
    half = (level + 1) // 2
    if odd:
        return 2 * -(-(half + HALF) // ONE) - 1
    return 2 * -(-half // ONE)


@internal_njit
def _without_top_bit(number):
    bit = 1
    while bit * 2 <= number:
        bit *= 2
    return number - bit if number else 0


@internal_njit
def _new_part(floor, odd):
    """The vertex of a half that the next larger level has more; of two parts that it cuts, the first is longer."""
    if odd:
        return 0 if floor == 1 else 2 * _without_top_bit(floor - 1) + 1
    return 2 * _without_top_bit(floor) + 1


@internal_njit
def _reciprocal(n):
    """ONE / n, rounded: a table in hardware."""
    return (ONE + n // 2) // n


@internal_njit
def half_of(level, odd):
    """Half of a level, in 1 / ONE, with the half of the part in the middle where there is one."""
    half = (level + 1) // 2
    return half + HALF if odd or half == HALF else half


@internal_njit
def position_of(level, odd, vertex):
    """The position of a vertex of an edge, from 0 to ONE."""
    half = half_of(level, odd)
    floor, ceil, fraction = half // ONE, -(-half // ONE), half % ONE
    is_behind = vertex >= ceil
    if is_behind:
        vertex = 2 * ceil - vertex - int(odd)
    if vertex == ceil:
        return HALF
    before = vertex
    if floor != ceil and vertex > _new_part(floor, odd):
        before -= 1
    start = before * _reciprocal(2 * floor - int(odd))
    end = vertex * _reciprocal(2 * ceil - int(odd))
    position = (start * (ONE - fraction) + end * fraction + HALF) // ONE
    return ONE - position if is_behind else position
