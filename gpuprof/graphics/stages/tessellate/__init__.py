"""The tessellator: patches and their levels become vertices in a domain, and primitives between them.

    levels     what a hull shader gives ─> levels that can be cut; culled patches
    edges      a level ─> the parts of an edge, and where each begins
    polygons   triangles and quads: vertices of a ring in a ring, and the triangles between two rings
    isolines   parallel lines
    cut        all of it, patch after patch

Positions are fixed-point numbers with 16 fraction bits, and vertices and primitives come in the order of the reference
tessellator that Direct3D 11's makers published (Mesa's auxiliary/tessellator has it, too).
"""
