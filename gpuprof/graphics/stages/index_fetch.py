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
    """int64: vertex numbers with the base vertex, RESTART where a new strip begins. indices: int64 (n,). Raises
    UsageError for an index that no vertex has.
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
    """int64 (n, corners): the vertices of each primitive in a list of vertex numbers, int64 (m,). Vertices that are
    left over at the end, or before a RESTART, belong to none.
    """
    corners, shared = topology_of(state)
    at = np.arange(max(len(numbers) - corners + 1, 0))
    if not len(at):
        return np.zeros((0, corners), np.int64)
    starts = np.maximum.accumulate(np.where(numbers == RESTART, np.arange(1, len(numbers) + 1), 0))[: len(at)]
    positions = at - starts  # in the list, or its part after a restart
    windows = np.lib.stride_tricks.sliding_window_view(numbers, corners)
    is_complete = (windows != RESTART).all(1) & (positions % (corners - shared) == 0)
    vertices, at, starts, positions = windows[is_complete], at[is_complete], starts[is_complete], positions[is_complete]
    is_first = state.provoking == "first"
    if state.topology == "triangle_strip":
        return turned(vertices, positions, is_first)
    if state.topology == "triangle_fan":
        fans = np.concatenate([numbers[starts][:, None], vertices[:, 1:]], 1)
        return fans[:, [1, 2, 0]] if is_first else fans
    if state.topology == "triangle_strip_adjacency":
        return _with_neighbours(vertices, positions // (corners - shared), numbers, at, is_first)
    if state.topology == "line_loop":
        return _closed(numbers, vertices, at, starts)
    return vertices.copy()


def topology_of(state: DrawState) -> Topology:
    return Topology(state.tessellation.points) if state.tessellation else TOPOLOGIES[state.topology]


def turned(triangles: np.ndarray, positions: np.ndarray, is_first: bool) -> np.ndarray:
    """Every second triangle is turned, so that all of a strip are seen from the same side; the provoking vertex stays
    where it is, the first or the last (OpenGL 4.6, tables 10.1 and 13.2).
    """
    odd = (positions & 1 == 1)[:, None]
    return np.where(odd, triangles[:, [0, 2, 1] if is_first else [1, 0, 2]], triangles)


def _with_neighbours(
    windows: np.ndarray, positions: np.ndarray, numbers: np.ndarray, at: np.ndarray, is_first: bool
) -> np.ndarray:
    """Triangles of a strip: corners at 0, 2 and 4, after each the vertex across the edge that begins there (OpenGL 4.6,
    table 10.2). windows: windows of 6, of which every other vertex is a corner; positions: of triangles in their strip;
    at: of windows in the list.
    """
    after_last = at + 6  # the vertex across the last edge, unless this is the strip's last triangle
    continues = np.append(positions[1:] == positions[:-1] + 1, np.zeros(min(len(positions), 1), np.bool_))
    before = np.where(positions > 0, numbers[at - 2], windows[:, 1])
    after = np.where(continues, numbers[np.minimum(after_last, len(numbers) - 1)], windows[:, 5])
    a, b, c, side = windows[:, 0], windows[:, 2], windows[:, 4], windows[:, 3]
    even = np.stack([a, before, b, after, c, side], 1)
    odd = np.stack([b, before, a, side, c, after], 1)
    if is_first:
        odd = odd[:, [2, 3, 4, 5, 0, 1]]
    return np.where((positions & 1 == 1)[:, None], odd, even)


def _closed(numbers: np.ndarray, lines: np.ndarray, at: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Adds to the lines of each loop, after its last one, the line that closes it."""
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
    position = number - first
    lane, at = np.nonzero((marks != 0) & (first >= 0) & (position >= corners - 1))
    last = lane * most + at
    vertices = last[:, None] + np.arange(1 - corners, 1)
    return turned(vertices, position[lane, at], is_first) if corners == 3 else vertices
