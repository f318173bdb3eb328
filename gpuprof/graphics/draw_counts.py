"""Exact counts of the work of one draw."""

from typing import NamedTuple


class DrawCounts(NamedTuple):
    """The stages from the first to the last; each number counts what its name says."""

    indices: int = 0  # fetched
    vertex_waves: int = 0  # warps of the vertex shader: batches that share vertices
    vertices: int = 0  # shaded, without the lanes that are left over
    primitives: int = 0  # points, lines, triangles or patches, assembled
    hull_waves: int = 0  # warps of the hull shader: a lane for each control point
    culled_patches: int = 0  # that an edge has no level above 0 for
    domain_vertices: int = 0  # that the tessellator made of the others
    domain_waves: int = 0  # warps of the domain shader: a lane for each of these
    tessellated: int = 0  # primitives that the tessellator made
    geometry_waves: int = 0  # warps of the geometry shader: a lane for each primitive
    emitted: int = 0  # primitives that it made of these
    rejected: int = 0  # outside of the view, or with a position that is not finite
    clipped: int = 0  # cut by near or far plane, or by the guard band
    culled: int = 0  # triangles, by side; pieces of clipped ones count for themselves, here and below
    without_area: int = 0  # or without length
    scanned: int = 0  # that reach the rasteriser
    tiles: int = 0  # 8 x 8 pixels and a primitive, looked at
    hidden_tiles: int = 0  # of these, those that hierarchical depth left out
    covered: int = 0  # samples inside of primitives
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
