"""The fixed-function stages of a draw, one a file, in the order that a triangle comes through them.

    fetch         indices and topology ─> the vertices of each triangle
    reuse         triangles ─> batches, whose vertices are shaded once
    strips        what a geometry shader marks ─> triangles
    clip          positions in clip space ─> triangles that can be drawn, with new vertices
    setup         ─> triangles on the grid of 1/256 pixel, culled
    raster        ─> quads of pixels, with the samples that are covered; depth and stencil before the shader
    interpolate   ─> what the pixel shader reads of each lane
    merge         what it gave ─> depth and stencil after it, blending, targets

`tests` (depth and stencil), `blending` and `formats` are parts of the last ones. All are compiled by Numba, but for
`fetch` and `strips`; tests/readable/draws.py is their slow twin.
"""
