"""Strips that a geometry shader has made, of points, lines or triangles."""

import numpy as np

from gpuprof.graphics.stages.index_fetch import turned

BEGINS, GOES_ON = 1, 2  # a strip, with a vertex; 0: no vertex. include/gpuprof/graphics.h writes them


def strips(marks: np.ndarray, corners: int, is_first: bool = False) -> np.ndarray:
    """int64 (n, corners): the vertices of each primitive, by their place in the flat array. marks: uint8 (lanes,
    vertices), of each vertex that a lane could make. Every second triangle of a strip is turned, as in `fetch`;
    is_first: its first vertex is the provoking one.
    """
    most = marks.shape[1]
    number = np.arange(most)
    first = np.maximum.accumulate(np.where(marks == BEGINS, number, -1), axis=1)
    place = number - first
    lane, at = np.nonzero((marks != 0) & (first >= 0) & (place >= corners - 1))
    last = lane * most + at
    found = last[:, None] + np.arange(1 - corners, 1)
    return turned(found, place[lane, at], is_first) if corners == 3 else found
