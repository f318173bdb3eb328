"""Which programs of a suite are looked at: those that need no foreign library, and a repeatable draw of these."""

import random
import re
from pathlib import Path

SUFFIX = "-cuda"  # of a folder of HeCBench that holds a CUDA program
SOURCES = (".cu", ".cuh", ".h", ".hpp", ".cpp", ".c", ".cc", ".cxx", ".inl")
INCLUDED = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"\n]+)[>"]', re.MULTILINE)
# How the name of a header begins -> the library. Thrust, CUB and libcu++ are none of these: they are headers alone.
FOREIGN = {
    "cublas": "cuBLAS", "cusparse": "cuSPARSE", "cusolver": "cuSOLVER", "cufft": "cuFFT", "curand": "cuRAND",
    "cudnn": "cuDNN", "cutensor": "cuTENSOR", "cutlass": "CUTLASS", "nccl": "NCCL", "nvml": "NVML",
    "npp": "NPP", "mpi.h": "MPI", "boost/": "Boost", "gsl/": "GSL", "fftw3": "FFTW", "torch/": "PyTorch",
    "ATen/": "PyTorch", "zlib.h": "zlib", "bzlib.h": "bzip2", "mex.h": "MATLAB", "GL/": "OpenGL", "sycl/": "SYCL",
    "gdal": "GDAL", "hdf5": "HDF5", "tbb/": "TBB", "png.h": "libpng", "jpeglib.h": "libjpeg",
    "opencv": "OpenCV",
}  # fmt: skip
# These stand in branches of the preprocessor as well, so whether a program needs one is known when it is built.
CONDITIONAL = {"hip/": "HIP"}


def folders(suite: Path) -> list[Path]:
    """The programs of a suite in the order of their names."""
    return sorted(each for each in suite.iterdir() if each.name.endswith(SUFFIX) and each.is_dir())


def foreign_library(folder: Path) -> str:
    """The first foreign library that a program's sources include, "" for none."""
    for path in sorted(folder.rglob("*")):
        if path.suffix not in SOURCES or not path.is_file():
            continue
        for name in INCLUDED.findall(path.read_text(encoding="utf-8", errors="replace")):
            if library := _library_of(name, FOREIGN):
                return library
    return ""


def library_of(header: str) -> str:
    """The foreign library that a header which was not found belongs to, "" for none."""
    return _library_of(header, FOREIGN | CONDITIONAL)


def drawn(names: list[str], n_drawn: int, seed: int) -> list[str]:
    """A random sample, the same for the same names and seed, in the order of the names."""
    return sorted(random.Random(seed).sample(sorted(names), min(n_drawn, len(names))))


def _library_of(header: str, starts: dict[str, str]) -> str:
    return next((library for start, library in starts.items() if header.startswith(start)), "")
