"""Isolines: parallel lines of one length, from v = 0 on; there is none at v = 1."""

import numpy as np

from gpuprof.graphics.stages.tessellate.edges import parts_of, position_of
from gpuprof.graphics.stages.tessellate.levels import ONE
from gpuprof.jit.internal import internal_njit


@internal_njit
def count_isolines(levels, odd):
    """The vertices and lines of a patch."""
    lines, parts = parts_of(levels[0], odd[0]), parts_of(levels[1], odd[1])
    return lines * (parts + 1), lines * parts


@internal_njit
def place_isolines(levels, odd, positions):
    """Fills in the positions of a patch's vertices, float32 (vertices, 2): u and v."""
    lines, parts, at = parts_of(levels[0], odd[0]), parts_of(levels[1], odd[1]), 0
    for line in range(lines):
        v = np.float32(position_of(levels[0], odd[0], line)) / np.float32(ONE)
        for k in range(parts + 1):
            positions[at, 0], positions[at, 1] = np.float32(position_of(levels[1], odd[1], k)) / np.float32(ONE), v
            at += 1


@internal_njit
def connect_isolines(levels, odd, corners):
    """Fills in the ends of a patch's lines, int64 (lines, 2), by the numbers of its vertices."""
    lines, parts = parts_of(levels[0], odd[0]), parts_of(levels[1], odd[1])
    for line in range(lines):
        for k in range(parts):
            corners[line * parts + k, 0] = line * (parts + 1) + k
            corners[line * parts + k, 1] = line * (parts + 1) + k + 1
