"""A pipeline: shaders and the state of the fixed-function stages around them."""

import struct
from dataclasses import dataclass, replace

from gpuprof.device.api import Kernel, integer
from gpuprof.device.drawing.state import (
    CULLS,
    FRONTS,
    STAGES,
    BlendState,
    DepthState,
    Interface,
    StencilSide,
    Tessellation,
)
from gpuprof.device.variables import find_variable
from gpuprof.errors import UsageError
from gpuprof.graphics.chain import check_chain
from gpuprof.graphics.checks import check_blend, check_point_size, check_tests
from gpuprof.graphics.known import known, of_kind

FACTS = struct.Struct("<8I")  # gpuprof::shader_facts of graphics.h
MARK = "gpuprof_shader_"  # of the variable that SHADER defines
ALPHA = BlendState("add", "source_alpha", "one_minus_source_alpha", "add", "one", "one_minus_source_alpha")
ADD = BlendState("add", "one", "one", "add", "one", "one")
LESS = DepthState("less", write=True)
ALL_CHANNELS = "rgba"


@dataclass(frozen=True)
class ShaderFacts:
    """What SHADER says of a kernel. in_nbytes: of the vertex that a vertex shader takes, or of varyings."""

    in_nbytes: int
    interface: Interface


def shader_facts(kernel: Kernel) -> ShaderFacts:
    """Raises UsageError for a kernel that is not marked as a shader."""
    variable = find_variable(kernel.module.program, MARK + kernel.name)
    if variable is None or variable.nbytes != FACTS.size:
        raise UsageError(f"{kernel.name} is not a shader: write SHADER({kernel.name}) behind it (gpuprof/graphics.h)")
    stage, in_nbytes, words, abilities, *rest = FACTS.unpack(variable.image)
    if stage >= len(STAGES):
        raise UsageError(f"{kernel.name} is a shader of a stage that there is not: {stage}")
    words_in = in_nbytes // 4 if stage else 0
    return ShaderFacts(in_nbytes, Interface(STAGES[stage], words_in, words, abilities, *rest))


class Pipeline:
    """`vertex` and `pixel` are kernels that SHADER marks; without a pixel shader, depth and stencil alone are drawn.

    hull and domain: kernels behind that of the vertices, which cut patches as `tessellation` says. geometry: a kernel
    that makes primitives of each one. topology: of the vertices. cull: which triangles are left out; front: how those
    that are seen from the front go around on the screen. color_mask: the channels that are written, of "rgba".
    back_stencil: of triangles that are seen from the back, in place of `stencil`. point_size: in pixels. restarts: the
    largest number that an index can have begins a new strip. Raises UsageError for shaders that do not fit, and for
    unknown words.
    """

    def __init__(
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
        blend: BlendState | None = None,
        color_mask: str = ALL_CHANNELS,
        point_size: float = 1.0,
        restarts: bool = False,
    ):
        given = dict(zip(STAGES, (vertex, hull, domain, geometry, pixel), strict=True))
        # the first one has to be there
        self.shaders = {stage: kernel for stage, kernel in given.items() if kernel is not None or stage == "vertex"}
        self.facts = {stage: _of_stage(kernel, stage) for stage, kernel in self.shaders.items()}
        self.topology, self.tessellation = topology, _tessellation(tessellation)
        shaders = [(self.shaders[stage].name, facts.interface) for stage, facts in self.facts.items()]
        check_chain(shaders, self.topology, self.tessellation)
        self.point_size, self.restarts = check_point_size(point_size), bool(restarts)
        self.cull = known(cull, CULLS, "cull")
        self.front = known(front, FRONTS, "front")
        depth = of_kind(depth or DepthState(), DepthState, "depth")
        self.depth = replace(depth, write=bool(depth.write))
        self.blend = of_kind(blend, BlendState, "blend") if blend else None
        self.stencil = _side(stencil or StencilSide())
        self.back_stencil = _side(back_stencil or self.stencil)
        check_tests(self.depth, self.stencil, self.back_stencil)
        check_blend(self.blend)
        if set(of_kind(color_mask, str, "color_mask")) - set(ALL_CHANNELS):
            raise UsageError(f"color_mask has letters of {ALL_CHANNELS}, not {color_mask!r}")
        self.color_mask = sum(1 << number for number, channel in enumerate(ALL_CHANNELS) if channel in color_mask)


def _tessellation(tessellation: Tessellation | None) -> Tessellation | None:
    """Its numbers are Python's, whatever a script gave."""
    if tessellation is None:
        return None
    of_kind(tessellation, Tessellation, "tessellation")
    points = integer(tessellation.points, "a patch's number of vertices")
    return replace(tessellation, points=points, as_points=bool(tessellation.as_points))


def _side(side: StencilSide) -> StencilSide:
    """Its numbers are Python's, whatever a script gave."""
    names = ("reference", "read_mask", "write_mask")
    of_kind(side, StencilSide, "stencil")
    return replace(side, **{name: integer(getattr(side, name), f"a stencil's {name}") for name in names})


def _of_stage(kernel: Kernel, stage: str) -> ShaderFacts:
    facts = shader_facts(of_kind(kernel, Kernel, f"a {stage} shader"))
    if facts.interface.stage != stage:
        raise UsageError(f"{kernel.name} is a {facts.interface.stage} shader, and a {stage} shader is wanted")
    return facts
