"""The shaders of vertices and of primitives, before the rasteriser."""

import struct
from typing import NamedTuple

import numpy as np

from gpuprof.device import commands as cmd
from gpuprof.device.graphics_state.draw_state import Interface
from gpuprof.graphics.draw_checks import check_lanes
from gpuprof.graphics.sizes import BLOCK
from gpuprof.graphics.stages.index_fetch import strips
from gpuprof.graphics.stages.vertex_waves import Batches
from gpuprof.run.drawing.draw_workspace import RunShader, Workspace, whole_blocks

# The members of VertexStage and GeometryStage in include/gpuprof/graphics.h, in their order.
VERTEX_STAGE, GEOMETRY_STAGE = struct.Struct("<QQQQIIII"), struct.Struct("<QQQQQQIIII")


class Vertices(NamedTuple):
    """In device memory: positions float32 (lanes, 4), varyings and what follows them float32 (interface.rows_out,
    lanes). interface: of the shader that gave them. corners: int64 (primitives, corners), the lanes of each primitive's
    vertices.
    """

    positions: int
    varyings: int
    interface: Interface
    lanes: int
    corners: np.ndarray

    def waves(self, of_lane: int = 1) -> np.ndarray:
        """int64 (primitives,), ascending: the last warp that each primitive, or one before it, needs of those that have
        shaded the vertices, each lane so many of them.
        """
        return np.maximum.accumulate(self.corners.max(axis=1, initial=-1) // (BLOCK * of_lane))

    def given(self, workspace: Workspace) -> "Given":
        """Copies of it."""
        positions = workspace.array(self.positions, (self.lanes, 4), np.float32)
        rows = workspace.array(self.varyings, (self.interface.rows_out, self.lanes), np.float32).copy()
        varyings, sizes, distances = np.split(
            rows, np.cumsum((self.interface.words_out, self.interface.gives_point_size))
        )
        sizes = sizes[0] if self.interface.gives_point_size else None
        return Given(np.concatenate([positions, distances.T], 1), varyings, sizes)


class Given(NamedTuple):
    """positions: float32 (lanes, 4 and clip distances). varyings: float32 (words, lanes). point_sizes: float32
    (lanes,), in pixels, or None.
    """

    positions: np.ndarray
    varyings: np.ndarray
    point_sizes: np.ndarray | None


def take_vertices(workspace: Workspace, what: str, words: int, lanes: int) -> tuple[int, int]:
    """The addresses of positions and of varyings."""
    positions = workspace.take(f"positions of {what}", lanes * 16)
    return positions, workspace.take(f"varyings of {what}", lanes * 4 * words)


def shade_vertices(command: cmd.Draw, batches: Batches, workspace: Workspace, run_shader: RunShader) -> Vertices:
    """Shades the vertices of all instances."""
    shader, buffers = command.vertex, command.buffers
    of_instance, interface = len(batches.numbers), shader.interface
    lanes = whole_blocks(of_instance * buffers.instances)
    check_lanes(lanes, "the vertices of a draw's instances")
    numbers = np.tile(batches.numbers, buffers.instances)
    at_numbers = workspace.take("vertex numbers", lanes * 4)
    positions, varyings = take_vertices(workspace, "vertices", interface.rows_out, lanes)
    workspace.array(at_numbers, (lanes,), np.uint32)[: len(numbers)] = numbers
    stage = VERTEX_STAGE.pack(
        buffers.vertices,
        at_numbers,
        positions,
        varyings,
        lanes,
        of_instance,
        buffers.instances,
        buffers.first_instance,
    )
    run_shader(shader, stage + shader.params[len(stage) :], lanes)
    corners = np.concatenate([batches.corners + k * of_instance for k in range(buffers.instances)])
    return Vertices(positions, varyings, interface, lanes, corners)


def shade_primitives(
    shader: cmd.Shader, given: Vertices, is_first: bool, workspace: Workspace, run_shader: RunShader
) -> Vertices:
    """The points, lines or triangles that a geometry shader makes, a lane for each primitive given. is_first: the first
    vertex of each is the provoking one.
    """
    interface, corners = shader.interface, given.corners
    lanes, most = whole_blocks(len(corners)), interface.most_vertices
    at_corners = workspace.take("corners", lanes * corners.shape[1] * 4)
    positions, varyings = take_vertices(workspace, "strips", interface.rows_out, lanes * most)
    at_marks = workspace.take("marks of strips", lanes * most)
    workspace.array(at_corners, (lanes, corners.shape[1]), np.uint32)[: len(corners)] = corners
    stage = GEOMETRY_STAGE.pack(
        at_corners,
        given.positions,
        given.varyings,
        positions,
        varyings,
        at_marks,
        given.lanes,
        lanes * most,
        0,
        0,
    )
    run_shader(shader, stage + shader.params[len(stage) :], lanes)
    marks = workspace.array(at_marks, (lanes, most), np.uint8)[: len(corners)]
    made = strips(marks, interface.corners_out, is_first)
    return Vertices(positions, varyings, interface, lanes * most, made)
