"""The rasteriser and the stages after it, piece by piece."""

import struct

import numpy as np

from gpuprof.device import commands as cmd
from gpuprof.device.graphics_state.draw_state import (
    DISCARDS,
    FORMATS,
    MOST_TARGETS,
    POINT_COORDINATES,
    WRITES_DEPTH,
    Targets,
)
from gpuprof.graphics.draw_counts import DrawCounts
from gpuprof.graphics.sizes import BLOCK, QUAD
from gpuprof.graphics.stages import raster
from gpuprof.graphics.stages.depth_tests import alpha_covers, are_early, tests_of
from gpuprof.graphics.stages.interpolate import Lanes, interpolated
from gpuprof.graphics.stages.output_merger import (
    DISCARDED,
    LATE_PASSED,
    LATE_TESTED,
    WRITTEN,
    Shaded,
    late_tests,
    merge,
)
from gpuprof.graphics.stages.setup import Triangles
from gpuprof.run.drawing.draw_listener import DrawListener
from gpuprof.run.drawing.draw_workspace import RunShader, Workspace, whole_blocks

PIXEL_STAGE = struct.Struct("<QQQQQQIIQ")  # the members of PixelStage in include/gpuprof/graphics.h, in their order


def shade_pixels(
    command: cmd.Draw,
    triangles: Triangles,
    varyings: np.ndarray,
    counts: DrawCounts,
    workspace: Workspace,
    run_shader: RunShader,
    listener: DrawListener,
) -> DrawCounts:
    state, targets, shader = command.state, command.targets, command.pixel
    tests = tests_of(state, targets)
    changes_coverage = alpha_covers(state, targets)
    is_early = shader is None or are_early(state, targets, shader.interface.abilities)
    progress = raster.begin_scan(state.scissor, listener.wants_tested)
    late = np.zeros(4, np.int64)
    n_quads, n_helpers, n_waves = 0, 0, 0
    depth, stencil = _depth_and_stencil(targets, workspace)
    farthest = raster.hierarchy(tests, targets, is_early)
    mask = state.sample_mask
    while True:
        depth, stencil = _depth_and_stencil(targets, workspace)  # the shader's memory may have moved them
        tested = targets, tests, depth, stencil, farthest
        quads = raster.scan(progress, triangles, state.scissor, *tested, is_early, mask)
        if quads is None:
            break
        listener.tested(progress)
        if not len(quads.x):
            listener.rest(triangles, progress, late)
            continue
        if shader is None:
            listener.pixels(quads, triangles, progress.counts, late)
            continue
        n_quads += len(quads.x)
        n_helpers += _uncovered(quads.masks, targets.samples)
        n_waves += -(-len(quads.x) * QUAD // BLOCK)
        with workspace.inside():
            shaded = _shade(command, quads, triangles, varyings, workspace, run_shader)
            came = quads.masks
            if not is_early:
                depth, stencil = _depth_and_stencil(targets, workspace)
                extents = (targets.width, targets.samples)
                came = late_tests(quads, triangles, shaded, tests, depth, stencil, extents, changes_coverage, late)
            listener.pixels(quads, triangles, progress.counts, late, came)
            _write(command, quads, shaded, workspace, late)
    listener.rest(triangles, progress, late)
    return counts._replace(
        tiles=int(progress.counts[raster.TILES]),
        hidden_tiles=int(progress.counts[raster.HIDDEN_TILES]),
        covered=int(progress.counts[raster.COVERED]),
        tested=int(progress.counts[raster.TESTED] if is_early else late[LATE_TESTED]),
        passed=int(progress.counts[raster.PASSED] if is_early else late[LATE_PASSED]),
        hidden_quads=int(progress.counts[raster.EMPTIED]),
        quads=n_quads,
        helpers=n_helpers,
        discarded=int(late[DISCARDED]),
        pixel_waves=n_waves,
        written=int(late[WRITTEN]),
    )


def _depth_and_stencil(targets: Targets, workspace: Workspace) -> tuple[np.ndarray, np.ndarray]:
    """float32 and uint8, a sample each; nothing where there is no such target."""
    n = targets.width * targets.height * targets.samples
    depth = workspace.array(targets.depth, (n,), np.float32) if targets.depth else np.zeros(0, np.float32)
    stencil = workspace.array(targets.stencil, (n,), np.uint8) if targets.stencil else np.zeros(0, np.uint8)
    return depth, stencil


def _uncovered(masks: np.ndarray, samples: int) -> int:
    """Pixels of quads without a sample."""
    of_pixel = (1 << samples) - 1
    return sum(int((masks >> pixel * samples & of_pixel == 0).sum()) for pixel in range(QUAD))


def _shade(
    command: cmd.Draw,
    quads: raster.Quads,
    triangles: Triangles,
    varyings: np.ndarray,
    workspace: Workspace,
    run_shader: RunShader,
) -> Shaded:
    """Runs the pixel shader on quads. What it gives is good until more memory is taken."""
    shader = command.pixel
    lanes = whole_blocks(len(quads.x) * QUAD)
    abilities = shader.interface.abilities
    writes_depth, discards = abilities & WRITES_DEPTH != 0, abilities & DISCARDS != 0
    reads_points = abilities & POINT_COORDINATES != 0
    shapes = (
        ("varyings of pixels", (shader.interface.words_in, lanes), np.float32),
        ("places of pixels", (lanes, 4), np.float32),
        ("facts of pixels", (lanes,), np.uint32),
        # a color for a target that the frame does not have is dropped, as in Direct3D
        ("colors of pixels", (MOST_TARGETS, lanes, 4), np.float32),
        ("depths of pixels", (lanes if writes_depth else 0,), np.float32),
        ("discarded pixels", (lanes if discards else 0,), np.uint8),
        ("places in points", (lanes if reads_points else 0, 2), np.float32),
    )
    addresses = [
        workspace.take(what, int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize)
        for what, shape, dtype in shapes
    ]

    def arrays() -> list[np.ndarray]:
        return [workspace.array(at, shape, dtype) for at, (_, shape, dtype) in zip(addresses, shapes, strict=True)]

    pixel_varyings, pixel_places, facts, _, depths, _, points = arrays()
    interpolated(quads, triangles, varyings, shader.interface.flat, Lanes(pixel_places, pixel_varyings, facts, points))
    if writes_depth:
        depths[:] = pixel_places[:, 2]
    stage = PIXEL_STAGE.pack(*addresses[:-1], lanes, 0, addresses[-1])
    run_shader(shader, stage + shader.params[len(stage) :], lanes)
    _, _, _, colors, depths, discarded, _ = arrays()
    return Shaded(colors, depths, discarded)


def _write(command: cmd.Draw, quads: raster.Quads, shaded: Shaded, workspace: Workspace, counts: np.ndarray) -> None:
    targets = command.targets
    extents = (targets.width, targets.samples)
    for number, (address, format) in enumerate(zip(targets.colors, targets.formats, strict=True)):
        nbytes = targets.width * targets.height * targets.samples * FORMATS[format]
        target = workspace.array(address, (nbytes,), np.uint8)
        merge(quads, shaded.colors[number], target, format, command.state.output(number), extents, counts)
