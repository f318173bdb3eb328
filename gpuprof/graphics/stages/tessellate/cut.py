"""All patches of a draw, cut."""

from typing import NamedTuple

import numpy as np

from gpuprof.device.graphics_state.draw_state import Tessellation
from gpuprof.graphics.chain import tessellated_corners
from gpuprof.graphics.stages.tessellate.isolines import connect_isolines, count_isolines, place_isolines
from gpuprof.graphics.stages.tessellate.levels import EDGES, Levels, levels_of
from gpuprof.graphics.stages.tessellate.polygons import connect_polygon, count_polygon, place_polygon
from gpuprof.jit.cached import cached_njit


class Sizes(NamedTuple):
    """levels: of the patches. n_vertices, n_primitives: int64 (patches,), which each is cut into; 0 for culled ones."""

    levels: Levels
    n_vertices: np.ndarray
    n_primitives: np.ndarray


class Cut(NamedTuple):
    """positions: float32 (vertices, 2), u and v. patches: uint32 (vertices,), the patch of each. corners: int64
    (primitives, corners), vertices.
    """

    positions: np.ndarray
    patches: np.ndarray
    corners: np.ndarray


def sizes_of(given: np.ndarray, tessellation: Tessellation) -> Sizes:
    """given: float32 (patches, N_LEVELS), the output of the hull shader."""
    levels = levels_of(given, tessellation)
    n_vertices, n_primitives = np.zeros((2, len(given)), np.int64)
    _count(*levels, EDGES[tessellation.domain], n_vertices, n_primitives)
    return Sizes(levels, n_vertices, n_vertices if tessellation.as_points else n_primitives)


def cut(sizes: Sizes, tessellation: Tessellation) -> Cut:
    edges = EDGES[tessellation.domain]
    ends = np.cumsum(sizes.n_vertices)
    n_vertices = int(ends[-1]) if len(ends) else 0
    positions = np.zeros((n_vertices, 2), np.float32)
    patches = np.repeat(np.arange(len(ends), dtype=np.uint32), sizes.n_vertices)
    first = ends - sizes.n_vertices
    if tessellation.as_points:
        _place(*sizes.levels, edges, first, ends, positions)
        return Cut(positions, patches, np.arange(n_vertices)[:, None])
    corners = np.zeros((int(sizes.n_primitives.sum()), tessellated_corners(tessellation)), np.int64)
    _place(*sizes.levels, edges, first, ends, positions)
    _connect(*sizes.levels, edges, first, np.cumsum(sizes.n_primitives), corners)
    if edges > 2 and tessellation.order == "cw":
        corners = corners[:, [0, 2, 1]]
    return Cut(positions, patches, corners)


@cached_njit
def _count(culled, levels, odd, edges, n_vertices, n_primitives):
    for patch in range(len(levels)):
        if not culled[patch]:
            if edges == 2:
                n_vertices[patch], n_primitives[patch] = count_isolines(levels[patch], odd[patch])
            else:
                n_vertices[patch], n_primitives[patch] = count_polygon(levels[patch], odd[patch], edges)


@cached_njit
def _place(culled, levels, odd, edges, first, ends, positions):
    for patch in range(len(levels)):
        if not culled[patch]:
            of_patch = positions[first[patch] : ends[patch]]
            if edges == 2:
                place_isolines(levels[patch], odd[patch], of_patch)
            else:
                place_polygon(levels[patch], odd[patch], edges, of_patch)


@cached_njit
def _connect(culled, levels, odd, edges, first, ends, corners):
    start = 0
    for patch in range(len(levels)):
        if not culled[patch]:
            of_patch = corners[start : ends[patch]]
            if edges == 2:
                connect_isolines(levels[patch], odd[patch], of_patch)
            else:
                connect_polygon(levels[patch], odd[patch], edges, of_patch)
            of_patch += first[patch]
        start = ends[patch]
