"""Shaders and vertices that the tests share: position, color, coordinates of a texture."""

from functools import cache

import numpy as np

from gpuprof.graphics.frame import Frame
from gpuprof.graphics.pipeline import Pipeline
from gpuprof.run.run_settings import Settings
from gpuprof.run.session import open_device
from tests.paths import ROOT

SHADERS = ROOT / "tests/draws/shaders.cu"


@cache
def gpu():
    return open_device(Settings(), "a100")


@cache
def shaders():
    return gpu().load(SHADERS)


def pipeline(pixel="tinted", **state) -> Pipeline:
    return Pipeline(shaders().placed, shaders()[pixel] if pixel else None, **state)


def frame(width, height, **wanted) -> Frame:
    made = Frame(gpu(), width, height, **wanted)
    made.clear()
    return made


def on_grid(places, width, height, depths=0.5, w=1.0):
    """Clip space positions, float32 (n, 4), of places in pixels, which 1/256 pixel divides: no rounding decides where
    they come to lie.
    """
    places = np.asarray(places, np.float64)
    w = np.broadcast_to(w, len(places)).astype(np.float64)
    x, y = places[:, 0] / (width / 2) - 1, 1 - places[:, 1] / (height / 2)
    return np.stack([x * w, y * w, np.broadcast_to(depths, len(places)) * w, w], 1).astype(np.float32)


def vertices(positions, colors=(1, 1, 1, 1), uv=(0, 0)):
    """float32 (n, 10)."""
    n = len(positions)
    return np.concatenate([positions, np.broadcast_to(colors, (n, 4)), np.broadcast_to(uv, (n, 2))], 1).astype(
        np.float32
    )
