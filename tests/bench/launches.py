"""Launches of the samples that are measured in place of those of the file, where these would take long."""

LAUNCHES = {
    "matmul.cu": (
        "naive<<<(8, 8), (16, 16)>>>(a: f32[128,128]=random, b: f32[128,128]=random, c: f32[128,128], 128)",
        "tiled<<<(8, 8), (16, 16)>>>(a, b, c, 128)",
        "blocked<<<(4, 4), (16, 8)>>>(a, b, c, 128)",
    )
}
