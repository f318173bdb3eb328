"""Draws the frames of frames.py by Mesa. Each shader of frames.cu has its twin here, of the same name."""

from contextlib import nullcontext
from typing import Any

import numpy as np

from gpuprof.graphics.pipeline import ADD, ALPHA
from tests.draws import mesa
from tests.draws.frames import Draw

HEAD = "#version 450\n"
# Rows are turned: y upwards becomes downwards.
VERTEX = (
    HEAD
    + """
in vec4 position; in vec4 color; in vec2 uv;
out vec4 tint; out vec2 at;
vec4 turned(vec4 p) { return vec4(p.x, -p.y, p.zw); }
"""
)
PIXEL = HEAD + "layout(location = 0) in vec4 tint; layout(location = 1) in vec2 at; out vec4 color;\n"
VERTEX = VERTEX.replace("out vec4", "layout(location = 0) out vec4").replace(
    "out vec2", "layout(location = 1) out vec2"
)
TWINS = {
    "placed": VERTEX + "void main() { gl_Position = turned(position); tint = color; at = uv; }",
    "waved": VERTEX
    + """uniform int steps;
void main() {
    gl_Position = turned(position); tint = color; at = uv;
    float x = position.x, y = position.y, sum = 0;
    for (int k = 0; k < steps; k++) { x = .5 * x + .3 * y + .1; y = .4 * y - .25 * x + .05; sum += x * y; }
    tint.x += sum;
}""",
    "seen": VERTEX
    + """uniform mat4 light;
void main() {
    vec4 there = light * position;
    gl_Position = turned(position); tint = vec4(color.rgb, there.z); at = vec2(.5 + .5 * there.x, .5 - .5 * there.y);
}""",
    "lighted": VERTEX
    + "uniform mat4 light; void main() { gl_Position = turned(light * position); tint = color; at = uv; }",
    "leveled": HEAD
    + """
layout(vertices = 4) out; uniform float levels[6];
void main() {
    gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position;
    for (int k = 0; k < 4; k++) gl_TessLevelOuter[k] = levels[k];
    for (int k = 0; k < 2; k++) gl_TessLevelInner[k] = levels[4 + k];
}""",
    "hilly": HEAD
    + """
layout(quads, equal_spacing, ccw) in;
layout(location = 0) out vec4 tint; layout(location = 1) out vec2 at;
uniform float height;
void main() {
    at = gl_TessCoord.xy;
    vec4 a = gl_in[0].gl_Position, b = gl_in[1].gl_Position, c = gl_in[2].gl_Position, d = gl_in[3].gl_Position;
    float hill = 16 * at.x * (1 - at.x) * at.y * (1 - at.y);
    vec2 lower = a.xy + (b.xy - a.xy) * at.x, upper = d.xy + (c.xy - d.xy) * at.x;
    gl_Position = vec4(lower + (upper - lower) * at.y - vec2(0, height * hill), a.z - .25 * hill, 1);
    tint = vec4(at, hill, 1);
}""",
    "scattered": HEAD
    + """
layout(triangles) in; layout(triangle_strip, max_vertices = 12) out;
layout(location = 0) in vec4 tint[3]; layout(location = 1) in vec2 at[3];
layout(location = 0) out vec4 tint_out; layout(location = 1) out vec2 at_out;
uniform float reach;
void main() {
    vec4 a = gl_in[0].gl_Position, b = gl_in[1].gl_Position, c = gl_in[2].gl_Position;
    vec2 middle = (a.xy + b.xy + c.xy) / 3;
    for (int square = 0; square < 3; square++) {
        for (int k = 0; k < 4; k++) {
            float right = (square - 1) * 2 + (k & 1), up = (square & 1) + (k >> 1);
            gl_Position = vec4(middle + vec2(right, -up) * reach, a.z, 1);
            tint_out = tint[square]; at_out = at[square];
            EmitVertex();
        }
        EndPrimitive();
    }
}""",
    "tinted": PIXEL + "void main() { color = tint; }",
    "pondered": PIXEL
    + """uniform int steps;
void main() {
    float x = at.x, y = at.y, sum = 0;
    for (int k = 0; k < steps; k++) { x = .5 * x + .3 * y + .1; y = .4 * y - .25 * x + .05; sum += x * y; }
    color = vec4(tint.x, tint.y + sum, tint.zw);
}""",
    "spotted": PIXEL
    + """
void main() {
    float x = 2 * at.x - 1, y = 2 * at.y - 1, inside = 1 - x * x - y * y;
    if (inside < 0) discard;
    color = vec4(tint.rgb, tint.a * inside);
}""",
    "pictured": PIXEL + "uniform sampler2D picture; void main() { color = texture(picture, at); }",
    "mixed": PIXEL
    + """uniform sampler2D picture;
void main() {
    color = vec4(0);
    for (int k = 0; k < 8; k++) {
        color += texture(picture, vec2(at.x * (1 + .25 * k) + .125 * k, at.y * (1 + .25 * k))) * .125;
    }
}""",
    "shadowed": PIXEL
    + """uniform sampler2D depths;
void main() { color = vec4(tint.rgb * (tint.w > textureLod(depths, at, 0).x + .01 ? .25 : 1), 1); }""",
    "blurred": PIXEL
    + """uniform sampler2D picture; uniform float right, down;
void main() {
    const float weights[5] = {.0625, .25, .375, .25, .0625};
    color = vec4(0);
    for (int k = 0; k < 5; k++) color += textureLod(picture, at + (k - 2) * vec2(right, down), 0) * weights[k];
}""",
    "toned": PIXEL
    + """uniform sampler2D picture;
void main() {
    vec2 from = at - .5;
    color = vec4(sqrt(textureLod(picture, at, 0).rgb) * (1 - .5 * dot(from, from)), 1);
}""",
}
NOTHING = HEAD + "void main() {}"
DTYPES = {None: None, "rgba8": "f1", "rgba16f": "f2"}
ONE, SRC_ALPHA, MINUS_SRC_ALPHA, FUNC_ADD = 1, 0x302, 0x303, 0x8006
BLENDS = {
    None: None,
    ADD: ((ONE, ONE, ONE, ONE), FUNC_ADD),
    ALPHA: ((SRC_ALPHA, MINUS_SRC_ALPHA, ONE, MINUS_SRC_ALPHA), FUNC_ADD),
}


class OnMesa:
    """A Painter (frames.py). `queries` are the results of each draw."""

    def __init__(self) -> None:
        self.gl, self.queries = mesa.context(), []

    def target(self, size: int, *, format: str | None = "rgba8", samples: int = 1) -> mesa.Canvas:
        canvas = mesa.Canvas(size, size, DTYPES[format], samples)
        canvas.clear()
        return canvas

    def buffer(self, array: np.ndarray) -> np.ndarray:
        return array

    def texture(self, levels: list[np.ndarray]) -> Any:
        texture = self.gl.texture(levels[0].shape[:2], 4)
        texture.build_mipmaps()
        for number, level in enumerate(levels):
            texture.write(level.tobytes(), level=number)
        texture.filter = (self.gl.LINEAR_MIPMAP_LINEAR, self.gl.LINEAR)
        return texture

    def picture_of(self, target: mesa.Canvas) -> Any:
        return self._clamped(target.color)

    def depths_of(self, target: mesa.Canvas) -> Any:
        target.depth.compare_func = ""
        return self._clamped(target.depth)

    def _clamped(self, texture: Any) -> Any:
        texture.filter = (self.gl.NEAREST, self.gl.NEAREST)
        texture.repeat_x = texture.repeat_y = False
        return texture

    def commands(self, target: mesa.Canvas, name: str) -> Any:
        return nullcontext()

    def draw(self, target: mesa.Canvas, draw: Draw, vertices: Any, indices: Any = None) -> None:
        uniforms = {**draw.vertex_uniforms, **draw.pixel_uniforms, **draw.geometry_uniforms, **draw.domain_uniforms}
        textures = [name for name, value in uniforms.items() if hasattr(value, "use")]
        found = target.draw(
            vertices,
            indices,
            vertex=TWINS[draw.vertex],
            pixel=TWINS[draw.pixel] if draw.pixel else NOTHING,
            geometry=TWINS[draw.geometry] if draw.geometry else None,
            uniforms=uniforms | {name: number for number, name in enumerate(textures)},
            compare=None if draw.depth.compare == "always" else draw.depth.compare,
            write=draw.depth.write,
            cull=draw.cull,
            blend=BLENDS[draw.blend],
            textures=[uniforms[name] for name in textures],
            topology="patches" if draw.hull else "triangles",
            patch=(4, TWINS[draw.hull], TWINS[draw.domain], [draw.hull_uniforms["level"]] * 6) if draw.hull else None,
            queries=(mesa.SAMPLES_PASSED, mesa.PRIMITIVES_SUBMITTED),
        )
        self.queries.append((found[mesa.PRIMITIVES_SUBMITTED], found[mesa.SAMPLES_PASSED]))
