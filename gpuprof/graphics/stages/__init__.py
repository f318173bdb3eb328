"""The fixed-function stages of a draw, one a file, in the order that a primitive comes through them.

    index_fetch   indices and topology ─> the vertices of each primitive; also of a geometry shader's strips
    vertex_waves  primitives ─> batches, whose vertices are shaded once; what each warp of a shader waits for
    tessellate    patches and their levels ─> vertices, and primitives between them
    clip          positions in clip space ─> triangles that can be drawn, with new vertices; clip_lines: lines, points
    setup         ─> primitives on the grid of 1/256 pixel, culled; outlines: what lines and points cover
    raster        ─> quads of pixels, with the samples that are covered; depth and stencil before the shader
    interpolate   ─> what the pixel shader reads of each lane
    output_merger its results ─> depth and stencil after it, blending, targets
    pixel_formats a target's samples ─> the mean of each pixel's

`depth_tests` (depth and stencil) and `sectors` are parts of these.
What goes from one primitive or pixel to the next is compiled by Numba; the rest works on whole arrays.
tests/readable has slow twins: draws.py, tessellator.py, lines.py.
"""
