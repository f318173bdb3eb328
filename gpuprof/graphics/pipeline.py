"""A pipeline: shaders and the state of the fixed-function stages around them."""

import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from gpuprof.device.api import Kernel, integer
from gpuprof.device.graphics_state.draw_state import (
    ALL_SAMPLES,
    CULLS,
    FRONTS,
    PROVOKING,
    STAGES,
    BlendState,
    DepthBias,
    DepthState,
    Interface,
    Output,
    StencilSide,
    Tessellation,
)
from gpuprof.device.variables import find_variable
from gpuprof.errors import UsageError
from gpuprof.graphics.argument_checks import known, of_kind, real, sequence_of
from gpuprof.graphics.chain import check_chain
from gpuprof.graphics.draw_checks import (
    check_bias,
    check_blend,
    check_outputs_fit,
    check_sample_mask,
    check_tests,
    check_width,
)

FACTS = struct.Struct("<8I4I")  # gpuprof::shader_facts of graphics.h
WORD_BITS = 32
MARK = "gpuprof_shader_"  # of the variable that SHADER defines
ALPHA = BlendState("add", "source_alpha", "one_minus_source_alpha", "add", "one", "one_minus_source_alpha")
ADD = BlendState("add", "one", "one", "add", "one", "one")
LESS = DepthState("less", write=True)
CHANNELS = "rgba"


@dataclass(frozen=True)
class ShaderFacts:
    """The facts that SHADER states of a kernel. in_nbytes: of the vertex that a vertex shader takes, or of varyings."""

    in_nbytes: int
    interface: Interface


def shader_facts(kernel: Kernel) -> ShaderFacts:
    """Raises UsageError for a kernel that is not marked as a shader."""
    variable = find_variable(kernel.module.program, MARK + kernel.name)
    if variable is None or variable.nbytes != FACTS.size:
        raise UsageError(f"{kernel.name} is not a shader: write SHADER({kernel.name}) after it (gpuprof/graphics.h)")
    stage, in_nbytes, words, abilities, most, corners_in, corners_out, constants, *bits = FACTS.unpack(variable.image)
    if stage >= len(STAGES):
        raise UsageError(f"{kernel.name} is a shader of a stage that there is not: {stage}")
    words_in = in_nbytes // 4 if stage else 0
    flat = tuple(word for word in range(WORD_BITS * len(bits)) if bits[word // WORD_BITS] >> word % WORD_BITS & 1)
    return ShaderFacts(
        in_nbytes,
        Interface(STAGES[stage], words_in, words, abilities, most, corners_in, corners_out, constants, flat),
    )


class Pipeline:
    """`vertex` and `pixel` are kernels that SHADER marks; without a pixel shader, only depth and stencil are drawn.

    hull and domain: kernels after that of the vertices, which cut patches as `tessellation` says. geometry: a kernel
    that makes primitives of each one. topology: of the vertices. cull: which triangles are left out; front: how those
    that are seen from the front go around on the screen. color_mask: the channels that are written, of "rgba"; it and
    blend may be lists, of each color target. back_stencil: of triangles that are seen from the back, in place of
    `stencil`. point_size, line_width: in pixels. restarts: the largest number that an index can have begins a new
    strip. provoking: which vertex of a primitive has its flat varyings. depth_clamp: near and far plane cut nothing.
    sample_mask: bit s: sample s of a pixel may be covered. alpha_to_coverage: the alpha of target 0 says how many
    samples of a pixel are written. Raises UsageError for shaders that do not fit, and for unknown words.
    """

    def __init__(  # noqa: PLR0913  # keywords of a pipeline's states
        self,
        vertex: Kernel,
        pixel: Kernel | None,
        *,
        hull: Kernel | None = None,
        domain: Kernel | None = None,
        geometry: Kernel | None = None,
        topology: str = "triangles",
        tessellation: Tessellation | None = None,
        cull: str = "none",
        front: str = "ccw",
        depth: DepthState | None = None,
        stencil: StencilSide | None = None,
        back_stencil: StencilSide | None = None,
        blend: BlendState | Sequence[BlendState | None] | None = None,
        color_mask: str | Sequence[str] = CHANNELS,
        point_size: float = 1.0,
        line_width: float = 1.0,
        restarts: bool = False,
        provoking: str = "last",
        depth_bias: DepthBias | None = None,
        depth_clamp: bool = False,
        sample_mask: int = ALL_SAMPLES,
        alpha_to_coverage: bool = False,
    ):
        given = dict(zip(STAGES, (vertex, hull, domain, geometry, pixel), strict=True))
        # the first one has to be there
        self.shaders = {
            stage: of_kind(kernel, Kernel, f"a {stage} shader")
            for stage, kernel in given.items()
            if kernel is not None or stage == "vertex"
        }
        self.facts = {stage: _of_stage(kernel, stage) for stage, kernel in self.shaders.items()}
        self.topology, self.tessellation = topology, _tessellation(tessellation)
        shaders = [(self.shaders[stage].name, facts.interface) for stage, facts in self.facts.items()]
        check_chain(shaders, self.topology, self.tessellation)
        self.point_size = check_width(point_size, "a point has a size")
        self.line_width = check_width(line_width, "a line has a width")
        self.restarts, self.provoking = bool(restarts), known(provoking, PROVOKING, "provoking")
        self.depth_bias, self.depth_clamp = _bias(depth_bias or DepthBias()), bool(depth_clamp)
        self.sample_mask, self.alpha_to_coverage = integer(sample_mask, "a sample mask"), bool(alpha_to_coverage)
        check_sample_mask(self.sample_mask)
        self.cull = known(cull, CULLS, "cull")
        self.front = known(front, FRONTS, "front")
        depth = of_kind(depth or DepthState(), DepthState, "depth")
        self.depth = replace(depth, write=bool(depth.write))
        self.stencil = _side(stencil or StencilSide())
        self.back_stencil = _side(back_stencil or self.stencil)
        check_tests(self.depth, self.stencil, self.back_stencil)
        self.all_targets, self.outputs = _outputs(blend, color_mask)


def _tessellation(tessellation: Tessellation | None) -> Tessellation | None:
    """The tessellation with its numbers as Python's own types, whatever types a script gave."""
    if tessellation is None:
        return None
    of_kind(tessellation, Tessellation, "tessellation")
    points = integer(tessellation.points, "a patch's number of vertices")
    return replace(tessellation, points=points, as_points=bool(tessellation.as_points))


def _outputs(
    blend: BlendState | Sequence[BlendState | None] | None, color_mask: str | Sequence[str]
) -> tuple[Output, tuple[Output, ...]]:
    """The output of color targets that have none of their own, and the outputs of the first ones that have."""
    n = max([len(given) for given in (blend, color_mask) if isinstance(given, list | tuple)], default=None)
    if n is None:
        return Output(_blend(blend), _mask(color_mask)), ()
    check_outputs_fit(n)
    both = zip(_of_targets(blend, None, n), _of_targets(color_mask, CHANNELS, n), strict=True)
    return Output(), tuple(Output(_blend(one), _mask(other)) for one, other in both)


def _of_targets(given: Any, default: Any, n: int) -> list[Any]:
    """Returns one value for each of n targets: those of a list, or the same for all."""
    return [*given, *[default] * (n - len(given))] if isinstance(given, list | tuple) else [given] * n


def _blend(blend: BlendState | Sequence[BlendState | None] | None) -> BlendState | None:
    """The blend state with its numbers as Python's own types, whatever types a script gave."""
    if blend is None:
        return None
    blend = of_kind(blend, BlendState, "blend")
    channels = sequence_of(blend.constant, "a blend's constant channels")
    checked = replace(blend, constant=tuple(real(channel, "a blend's constant channel") for channel in channels))
    check_blend(checked)
    return checked


def _mask(channels: str | Sequence[str]) -> int:
    if set(of_kind(channels, str, "color_mask")) - set(CHANNELS):
        raise UsageError(f"color_mask has letters of {CHANNELS}, not {channels!r}")
    return sum(1 << number for number, channel in enumerate(CHANNELS) if channel in channels)


def _bias(bias: DepthBias) -> DepthBias:
    """The depth bias with its numbers as Python's own types, whatever types a script gave."""
    of_kind(bias, DepthBias, "depth_bias")
    names = ("constant", "slope", "limit")
    checked = DepthBias(*[real(getattr(bias, name), f"a depth bias's {name}") for name in names])
    check_bias(checked)
    return checked


def _side(side: StencilSide) -> StencilSide:
    """The stencil side with its numbers as Python's own types, whatever types a script gave."""
    names = ("reference", "read_mask", "write_mask")
    of_kind(side, StencilSide, "stencil")
    return replace(side, **{name: integer(getattr(side, name), f"a stencil's {name}") for name in names})


def _of_stage(kernel: Kernel, stage: str) -> ShaderFacts:
    facts = shader_facts(kernel)
    if facts.interface.stage != stage:
        raise UsageError(f"{kernel.name} is a {facts.interface.stage} shader, and a {stage} shader is needed")
    return facts
