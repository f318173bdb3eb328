"""Carries out draws: the fixed-function stages between the shaders, piece by piece.

    Draw ─ fetch, reuse ─> lanes ─ vertex shader [─ hull shader ─ tessellate ─ domain shader]
    [─ geometry shader ─ strips] ─> positions, varyings ─ clip, setup ─> primitives ─ raster ─> quads ─ interpolate ─>
    lanes ─ pixel shader ─> colors ─ merge ─> targets

Values that the stages hand to the shaders lie in device memory while the draw lasts. A draw is complete before the next
command.
"""

import numpy as np

from gpuprof.device import commands as cmd
from gpuprof.device.graphics_state.draw_state import DRAWN_CORNERS, FORMATS, Buffers
from gpuprof.device.memory import AddressSpace
from gpuprof.errors import UsageError
from gpuprof.graphics.draw_checks import check_draw, check_made, check_targets
from gpuprof.graphics.draw_counts import DrawCounts
from gpuprof.graphics.sizes import BLOCK
from gpuprof.graphics.stages.clip import clipped, planes
from gpuprof.graphics.stages.clip_lines import clipped_lines, clipped_points
from gpuprof.graphics.stages.index_fetch import primitives, vertex_numbers
from gpuprof.graphics.stages.pixel_formats import resolve
from gpuprof.graphics.stages.setup import set_up
from gpuprof.graphics.stages.tessellate.cut import cut, sizes_of
from gpuprof.graphics.stages.vertex_waves import batched, waves_of
from gpuprof.run.drawing.bounds_check import check_reached
from gpuprof.run.drawing.draw_listener import DrawListener
from gpuprof.run.drawing.draw_workspace import RunShader, Workspace
from gpuprof.run.drawing.patches import DOMAIN_STAGE, HULL_STAGE, shade_patches, shade_places
from gpuprof.run.drawing.pixels import PIXEL_STAGE, shade_pixels
from gpuprof.run.drawing.vertices import GEOMETRY_STAGE, VERTEX_STAGE, Vertices, shade_primitives, shade_vertices

CLIPPERS = {1: clipped_points, 2: clipped_lines, 3: clipped}  # by the corners of what is drawn
STAGE_NBYTES = {
    "vertex": VERTEX_STAGE.size,
    "hull": HULL_STAGE.size,
    "domain": DOMAIN_STAGE.size,
    "geometry": GEOMETRY_STAGE.size,
    "pixel": PIXEL_STAGE.size,
}


def draw(command: cmd.Draw, memory: AddressSpace, run_shader: RunShader, listener: DrawListener) -> DrawCounts:
    """Raises UsageError for a draw that is impossible, such as one with an index out of range, and what shaders raise;
    targets then hold what was drawn before.
    """
    check_draw(command, STAGE_NBYTES)
    check_reached(command, memory)
    workspace, state, instances = Workspace(memory), command.state, command.buffers.instances
    is_first = state.provoking == "first"
    indices = _indices(command.buffers, workspace)
    numbers = vertex_numbers(indices, command.buffers, state.restarts, command.name)
    corners = primitives(numbers, state)
    counts = DrawCounts(indices=len(indices) * instances, primitives=len(corners) * instances)
    if not counts.primitives:
        return counts
    batches = batched(corners)
    counts = counts._replace(vertex_waves=len(batches.used) * instances, vertices=int(batches.used.sum()) * instances)
    listener.vertices(batches, command.buffers)
    with workspace.inside():
        shaded = shade_vertices(command, batches, workspace, run_shader)
        if command.hull:
            shaded, counts = _tessellated(command, shaded, counts, workspace, run_shader, listener)
            if not counts.tessellated:
                return counts
        if command.geometry:
            check_made(command.name, len(shaded.corners) * command.geometry.interface.most_vertices, "vertices")
            waves = waves_of("geometry", shaded.waves())
            counts = counts._replace(geometry_waves=len(waves.needs))
            shaded = shade_primitives(command.geometry, shaded, is_first, workspace, run_shader)
            counts = counts._replace(emitted=len(shaded.corners))
            listener.geometry(waves, shaded)
        given = shaded.given(workspace)
    drawn = shaded.corners[:, DRAWN_CORNERS[shaded.corners.shape[1]]]
    all_planes = planes(state.viewport, state.depth_clamp, shaded.interface.clip_distances)
    left = CLIPPERS[drawn.shape[1]](given.positions, given.varyings, drawn, all_planes)
    provoking = drawn[:, 0 if is_first else -1]
    triangles, culled = set_up(left, provoking, given.point_sizes, state, command.targets.samples)
    counts = counts._replace(
        rejected=left.n_rejected,
        clipped=left.n_clipped,
        culled=culled.by_side,
        without_area=culled.without_area,
        scanned=len(triangles.areas),
    )
    listener.triangles(triangles)
    return shade_pixels(command, triangles, left.varyings, counts, workspace, run_shader, listener)


def _tessellated(
    command: cmd.Draw,
    given: Vertices,
    counts: DrawCounts,
    workspace: Workspace,
    run_shader: RunShader,
    listener: DrawListener,
) -> tuple[Vertices, DrawCounts]:
    """The vertices that the domain shader gives, and the primitives between them, if there are any."""
    tessellation = command.state.tessellation
    patches = shade_patches(command.hull, given, workspace, run_shader)
    listener.hull(given, patches)
    sizes = sizes_of(patches.levels, tessellation)
    check_made(command.name, int(sizes.n_vertices.sum()), "vertices")
    check_made(command.name, int(sizes.n_primitives.sum()), "primitives")
    made = cut(sizes, tessellation)
    counts = counts._replace(
        hull_waves=patches.lanes // BLOCK,
        culled_patches=int(sizes.levels.culled.sum()),
        domain_vertices=len(made.positions),
        domain_waves=-(-len(made.positions) // BLOCK),
        tessellated=len(made.corners),
    )
    if not len(made.corners):
        return given, counts
    shaded = shade_places(command.domain, patches, made, workspace, run_shader)
    listener.domain(patches, made, shaded)
    return shaded, counts


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
