"""Carries out draws: the fixed-function stages between two kernels, piece by piece.

    Draw ─ fetch, reuse ─> lanes ─ vertex shader ─> positions, varyings ─ clip, setup ─> triangles
    triangles ─ raster ─> quads ─ interpolate ─> lanes ─ pixel shader ─> colors ─ merge ─> targets

What the stages hand to the shaders lies in device memory while the draw lasts. All that a draw does, it does before the
next command.
"""

import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from gpuprof.device import commands as cmd
from gpuprof.device.drawing.state import DISCARDS, FORMATS, WRITES_DEPTH, Buffers, Targets
from gpuprof.device.memory import GLOBAL_BASE, AddressSpace
from gpuprof.errors import UsageError
from gpuprof.graphics.checks import check_draw, check_targets
from gpuprof.graphics.counts import DrawCounts
from gpuprof.graphics.sizes import BLOCK, QUAD
from gpuprof.graphics.stages import raster
from gpuprof.graphics.stages.clip import Clipped, clipped
from gpuprof.graphics.stages.fetch import check_indices, triangles
from gpuprof.graphics.stages.interpolate import Lanes, interpolated
from gpuprof.graphics.stages.merge import (
    DISCARDED,
    LATE_PASSED,
    LATE_TESTED,
    WRITTEN,
    Shaded,
    blend_numbers,
    late_tests,
    merge,
)
from gpuprof.graphics.stages.resolve import resolve
from gpuprof.graphics.stages.reuse import Batches, batched
from gpuprof.graphics.stages.setup import Triangles, set_up
from gpuprof.graphics.stages.tests import tests_of

WARP = 32
# The members of VertexStage and PixelStage in include/gpuprof/graphics.h, in their order.
VERTEX_STAGE, PIXEL_STAGE = struct.Struct("<QQQQIIII"), struct.Struct("<QQQQQQII")

RunShader = Callable[[cmd.Shader, bytes, int], None]  # the shader, its parameter block, lanes


class Workspace:
    """Device memory that a draw takes for itself, and gives back."""

    def __init__(self, memory: AddressSpace):
        self._memory = memory
        self._taken: list[int] = []

    def take(self, what: str, nbytes: int) -> int:
        """The address of so many bytes of zeros."""
        address = self._memory.allocate(nbytes, what).address
        self._taken.append(address)
        return address

    def array(self, address: int, shape: tuple[int, ...], dtype: type) -> np.ndarray:
        """Device memory as an array. It is good until more is taken. Raises DeviceMemoryError for memory that is not
        there.
        """
        nbytes = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
        self._memory.check(address, nbytes, "draw with")
        at = address - GLOBAL_BASE
        return self._memory.arena[at : at + nbytes].view(dtype).reshape(shape)

    @contextmanager
    def inside(self) -> Iterator[None]:
        """What is taken inside is given back at the end."""
        before = len(self._taken)
        try:
            yield
        finally:
            while len(self._taken) > before:
                self._memory.free(self._taken.pop())


def draw(command: cmd.Draw, memory: AddressSpace, run_shader: RunShader) -> DrawCounts:
    """Raises UsageError for what cannot be drawn, such as an index out of range, and what shaders raise; targets then
    hold what was drawn before.
    """
    check_draw(command, VERTEX_STAGE.size, PIXEL_STAGE.size)
    workspace = Workspace(memory)
    indices = _indices(command.buffers, workspace)
    check_indices(indices, command.buffers.n_vertices, command.name)
    primitives = triangles(indices, command.state.topology)
    n_primitives = len(primitives) * command.buffers.instances
    counts = DrawCounts(indices=len(indices) * command.buffers.instances, primitives=n_primitives)
    if not n_primitives:
        return counts
    batches = batched(primitives)
    with workspace.inside():
        left = _vertices(command, batches, workspace, run_shader)
        counts = counts._replace(
            vertex_waves=len(batches.used) * command.buffers.instances,
            vertices=int(batches.used.sum()) * command.buffers.instances,
            rejected=left.n_rejected,
            clipped=left.n_clipped,
        )
    state = command.state
    found, culled = set_up(left.positions, left.corners, left.sources, state.viewport, state.cull, state.front)
    counts = counts._replace(culled=culled.by_side, without_area=culled.without_area, scanned=len(found.areas))
    return _pixels(command, found, left.varyings, counts, workspace, run_shader)


def resolve_target(command: cmd.Resolve, memory: AddressSpace) -> None:
    workspace, targets = Workspace(memory), command.targets
    check_targets(targets)
    if len(targets.colors) != 1:
        raise UsageError(f"one color target is resolved at a time, not {len(targets.colors)}")
    (address,), (format,) = targets.colors, targets.formats
    nbytes = targets.width * targets.height * FORMATS[format]
    samples = workspace.array(address, (nbytes * targets.samples,), np.uint8)
    resolve(samples, workspace.array(command.color, (nbytes,), np.uint8), format, targets.samples)


def _indices(buffers: Buffers, workspace: Workspace) -> np.ndarray:
    """int64."""
    if not buffers.indices:
        return np.arange(buffers.n_indices, dtype=np.int64)
    dtype = np.uint16 if buffers.index_nbytes == 2 else np.uint32
    return workspace.array(buffers.indices, (buffers.n_indices,), dtype).astype(np.int64)


def _vertices(command: cmd.Draw, batches: Batches, workspace: Workspace, run_shader: RunShader) -> Clipped:
    """Shades the vertices of all instances, and clips."""
    shader, buffers = command.vertex, command.buffers
    of_instance = len(batches.numbers)
    numbers = np.tile(batches.numbers, buffers.instances)
    lanes = _whole_blocks(len(numbers))
    at_numbers = workspace.take("vertex numbers", lanes * 4)
    at_positions = workspace.take("positions", lanes * 16)
    at_varyings = workspace.take("varyings of vertices", lanes * 4 * shader.words)
    workspace.array(at_numbers, (lanes,), np.uint32)[: len(numbers)] = numbers
    stage = VERTEX_STAGE.pack(
        buffers.vertices, at_numbers, at_positions, at_varyings, lanes, of_instance, buffers.instances, 0
    )
    run_shader(shader, stage + shader.params[len(stage) :], lanes)
    corners = np.concatenate([batches.corners + k * of_instance for k in range(buffers.instances)])
    positions = workspace.array(at_positions, (lanes, 4), np.float32).copy()
    varyings = workspace.array(at_varyings, (shader.words, lanes), np.float32).copy()
    return clipped(positions, varyings, corners, command.state.viewport)


def _pixels(
    command: cmd.Draw,
    found: Triangles,
    varyings: np.ndarray,
    counts: DrawCounts,
    workspace: Workspace,
    run_shader: RunShader,
) -> DrawCounts:
    state, targets, shader = command.state, command.targets, command.pixel
    tests = tests_of(state, targets)
    is_early = shader is None or not shader.abilities
    progress = raster.begin_scan()
    late = np.zeros(4, np.int64)
    n_quads, n_helpers, n_waves = 0, 0, 0
    depth, stencil = _depth_and_stencil(targets, workspace)
    farthest = raster.hierarchy(tests, targets, depth, is_early)
    while True:
        depth, stencil = _depth_and_stencil(targets, workspace)  # the shader's memory may have moved them
        quads = raster.scan(progress, found, state.scissor, targets, tests, depth, stencil, farthest, is_early)
        if quads is None:
            break
        if shader is None or not len(quads.x):
            continue
        n_quads += len(quads.x)
        n_helpers += _uncovered(quads.masks, targets.samples)
        n_waves += -(-len(quads.x) * QUAD // WARP)
        with workspace.inside():
            shaded = _shade(command, quads, found, varyings, workspace, run_shader)
            if not is_early:
                depth, stencil = _depth_and_stencil(targets, workspace)
                extents = (targets.width, targets.samples)
                late_tests(quads, found, shaded, tests, depth, stencil, extents, late)
            _write(command, quads, shaded, workspace, late)
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
    found: Triangles,
    varyings: np.ndarray,
    workspace: Workspace,
    run_shader: RunShader,
) -> Shaded:
    """Runs the pixel shader on quads. What it gives is good until more memory is taken."""
    shader, n_targets = command.pixel, len(command.targets.colors)
    lanes = _whole_blocks(len(quads.x) * QUAD)
    writes_depth, discards = shader.abilities & WRITES_DEPTH != 0, shader.abilities & DISCARDS != 0
    shapes = (
        ("varyings of pixels", (shader.words, lanes), np.float32),
        ("places of pixels", (lanes, 4), np.float32),
        ("facts of pixels", (lanes,), np.uint32),
        ("colors of pixels", (n_targets, lanes, 4), np.float32),
        ("depths of pixels", (lanes if writes_depth else 0,), np.float32),
        ("discarded pixels", (lanes if discards else 0,), np.uint8),
    )
    places = [
        workspace.take(what, int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize)
        for what, shape, dtype in shapes
    ]

    def arrays() -> list[np.ndarray]:
        return [workspace.array(at, shape, dtype) for at, (_, shape, dtype) in zip(places, shapes, strict=True)]

    pixel_varyings, pixel_places, facts, _, depths, _ = arrays()
    interpolated(quads, found, varyings, Lanes(pixel_places, pixel_varyings, facts))
    if writes_depth:
        depths[:] = pixel_places[:, 2]
    stage = PIXEL_STAGE.pack(*places, lanes, 0)
    run_shader(shader, stage + shader.params[len(stage) :], lanes)
    _, _, _, colors, depths, discarded = arrays()
    return Shaded(colors, depths, discarded)


def _write(command: cmd.Draw, quads: raster.Quads, shaded: Shaded, workspace: Workspace, counts: np.ndarray) -> None:
    targets, blend = command.targets, blend_numbers(command.state.blend)
    extents = (targets.width, targets.samples)
    for number, (address, format) in enumerate(zip(targets.colors, targets.formats, strict=True)):
        nbytes = targets.width * targets.height * targets.samples * FORMATS[format]
        target = workspace.array(address, (nbytes,), np.uint8)
        merge(quads, shaded.colors[number], target, format, blend, command.state.color_mask, extents, counts)


def _whole_blocks(lanes: int) -> int:
    return -(-lanes // BLOCK) * BLOCK
