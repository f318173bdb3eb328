"""A pipeline: two shaders and the state of the fixed-function stages around them."""

import struct
from dataclasses import dataclass, replace

from gpuprof.device.api import Kernel, integer
from gpuprof.device.drawing.state import (
    CULLS,
    DISCARDS,
    FRONTS,
    TOPOLOGIES,
    WRITES_DEPTH,
    BlendState,
    DepthState,
    StencilSide,
)
from gpuprof.device.variables import find_variable
from gpuprof.errors import UsageError
from gpuprof.graphics.checks import check_blend, check_tests, check_varyings, known, of_kind

STAGES = ("vertex", "pixel", "geometry")  # as graphics.h numbers them
FACTS = struct.Struct("<5I")  # gpuprof::shader_facts of graphics.h
MARK = "gpuprof_shader_"  # of the variable that SHADER defines
ALPHA = BlendState("add", "source_alpha", "one_minus_source_alpha", "add", "one", "one_minus_source_alpha")
ADD = BlendState("add", "one", "one", "add", "one", "one")
LESS = DepthState("less", write=True)
ALL_CHANNELS = "rgba"


@dataclass(frozen=True)
class ShaderFacts:
    """What SHADER says of a kernel: the bytes of the vertex or the varyings that it takes; the words of the varyings
    that it gives; what a pixel shader may do; the vertices that a geometry shader makes at most.
    """

    stage: str
    in_nbytes: int
    out_words: int
    abilities: int
    most_vertices: int


def shader_facts(kernel: Kernel) -> ShaderFacts:
    """Raises UsageError for a kernel that is not marked as a shader."""
    variable = find_variable(kernel.module.program, MARK + kernel.name)
    if variable is None or variable.nbytes != FACTS.size:
        raise UsageError(f"{kernel.name} is not a shader: write SHADER({kernel.name}) behind it (gpuprof/graphics.h)")
    stage, in_nbytes, out_words, abilities, most_vertices = FACTS.unpack(variable.image)
    if stage >= len(STAGES):
        raise UsageError(f"{kernel.name} is a shader of a stage that there is not: {stage}")
    return ShaderFacts(STAGES[stage], in_nbytes, out_words, abilities & (DISCARDS | WRITES_DEPTH), most_vertices)


class Pipeline:
    """`vertex` and `pixel` are kernels that SHADER marks; without a pixel shader, depth and stencil alone are drawn.

    geometry: a kernel between the two, which makes triangles of each triangle. topology: of the vertices. cull: which
    triangles are left out; front: how those that are seen from the front go around on the screen. color_mask: the
    channels that are written, of "rgba". back_stencil: of triangles that are seen from the back, in place of `stencil`.
    Raises UsageError for shaders that do not fit, and for unknown words.
    """

    def __init__(
        self,
        vertex: Kernel,
        pixel: Kernel | None,
        *,
        geometry: Kernel | None = None,
        topology: str = "triangles",
        cull: str = "none",
        front: str = "ccw",
        depth: DepthState | None = None,
        stencil: StencilSide | None = None,
        back_stencil: StencilSide | None = None,
        blend: BlendState | None = None,
        color_mask: str = ALL_CHANNELS,
    ):
        self.vertex, self.pixel, self.geometry = vertex, pixel, geometry
        self.vertex_facts = _of_stage(vertex, "vertex")
        self.pixel_facts = _of_stage(pixel, "pixel") if pixel else None
        self.geometry_facts = _of_stage(geometry, "geometry") if geometry else None
        given, giver = 4 * self.vertex_facts.out_words, vertex.name
        for kernel, facts in ((geometry, self.geometry_facts), (pixel, self.pixel_facts)):
            if facts:
                check_varyings(giver, given, kernel.name, facts.in_nbytes)
                given, giver = 4 * facts.out_words, kernel.name
        self.topology = known(topology, TOPOLOGIES, "topology")
        self.cull = known(cull, CULLS, "cull")
        self.front = known(front, FRONTS, "front")
        depth = of_kind(depth or DepthState(), DepthState, "depth")
        self.depth = replace(depth, write=bool(depth.write))
        self.blend = of_kind(blend, BlendState, "blend") if blend else None
        self.stencil = _side(stencil or StencilSide())
        self.back_stencil = _side(back_stencil or self.stencil)
        check_tests(self.depth, self.stencil, self.back_stencil)
        check_blend(self.blend)
        if set(color_mask) - set(ALL_CHANNELS):
            raise UsageError(f"color_mask has letters of {ALL_CHANNELS}, not {color_mask!r}")
        self.color_mask = sum(1 << number for number, channel in enumerate(ALL_CHANNELS) if channel in color_mask)


def _side(side: StencilSide) -> StencilSide:
    """Its numbers are Python's, whatever a script gave."""
    names = ("reference", "read_mask", "write_mask")
    of_kind(side, StencilSide, "stencil")
    return replace(side, **{name: integer(getattr(side, name), f"a stencil's {name}") for name in names})


def _of_stage(kernel: Kernel, stage: str) -> ShaderFacts:
    facts = shader_facts(of_kind(kernel, Kernel, f"a {stage} shader"))
    if facts.stage != stage:
        raise UsageError(f"{kernel.name} is a {facts.stage} shader, and a {stage} shader is wanted")
    return facts
