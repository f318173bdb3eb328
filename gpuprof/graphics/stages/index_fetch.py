"""Index fetch: the vertices of each primitive, from indices and from the strips of a geometry shader."""

import numpy as np

from gpuprof.device.graphics_state.draw_state import TOPOLOGIES, Buffers, DrawState, Topology
from gpuprof.errors import UsageError

RESTARTS = {2: 0xFFFF, 4: 0xFFFFFFFF}  # the index that begins a new strip, by the bytes of an index
RESTART = -1  # in a list of vertex numbers
# Marks of a geometry shader's vertices, written by include/gpuprof/graphics.h: the first and the further ones of a
# strip; 0: no vertex.
BEGINS, CONTINUES = 1, 2


def vertex_numbers(indices: np.ndarray, buffers: Buffers, restarts: bool, name: str) -> np.ndarray:
    """int64: with the base vertex, RESTART where a strip begins anew. indices: int64 (n,). Raises UsageError for an
    index that no vertex has.
    """
    restart = indices == RESTARTS[buffers.index_nbytes] if restarts else np.zeros(len(indices), np.bool_)
    numbers = indices + buffers.base_vertex
    wrong = np.flatnonzero(((numbers < 0) | (numbers >= buffers.n_vertices)) & ~restart)
    if len(wrong):
        first = int(wrong[0])
        based = f", with the base vertex {numbers[first]}" if buffers.base_vertex else ""
        raise UsageError(
            f"{name}: index {first} of the index buffer is {indices[first]}{based}, and there are "
            f"{buffers.n_vertices} vertices"
        )
    return np.where(restart, RESTART, numbers)


def primitives(numbers: np.ndarray, state: DrawState) -> np.ndarray:
    """int64 (n, corners): the vertices of each primitive that a list of vertex numbers, int64 (m,), stands for.
    Vertices that are left over at the end, or before a RESTART, stand for none.
    """
    corners, shared = topology_of(state)
    at = np.arange(max(len(numbers) - corners + 1, 0))
    if not len(at):
        return np.zeros((0, corners), np.int64)
    starts = np.maximum.accumulate(np.where(numbers == RESTART, np.arange(1, len(numbers) + 1), 0))[: len(at)]
    places = at - starts  # in the list, or its part behind a restart
    windows = np.lib.stride_tricks.sliding_window_view(numbers, corners)
    whole = (windows != RESTART).all(1) & (places % (corners - shared) == 0)
    found, at, starts, places = windows[whole], at[whole], starts[whole], places[whole]
    is_first = state.provoking == "first"
    if state.topology == "triangle_strip":
        return turned(found, places, is_first)
    if state.topology == "triangle_fan":
        fans = np.concatenate([numbers[starts][:, None], found[:, 1:]], 1)
        return fans[:, [1, 2, 0]] if is_first else fans
    if state.topology == "triangle_strip_adjacency":
        return _with_neighbours(found, places // (corners - shared), numbers, at, is_first)
    if state.topology == "line_loop":
        return _closed(numbers, found, at, starts)
    return found.copy()


def topology_of(state: DrawState) -> Topology:
    return Topology(state.tessellation.points) if state.tessellation else TOPOLOGIES[state.topology]


def turned(found: np.ndarray, places: np.ndarray, is_first: bool) -> np.ndarray:
    """Every second triangle is turned, so that all of a strip are seen from the same side; the provoking vertex stays
    where it is, the first or the last (OpenGL 4.6, tables 10.1 and 13.2).
    """
    odd = (places & 1 == 1)[:, None]
    return np.where(odd, found[:, [0, 2, 1] if is_first else [1, 0, 2]], found)


def _with_neighbours(
    found: np.ndarray, places: np.ndarray, numbers: np.ndarray, at: np.ndarray, is_first: bool
) -> np.ndarray:
    """Triangles of a strip: corners at 0, 2 and 4, behind each the vertex across the edge that begins there (OpenGL
    4.6, table 10.2). found: windows of 6, of which every other vertex is a corner; places: of triangles in their strip;
    at: of windows in the list.
    """
    behind = at + 6  # the vertex across the last edge, unless this is the strip's last triangle
    goes_on = np.append(places[1:] == places[:-1] + 1, np.zeros(min(len(places), 1), np.bool_))
    before = np.where(places > 0, numbers[at - 2], found[:, 1])
    after = np.where(goes_on, numbers[np.minimum(behind, len(numbers) - 1)], found[:, 5])
    a, b, c, side = found[:, 0], found[:, 2], found[:, 4], found[:, 3]
    even = np.stack([a, before, b, after, c, side], 1)
    odd = np.stack([b, before, a, side, c, after], 1)
    if is_first:
        odd = odd[:, [2, 3, 4, 5, 0, 1]]
    return np.where((places & 1 == 1)[:, None], odd, even)


def _closed(numbers: np.ndarray, lines: np.ndarray, at: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Lines, and behind the last one of each loop the one that closes it."""
    is_last = np.append(starts[1:] != starts[:-1], np.ones(min(len(starts), 1), np.bool_))
    closing = np.stack([lines[is_last, 1], numbers[starts[is_last]]], 1)
    order = np.argsort(np.concatenate([at, at[is_last]]), kind="stable")
    return np.concatenate([lines, closing])[order]


def strips(marks: np.ndarray, corners: int, is_first: bool = False) -> np.ndarray:
    """int64 (n, corners): the vertices of each primitive, by their place in the flat array. marks: uint8 (lanes,
    vertices), of each vertex that a lane could make. Every second triangle of a strip is turned, as in `primitives`;
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
