"""Buffers, targets and fixed-function state of a draw, as plain values.

Words stand for choices; their place in these tuples is their number in the compiled stages.
"""

from dataclasses import dataclass

TOPOLOGIES = ("triangles", "triangle_strip", "triangle_fan")
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
)
BLEND_OPERATIONS = ("add", "subtract", "reverse_subtract", "min", "max")
CULLS = ("none", "front", "back")
FRONTS = ("ccw", "cw")
FORMATS = {"rgba8": 4, "rgba16f": 8, "rgba32f": 16}  # of color targets: bytes a sample
SAMPLES = (1, 4)
MOST_TARGETS = 8
MOST_EXTENT = 1 << 14  # pixels of a target's side, as in Direct3D 11


@dataclass(frozen=True)
class DepthState:
    """A sample passes where `its depth` COMPARE `the target's` holds."""

    compare: str = "always"
    write: bool = False


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
    """target = source x factor OPERATION target x factor, for the colors and for alpha."""

    color_operation: str = "add"
    source_color: str = "one"
    target_color: str = "zero"
    alpha_operation: str = "add"
    source_alpha: str = "one"
    target_alpha: str = "zero"


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
class DrawState:
    """The fixed-function stages of one draw. `blend` is of every color target; None writes colors as they are."""

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


@dataclass(frozen=True)
class Targets:
    """Where a draw writes. An address is 0 where there is no such target. All have the same extents and samples.

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
    of `index_nbytes` each.
    """

    vertices: int
    n_vertices: int
    indices: int
    n_indices: int
    index_nbytes: int
    instances: int = 1


DISCARDS, WRITES_DEPTH = 1, 2  # abilities, as in include/gpuprof/graphics.h
