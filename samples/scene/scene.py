"""Draws a textured, lit model of 50,000 triangles with its shadow: python scene.py [out.png [width height samples]]."""

import sys
from pathlib import Path

import numpy as np

import gpuprof
from gpuprof.graphics.frame import Frame
from gpuprof.graphics.pipeline import LESS, Pipeline

VERTEX = np.dtype([("position", np.float32, 3), ("normal", np.float32, 3), ("uv", np.float32, 2)])
SHADOW_SIZE = 1024


def grid(columns: int, rows: int) -> np.ndarray:
    """Indices of two triangles for each field of a grid of vertices."""
    x, y = np.meshgrid(np.arange(columns), np.arange(rows))
    corner, row = y * (columns + 1) + x, columns + 1
    corners = [corner, corner + row, corner + 1, corner + 1, corner + row, corner + row + 1]
    return np.stack(corners, -1).ravel().astype(np.uint32)


def knot(around: int = 278, along: int = 90) -> tuple[np.ndarray, np.ndarray]:
    """A tube along a trefoil knot: 2 * around * along triangles."""
    t, s = np.meshgrid(np.linspace(0, 2 * np.pi, around + 1), np.linspace(0, 2 * np.pi, along + 1))

    def curve(t):
        radius = 1 + 0.4 * np.cos(3 * t)
        return np.stack([radius * np.cos(2 * t), 0.5 * np.sin(3 * t), radius * np.sin(2 * t)], -1)

    forward = curve(t + 1e-4) - curve(t - 1e-4)
    forward /= np.linalg.norm(forward, axis=-1, keepdims=True)
    side = np.cross(forward, [0.0, 1.0, 0.0])
    side /= np.linalg.norm(side, axis=-1, keepdims=True)
    normal = side * np.cos(s)[..., None] + np.cross(side, forward) * np.sin(s)[..., None]
    vertices = np.zeros(t.shape, VERTEX)
    vertices["position"], vertices["normal"] = curve(t) + 0.22 * normal, normal
    vertices["uv"] = np.stack([t * 6 / np.pi, s / np.pi], -1)
    return vertices.ravel(), grid(around, along)


def ground() -> tuple[np.ndarray, np.ndarray]:
    x, z = np.meshgrid(np.linspace(-4, 4, 9), np.linspace(4, -4, 9))
    vertices = np.zeros(x.shape, VERTEX)
    vertices["position"], vertices["normal"] = np.stack([x, np.full_like(x, -0.8), z], -1), (0, 1, 0)
    vertices["uv"] = np.stack([x, z], -1)
    return vertices.ravel(), grid(8, 8)


def checkers(size: int = 256) -> list[np.ndarray]:
    """A picture and its mipmap levels."""
    x, y = np.meshgrid(np.arange(size), np.arange(size))
    light = ((x // 32 + y // 32) % 2)[..., None]
    levels = [(light * [230, 170, 90, 255] + (1 - light) * [70, 90, 160, 255]).astype(np.float64)]
    while levels[-1].shape[0] > 1:
        fine = levels[-1]
        levels.append((fine[::2, ::2] + fine[1::2, ::2] + fine[::2, 1::2] + fine[1::2, 1::2]) / 4)
    return [np.rint(level).astype(np.uint8) for level in levels]


def looking(eye, at) -> np.ndarray:
    """World to camera; the camera looks along z."""
    forward = np.subtract(at, eye) / np.linalg.norm(np.subtract(at, eye))
    right = np.cross([0, 1, 0], forward)
    right /= np.linalg.norm(right)
    turned = np.eye(4)
    turned[:3, :3] = right, np.cross(forward, right), forward
    turned[:3, 3] = -turned[:3, :3] @ eye
    return turned


def perspective(height: float, aspect: float, near: float, far: float) -> np.ndarray:
    scale = 1 / height
    depth = far / (far - near)
    return np.array([[scale / aspect, 0, 0, 0], [0, scale, 0, 0], [0, 0, depth, -near * depth], [0, 0, 1, 0]])


def orthographic(size: float, near: float, far: float) -> np.ndarray:
    return np.array([[1 / size, 0, 0, 0], [0, 1 / size, 0, 0], [0, 0, 1 / (far - near), -near / (far - near)], [0, 0, 0, 1]])


def view(width: int, height: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Towards the light; world to what it sees; world to clip space. All float32."""
    towards = np.array([0.5, 1, -0.4]) / np.linalg.norm([0.5, 1, -0.4])
    light = orthographic(4.5, 1, 12) @ looking(6 * towards, (0, 0, 0))
    camera = perspective(0.5, width / height, 0.1, 20) @ looking((1.6, 2.2, -3.6), (0, -0.1, 0))
    return towards.astype(np.float32), light.astype(np.float32), camera.astype(np.float32)


def draw(gpu, width: int = 640, height: int = 480, samples: int = 4, models=None):
    """The frame, and the counts of each draw. models: (vertices, indices) of each."""
    shaders = gpu.load(Path(__file__).with_name("scene.cu"))
    models = [tuple(map(gpu.to_device, model)) for model in models or (knot(), ground())]
    towards, light, camera = view(width, height)
    counts = []

    shadows = Frame(gpu, SHADOW_SIZE, SHADOW_SIZE, formats=())
    shadows.clear()
    with shadows.commands("shadow pass"):
        for vertices, indices in models:
            counts.append(shadows.draw(Pipeline(shaders.shadow, None, depth=LESS), vertices, indices, vertex=(light,)))

    picture = gpu.texture(
        checkers(), "2d", filter="linear", mip_filter="linear", address="wrap", normalized=True, read="normalized"
    )
    depths = gpu.texture(shadows.depth, normalized=True)
    frame = Frame(gpu, width, height, samples=samples)
    frame.clear((0.6, 0.75, 0.9, 1))
    pipeline = Pipeline(shaders.transform, shaders.lit, depth=LESS)
    uniforms = {"vertex": (camera, light), "pixel": (picture, depths, towards)}
    with frame.commands("picture"):
        for vertices, indices in models:
            counts.append(frame.draw(pipeline, vertices, indices, **uniforms))
    return frame, counts


if __name__ == "__main__":
    name, *sizes = sys.argv[1:] or ["out.png"]
    frame, counts = draw(gpuprof.Device("rtx3090"), *map(int, sizes))
    frame.save(name)
    for each in counts:
        print(f"{each.primitives:,} triangles, {each.passed:,} samples, {each.quads:,} quads")
