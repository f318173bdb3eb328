"""The scene of samples/: two passes with a shadow map, a texture with levels, four samples a pixel. Its hills: patches
that are cut and moved.
"""

import importlib.util

import numpy as np
import pytest

from tests.draws import mesa
from tests.draws.scene import gpu
from tests.paths import ROOT


def sample(name="scene"):
    spec = importlib.util.spec_from_file_location(name, ROOT / f"samples/{name}/{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_sample_draws_a_picture():
    """A coarse model: the sky is as cleared, the knot's shadow lies on the ground beside light."""
    scene = sample()
    frame, counts = scene.draw(gpu(), 64, 48, 1, [scene.knot(40, 12), scene.ground()])
    pixels = frame.pixels()
    assert [each.primitives for each in counts] == [960, 128, 960, 128]
    assert [each.written > 0 for each in counts] == [False, False, True, True]
    assert pixels[:10].reshape(-1, 4).tolist() == [[153, 191, 230, 255]] * 640
    ground = pixels[30:].reshape(-1, 4)[:, 2]
    assert ground.min() < 45 and np.percentile(ground, 90) > 100


def test_the_sample_draws_hills():
    """Of 16 patches, near ones are cut finer; no gap between two shows the sky through a hill."""
    frame, counts = sample("hills").draw(gpu(), 64, 40, 4, 12.0)
    assert (counts.indices, counts.vertices, counts.primitives, counts.hull_waves) == (64, 25, 16, 2)
    assert counts.domain_waves == -(-counts.domain_vertices // 32)
    assert 16 * 8 < counts.tessellated == counts.scanned + counts.culled + counts.without_area + counts.rejected
    hills = (frame.pixels() != [153, 191, 230, 255]).any(2)
    ends = np.diff(hills.astype(int), axis=0)
    assert hills.any(0).sum() > 55
    assert (np.abs(ends).sum(0) <= 2).all()


SHADOW = """
#version 450
in vec3 position; uniform mat4 light;
void main() { vec4 p = light * vec4(position, 1); gl_Position = vec4(p.x, -p.y, p.zw); }
"""
NOTHING = "#version 450\nvoid main() {}"
TRANSFORM = """
#version 450
in vec3 position, normal; in vec2 uv; uniform mat4 camera, light;
out vec3 n, to_light; out vec2 at;
void main() {
    vec4 p = camera * vec4(position, 1), seen = light * vec4(position, 1);
    gl_Position = vec4(p.x, -p.y, p.zw);
    n = normal; to_light = vec3(.5 + .5 * seen.x, .5 - .5 * seen.y, seen.z); at = uv;
}
"""
LIT = """
#version 450
in vec3 n, to_light; in vec2 at; uniform sampler2D picture, depths; uniform vec3 towards;
out vec4 color;
void main() {
    float seen = textureLod(depths, to_light.xy, 0).x;
    float light = to_light.z > seen + .004 ? 0 : max(dot(n, towards), 0) / length(n);
    color = vec4(texture(picture, at).rgb * (.25 + .75 * light), 1);
}
"""


def theirs(scene, width, height, samples):
    gl = mesa.context()
    models = [scene.knot(), scene.ground()]
    towards, light, camera = scene.view(width, height)
    buffers = [(gl.buffer(vertices.tobytes()), gl.buffer(indices.tobytes())) for vertices, indices in models]
    gl.disable(gl.CULL_FACE | gl.BLEND)
    gl.enable(gl.DEPTH_TEST)
    gl.depth_func = "<"

    def draw(vertex, pixel, layout, names, uniforms):
        program = gl.program(vertex_shader=vertex, fragment_shader=pixel)
        for name, value in uniforms.items():
            program[name].write(np.ascontiguousarray(value, np.float32).tobytes())
        for number, name in enumerate(("picture", "depths")):
            if name in program:
                program[name].value = number
        for buffer, elements in buffers:
            gl.vertex_array(program, [(buffer, layout, *names)], elements).render(gl.TRIANGLES)

    depths = gl.depth_texture((scene.SHADOW_SIZE,) * 2)
    depths.compare_func, depths.filter = "", (gl.NEAREST, gl.NEAREST)
    depths.repeat_x = depths.repeat_y = False
    target = gl.framebuffer([], depths)
    target.use()
    target.depth_mask, target.scissor = True, None
    target.clear(depth=1.0)
    draw(SHADOW, NOTHING, "3f 20x", ("position",), {"light": light.T})
    levels = scene.checkers()
    picture = gl.texture((256, 256), 4)
    picture.build_mipmaps()
    for number, level in enumerate(levels):
        picture.write(level.tobytes(), level=number)
    picture.filter = (gl.LINEAR_MIPMAP_LINEAR, gl.LINEAR)
    canvas = mesa.Canvas(width, height, "f1", samples)
    canvas.clear((0.6, 0.75, 0.9, 1))
    canvas.target.use()
    picture.use(0)
    depths.use(1)
    uniforms = {"camera": camera.T, "light": light.T, "towards": towards}
    draw(TRANSFORM, LIT, "3f 3f 2f", ("position", "normal", "uv"), uniforms)
    return canvas.pixels()


@pytest.mark.long
@pytest.mark.parametrize("samples", [1, 4])
def test_mesa_draws_the_same(samples):
    """A shadow's rim is a texel of the map: a pixel there may be light in one and dark in the other."""
    scene = sample()
    expected = theirs(scene, 320, 240, samples)
    frame, _ = scene.draw(gpu(), 320, 240, samples)
    difference = np.abs(frame.pixels().astype(int) - expected).max(2)
    assert (difference <= 2).mean() > 0.99
    assert (difference <= 12).mean() > 0.997
