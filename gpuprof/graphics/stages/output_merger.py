"""The output merger: tests after the shader, blending, and writing, quad by quad, so in the order of the triangles."""

from typing import NamedTuple

import numpy as np

from gpuprof.device.graphics_state.draw_state import BLEND_OPERATIONS, FACTORS, FORMATS, BlendState, Output
from gpuprof.graphics.sizes import QUAD, SUBPIXELS
from gpuprof.graphics.stages.depth_tests import Tests, tested
from gpuprof.graphics.stages.interpolate import depth_at
from gpuprof.graphics.stages.pixel_formats import load, store
from gpuprof.graphics.stages.raster import SAMPLE_PLACES, Quads, limited
from gpuprof.graphics.stages.setup import Triangles
from gpuprof.jit.cached import cached_njit
from gpuprof.jit.internal import internal_njit

DISCARDED, LATE_TESTED, WRITTEN, LATE_PASSED = range(4)  # of the counts: pixels, then samples
COLOR_OPERATION, SOURCE_COLOR, TARGET_COLOR, ALPHA_OPERATION, SOURCE_ALPHA, TARGET_ALPHA = range(6)


class Shaded(NamedTuple):
    """The outputs of the pixel shader: colors float32 (targets, lanes, 4); depths float32 (lanes,), none where it does
    not write them; discarded uint8 (lanes,).
    """

    colors: np.ndarray
    depths: np.ndarray
    discarded: np.ndarray


def blend_numbers(blend: BlendState | None) -> np.ndarray:
    """int64 (6,), or (0,) for none."""
    if blend is None:
        return np.zeros(0, np.int64)
    return np.array(
        [
            BLEND_OPERATIONS.index(blend.color_operation),
            FACTORS.index(blend.source_color),
            FACTORS.index(blend.target_color),
            BLEND_OPERATIONS.index(blend.alpha_operation),
            FACTORS.index(blend.source_alpha),
            FACTORS.index(blend.target_alpha),
        ],
        np.int64,
    )


def blend_constant(blend: BlendState | None, format: str) -> np.ndarray:
    """float32 (4,). For a target of [0, 1] it is in it, too (OpenGL 4.6, 17.3.6)."""
    constant = np.array(blend.constant if blend else (0, 0, 0, 0), np.float32)
    return np.clip(constant, 0, 1) if format == "rgba8" else constant


def late_tests(
    quads: Quads,
    triangles: Triangles,
    shaded: Shaded,
    tests: Tests,
    depth: np.ndarray,
    stencil: np.ndarray,
    extents: tuple[int, int],
    has_alpha_coverage: bool,
    counts: np.ndarray,
) -> np.ndarray:
    """Takes samples out of the quads' masks that are discarded or fail. extents: the targets' width and samples.
    has_alpha_coverage: sample s of n stays if the first color's alpha is above s / n. Gives the masks of the samples
    that reached the tests, uint16 (quads,).
    """
    came = np.empty_like(quads.masks)
    _late(
        *quads,
        triangles.positions,
        triangles.areas,
        triangles.depths,
        triangles.fronts,
        len(triangles.outlines) > 0,
        triangles.limits,
        shaded.depths,
        shaded.discarded,
        shaded.colors[0, :, 3],
        has_alpha_coverage,
        tests,
        depth,
        stencil,
        extents[0],
        SAMPLE_PLACES[extents[1]],
        came,
        counts,
    )
    return came


def merge(
    quads: Quads,
    colors: np.ndarray,
    target: np.ndarray,
    format: str,
    output: Output,
    extents: tuple[int, int],
    counts: np.ndarray,
) -> None:
    """Blends colors, float32 (lanes, 4), into a target, uint8, and counts the samples written."""
    halves, floats = target.view(np.uint16), target.view(np.float32)
    number, blend = list(FORMATS).index(format), output.blend
    _merge(
        quads.x, quads.y, quads.masks, colors, target, halves, floats, number, blend_numbers(blend),
        blend_constant(blend, format), output.color_mask, *extents, counts,
    )  # fmt: skip


@cached_njit
def _late(  # noqa: PLR0913  # compiled: arrays, and a loop without calls
    x_of, y_of, triangle_of, mask_of, positions, areas, depths, fronts, is_outlined, limits, given, discarded, alphas,
    has_alpha_coverage, tests, depth, stencil, width, samples, came_of, counts,
):  # fmt: skip
    n_samples = len(samples)
    for q in range(len(x_of)):
        t, mask, came = triangle_of[q], np.int64(mask_of[q]), 0
        for pixel in range(4):
            lane, px, py = q * QUAD + pixel, np.int64(x_of[q]) + (pixel & 1), np.int64(y_of[q]) + (pixel >> 1)
            of_pixel = ((1 << n_samples) - 1) << pixel * n_samples
            if len(discarded) and discarded[lane] and mask & of_pixel:
                counts[0] += 1
                mask &= ~of_pixel
            for s in range(n_samples):
                if not mask >> pixel * n_samples + s & 1:
                    continue
                if has_alpha_coverage and not alphas[lane] * n_samples > s:
                    mask &= ~(1 << pixel * n_samples + s)
                    continue
                came |= 1 << pixel * n_samples + s
                counts[1] += tests.has_depth or tests.has_stencil
                if len(given):
                    z = limited(given[lane], limits)
                else:
                    sx, sy = px * SUBPIXELS + samples[s, 0], py * SUBPIXELS + samples[s, 1]
                    z = depth_at(positions, depths, np.float64(areas[t]), is_outlined, limits, t, sx, sy)
                if not tested(tests, depth, stencil, (py * width + px) * n_samples + s, z, fronts[t]):
                    mask &= ~(1 << pixel * n_samples + s)
                else:
                    counts[3] += 1
        mask_of[q], came_of[q] = mask, came


@internal_njit
def _factor(kind, channel, source, target, constant):
    if kind == 0:
        return np.float32(0)
    if kind == 1:
        return np.float32(1)
    if kind == 14:
        return min(source[3], np.float32(1) - target[3]) if channel < 3 else np.float32(1)
    if kind >= 10:
        value = constant[channel] if kind < 12 else constant[3]
        return value if kind % 2 == 0 else np.float32(1) - value
    values = source if (kind - 2) // 2 % 2 == 0 else target
    value = values[channel] if kind < 6 else values[3]
    return value if kind % 2 == 0 else np.float32(1) - value


@internal_njit
def _blended(operation, source, target):
    """Operands of min and max are not scaled by factors (Direct3D, OpenGL)."""
    if operation == 0:
        return source + target
    if operation == 1:
        return source - target
    if operation == 2:
        return target - source
    if operation == 3:
        return min(source, target)
    return max(source, target)


@cached_njit
def _merge(  # noqa: PLR0913  # compiled: arrays, and a loop without calls
    x_of, y_of, mask_of, colors, target, halves, floats, format, blend, constant, color_mask, width, n_samples, counts
):
    held, source, new = np.zeros(4, np.float32), np.zeros(4, np.float32), np.zeros(4, np.float32)
    for q in range(len(x_of)):
        for pixel in range(4):
            for s in range(n_samples):
                if not np.int64(mask_of[q]) >> pixel * n_samples + s & 1:
                    continue
                counts[2] += 1
                lane = q * QUAD + pixel
                x, y = np.int64(x_of[q]) + (pixel & 1), np.int64(y_of[q]) + (pixel >> 1)
                at = ((y * width + x) * n_samples + s) * 4
                for channel in range(4):
                    color = colors[lane, channel]
                    if format == 0:  # what is blended into a target of [0, 1] is in it, too (OpenGL 4.6, 17.3.6)
                        color = min(max(color, np.float32(0)), np.float32(1))
                    source[channel] = color
                    held[channel] = load(target, halves, floats, format, at + channel)
                for channel in range(4):
                    value = source[channel]
                    if len(blend):
                        of = 0 if channel < 3 else 3
                        operation = blend[of]
                        a, b = source[channel], held[channel]
                        if operation < 3:
                            a *= _factor(blend[of + 1], channel, source, held, constant)
                            b *= _factor(blend[of + 2], channel, source, held, constant)
                        value = _blended(operation, a, b)
                    new[channel] = value
                for channel in range(4):
                    if color_mask >> channel & 1:
                        store(target, halves, floats, format, at + channel, new[channel])
