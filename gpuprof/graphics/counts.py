"""What one draw did, exactly."""

from typing import NamedTuple


class DrawCounts(NamedTuple):
    """The stages from the first to the last; each number counts what its name says."""

    indices: int = 0  # fetched
    vertex_waves: int = 0  # warps of the vertex shader: batches that share vertices
    vertices: int = 0  # shaded, without the lanes that are left over
    primitives: int = 0  # triangles assembled
    geometry_waves: int = 0  # warps of the geometry shader: a lane for each triangle
    emitted: int = 0  # triangles that it made of these
    rejected: int = 0  # outside of the view, or with a position that is not finite
    clipped: int = 0  # cut by near or far plane, or by the guard band
    culled: int = 0  # by side; pieces of clipped ones count for themselves, here and below
    without_area: int = 0
    scanned: int = 0  # that reach the rasteriser
    tiles: int = 0  # 8 x 8 pixels and a triangle, looked at
    hidden_tiles: int = 0  # of these, those that hierarchical depth left out
    covered: int = 0  # samples inside of triangles
    tested: int = 0  # depth or stencil tests, before the shader or after it
    passed: int = 0  # samples that passed all
    hidden_quads: int = 0  # emptied by the tests before the shader
    quads: int = 0  # shaded
    helpers: int = 0  # lanes of these that no sample is covered for
    discarded: int = 0  # pixels, by the shader
    pixel_waves: int = 0  # warps of the pixel shader
    written: int = 0  # samples of color targets

    @property
    def quad_efficiency(self) -> float:
        """Lanes of the pixel shader that a sample is covered for, of all in its quads; 1 where there are none."""
        return 1 - self.helpers / (4 * self.quads) if self.quads else 1.0
