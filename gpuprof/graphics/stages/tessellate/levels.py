"""Levels: into how many parts the edges and the inside of a patch are cut."""

from typing import NamedTuple

import numpy as np

from gpuprof.device.graphics_state.draw_state import Tessellation

EDGES = {"triangles": 3, "quads": 4, "isolines": 2}
INSIDES = {"triangles": 1, "quads": 2, "isolines": 0}
FIRST_INSIDE, N_LEVELS = 4, 6  # of a patch's levels: those of its edges, then those of its inside
BOUNDS = {"equal": (1, 64), "fractional_odd": (1, 63), "fractional_even": (2, 64)}  # OpenGL 4.6, 11.2.2
ONE = 1 << 16  # of a fixed-point number


class Levels(NamedTuple):
    """A row for each patch: whether it is culled; its levels, int64 (patches, N_LEVELS), in 1 / ONE; whether each cuts
    into an odd number of parts, bool (patches, N_LEVELS).
    """

    culled: np.ndarray
    fixed: np.ndarray
    odd: np.ndarray


def levels_of(given: np.ndarray, tessellation: Tessellation) -> Levels:
    """given: float32 (patches, N_LEVELS). A patch is culled where an edge's level is not above 0, or no number."""
    edges, insides = EDGES[tessellation.domain], INSIDES[tessellation.domain]
    given = given.astype(np.float64)
    outer, inner = given[:, :edges], given[:, FIRST_INSIDE : FIRST_INSIDE + insides]
    culled = np.logical_not((outer > 0).all(1))
    low, high = BOUNDS[tessellation.spacing]
    outer = _between(outer, low, high)
    least = np.full((len(given), 1), float(low))
    if tessellation.spacing == "fractional_odd":
        # An inside of 1 has no vertices of its own; where an edge has more than one part, it needs some.
        deciding = np.concatenate([outer, inner], 1) if tessellation.domain == "quads" else outer
        least[(deciding > 1 + 0.5 / ONE).any(1)] += 1 / ONE
    levels = np.zeros((len(given), N_LEVELS))
    levels[:, :edges], levels[:, FIRST_INSIDE : FIRST_INSIDE + insides] = outer, _between(inner, least, high)
    if tessellation.spacing == "equal":
        levels = np.ceil(levels)
        odd = levels % 2 == 1
        odd[:, FIRST_INSIDE:] &= levels[:, FIRST_INSIDE:] != 1  # cut like one of 2, whose parts have no length
    else:
        odd = np.full(levels.shape, tessellation.spacing == "fractional_odd")
    if tessellation.domain == "isolines":  # their number is whole in any spacing
        levels[:, 0] = np.ceil(_between(given[:, 0], *BOUNDS["equal"]))
        odd[:, 0] = levels[:, 0] % 2 == 1
    return Levels(culled, np.rint(levels * ONE).astype(np.int64), odd)


def _between(levels: np.ndarray, low: float | np.ndarray, high: float) -> np.ndarray:
    """Levels clamped to [low, high]; NaN becomes `low`."""
    return np.fmin(high, np.fmax(low, levels))
