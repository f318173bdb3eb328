"""The slow readable twin of the tessellator (gpuprof/graphics/stages/tessellate): a ring is a list of its edges, an
edge the list of its vertices, and a vertex a pair (u, v) of whole numbers from 0 to ONE.
"""

import math

ONE = 65536
MOST = {"equal": 64, "fractional_odd": 63, "fractional_even": 64}
LEAST = {"equal": 1, "fractional_odd": 1, "fractional_even": 2}


def clamped(level, spacing, least):
    """(level in 1 / ONE, whether it cuts into an odd number of parts)"""
    level = least if math.isnan(level) else min(max(level, least), MOST[spacing])
    level = math.ceil(level) if spacing == "equal" else level
    odd = level % 2 == 1 if spacing == "equal" else spacing == "fractional_odd"
    return round(level * ONE), odd


def half(level, odd):
    """Half of the level; a part in the middle counts as one whole."""
    value = (level + 1) // 2
    return value + ONE // 2 if odd or value == ONE // 2 else value


def edge(level, odd):
    """The places of all vertices of an edge, from 0 to ONE."""
    whole, more = half(level, odd) // ONE, half(level, odd) % ONE
    here = [round(ONE / (2 * whole - odd)) * k for k in range(whole + (not odd))]
    if not more:
        first = here
    else:
        # the next larger edge has one vertex more in each half; here it lies upon the one before it
        new = 0 if odd and whole == 1 else 2 * without_top_bit(whole - odd) + 1
        larger = [round(ONE / (2 * whole + 2 - odd)) * k for k in range(whole + 1 + (not odd))]
        same = here[: new + 1] + here[new:]
        first = [(a * (ONE - more) + b * more + ONE // 2) // ONE for a, b in zip(same, larger, strict=True)]
    if odd:
        return first + [ONE - place for place in reversed(first)]
    first[-1] = ONE // 2
    return first + [ONE - place for place in reversed(first[:-1])]


def without_top_bit(number):
    return int(bin(number)[3:] or "0", 2)


def appearances():
    """Vertices of half an edge behind the corner, in the order in which growing levels bring them: halving again and
    again what lies between."""
    order, step = [], 16
    while step:
        order += range(step, 32, 2 * step)
        step //= 2
    return [*order, 0]


def stitched(outer, inner, outer_level, inner_level):
    """Triangles between two rows of vertices; levels are pairs."""
    n_outer, n_inner = (math.ceil(half(*each) / ONE) - each[1] for each in (outer_level, inner_level))
    seen = appearances()
    first = ["outer"] if n_outer > 0 else []
    for k in range(32):
        first += ["inner"] * (seen.index(k) + 1 < n_inner) + ["outer"] * (seen.index(k) + 1 < n_outer)
    middle = {
        (True, True): ["inner", "middle"],
        (True, False): ["middle"],
        (False, True): ["inner"],
        (False, False): [],
    }
    steps, found, o, i = [*first, *middle[outer_level[1], inner_level[1]], *reversed(first)], [], 0, 0
    for step in steps:
        if step == "inner":
            found.append((inner[i], outer[o], inner[i + 1]))
            i += 1
        elif step == "outer":
            found.append((outer[o], outer[o + 1], inner[i]))
            o += 1
        else:
            found.append((inner[i], outer[o], outer[o + 1]))
            o += 1
    return found


def regular(outer, inner):
    """Triangles between two rows of one level, the outer one with two vertices more."""
    found = [(outer[0], outer[1], inner[0])]
    for k in range(len(inner) - 1):
        a, b, c, d = inner[k], outer[k + 1], outer[k + 2], inner[k + 1]
        found += [(b, d, a), (b, c, d)] if k < len(inner) // 2 else [(a, b, c), (a, c, d)]
    return [*found, (outer[-2], outer[-1], inner[-1])]


def outer_edges(domain, edges):
    if domain == "triangles":
        a, b, c = edges
        return [[(0, t) for t in a[::-1]], [(t, 0) for t in b], [(t, ONE - t) for t in c[::-1]]]
    a, b, c, d = edges
    return [[(0, t) for t in a[::-1]], [(t, 0) for t in b], [(ONE, t) for t in c], [(t, ONE) for t in d[::-1]]]


def inner_edges(domain, ring, insides):
    if domain == "quads":
        u, v = insides[0][ring : len(insides[0]) - ring], insides[1][ring : len(insides[1]) - ring]
        sides = [(u[0], t) for t in v[::-1]], [(t, v[0]) for t in u], [(u[-1], t) for t in v]
        return [*sides, [(t, v[-1]) for t in u[::-1]]]
    along = insides[0][ring : len(insides[0]) - ring]
    if len(along) == 1:
        return [[(ONE // 3, ONE // 3)]] * 3
    away = (insides[0][ring] * (2 * ONE // 3) + ONE // 2) // ONE
    t = [place - (away + 1) // 2 for place in along]
    found = [[(away, k) for k in t[::-1]], [(k, away) for k in t], [(k, ONE - k - away) for k in t[::-1]]]
    return [[*found[e][:-1], found[(e + 1) % 3][0]] for e in range(3)]  # rounding moves them by 1 / ONE


def filled(ring, second_odd):
    """An innermost ring of one triangle, or of a strip of quads."""
    if len(ring) == 3:
        return [(ring[0][0], ring[1][0], ring[2][0])]
    is_flat = len(ring[1]) > len(ring[0])
    lower, upper = (ring[1], ring[3][::-1]) if is_flat else (ring[0], ring[2][::-1])
    found = []
    for k in range(len(lower) - 1):
        a, b, c, d = upper[k], lower[k], lower[k + 1], upper[k + 1]
        if is_flat or not second_odd:
            found += [(a, b, c), (a, c, d)]
        else:
            found += [(b, d, a), (b, c, d)] if 2 * k == len(lower) - 2 else [(b, c, a), (a, c, d)]
    return found


def slow_patch(levels, domain, spacing):
    """Primitives of a patch, counter-clockwise, as tuples of vertices (u, v) from 0 to ONE; [] for a culled one."""
    n_edges = {"triangles": 3, "quads": 4, "isolines": 2}[domain]
    outer, inner = levels[:n_edges], levels[4 : 4 + n_edges - 2]
    if any(math.isnan(level) or level <= 0 for level in outer):
        return []
    if domain == "isolines":
        lines = edge(*clamped(outer[0], "equal", 1))[:-1]
        points = edge(*clamped(outer[1], spacing, LEAST[spacing]))
        return [((points[k], v), (points[k + 1], v)) for v in lines for k in range(len(points) - 1)]
    outer = [clamped(level, spacing, LEAST[spacing]) for level in outer]
    all_one = all(level == (ONE, True) for level in outer)
    if spacing != "fractional_even" and all_one and all(clamped(level, spacing, 1)[0] == ONE for level in inner):
        if domain == "triangles":
            return [((0, ONE), (0, 0), (ONE, 0))]
        return [((0, 0), (ONE, 0), (0, ONE)), ((ONE, 0), (ONE, ONE), (0, ONE))]
    least = 1 + 1 / ONE if spacing == "fractional_odd" else 2 if spacing == "fractional_even" else 1
    inner = [clamped(level, spacing, least) for level in inner]
    inner = [(level, odd and (level != ONE)) for level, odd in inner]
    ring, around = outer_edges(domain, [edge(*level) for level in outer]), outer
    insides, found, number = [edge(*level) for level in inner], [], 1
    while True:
        along = [inner[0] if domain == "triangles" else inner[1 - e % 2] for e in range(n_edges)]
        following = inner_edges(domain, number, insides)
        for e in range(n_edges):
            if number == 1:
                found += stitched(ring[e], following[e], around[e], along[e])
            else:
                found += regular(ring[e], following[e])
        ring, number = following, number + 1
        least_parts = min(len(each) for each in ring) - 1
        if least_parts <= 1:
            return found + (filled(ring, inner[-1][1]) if least_parts == 1 else [])
