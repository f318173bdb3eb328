"""Which draws are possible: the one place that says it, for scripts and for streams that are read from files."""

import math
from collections.abc import Mapping
from typing import Any

from gpuprof.device.commands import Draw, Shader
from gpuprof.device.drawing.state import (
    BLEND_OPERATIONS,
    COMPARES,
    CULLS,
    FACTORS,
    FORMATS,
    FRONTS,
    MOST_EXTENT,
    MOST_TARGETS,
    SAMPLES,
    STENCIL_OPERATIONS,
    TOPOLOGIES,
    BlendState,
    Buffers,
    DepthState,
    Scissor,
    StencilSide,
    Targets,
    Viewport,
)
from gpuprof.device.launching.bind import parameter_nbytes
from gpuprof.errors import UsageError

MOST_INDICES = 1 << 25  # of all instances; each takes some 100 bytes of the host's memory
MOST_LANES = 1 << 26  # of a vertex shader: small instances fill a part of a wave each
MOST_EMITTED = 1024  # vertices of a geometry shader's lane, as in Direct3D 11
MOST_WORDS = 128  # of varyings, as in Direct3D 11: 32 vectors of four
INDEX_NBYTES = (2, 4)
TARGET_ALIGNMENT = 16  # bytes: of the largest format's samples


def known(word: str, words: tuple[str, ...], what: str) -> str:
    """The word. Raises UsageError for one that is not among those known."""
    if word not in words:
        raise UsageError(f"{what} is one of {', '.join(words)}, not {word!r}")
    return word


def of_kind(value: Any, kind: type, what: str) -> Any:
    """The value. Raises UsageError for what is of another class."""
    if not isinstance(value, kind):
        raise UsageError(f"{what} is a {kind.__name__}, not {value!r}")
    return value


def check_draw(draw: Draw, stage_nbytes: Mapping[str, int]) -> None:
    """Raises UsageError for what no draw can be. stage_nbytes: of the shaders' first parameters, by stage. Addresses
    are looked at where they are used.
    """
    state = draw.state
    known(state.topology, TOPOLOGIES, "topology")
    known(state.cull, CULLS, "cull")
    known(state.front, FRONTS, "front")
    check_tests(state.depth, state.front_stencil, state.back_stencil)
    check_blend(state.blend)
    check_targets(draw.targets)
    check_viewport(state.viewport)
    _check_scissor(state.scissor, draw.targets)
    _check_buffers(draw.buffers)
    _check_shader(draw.vertex, stage_nbytes["vertex"])
    if draw.geometry:
        _check_shader(draw.geometry, stage_nbytes["geometry"])
        _check_most(draw.geometry, draw.buffers)
    if draw.pixel:
        _check_shader(draw.pixel, stage_nbytes["pixel"])
        last = draw.geometry or draw.vertex
        check_varyings(last.function.display, 4 * last.words, draw.pixel.function.display, 4 * draw.pixel.words)


def check_tests(depth: DepthState, *sides: StencilSide) -> None:
    for compare in (depth.compare, *(side.compare for side in sides)):
        known(compare, COMPARES, "compare")
    for side in sides:
        for word in (side.fail, side.depth_fail, side.passes):
            known(word, STENCIL_OPERATIONS, "a stencil operation")
        for value in (side.reference, side.read_mask, side.write_mask):
            if not 0 <= value <= 0xFF:
                raise UsageError(f"a stencil reference or mask is 0 to 255, not {value}")


def check_blend(blend: BlendState | None) -> None:
    if blend is None:
        return
    for word in (blend.color_operation, blend.alpha_operation):
        known(word, BLEND_OPERATIONS, "a blend operation")
    for word in (blend.source_color, blend.target_color, blend.source_alpha, blend.target_alpha):
        known(word, FACTORS, "a blend factor")


def check_targets(targets: Targets) -> None:
    if not (1 <= targets.width <= MOST_EXTENT and 1 <= targets.height <= MOST_EXTENT):
        raise UsageError(f"a frame has 1 to {MOST_EXTENT} pixels a side, not {targets.width} x {targets.height}")
    if targets.samples not in SAMPLES:
        raise UsageError(f"a pixel has {' or '.join(map(str, SAMPLES))} samples, not {targets.samples}")
    if len(targets.formats) > MOST_TARGETS or len(targets.colors) != len(targets.formats):
        raise UsageError(f"a frame has up to {MOST_TARGETS} color targets, each of one format")
    for address in (*targets.colors, targets.depth, targets.stencil):
        if address % TARGET_ALIGNMENT:
            raise UsageError(f"a target's address is a multiple of {TARGET_ALIGNMENT}, and 0x{address:x} is not")
    for format in targets.formats:
        known(format, tuple(FORMATS), "a format")


def check_viewport(viewport: Viewport) -> None:
    numbers = (viewport.x, viewport.y, viewport.width, viewport.height, viewport.near, viewport.far)
    if not (all(map(math.isfinite, numbers)) and viewport.width > 0 and viewport.height > 0):
        raise UsageError(f"a viewport has finite numbers, and a width and height above 0: {viewport}")
    if max(abs(viewport.x) + viewport.width, abs(viewport.y) + viewport.height) > 2 * MOST_EXTENT:
        raise UsageError(f"a viewport reaches no farther than {2 * MOST_EXTENT} pixels: {viewport}")
    if not (0 <= viewport.near <= 1 and 0 <= viewport.far <= 1):
        raise UsageError(f"a viewport's depths are 0 to 1: {viewport}")


def _check_scissor(scissor: Scissor, targets: Targets) -> None:
    right, lower = scissor.x + scissor.width, scissor.y + scissor.height
    if min(scissor.x, scissor.y, scissor.width, scissor.height) < 0 or right > targets.width or lower > targets.height:
        raise UsageError(f"a scissor lies within the targets: {scissor}")


def _check_buffers(buffers: Buffers) -> None:
    if buffers.index_nbytes not in INDEX_NBYTES:
        raise UsageError(f"an index has 2 or 4 bytes, not {buffers.index_nbytes}")
    if min(buffers.n_vertices, buffers.n_indices, buffers.instances) < 0:
        raise UsageError(f"a draw has no fewer than 0 vertices, indices and instances: {buffers}")
    if buffers.n_indices * buffers.instances > MOST_INDICES:
        raise UsageError(f"a draw has up to {MOST_INDICES} indices, with all of its instances")


def check_varyings(giver: str, given_nbytes: int, taker: str, taken_nbytes: int) -> None:
    if given_nbytes != taken_nbytes:
        raise UsageError(f"{giver} gives {given_nbytes} bytes of varyings, and {taker} takes {taken_nbytes}")


def _check_most(shader: Shader, buffers: Buffers) -> None:
    most = shader.most_vertices
    if not 1 <= most <= MOST_EMITTED:
        raise UsageError(f"{shader.function.display}: a geometry shader makes 1 to {MOST_EMITTED} vertices, not {most}")
    if buffers.n_indices * buffers.instances * most > MOST_INDICES:
        raise UsageError(f"{shader.function.display}: a draw makes up to {MOST_INDICES} vertices of its triangles")


def check_lanes(lanes: int) -> None:
    """lanes: of the vertex shader, all instances."""
    if lanes > MOST_LANES:
        raise UsageError(f"the vertices of a draw's instances take up to {MOST_LANES} lanes, not {lanes}")


def _check_shader(shader: Shader, stage_nbytes: int) -> None:
    function = shader.function
    if not function.params or function.params[0].nbytes != stage_nbytes:
        raise UsageError(f"{function.display}: its first parameter is not its stage")
    if len(shader.params) != parameter_nbytes(function):
        raise UsageError(
            f"{function.display} has {parameter_nbytes(function)} bytes of parameters, and {len(shader.params)} are "
            "given"
        )
    if not 0 <= shader.words <= MOST_WORDS:
        raise UsageError(f"{function.display}: varyings are up to {4 * MOST_WORDS} bytes, not {4 * shader.words}")
