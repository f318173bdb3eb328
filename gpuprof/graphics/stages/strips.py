"""Strips of triangles that a geometry shader has made."""

import numpy as np

BEGINS, GOES_ON = 1, 2  # a strip, with a vertex; 0: no vertex. include/gpuprof/graphics.h writes them


def strips(marks: np.ndarray) -> np.ndarray:
    """int64 (n, 3): the vertices of each triangle, by their place in the flat array. marks: uint8 (lanes, vertices), of
    each vertex that a lane could make. Every second triangle of a strip is turned, as in `fetch`.
    """
    most = marks.shape[1]
    number = np.arange(most)
    first = np.maximum.accumulate(np.where(marks == BEGINS, number, -1), axis=1)
    place = number - first
    lane, at = np.nonzero((marks != 0) & (first >= 0) & (place >= 2))
    odd, last = place[lane, at] & 1, lane * most + at
    return np.stack([last - 2 + odd, last - 1 - odd, last], 1)
