"""Frames of different character: what bounds a draw differs from one to the next.

    FRAMES[name](painter, size) ─> the target with the picture

A painter draws: on gpuprof here, by Mesa in glsl.py. `size` is the picture's side in pixels, and the number of
triangles grows with it. All is made by code and the same each time. Coordinates are multiples of 1/256 pixel where a
vertex shader leaves them as they are.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np

from gpuprof.device.graphics_state.draw_state import BlendState, DepthState, Tessellation
from gpuprof.graphics.frame import Frame
from gpuprof.graphics.pipeline import ADD, ALPHA, LESS, Pipeline
from tests.draws.scene import on_grid, vertices
from tests.paths import ROOT

NO_DEPTH = DepthState()
QUADS = Tessellation(4, "quads")
SQUARE = np.uint16([0, 1, 2, 0, 2, 3])


class Draw(NamedTuple):
    """Shaders by name, and their uniforms by name, in the order of the kernels' parameters."""

    vertex: str = "placed"
    pixel: str | None = "tinted"
    geometry: str | None = None
    hull: str | None = None
    domain: str | None = None
    vertex_uniforms: Mapping[str, Any] = {}
    pixel_uniforms: Mapping[str, Any] = {}
    geometry_uniforms: Mapping[str, Any] = {}
    hull_uniforms: Mapping[str, Any] = {}
    domain_uniforms: Mapping[str, Any] = {}
    depth: DepthState = NO_DEPTH
    blend: BlendState | None = None
    cull: str = "none"


class Painter(Protocol):
    def target(self, size: int, *, format: str | None = "rgba8", samples: int = 1) -> Any:
        """A cleared target with a depth target; without colors where format is None."""

    def buffer(self, array: np.ndarray) -> Any:
        """Vertices or indices, as `draw` takes them."""

    def texture(self, levels: list[np.ndarray]) -> Any:
        """uint8 (size, size, 4) each, the largest first; repeated, with linear filters."""

    def picture_of(self, target: Any) -> Any:
        """What was drawn, as a texture that is clamped, without a filter."""

    def depths_of(self, target: Any) -> Any: ...

    def commands(self, target: Any, name: str) -> Any:
        """A command buffer."""

    def draw(self, target: Any, draw: Draw, vertices: Any, indices: Any = None) -> Any: ...


class OnGpuprof:
    """Draws on a Device; `counts` are those of each draw. `one_by_one`: the host waits for each draw."""

    def __init__(self, gpu: Any, one_by_one: bool = False):
        self.gpu, self.shaders, self.counts = gpu, gpu.load(ROOT / "tests/draws/frames.cu"), []
        self.one_by_one = one_by_one

    def target(self, size: int, *, format: str | None = "rgba8", samples: int = 1) -> Frame:
        frame = Frame(self.gpu, size, size, formats=(format,) if format else (), samples=samples)
        frame.clear()
        return frame

    def buffer(self, array: np.ndarray) -> Any:
        return self.gpu.to_device(array)

    def texture(self, levels: list[np.ndarray]) -> Any:
        return self.gpu.texture(levels, "2d", filter="linear", mip_filter="linear", address="wrap", normalized=True,
                                read="normalized")  # fmt: skip

    def picture_of(self, target: Frame) -> Any:
        return self.gpu.texture(target.resolved(), "2d", normalized=True, read="normalized")

    def depths_of(self, target: Frame) -> Any:
        return self.gpu.texture(target.depth, normalized=True)

    def commands(self, target: Frame, name: str) -> Any:
        return target.commands(name)

    def draw(self, target: Frame, draw: Draw, vertices: Any, indices: Any = None) -> None:
        names = {stage: getattr(draw, stage) for stage in ("vertex", "hull", "domain", "geometry", "pixel")}
        kernels = {stage: name and self.shaders[name] for stage, name in names.items()}
        state = {"depth": draw.depth, "blend": draw.blend, "cull": draw.cull}
        if draw.hull:
            state |= {"topology": "patches", "tessellation": QUADS}
        uniforms = {stage: tuple(getattr(draw, f"{stage}_uniforms").values()) for stage in names}
        self.counts.append(target.draw(Pipeline(**kernels, **state), vertices, indices, **uniforms))
        if self.one_by_one:
            self.gpu.synchronize()


def squares(places: np.ndarray, size: int, depths: Any, colors: Any, uv: Any = ((0, 0), (1, 0), (1, 1), (0, 1))):
    """Vertices of rectangles, (n, 4): left, upper, right and lower side in pixels. depths, colors: of each."""
    n = len(places)
    left, upper, right, lower = np.asarray(places, np.float64).T
    corners = np.stack([left, upper, right, upper, right, lower, left, lower], 1).reshape(-1, 2)
    each = [np.repeat(np.broadcast_to(value, (n, *shape)), 4, 0) for value, shape in ((depths, ()), (colors, (4,)))]
    return vertices(on_grid(corners, size, size, each[0]), each[1], np.tile(uv, (n, 1)))


def indices_of_squares(n: int) -> np.ndarray:
    return (4 * np.arange(n)[:, None] + SQUARE).ravel().astype(np.uint32)


def mesh(n: int, size: int, margin: float = 0) -> tuple[np.ndarray, np.ndarray]:
    """2 * n * n triangles over the picture, waves in depth; no w is equal."""
    across = np.floor(np.linspace(margin, size - margin, n + 1) * 256) / 256
    x, y = np.meshgrid(across, across)
    z = 0.5 + 0.2 * np.sin(9 * x / size) * np.cos(7 * y / size)
    k = np.arange(n * n)
    i = k // n * (n + 1) + k % n
    indices = np.stack([i, i + 1, i + n + 1, i + 1, i + n + 2, i + n + 1], 1).ravel().astype(np.uint32)
    colors = np.stack([x / size, y / size, z, np.ones_like(z)], 2).reshape(-1, 4)
    places = np.stack([x.ravel(), y.ravel()], 1)
    uv = places / size
    return vertices(on_grid(places, size, size, z.ravel(), 1 + z.ravel()), colors, uv), indices


def checkers(size: int = 128) -> list[np.ndarray]:
    """A smooth picture and its mipmap levels."""
    x, y = np.meshgrid(np.arange(size), np.arange(size))
    turns = 2 * np.pi / size
    waves = [np.sin(turns * (x * a + y * b)) for a, b in ((2, 1), (1, 3), (3, -2))]
    levels = [np.floor(127.5 + 64 * np.stack([*waves, np.ones_like(x)], 2)).astype(np.uint8)]
    while levels[-1].shape[0] > 1:
        fine = levels[-1].astype(np.float64)
        coarse = (fine[::2, ::2] + fine[1::2, ::2] + fine[::2, 1::2] + fine[1::2, 1::2]) / 4
        levels.append(np.floor(coarse + 0.5).astype(np.uint8))
    return levels


class Brush:
    """What frames have in common: a backdrop, and squares of the picture's size."""

    def __init__(self, painter: Painter, target: Any, size: int):
        self.painter, self.target, self.size = painter, target, size
        self.indices = painter.buffer(SQUARE)

    def cover(self, draw: Draw, color: Any = (1, 1, 1, 1), depth: float = 0.95, uv: float = 1) -> None:
        """A square of the whole picture; its coordinates of a texture go from 0 to `uv`."""
        corners = [(0, 0), (uv, 0), (uv, uv), (0, uv)]
        given = squares([(0, 0, self.size, self.size)], self.size, depth, color, corners)
        given[:, 4:7] *= [[1], [0.75], [0.5], [0.25]]  # darker from corner to corner
        self.painter.draw(self.target, draw, self.painter.buffer(given), self.indices)

    def backdrop(self) -> None:
        with self.painter.commands(self.target, "backdrop"):
            self.cover(Draw(depth=LESS), (0.2, 0.3, 0.4, 1))


def vertex_bound(painter: Painter, size: int) -> Any:
    """A vertex shader at length; most triangles lie between the middles of pixels."""
    target = painter.target(size)
    given, indices = map(painter.buffer, mesh(size, size, 0.375 * size))
    Brush(painter, target, size).backdrop()
    with painter.commands(target, "waves"):
        for steps in (32, 48):
            draw = Draw("waved", depth=DepthState("lequal", True), vertex_uniforms={"steps": steps})
            painter.draw(target, draw, given, indices)
    return target


def fill_bound(painter: Painter, size: int) -> Any:
    """Large squares of a simple shader, added up in a target of halves."""
    target = painter.target(size, format="rgba16f")
    brush = Brush(painter, target, size)
    with painter.commands(target, "fog"):
        for k in range(4):
            brush.cover(Draw(blend=ADD), (0.25, 0.125 * k, 0.0625, 0.25))
    return target


def tiny_triangles(painter: Painter, size: int) -> Any:
    target = painter.target(size)
    given, indices = map(painter.buffer, mesh(size // 2, size))
    Brush(painter, target, size).backdrop()
    with painter.commands(target, "terrain"):
        painter.draw(target, Draw(depth=LESS), given, indices)
    return target


def overdraw(painter: Painter, size: int) -> Any:
    """Layers from back to front: each pixel is shaded for each of them."""
    target = painter.target(size)
    brush = Brush(painter, target, size)
    for name, depths in (("far", (0.9, 0.8, 0.7, 0.6)), ("near", (0.5, 0.4, 0.3, 0.2))):
        with painter.commands(target, name):
            for depth in depths:
                brush.cover(Draw(depth=LESS), (depth, 1 - depth, 0.5, 1), depth)
    return target


def alpha(painter: Painter, size: int) -> Any:
    """Soft spots over each other; what is outside of a spot is discarded."""
    target, rng, n = painter.target(size), np.random.default_rng(5), size
    brush = Brush(painter, target, size)
    corners = np.floor(rng.uniform(-8, size - 8, (n, 2)) * 256) / 256
    side = rng.integers(8, 24, (n, 1))
    colors = np.concatenate([rng.random((n, 3)), np.full((n, 1), 0.75)], 1)
    spots = squares(np.concatenate([corners, corners + side], 1), size, rng.uniform(0.1, 0.9, n), colors)
    spots, indices = painter.buffer(spots), painter.buffer(indices_of_squares(n))
    brush.backdrop()
    with painter.commands(target, "spots"):
        painter.draw(target, Draw(pixel="spotted", depth=DepthState("less"), blend=ALPHA), spots, indices)
    return target


def state_changes(painter: Painter, size: int) -> Any:
    """Many draws of few triangles, no two in a row with the same state."""
    target, rng = painter.target(size), np.random.default_rng(6)
    brush, picture = Brush(painter, target, size), painter.texture(checkers(32))
    pixels = ({"pixel": "tinted"}, {"pixel": "pictured", "pixel_uniforms": {"picture": picture}})
    states = ({"depth": LESS}, {"blend": ALPHA}, {"cull": "back"})
    indices = painter.buffer(indices_of_squares(4))
    brush.backdrop()
    for part in range(4):
        with painter.commands(target, f"props {part + 1}"):
            for number in range(size // 8):
                corners = np.floor(rng.uniform(0, 0.875 * size, (4, 2)))
                colors = np.concatenate([rng.random((4, 3)), np.full((4, 1), 0.5)], 1)
                places = np.concatenate([corners, corners + size // 8], 1)
                given = painter.buffer(squares(places, size, rng.uniform(0.1, 0.9, 4), colors))
                draw = Draw(**pixels[number % 2], **states[number % 3])
                painter.draw(target, draw, given, indices)
    return target


def shadow(painter: Painter, size: int) -> Any:
    """Depths as the light sees them, then the picture."""
    depths, target = painter.target(size, format=None), painter.target(size)
    models = []
    for margin in (0, size // 4):
        given, indices = mesh(size // 4, size, margin)
        given[:, :4] /= given[:, 3:4]  # both views are parallel
        models.append((painter.buffer(given), painter.buffer(indices)))
    # the light stands a little to the side
    light = np.float32([[0.8, 0, 0.2, -0.1], [0, 0.8, 0.1, 0], [0, 0, 0.6, 0.3], [0, 0, 0, 1]])
    with painter.commands(depths, "shadows"):
        for model in models:
            painter.draw(depths, Draw("lighted", None, depth=LESS, vertex_uniforms={"light": light}), *model)
    map_of_depths = painter.depths_of(depths)
    Brush(painter, target, size).backdrop()
    with painter.commands(target, "picture"):
        for model in models:
            lit = Draw(
                "seen",
                "shadowed",
                depth=LESS,
                vertex_uniforms={"light": light},
                pixel_uniforms={"depths": map_of_depths},
            )
            painter.draw(target, lit, *model)
    return target


def geometry_amplified(painter: Painter, size: int) -> Any:
    """Three squares for each triangle."""
    target = painter.target(size)
    given, indices = map(painter.buffer, mesh(size // 8, size))
    Brush(painter, target, size).backdrop()
    with painter.commands(target, "grass"):
        draw = Draw(geometry="scattered", depth=LESS, geometry_uniforms={"reach": 4 / size})
        painter.draw(target, draw, given, indices)
    return target


def tessellated(painter: Painter, size: int) -> Any:
    """Few patches that become many triangles."""
    target = painter.target(size)
    across = np.arange(0, size, size // 4)
    x, y = (each.ravel() for each in np.meshgrid(across, across))
    # u to the right and v upwards
    corners = np.stack([x, y + size // 4, x + size // 4, y + size // 4, x + size // 4, y, x, y], 1).reshape(-1, 2)
    patches = painter.buffer(vertices(on_grid(corners, size, size)))
    Brush(painter, target, size).backdrop()
    with painter.commands(target, "hills"):
        uniforms = {"hull_uniforms": {"level": size / 8}, "domain_uniforms": {"height": 0.125}}
        painter.draw(target, Draw(hull="leveled", domain="hilly", depth=LESS, **uniforms), patches)
    return target


def multi_sampled(painter: Painter, size: int) -> Any:
    """Four samples a pixel, and rims everywhere."""
    target, rng = painter.target(size, samples=4), np.random.default_rng(8)
    n = 2 * size
    middles = rng.uniform(0, size, (n, 1, 2))
    places = np.clip(middles + rng.uniform(-12, 12, (n, 3, 2)), 0, size)
    places = np.floor(places * 256).reshape(-1, 2) / 256
    colors = np.repeat(np.concatenate([rng.random((n, 3)), np.ones((n, 1))], 1), 3, 0)
    given = painter.buffer(vertices(on_grid(places, size, size, np.repeat(rng.random(n), 3)), colors))
    Brush(painter, target, size).backdrop()
    with painter.commands(target, "shards"):
        painter.draw(target, Draw(depth=LESS), given)
    return target


def texture_bound(painter: Painter, size: int) -> Any:
    """Eight samples of a texture with levels for each pixel."""
    target, picture = painter.target(size), painter.texture(checkers())
    brush = Brush(painter, target, size)
    with painter.commands(target, "ground"):
        brush.cover(Draw(pixel="mixed", pixel_uniforms={"picture": picture}), uv=1.5)
    with painter.commands(target, "wall"):
        brush.cover(Draw(pixel="mixed", blend=ADD, pixel_uniforms={"picture": picture}), uv=0.75)
    return target


def pixel_bound(painter: Painter, size: int) -> Any:
    """Much arithmetic for each pixel."""
    target = painter.target(size)
    brush = Brush(painter, target, size)
    for name, steps in (("sky", 24), ("sea", 40)):
        with painter.commands(target, name):
            brush.cover(Draw(pixel="pondered", pixel_uniforms={"steps": steps}))
    return target


def post_processing(painter: Painter, size: int) -> Any:
    """A picture that is blurred along both sides and toned, each into the next target."""
    first, second, third, last = (painter.target(size) for _ in range(4))
    given, indices = map(painter.buffer, mesh(size // 8, size))
    with painter.commands(first, "picture"):
        painter.draw(first, Draw(depth=LESS), given, indices)
    blurs = ((first, second, "blur right", (1 / size, 0.0)), (second, third, "blur down", (0.0, 1 / size)))
    for source, target, name, (right, down) in blurs:
        uniforms = {"picture": painter.picture_of(source), "right": right, "down": down}
        with painter.commands(target, name):
            Brush(painter, target, size).cover(Draw(pixel="blurred", pixel_uniforms=uniforms))
    picture = painter.picture_of(third)
    with painter.commands(last, "tone"):
        Brush(painter, last, size).cover(Draw(pixel="toned", pixel_uniforms={"picture": picture}))
    return last


def depth_first(painter: Painter, size: int) -> Any:
    """Depths of all triangles, then the colors of what is in front."""
    target = painter.target(size)
    given, indices = map(painter.buffer, mesh(size, size))
    with painter.commands(target, "depths"):
        painter.draw(target, Draw(pixel=None, depth=LESS), given, indices)
    with painter.commands(target, "colors"):
        painter.draw(target, Draw(depth=DepthState("lequal", False)), given, indices)
    return target


def smoke(painter: Painter, size: int) -> Any:
    """Large soft squares over each other in one draw, with four samples a pixel."""
    target, rng, n = painter.target(size, samples=4), np.random.default_rng(9), 24
    brush = Brush(painter, target, size)
    corners = np.floor(rng.uniform(0, size / 2, (n, 2)) * 256) / 256
    colors = np.concatenate([rng.random((n, 3)), np.full((n, 1), 0.125)], 1)
    puffs = squares(np.concatenate([corners, corners + size // 2], 1), size, 0.5, colors)
    puffs, indices = painter.buffer(puffs), painter.buffer(indices_of_squares(n))
    brush.backdrop()
    with painter.commands(target, "smoke"):
        painter.draw(target, Draw(blend=ALPHA), puffs, indices)
    return target


# Of a box the corners of each side, clockwise as they are seen from outside. Corners 0 to 3 are near, 4 to 7 far.
SIDES = np.array([[0, 1, 2, 3], [4, 5, 1, 0], [1, 5, 6, 2], [5, 4, 7, 6], [3, 2, 6, 7], [4, 0, 3, 7]])


def boxes(painter: Painter, size: int) -> Any:
    """Boxes with a picture on their sides, of which half are turned away."""
    target, rng, n = painter.target(size), np.random.default_rng(10), 8 * size
    brush, picture = Brush(painter, target, size), painter.texture(checkers(64))
    side = rng.integers(4, 12, (n, 1, 1))
    near = np.floor(rng.uniform(0, size - 16, (n, 1, 2))) + side * np.array([[0, 0], [1, 0], [1, 1], [0, 1]])
    places = np.concatenate([near, near + np.array([2, -2])], 1).reshape(-1, 2)
    depths = (rng.uniform(0.1, 0.8, (n, 1)) + np.repeat([0, 0.1], 4)).ravel()
    uv = np.tile([(0, 0), (1, 0), (1, 1), (0, 1)], (2 * n, 1))
    given = painter.buffer(vertices(on_grid(places, size, size, depths), (1, 1, 1, 1), uv))
    indices = (8 * np.arange(n)[:, None, None] + SIDES[:, SQUARE]).ravel().astype(np.uint32)
    brush.backdrop()
    with painter.commands(target, "city"):
        draw = Draw(pixel="pictured", depth=LESS, cull="back", pixel_uniforms={"picture": picture})
        painter.draw(target, draw, given, painter.buffer(indices))
    return target


def large_target(painter: Painter, size: int) -> Any:
    """Squares of the whole picture, in a target of halves that is larger than most L2s."""
    target = painter.target(size, format="rgba16f")
    brush = Brush(painter, target, size)
    with painter.commands(target, "sky"):
        brush.cover(Draw(depth=LESS), (0.25, 0.5, 1, 1))
    with painter.commands(target, "haze"):
        brush.cover(Draw(blend=ADD), (0.125, 0.125, 0.125, 0))
    return target


def landscape(painter: Painter, size: int) -> Any:
    """Thousands of waves of vertices: of small triangles, and of some with much work for each pixel."""
    target = painter.target(size)
    with painter.commands(target, "ground"):
        painter.draw(target, Draw(depth=LESS), *map(painter.buffer, mesh(size // 2, size)))
    with painter.commands(target, "lake"):
        lake = Draw(pixel="pondered", depth=DepthState("always", True), pixel_uniforms={"steps": 24})
        painter.draw(target, lake, *map(painter.buffer, mesh(size // 4, size, size / 4)))
    return target


def crowd(painter: Painter, size: int) -> Any:
    """Large triangles over each other, between two squares of the whole picture, in a large target of halves."""
    target, rng, n = painter.target(size, format="rgba16f"), np.random.default_rng(11), 48
    brush = Brush(painter, target, size)
    places = rng.uniform(0, 0.75 * size, (n, 1, 2)) + size * np.array([[0, 0.25], [0.125, 0], [0.25, 0.25]])
    places = np.floor(places * 256).reshape(-1, 2) / 256
    colors = np.repeat(np.concatenate([rng.random((n, 3)), np.ones((n, 1))], 1), 3, 0)
    given = painter.buffer(vertices(on_grid(places, size, size, np.repeat(rng.random(n), 3)), colors))
    brush.backdrop()
    with painter.commands(target, "crowd"):
        painter.draw(target, Draw(pixel="pondered", depth=LESS, pixel_uniforms={"steps": 4}), given)
    with painter.commands(target, "cover"):
        brush.cover(Draw())
    return target


# name -> the frame, and a size whose timing takes a second or some
FRAMES: dict[str, tuple[Callable[[Painter, int], Any], int]] = {
    "vertex_bound": (vertex_bound, 96),
    "fill_bound": (fill_bound, 256),
    "tiny_triangles": (tiny_triangles, 160),
    "overdraw": (overdraw, 160),
    "alpha": (alpha, 160),
    "state_changes": (state_changes, 96),
    "shadow": (shadow, 128),
    "geometry_amplified": (geometry_amplified, 128),
    "tessellated": (tessellated, 128),
    "multi_sampled": (multi_sampled, 128),
    "texture_bound": (texture_bound, 160),
    "pixel_bound": (pixel_bound, 160),
    "post_processing": (post_processing, 128),
    "depth_first": (depth_first, 64),
    "smoke": (smoke, 128),
    "boxes": (boxes, 96),
    "large_target": (large_target, 1280),
    "landscape": (landscape, 384),
    "crowd": (crowd, 1280),
}


def draw_frame(gpu: Any, name: str, size: int | None = None, one_by_one: bool = False) -> Frame:
    """Draws one of FRAMES on a Device, as one task of its name."""
    draw, usual = FRAMES[name]
    painter = OnGpuprof(gpu, one_by_one)
    with gpu.task(name):
        return draw(painter, size or usual)
