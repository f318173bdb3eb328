"""A graphics pipeline on the emulated GPU: state and draws to commands; fixed-function stages; shaders are ordinary
kernels (cuda/include/gpuprof/graphics.h).

    from gpuprof.graphics.frame import Frame
    from gpuprof.graphics.pipeline import Pipeline

    pipeline, frame, targets   the Python face: gives Draw commands
    stages                     what happens to triangles between the shaders, arrays in and arrays out
    png                        pictures

A draw is carried out by `run/drawing/draw.py`.
"""
