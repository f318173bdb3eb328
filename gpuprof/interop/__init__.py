"""Kernels of other Python compilers, launched with their own syntax on the emulated GPU: Triton, and numba.cuda.

    import gpuprof.interop.triton

    gpuprof.interop.triton.enable()         # from here on `kernel[grid](x, y, n, BLOCK=1024)` runs on numpy arrays

The other compiler makes PTX as it would for a real GPU; loading and launching it is what these modules take over.
"""
