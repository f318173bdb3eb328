"""CUDA C++ to PTX. Takes a .cu or .ptx file, gives a `PtxModule`."""

from gpuprof.compile.cuda import compile_cuda
from gpuprof.compile.module import PtxModule
from gpuprof.compile.nvcc import compile_nvcc
from gpuprof.compile.ptxfile import read_ptx

__all__ = ["PtxModule", "compile_cuda", "compile_nvcc", "read_ptx"]
