"""Headers of CUDA's other libraries, which gpuprof does not have: the message that names the library."""

import re
from fnmatch import fnmatchcase

from gpuprof.compile import cccl

MISSING = re.compile(r"'([^'\n]+)' file not found")

# A header's name, with * for any characters -> the library; the first that fits.
LIBRARIES = {
    "curand*": "cuRAND",
    "cublas*": "cuBLAS",
    "nvblas*": "NVBLAS",
    "cufft*": "cuFFT",
    "cusparse*": "cuSPARSE",
    "cusolver*": "cuSOLVER",
    "cudnn*": "cuDNN",
    "cutensor*": "cuTENSOR",
    "cufile*": "cuFile",
    "cudss*": "cuDSS",
    "npp*": "NPP",
    "nvjpeg*": "nvJPEG",
    "nvrtc*": "NVRTC",
    "nvJitLink*": "nvJitLink",
    "nvPTXCompiler*": "the PTX compiler library",
    "nvFatbin*": "nvFatbin",
    "nvvm.h": "libNVVM",
    "nvml*": "NVML",
    "nccl*": "NCCL",
    "nvshmem*": "NVSHMEM",
    "optix*": "OptiX",
    "Openacc/*": "CUPTI",
    "Openmp/*": "CUPTI",
    "*cupti*": "CUPTI",
    "nvperf*": "CUPTI",
    "generated_*_meta.h": "CUPTI",
    "cudaGL*": "the interoperation with OpenGL",
    "cuda_fp4*": "4-bit floating point",
    "cuda_fp6*": "6-bit floating point",
    "cuda_gl_interop.h": "the interoperation with OpenGL",
    "cudaEGL*": "the interoperation with EGL",
    "cuda_egl_interop.h": "the interoperation with EGL",
    "cudaVDPAU*": "the interoperation with VDPAU",
    "cuda_vdpau_interop.h": "the interoperation with VDPAU",
    "cuda_d3d*_interop.h": "the interoperation with Direct3D",
    "nv_decode.h": "the demangler of the CUDA toolkit",
    "cuda_occupancy.h": "the occupancy calculator in a header; the cudaOccupancy calls are there",
    "crt/cuda_tile.h": "tile programs",
    "cuda_tile.h": "tile programs",
    "crt/device_fp128_functions.h": "128-bit floating point (sm_100)",
    "cudaProfilerTypedefs.h": "the types of the profiler's entry points",
    "nvtx3/nvToolsExt[MOPS]*": "NVTX's extensions",
    "nvtx3/nvToolsExtCounters.h": "NVTX's extensions",
    "nvtx3/nvtxDetail/*": "NVTX's insides; include nvtx3/nvToolsExt.h",
    "helper_*.h": "the Common folder of cuda-samples; add it with -I",
    "cutlass/*": "CUTLASS; add its include folder with -I",
    "cute/*": "CUTLASS; add its include folder with -I",
}


def library_of(header: str) -> str:
    """The library that a header is of; "" where the table does not have it."""
    return next((name for pattern, name in LIBRARIES.items() if fnmatchcase(header, pattern)), "")


def hint_for(diagnostics: str) -> str:
    """Lines for the headers that a compiler did not find: what to install, or which library gpuprof does not have."""
    lines = [cccl.hint_for(diagnostics)]
    for header in dict.fromkeys(MISSING.findall(diagnostics)):
        library = library_of(header)
        lines.append(f"\n{header}: gpuprof does not have {library}" if library else "")
    return "".join(lines)
