"""Checks of draws, in one place for scripts and for streams that are read from files."""

import math
from collections.abc import Mapping
from numbers import Real

from gpuprof.device.commands import Draw, Shader
from gpuprof.device.graphics_state.draw_state import (
    ALL_CHANNELS,
    ALL_SAMPLES,
    BLEND_OPERATIONS,
    CLIP_DISTANCES,
    COMPARES,
    CULLS,
    DEPTH_NBYTES,
    FACTORS,
    FORMATS,
    FRONTS,
    MOST_CLIP_DISTANCES,
    MOST_EXTENT,
    MOST_TARGETS,
    OF_PIXELS,
    POINT_SIZE,
    PROVOKING,
    SAMPLES,
    STENCIL_NBYTES,
    STENCIL_OPERATIONS,
    BlendState,
    Buffers,
    DepthBias,
    DepthState,
    DrawState,
    Scissor,
    StencilSide,
    Targets,
    Viewport,
)
from gpuprof.device.launching.bind import parameter_nbytes
from gpuprof.errors import UsageError
from gpuprof.graphics.argument_checks import known
from gpuprof.graphics.chain import check_chain
from gpuprof.graphics.sizes import MOST_WIDTH

MOST_INDICES = 1 << 25  # of all instances; each takes some 100 bytes of the host's memory
MOST_LANES = 1 << 26  # of a vertex or hull shader: small instances, or large patches, fill a part of a wave each
MOST_FIRST_INSTANCE = 1 << 31
INDEX_NBYTES = (2, 4)
OF_VERTICES = POINT_SIZE + CLIP_DISTANCES * MOST_CLIP_DISTANCES
# The abilities that a stage's shaders may have together: none of them has both sorts.
MOST_ABILITIES = {"vertex": OF_VERTICES, "hull": 0, "domain": OF_VERTICES, "geometry": OF_VERTICES, "pixel": OF_PIXELS}
# Of a frame: 16384 x 16384 pixels with a color and a depth of four bytes. The host holds them twice for a moment.
MOST_TARGET_NBYTES = 1 << 31
TARGET_ALIGNMENT = 16  # bytes: of the largest format's samples


def check_draw(draw: Draw, stage_nbytes: Mapping[str, int]) -> None:
    """Raises UsageError for what no draw can be. stage_nbytes: of the shaders' first parameters, by stage. Addresses
    are checked where they are used.
    """
    state = draw.state
    check_chain(
        [(shader.function.display, shader.interface) for shader in draw.shaders], state.topology, state.tessellation
    )
    known(state.cull, CULLS, "cull")
    known(state.front, FRONTS, "front")
    check_tests(state.depth, state.front_stencil, state.back_stencil)
    check_outputs(state)
    check_rasterizer(state)
    check_targets(draw.targets)
    check_viewport(state.viewport)
    _check_scissor(state.scissor, draw.targets)
    check_buffers(draw.buffers)
    for shader in draw.shaders:
        _check_shader(shader, stage_nbytes[shader.interface.stage])


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
    if len(blend.constant) != 4 or not all(map(math.isfinite, blend.constant)):
        raise UsageError(f"a blend's constant has four channels, finite numbers, not {blend.constant}")


def check_outputs(state: DrawState) -> None:
    check_outputs_fit(len(state.outputs))
    for output in (state.output(MOST_TARGETS), *state.outputs):
        check_blend(output.blend)
        if not 0 <= output.color_mask <= ALL_CHANNELS:
            raise UsageError(f"a color mask is 0 to {ALL_CHANNELS}, not {output.color_mask}")


def check_outputs_fit(n: int) -> None:
    if n > MOST_TARGETS:
        raise UsageError(f"a draw has up to {MOST_TARGETS} color targets, not {n}")


def check_rasterizer(state: DrawState) -> None:
    known(state.provoking, PROVOKING, "provoking")
    check_width(state.line_width, "a line has a width")
    check_width(state.point_size, "a point has a size")
    check_bias(state.depth_bias)
    check_sample_mask(state.sample_mask)


def check_bias(bias: DepthBias) -> None:
    if not all(map(math.isfinite, (bias.constant, bias.slope, bias.limit))):
        raise UsageError(f"a depth bias has finite numbers: {bias}")


def check_sample_mask(mask: int) -> None:
    if not 0 <= mask <= ALL_SAMPLES:
        raise UsageError(f"a sample mask has bits for {SAMPLES[-1]} samples, 0 to {ALL_SAMPLES}, not {mask}")


def check_extents(
    width: int, height: int, samples: int, formats: tuple[str, ...], has_depth: bool, has_stencil: bool
) -> None:
    """Raises UsageError for targets that there cannot be, or that the host could not hold."""
    if not (1 <= width <= MOST_EXTENT and 1 <= height <= MOST_EXTENT):
        raise UsageError(f"a frame has 1 to {MOST_EXTENT} pixels a side, not {width} x {height}")
    if samples not in SAMPLES:
        raise UsageError(f"a pixel has {' or '.join(map(str, SAMPLES))} samples, not {samples}")
    if len(formats) > MOST_TARGETS:
        raise UsageError(f"a frame has up to {MOST_TARGETS} color targets, each of one format")
    for format in formats:
        known(format, tuple(FORMATS), "a format")
    of_sample = sum(FORMATS[format] for format in formats) + DEPTH_NBYTES * has_depth + STENCIL_NBYTES * has_stencil
    nbytes = width * height * samples * of_sample
    if nbytes > MOST_TARGET_NBYTES:
        raise UsageError(
            f"the targets of a frame have up to {MOST_TARGET_NBYTES >> 30} GiB together, and {width} x {height} pixels "
            f"with {samples} x {of_sample} bytes each have {nbytes / (1 << 30):.3g} GiB"
        )


def check_targets(targets: Targets) -> None:
    has_depth, has_stencil = targets.depth != 0, targets.stencil != 0
    check_extents(targets.width, targets.height, targets.samples, targets.formats, has_depth, has_stencil)
    if len(targets.colors) != len(targets.formats):
        raise UsageError(f"a frame has up to {MOST_TARGETS} color targets, each of one format")
    for address in (*targets.colors, targets.depth, targets.stencil):
        if address % TARGET_ALIGNMENT:
            raise UsageError(f"target address 0x{address:x} is not aligned to {TARGET_ALIGNMENT} bytes")


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


def check_buffers(buffers: Buffers) -> None:
    if buffers.index_nbytes not in INDEX_NBYTES:
        raise UsageError(f"an index has 2 or 4 bytes, not {buffers.index_nbytes}")
    if min(buffers.n_vertices, buffers.n_indices, buffers.instances) < 0:
        raise UsageError(f"a draw has no fewer than 0 vertices, indices and instances: {buffers}")
    if abs(buffers.base_vertex) > MOST_INDICES:
        raise UsageError(f"a base vertex is up to {MOST_INDICES}, not {buffers.base_vertex}")
    if buffers.n_indices * buffers.instances > MOST_INDICES:
        raise UsageError(f"a draw has up to {MOST_INDICES} indices, with all of its instances")
    if buffers.instances > MOST_INDICES:  # where it has no indices, too
        raise UsageError(f"a draw has up to {MOST_INDICES} instances, not {buffers.instances}")
    if not 0 <= buffers.first_instance <= MOST_FIRST_INSTANCE:
        raise UsageError(f"a first instance is 0 to {MOST_FIRST_INSTANCE}, not {buffers.first_instance}")


def check_made(name: str, n: int, what: str) -> None:
    """n: of vertices or primitives that the tessellator makes, or a geometry shader may make."""
    if n > MOST_INDICES:
        raise UsageError(f"{name}: a draw makes up to {MOST_INDICES} {what}, not {n}")


def check_width(width: float, what: str) -> float:
    """Checks the width of a line, or of a point's side."""
    if not (isinstance(width, Real) and 1 <= width <= MOST_WIDTH):
        raise UsageError(f"{what} of 1 to {MOST_WIDTH:g} pixels, not {width!r}")
    return float(width)


def check_lanes(lanes: int, what: str) -> None:
    """lanes: of the vertex shader or the hull shader, all instances. what: what has them."""
    if lanes > MOST_LANES:
        raise UsageError(f"{what} take up to {MOST_LANES} lanes, not {lanes}")


def _check_shader(shader: Shader, stage_nbytes: int) -> None:
    function = shader.function
    if not function.params or function.params[0].nbytes != stage_nbytes:
        raise UsageError(f"{function.display}: its first parameter is not its stage, or that of another gpuprof")
    if len(shader.params) != parameter_nbytes(function):
        raise UsageError(
            f"{function.display} has {parameter_nbytes(function)} bytes of parameters, and {len(shader.params)} are "
            "given"
        )
    interface = shader.interface
    if not 0 <= interface.abilities <= MOST_ABILITIES[interface.stage]:
        raise UsageError(f"{function.display}: a {interface.stage} shader has no abilities {interface.abilities}")
    if list(interface.flat) != sorted({word for word in interface.flat if 0 <= word < interface.words_in}):
        raise UsageError(f"{function.display}: of {interface.words_in} words of varyings, {interface.flat} are flat")
