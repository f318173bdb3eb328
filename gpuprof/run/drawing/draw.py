"""Carries out draws: the fixed-function stages between the shaders, piece by piece.

    Draw ─ fetch, reuse ─> lanes ─ vertex shader [─ geometry shader ─ strips] ─> positions, varyings ─ clip, setup ─>
    triangles ─ raster ─> quads ─ interpolate ─> lanes ─ pixel shader ─> colors ─ merge ─> targets

What the stages hand to the shaders lies in device memory while the draw lasts. All that a draw does, it does before the
next command.
"""

import numpy as np

from gpuprof.device import commands as cmd
from gpuprof.device.drawing.state import FORMATS, Buffers
from gpuprof.device.memory import AddressSpace
from gpuprof.errors import UsageError
from gpuprof.graphics.checks import check_draw, check_targets
from gpuprof.graphics.counts import DrawCounts
from gpuprof.graphics.stages.clip import clipped
from gpuprof.graphics.stages.fetch import check_indices, triangles
from gpuprof.graphics.stages.resolve import resolve
from gpuprof.graphics.stages.reuse import batched
from gpuprof.graphics.stages.setup import set_up
from gpuprof.run.drawing.pixels import PIXEL_STAGE, WARP, shade_pixels
from gpuprof.run.drawing.vertices import GEOMETRY_STAGE, VERTEX_STAGE, shade_triangles, shade_vertices
from gpuprof.run.drawing.work import WorkOfDraw
from gpuprof.run.drawing.workspace import RunShader, Workspace

STAGE_NBYTES = {"vertex": VERTEX_STAGE.size, "geometry": GEOMETRY_STAGE.size, "pixel": PIXEL_STAGE.size}


def draw(command: cmd.Draw, memory: AddressSpace, run_shader: RunShader, work: WorkOfDraw | None) -> DrawCounts:
    """`work`: who is told what each stage did. Raises UsageError for what cannot be drawn, such as an index out of
    range, and what shaders raise; targets then hold what was drawn before.
    """
    check_draw(command, STAGE_NBYTES)
    workspace, state, instances = Workspace(memory), command.state, command.buffers.instances
    indices = _indices(command.buffers, workspace)
    check_indices(indices, command.buffers.n_vertices, command.name)
    primitives = triangles(indices, state.topology)
    n_primitives = len(primitives) * instances
    counts = DrawCounts(indices=len(indices) * instances, primitives=n_primitives)
    if not n_primitives:
        return counts
    batches = batched(primitives)
    if work:
        work.vertices(batches, command.buffers)
    with workspace.inside():
        shaded = shade_vertices(command, batches, workspace, run_shader)
        if command.geometry:
            shaded = shade_triangles(command.geometry, shaded, workspace, run_shader)
            counts = counts._replace(geometry_waves=-(-n_primitives // WARP), emitted=len(shaded.corners))
        positions, varyings = shaded.arrays(workspace)
    left = clipped(positions, varyings, shaded.corners, state.viewport)
    found, culled = set_up(left.positions, left.corners, left.sources, state.viewport, state.cull, state.front)
    counts = counts._replace(
        vertex_waves=len(batches.used) * instances,
        vertices=int(batches.used.sum()) * instances,
        rejected=left.n_rejected,
        clipped=left.n_clipped,
        culled=culled.by_side,
        without_area=culled.without_area,
        scanned=len(found.areas),
    )
    if work:
        work.triangles(found)
    return shade_pixels(command, found, left.varyings, counts, workspace, run_shader, work)


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
