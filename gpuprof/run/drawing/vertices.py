"""The shaders in front of the rasteriser: vertices, and what a geometry shader makes of each triangle."""

import struct
from typing import NamedTuple

import numpy as np

from gpuprof.device import commands as cmd
from gpuprof.graphics.checks import check_lanes
from gpuprof.graphics.stages.reuse import Batches
from gpuprof.graphics.stages.strips import strips
from gpuprof.run.drawing.workspace import RunShader, Workspace, whole_blocks

# The members of VertexStage and GeometryStage in include/gpuprof/graphics.h, in their order.
VERTEX_STAGE, GEOMETRY_STAGE = struct.Struct("<QQQQIIII"), struct.Struct("<QQQQQQIIII")


class Vertices(NamedTuple):
    """In device memory: positions float32 (lanes, 4), varyings float32 (words, lanes). corners: int64 (n, 3), the lanes
    of each triangle's vertices.
    """

    positions: int
    varyings: int
    words: int
    lanes: int
    corners: np.ndarray

    def arrays(self, workspace: Workspace) -> tuple[np.ndarray, np.ndarray]:
        """Copies of positions and varyings."""
        positions = workspace.array(self.positions, (self.lanes, 4), np.float32)
        return positions.copy(), workspace.array(self.varyings, (self.words, self.lanes), np.float32).copy()


def shade_vertices(command: cmd.Draw, batches: Batches, workspace: Workspace, run_shader: RunShader) -> Vertices:
    """Those of all instances."""
    shader, buffers = command.vertex, command.buffers
    of_instance = len(batches.numbers)
    lanes = whole_blocks(of_instance * buffers.instances)
    check_lanes(lanes)
    numbers = np.tile(batches.numbers, buffers.instances)
    at_numbers = workspace.take("vertex numbers", lanes * 4)
    at_positions = workspace.take("positions", lanes * 16)
    at_varyings = workspace.take("varyings of vertices", lanes * 4 * shader.words)
    workspace.array(at_numbers, (lanes,), np.uint32)[: len(numbers)] = numbers
    stage = VERTEX_STAGE.pack(
        buffers.vertices, at_numbers, at_positions, at_varyings, lanes, of_instance, buffers.instances, 0
    )
    run_shader(shader, stage + shader.params[len(stage) :], lanes)
    corners = np.concatenate([batches.corners + k * of_instance for k in range(buffers.instances)])
    return Vertices(at_positions, at_varyings, shader.words, lanes, corners)


def shade_triangles(shader: cmd.Shader, given: Vertices, workspace: Workspace, run_shader: RunShader) -> Vertices:
    """The strips of triangles that a geometry shader makes, a lane for each triangle given."""
    lanes, most = whole_blocks(len(given.corners)), shader.most_vertices
    at_corners = workspace.take("corners", lanes * 12)
    at_positions = workspace.take("positions of strips", lanes * most * 16)
    at_varyings = workspace.take("varyings of strips", lanes * most * 4 * shader.words)
    at_marks = workspace.take("marks of strips", lanes * most)
    workspace.array(at_corners, (lanes, 3), np.uint32)[: len(given.corners)] = given.corners
    stage = GEOMETRY_STAGE.pack(
        at_corners,
        given.positions,
        given.varyings,
        at_positions,
        at_varyings,
        at_marks,
        given.lanes,
        lanes * most,
        0,
        0,
    )
    run_shader(shader, stage + shader.params[len(stage) :], lanes)
    marks = workspace.array(at_marks, (lanes, most), np.uint8)[: len(given.corners)]
    return Vertices(at_positions, at_varyings, shader.words, lanes * most, strips(marks))
