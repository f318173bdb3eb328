"""The shaders of tessellation: the control points of patches, and the vertices that patches are cut into."""

import struct
from typing import NamedTuple

import numpy as np

from gpuprof.device import commands as cmd
from gpuprof.graphics.draw_checks import check_lanes
from gpuprof.graphics.sizes import BLOCK
from gpuprof.graphics.stages.tessellate.cut import Cut
from gpuprof.graphics.stages.tessellate.levels import N_LEVELS
from gpuprof.run.drawing.draw_workspace import RunShader, Workspace, whole_blocks
from gpuprof.run.drawing.vertices import Vertices, take_vertices

# The members of HullStage and DomainStage in include/gpuprof/graphics.h, in their order.
HULL_STAGE, DOMAIN_STAGE = struct.Struct("<QQQQQQQIIIIII"), struct.Struct("<QQQQQQQIIII")


class PatchRows(NamedTuple):
    """The rows of a hull shader's patches, like gpuprof::patch_rows: `of_warp` patches in a warp; `slots` of a warp, of
    which the last one may have lanes that are left over.
    """

    points: int

    @property
    def of_warp(self) -> int:
        return BLOCK // self.points

    @property
    def slots(self) -> int:
        return -(-BLOCK // self.points)

    def waves(self, n_patches: int) -> int:
        return -(-n_patches // self.of_warp)

    def wave_of(self, patches: np.ndarray) -> np.ndarray:
        return patches // self.of_warp

    def slot_of(self, patches: np.ndarray) -> np.ndarray:
        return self.wave_of(patches) * self.slots + patches % self.of_warp


class Patches(NamedTuple):
    """In device memory: positions and varyings of control points, as Vertices have them; `constants`: float32 (words,
    slots). levels: float32 (patches, N_LEVELS). rows: where patches lie.
    """

    positions: int
    varyings: int
    constants: int
    lanes: int
    slots: int
    rows: PatchRows
    levels: np.ndarray


def shade_patches(shader: cmd.Shader, given: Vertices, workspace: Workspace, run_shader: RunShader) -> Patches:
    """given.corners: the vertices of each patch."""
    interface, rows = shader.interface, PatchRows(shader.interface.corners_out)
    n_patches, corners = given.corners.shape
    n_waves = rows.waves(n_patches)
    lanes, slots = n_waves * BLOCK, n_waves * rows.slots
    check_lanes(lanes, "the control points of a draw's patches")
    at_corners = workspace.take("corners of patches", n_patches * corners * 4)
    positions, varyings = take_vertices(workspace, "control points", interface.words_out, lanes)
    at_levels = workspace.take("levels of patches", N_LEVELS * slots * 4)
    constants = workspace.take("constants of patches", interface.constant_words * slots * 4)
    workspace.array(at_corners, (n_patches, corners), np.uint32)[:] = given.corners
    stage = HULL_STAGE.pack(
        at_corners,
        given.positions,
        given.varyings,
        positions,
        varyings,
        at_levels,
        constants,
        given.lanes,
        lanes,
        n_patches,
        corners,
        slots,
        0,
    )
    run_shader(shader, stage + shader.params[len(stage) :], lanes)
    levels = workspace.array(at_levels, (N_LEVELS, slots), np.float32)[:, rows.slot_of(np.arange(n_patches))].T
    return Patches(positions, varyings, constants, lanes, slots, rows, levels.copy())


def shade_places(
    shader: cmd.Shader, given: Patches, made: Cut, workspace: Workspace, run_shader: RunShader
) -> Vertices:
    """A lane for each vertex that the tessellator made."""
    n = len(made.positions)
    lanes = whole_blocks(n)
    at_places = workspace.take("places in patches", lanes * 8)
    at_patches = workspace.take("patches of vertices", lanes * 4)
    positions, varyings = take_vertices(workspace, "tessellated vertices", shader.interface.rows_out, lanes)
    workspace.array(at_places, (lanes, 2), np.float32)[:n] = made.positions
    workspace.array(at_patches, (lanes,), np.uint32)[:n] = made.patches
    stage = DOMAIN_STAGE.pack(
        at_places,
        at_patches,
        given.positions,
        given.varyings,
        given.constants,
        positions,
        varyings,
        given.lanes,
        lanes,
        given.slots,
        0,
    )
    run_shader(shader, stage + shader.params[len(stage) :], lanes)
    return Vertices(positions, varyings, shader.interface, lanes, made.corners)
