"""Triangles and quads: rings of vertices, one in the other, and the triangles between two rings.

The outermost ring has its own level on each edge. All others have the inside's levels: ring r is r vertices away from
where the outermost one would be. The innermost ring may be a row of vertices, or one: `folded`. An edge of a ring goes
from one of its corners to the next; the place of a vertex in its ring is counted from the first corner on.
"""

import numpy as np

from gpuprof.graphics.stages.tessellate.edges import half_of, parts_of, position_of
from gpuprof.graphics.stages.tessellate.levels import FIRST_INSIDE, ONE
from gpuprof.jit.internal import internal_njit

TWO_THIRDS = 0xAAAA  # of ONE, rounded downwards
MOST_HALF = 32  # vertices of half an edge


@internal_njit
def parts_inside(levels, odd, axis):
    """The number of parts of an inside along an axis; at least enough to leave a vertex, or a part, in the middle."""
    return max(parts_of(levels[FIRST_INSIDE + axis], odd[FIRST_INSIDE + axis]), 3 if odd[FIRST_INSIDE + axis] else 2)


@internal_njit
def set_inner_ring(ring, edges, levels, odd, parts):
    """The parts of each edge of an inner ring; gives whether it is folded, and the vertices that it has."""
    for e in range(edges):
        axis = 1 - e % 2 if edges == 4 else 0
        parts[e] = parts_inside(levels, odd, axis) - 2 * ring
    least, most = min(parts[0], parts[1]), max(parts[0], parts[1])
    folded = least == 0
    count = 0
    for e in range(edges):
        count += parts[e]
    return folded, most + 1 if folded else count


@internal_njit
def is_innermost(parts):
    return min(parts[0], parts[1]) <= 1


@internal_njit
def _inner_parts(ring, edges, levels, odd):
    """Triangles in an innermost ring."""
    if edges == 3:
        return int(parts_inside(levels, odd, 0) - 2 * ring == 1)
    width, height = parts_inside(levels, odd, 0) - 2 * ring, parts_inside(levels, odd, 1) - 2 * ring
    return 2 * max(width, height) if min(width, height) == 1 else 0


@internal_njit
def is_plain(levels, odd, edges):
    """True when nothing is cut."""
    plain = True
    for e in range(edges):
        plain = plain and odd[e] and levels[e] == ONE
    for axis in range(edges - 2):
        plain = plain and levels[FIRST_INSIDE + axis] == ONE
    return plain


@internal_njit
def count_polygon(levels, odd, edges):
    """The vertices and triangles of a patch."""
    if is_plain(levels, odd, edges):
        return edges, edges - 2
    outer, parts = np.zeros(4, np.int64), np.zeros(4, np.int64)
    n_vertices, n_triangles, ring = 0, 0, 1
    for e in range(edges):
        outer[e] = parts_of(levels[e], odd[e])
        n_vertices += outer[e]
    while True:
        _, count = set_inner_ring(ring, edges, levels, odd, parts)
        n_vertices += count
        for e in range(edges):
            n_triangles += outer[e] + parts[e]
            outer[e] = parts[e]
        if is_innermost(parts):
            return n_vertices, n_triangles + _inner_parts(ring, edges, levels, odd)
        ring += 1


@internal_njit
def place_polygon(levels, odd, edges, positions):
    """Fills in the positions of a patch's vertices, float32 (vertices, 2): u and v."""
    if is_plain(levels, odd, edges):
        for k in range(edges):
            # around the domain: from v = 1 for a triangle, from the origin for a quad
            u, v = (k == 2, k == 0) if edges == 3 else (k == 1 or k == 2, k >= 2)
            positions[k, 0], positions[k, 1] = u, v
        return
    at = 0
    for e in range(edges):
        count = parts_of(levels[e], odd[e])
        for k in range(count):
            t = position_of(levels[e], odd[e], k if _goes_up(e, edges) else count - k)
            _set_outer(positions, at, e, edges, t)
            at += 1
    parts, ring = np.zeros(4, np.int64), 1
    while True:
        folded, count = set_inner_ring(ring, edges, levels, odd, parts)
        if folded:
            _place_row(levels, odd, edges, ring, parts, positions, at)
        else:
            start = at
            for e in range(edges):
                for k in range(parts[e]):
                    _set_inner(levels, odd, edges, ring, e, k, positions, start + k)
                start += parts[e]
        at += count
        if is_innermost(parts):
            return
        ring += 1


@internal_njit
def _goes_up(e, edges):
    """True when the coordinate along an edge grows from its first corner to the next."""
    return e == 1 or (e == 2 and edges == 4)


@internal_njit
def _set(positions, at, u, v):
    positions[at, 0], positions[at, 1] = np.float32(u) / np.float32(ONE), np.float32(v) / np.float32(ONE)


@internal_njit
def _set_outer(positions, at, e, edges, t):
    if e % 2 == 1:
        _set(positions, at, t, ONE if e == 3 else 0)
    elif edges == 3 and e == 2:
        _set(positions, at, t, ONE - t)
    else:
        _set(positions, at, ONE if e == 2 else 0, t)


@internal_njit
def _along(levels, odd, axis, vertex):
    return position_of(levels[FIRST_INSIDE + axis], odd[FIRST_INSIDE + axis], vertex)


@internal_njit
def _set_inner(levels, odd, edges, ring, e, k, positions, at):
    """Vertex k of edge e of an inner ring that is not folded."""
    axis = 1 - e % 2 if edges == 4 else 0
    vertex = ring + k if _goes_up(e, edges) else parts_inside(levels, odd, axis) - ring - k
    t = _along(levels, odd, axis, vertex)
    if edges == 4:
        across = ring if e < 2 else parts_inside(levels, odd, 1 - axis) - ring
        other = _along(levels, odd, 1 - axis, across)
        u, v = (t, other) if axis == 0 else (other, t)
    else:
        # a ring is two thirds of that far from its edge, as barycentric coordinates measure it
        inwards = (_along(levels, odd, 0, ring) * TWO_THIRDS + ONE // 2) // ONE
        t -= (inwards + 1) // 2
        u, v = inwards, t
        if e == 1:
            u, v = t, inwards
        elif e == 2:
            u, v = t, ONE - t - inwards
    _set(positions, at, u, v)


@internal_njit
def _place_row(levels, odd, edges, ring, parts, positions, at):
    """A folded ring: along the first axis if it is the longer one, else downwards along the second."""
    if edges == 3:
        _set(positions, at, ONE // 3, ONE // 3)
    elif parts[1] > parts[0]:
        for k in range(parts[1] + 1):
            _set(positions, at + k, _along(levels, odd, 0, ring + k), ONE // 2)
    else:
        for k in range(parts[0] + 1):
            _set(positions, at + k, ONE // 2, _along(levels, odd, 1, ring + parts[0] - k))


@internal_njit
def _vertex(first, count, folded, position):
    """The number of a ring's vertex at a place, which may go around once."""
    if folded:
        return first + (position if position < count else 2 * (count - 1) - position)
    return first + position % count


@internal_njit
def connect_polygon(levels, odd, edges, corners):
    """Fills in the corners of a patch's triangles, int64 (triangles, 3), by the numbers of its vertices."""
    if is_plain(levels, odd, edges):
        corners[0, 0], corners[0, 1], corners[0, 2] = 0, 1, edges - 1
        if edges == 4:
            corners[1, 0], corners[1, 1], corners[1, 2] = 1, 2, 3
        return
    outer, inner, n = np.zeros(4, np.int64), np.zeros(4, np.int64), 0
    before = np.zeros(3, np.int64)  # of the ring outside: first vertex, vertices, whether it is folded
    for e in range(edges):
        outer[e] = parts_of(levels[e], odd[e])
        before[1] += outer[e]
    ring, around = np.zeros(3, np.int64), 1
    rows = np.zeros((2, 2 * MOST_HALF + 2), np.int64)
    while True:
        folded, count = set_inner_ring(around, edges, levels, odd, inner)
        ring[0], ring[1], ring[2] = before[0] + before[1], count, folded
        outer_at, inner_at = 0, 0
        for e in range(edges):
            _set_row(rows[0], before, outer_at, outer[e])
            _set_row(rows[1], ring, inner_at, inner[e])
            if around == 1:
                axis = FIRST_INSIDE + (1 - e % 2 if edges == 4 else 0)
                n = _stitch(rows, levels[e], odd[e], levels[axis], odd[axis], corners, n)
            else:
                n = _regular(rows, inner[e], corners, n)
            outer_at, inner_at = outer_at + outer[e], inner_at + inner[e]
            outer[e] = inner[e]
        before[:] = ring
        if is_innermost(inner):
            break
        around += 1
    if edges == 3 and inner[0] == 1:
        _add(corners, n, ring[0], ring[0] + 1, ring[0] + 2)
    elif edges == 4 and min(inner[0], inner[1]) == 1:
        _fill(ring, inner, odd[FIRST_INSIDE + 1], rows, corners, n)


@internal_njit
def _set_row(row, ring, start, count):
    for k in range(count + 1):
        row[k] = _vertex(ring[0], ring[1], ring[2], start + k)


@internal_njit
def _add(corners, n, a, b, c):
    corners[n, 0], corners[n, 1], corners[n, 2] = a, b, c
    return n + 1


@internal_njit
def _appearance(k):
    """When vertex k of half an edge appears as the level grows, 0 for the first: 0, last, and then by halving what lies
    between, the ruler function's order.
    """
    if k < 2:
        return MOST_HALF * k
    odd_part, size = k - 1, MOST_HALF // 2
    while odd_part % 2 == 0:
        odd_part, size = odd_part // 2, size // 2
    return size + odd_part // 2


@internal_njit
def _stitch(rows, outer_level, outer_odd, inner_level, inner_odd, corners, n):
    """Between an edge and a ring of any other level: whichever row's vertex appears at the smaller level, at the same
    place of a half, goes ahead. The second half mirrors the first.
    """
    outer_half = -(-half_of(outer_level, outer_odd) // ONE) - int(outer_odd)
    inner_half = -(-half_of(inner_level, inner_odd) // ONE) - int(inner_odd)
    o, i = 0, 0
    for step in range(2 * (MOST_HALF + 1)):
        is_first = step <= MOST_HALF
        if step == MOST_HALF + 1:
            if inner_odd and outer_odd:
                n = _add(corners, n, rows[1, i], rows[0, o], rows[1, i + 1])
                n = _add(corners, n, rows[1, i + 1], rows[0, o], rows[0, o + 1])
                o, i = o + 1, i + 1
            elif outer_odd:
                n = _add(corners, n, rows[1, i], rows[0, o], rows[0, o + 1])
                o += 1
            elif inner_odd:
                n = _add(corners, n, rows[1, i], rows[0, o], rows[1, i + 1])
                i += 1
        appears = _appearance(step if is_first else 2 * MOST_HALF + 1 - step)
        for turn in range(2):
            if (turn == 0) == is_first:  # the ring, which has no vertex at the corner
                if 0 < appears < inner_half:
                    n = _add(corners, n, rows[1, i], rows[0, o], rows[1, i + 1])
                    i += 1
            elif appears < outer_half:
                n = _add(corners, n, rows[0, o], rows[0, o + 1], rows[1, i])
                o += 1
    return n


@internal_njit
def _regular(rows, inner, corners, n):
    """Between two rings of one level; the diagonals of the second half mirror those of the first."""
    n = _add(corners, n, rows[0, 0], rows[0, 1], rows[1, 0])
    for i in range(inner):
        o = i + 1
        if i < (inner + 1) // 2:
            n = _add(corners, n, rows[0, o], rows[1, i + 1], rows[1, i])
            n = _add(corners, n, rows[0, o], rows[0, o + 1], rows[1, i + 1])
        else:
            n = _add(corners, n, rows[1, i], rows[0, o], rows[0, o + 1])
            n = _add(corners, n, rows[1, i], rows[0, o + 1], rows[1, i + 1])
    return _add(corners, n, rows[0, inner + 1], rows[0, inner + 2], rows[1, inner])


@internal_njit
def _fill(ring, parts, second_odd, rows, corners, n):
    """An innermost ring of two rows of vertices: a strip of quads."""
    height, width = parts[0], parts[1]
    is_flat = width > height
    count = max(width, height)
    first = 1 if is_flat else 0
    for k in range(count + 1):
        rows[0, k] = _vertex(ring[0], ring[1], ring[2], first + k)
        rows[1, k] = _vertex(ring[0], ring[1], ring[2], 2 * count + 1 + first - k)
    for k in range(count):
        a, b, c, d = rows[1, k], rows[0, k], rows[0, k + 1], rows[1, k + 1]
        if is_flat or not second_odd:
            n = _add(corners, n, a, b, c)
            n = _add(corners, n, a, c, d)
        elif k == count // 2:
            n = _add(corners, n, b, d, a)
            n = _add(corners, n, b, c, d)
        else:
            n = _add(corners, n, b, c, a)
            n = _add(corners, n, a, c, d)
    return n
