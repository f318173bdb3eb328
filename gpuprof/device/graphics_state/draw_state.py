"""Buffers, targets and fixed-function state of a draw, as plain values.

Choices are words; their index in these tuples is their number in the compiled stages.
"""

from dataclasses import dataclass
from typing import NamedTuple

from gpuprof.chips.draw_units import SHADER_STAGES

STAGES = SHADER_STAGES


class Topology(NamedTuple):
    """corners: of each primitive; shared: of these, those that it has of the one before."""

    corners: int
    shared: int = 0


TOPOLOGIES = {
    "points": Topology(1),
    "lines": Topology(2),
    "line_strip": Topology(2, 1),
    "line_loop": Topology(2, 1),
    "triangles": Topology(3),
    "triangle_strip": Topology(3, 2),
    "triangle_fan": Topology(3, 2),
    "lines_adjacency": Topology(4),
    "line_strip_adjacency": Topology(4, 3),
    "triangles_adjacency": Topology(6),
    "triangle_strip_adjacency": Topology(6, 4),
}
PATCHES = "patches"  # the topology of a tessellated draw; its Tessellation says how many corners a patch has
# Of primitives with neighbours, which only a geometry shader sees: the corners that are drawn.
DRAWN_CORNERS = {1: (0,), 2: (0, 1), 3: (0, 1, 2), 4: (1, 2), 6: (0, 2, 4)}
DOMAINS = ("triangles", "quads", "isolines")
SPACINGS = ("equal", "fractional_odd", "fractional_even")
MOST_POINTS = 32  # of a patch, as in Direct3D 11 and OpenGL 4
COMPARES = ("never", "less", "equal", "lequal", "greater", "notequal", "gequal", "always")
STENCIL_OPERATIONS = ("keep", "zero", "replace", "increment", "decrement", "invert", "increment_wrap", "decrement_wrap")
FACTORS = (
    "zero",
    "one",
    "source_color",
    "one_minus_source_color",
    "target_color",
    "one_minus_target_color",
    "source_alpha",
    "one_minus_source_alpha",
    "target_alpha",
    "one_minus_target_alpha",
    "constant_color",
    "one_minus_constant_color",
    "constant_alpha",
    "one_minus_constant_alpha",
    "source_alpha_saturate",
)
BLEND_OPERATIONS = ("add", "subtract", "reverse_subtract", "min", "max")
CULLS = ("none", "front", "back")
FRONTS = ("ccw", "cw")
PROVOKING = ("last", "first")
FORMATS = {"rgba8": 4, "rgba16f": 8, "rgba32f": 16}  # of color targets: bytes a sample
DEPTH_NBYTES, STENCIL_NBYTES = 4, 1  # of a sample: float32, uint8
SAMPLES = (1, 4)
ALL_SAMPLES = (1 << SAMPLES[-1]) - 1
MOST_TARGETS = 8
ALL_CHANNELS = 0xF
MOST_EXTENT = 1 << 14  # pixels of a target's side, as in Direct3D 11


@dataclass(frozen=True)
class DepthState:
    """A sample passes where `its depth` COMPARE `the target's` holds."""

    compare: str = "always"
    write: bool = False


@dataclass(frozen=True)
class DepthBias:
    """An addend to the depths of a triangle: `constant` steps of the least size that its largest depth can change by,
    and `slope` times its steepest change from one pixel to the next; no more than `limit`, if that is not 0 (Direct3D
    11.3 specification, 15.10; OpenGL 4.6, 14.6.5).
    """

    constant: float = 0.0
    slope: float = 0.0
    limit: float = 0.0


@dataclass(frozen=True)
class StencilSide:
    """The stencil test of one side of the triangles: `reference & read_mask` COMPARE `the target's & read_mask`."""

    compare: str = "always"
    reference: int = 0
    read_mask: int = 0xFF
    write_mask: int = 0xFF
    fail: str = "keep"
    depth_fail: str = "keep"
    passes: str = "keep"


@dataclass(frozen=True)
class BlendState:
    """target = source x factor OPERATION target x factor, for the colors and for alpha. constant: red, green, blue and
    alpha, of the factors that have its name.
    """

    color_operation: str = "add"
    source_color: str = "one"
    target_color: str = "zero"
    alpha_operation: str = "add"
    source_alpha: str = "one"
    target_alpha: str = "zero"
    constant: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Output:
    """How colors are written into a target. blend: None writes them as they are. color_mask: bit k: channel k is
    written.
    """

    blend: BlendState | None = None
    color_mask: int = ALL_CHANNELS


@dataclass(frozen=True)
class Viewport:
    """In pixels; clip space's -1 and 1 are its sides, y upwards. Depths 0 and 1 become near and far."""

    x: float
    y: float
    width: float
    height: float
    near: float = 0.0
    far: float = 1.0


@dataclass(frozen=True)
class Scissor:
    """Pixels outside of it stay as they are."""

    x: int
    y: int
    width: int
    height: int


@dataclass(frozen=True)
class Tessellation:
    """How patches are cut. points: vertices of a patch. domain: what it is cut into; spacing: how an edge is cut at a
    level; order: how its triangles go around in the domain, u to the right and v upwards. as_points: its vertices are
    drawn, as points.
    """

    points: int
    domain: str = "triangles"
    spacing: str = "equal"
    order: str = "ccw"
    as_points: bool = False


@dataclass(frozen=True)
class DrawState:
    """The fixed-function stages of one draw. `blend` and `color_mask`, as Output has them, are of every color target
    that `outputs` has no row for. point_size: a point's side, in pixels, where no shader gives one; line_width: in
    pixels. restarts: the largest index that there can be begins a new strip. provoking: which vertex of a primitive its
    flat varyings come from. depth_clamp: near and far plane cut nothing, and depths stay between the viewport's.
    sample_mask: bit s: sample s may be covered. alpha_to_coverage: the first color's alpha says how many samples are.
    """

    topology: str
    cull: str
    front: str
    viewport: Viewport
    scissor: Scissor
    depth: DepthState
    front_stencil: StencilSide
    back_stencil: StencilSide
    blend: BlendState | None
    color_mask: int  # bit k: channel k is written
    tessellation: Tessellation | None = None
    point_size: float = 1.0
    restarts: bool = False
    line_width: float = 1.0
    provoking: str = "last"
    depth_bias: DepthBias = DepthBias()
    depth_clamp: bool = False
    sample_mask: int = ALL_SAMPLES
    alpha_to_coverage: bool = False
    outputs: tuple[Output, ...] = ()

    def output(self, target: int) -> Output:
        return self.outputs[target] if target < len(self.outputs) else Output(self.blend, self.color_mask)


@dataclass(frozen=True)
class Targets:
    """The targets that a draw writes. An address is 0 where there is no such target. All have the same extents and
    samples.

    Sample s of pixel (x, y) has the index (y * width + x) * samples + s.
    """

    width: int
    height: int
    samples: int
    colors: tuple[int, ...]
    formats: tuple[str, ...]
    depth: int  # float32
    stencil: int  # uint8


@dataclass(frozen=True)
class Buffers:
    """vertices: the address of `n_vertices` structures. indices: an address, 0 for vertices in their order; n_indices
    of `index_nbytes` each. base_vertex: is added to each index. first_instance: the number of the first instance.
    indirect: the address of a record of which of them are drawn (INDIRECT, INDIRECT_INDEXED), or 0.
    """

    vertices: int
    n_vertices: int
    indices: int
    n_indices: int
    index_nbytes: int
    instances: int = 1
    base_vertex: int = 0
    first_instance: int = 0
    indirect: int = 0


# Fields of a record of a draw's numbers in device memory, 4 bytes each, as in OpenGL, Vulkan and Direct3D.
INDIRECT = ("count", "instances", "first", "first_instance")
INDIRECT_INDEXED = ("count", "instances", "first", "base_vertex", "first_instance")


@dataclass(frozen=True)
class Interface:
    """The inputs and outputs of a shader besides its parameters (gpuprof::shader_facts of graphics.h).

    words_in, words_out: of varyings, 4 bytes each. abilities: what else it does. flat: which words of a pixel shader's
    varyings are not interpolated, ascending. most_vertices: that a lane of a geometry shader makes. corners_in: of a
    geometry shader's primitives, or of a domain shader's patches. corners_out: of the patches that a hull shader gives,
    or of the primitives that a geometry shader makes. constant_words: of each patch.
    """

    stage: str
    words_in: int = 0
    words_out: int = 0
    abilities: int = 0
    most_vertices: int = 0
    corners_in: int = 0
    corners_out: int = 0
    constant_words: int = 0
    flat: tuple[int, ...] = ()

    @property
    def gives_point_size(self) -> bool:
        return self.abilities & POINT_SIZE != 0

    @property
    def clip_distances(self) -> int:
        """How many a vertex has."""
        return self.abilities // CLIP_DISTANCES

    @property
    def rows_out(self) -> int:
        """Words of a vertex in memory: varyings, then a point's size, then clip distances."""
        return self.words_out + self.gives_point_size + self.clip_distances


# Abilities, as in include/gpuprof/graphics.h; CLIP_DISTANCES times their number.
DISCARDS, WRITES_DEPTH, POINT_COORDINATES, POINT_SIZE, CLIP_DISTANCES = 1, 2, 4, 8, 16
MOST_CLIP_DISTANCES = 8
OF_PIXELS = DISCARDS | WRITES_DEPTH | POINT_COORDINATES
