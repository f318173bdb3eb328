"""Sizes of the pipeline that decide the computation, and so the trace of a draw."""

# A batch of primitives shares its vertices, and is one warp of the vertex shader: at most 32 different vertices and 32
# triangles (recalled: Kerbl et al., "Revisiting the Vertex Cache", HPG 2018, for NVIDIA's cards: 96 indices).
BATCH_VERTICES, BATCH_PRIMITIVES = 32, 32

SUBPIXELS = 256  # a vertex's place in a target is a multiple of 1 / 256 pixel (Direct3D 11.3 specification, 3.4.1)
# Triangles that reach no farther than this from the target's origin, in pixels, are not clipped at the sides of the
# view. Edge functions stay below 2 ** 52 then.
GUARD_BAND = 1 << 16
MOST_WIDTH = 255.0  # pixels: of points and lines, as Mesa's llvmpipe has it
TILE = 8  # pixels of a tile's side
QUADS_OF_TILE = (TILE // 2) ** 2
QUAD = 4  # pixels: left and right of the upper row, then of the lower one

BLOCK = 32  # threads of a shader's blocks: a warp, which is what the fixed-function units bring
# Quads that are shaded together. What a draw takes in memory is bounded by this and not by its targets.
PIECE_QUADS = 1 << 18
