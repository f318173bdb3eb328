"""Checks that shaders fit together: the chain from the vertices to the pixels."""

from collections.abc import Sequence
from itertools import pairwise

from gpuprof.device.graphics_state.draw_state import (
    DOMAINS,
    DRAWN_CORNERS,
    FRONTS,
    MOST_POINTS,
    PATCHES,
    SPACINGS,
    STAGES,
    TOPOLOGIES,
    Interface,
    Tessellation,
)
from gpuprof.errors import UsageError
from gpuprof.graphics.argument_checks import known

MOST_EMITTED = 1024  # vertices of a geometry shader's lane, as in Direct3D 11
MOST_WORDS = 128  # of varyings, as in Direct3D 11: 32 vectors of four
CORNERS_OF_DOMAIN = {"triangles": 3, "quads": 3, "isolines": 2}

Named = tuple[str, Interface]  # a shader: its kernel's name, and its interface


def tessellated_corners(tessellation: Tessellation) -> int:
    """The number of corners of the primitives that the tessellator makes."""
    return 1 if tessellation.as_points else CORNERS_OF_DOMAIN[tessellation.domain]


def check_tessellation(topology: str, tessellation: Tessellation | None) -> None:
    known(topology, (*TOPOLOGIES, PATCHES), "topology")
    if (topology == PATCHES) != (tessellation is not None):
        raise UsageError(f"the topology {PATCHES} and a tessellation belong together")
    if tessellation:
        known(tessellation.domain, DOMAINS, "a tessellation's domain")
        known(tessellation.spacing, SPACINGS, "a tessellation's spacing")
        known(tessellation.order, FRONTS, "a tessellation's order")
        if not 1 <= tessellation.points <= MOST_POINTS:
            raise UsageError(f"a patch has 1 to {MOST_POINTS} vertices, not {tessellation.points}")


def check_chain(shaders: Sequence[Named], topology: str, tessellation: Tessellation | None) -> None:
    """Raises UsageError for shaders, in the order of their stages, that do not fit together or to what is drawn."""
    check_tessellation(topology, tessellation)
    by_stage = {interface.stage: (name, interface) for name, interface in shaders}
    stages = [interface.stage for _, interface in shaders]
    if "vertex" not in by_stage or stages != [stage for stage in STAGES if stage in by_stage]:
        raise UsageError(f"a draw's shaders are of the stages {', '.join(stages)}; it has a vertex shader first")
    if not ("hull" in by_stage) == ("domain" in by_stage) == (tessellation is not None):
        raise UsageError("a hull shader, a domain shader and a tessellation belong together")
    for name, interface in shaders:
        for words in (interface.words_in, interface.words_out, interface.constant_words):
            if not 0 <= words <= MOST_WORDS:
                raise UsageError(f"{name}: varyings are up to {4 * MOST_WORDS} bytes, not {4 * words}")
    for giver, taker in pairwise(shaders):
        _check_varyings(giver, taker)
    if tessellation:
        _check_patches(by_stage["hull"], by_stage["domain"])
    if "geometry" in by_stage:
        corners = tessellated_corners(tessellation) if tessellation else TOPOLOGIES[topology].corners
        _check_geometry(by_stage["geometry"], corners)


def _check_varyings(giver: Named, taker: Named) -> None:
    given, taken = 4 * giver[1].words_out, 4 * taker[1].words_in
    if given != taken:
        raise UsageError(f"{giver[0]} gives {given} bytes of varyings, and {taker[0]} takes {taken}")


def _check_patches(hull: Named, domain: Named) -> None:
    points, taken = hull[1].corners_out, domain[1].corners_in
    if not 1 <= points <= MOST_POINTS:
        raise UsageError(f"{hull[0]}: a patch has 1 to {MOST_POINTS} control points, not {points}")
    if points != taken:
        raise UsageError(f"{hull[0]} gives patches of {points} control points, and {domain[0]} takes those of {taken}")
    given, taken_nbytes = 4 * hull[1].constant_words, 4 * domain[1].constant_words
    if given != taken_nbytes:
        raise UsageError(f"{hull[0]} gives {given} bytes of constants of a patch, and {domain[0]} takes {taken_nbytes}")


def _check_geometry(shader: Named, corners: int) -> None:
    name, interface = shader
    if interface.corners_in not in DRAWN_CORNERS or not 1 <= interface.corners_out <= 3:
        raise UsageError(f"{name}: a geometry shader makes points, lines or triangles of primitives")
    if interface.corners_in != corners:
        raise UsageError(f"{name} takes primitives of {interface.corners_in} corners, and those drawn have {corners}")
    if not 1 <= interface.most_vertices <= MOST_EMITTED:
        raise UsageError(f"{name}: a geometry shader makes 1 to {MOST_EMITTED} vertices, not {interface.most_vertices}")
