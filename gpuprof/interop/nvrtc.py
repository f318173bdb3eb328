"""CUDA sources that numba would link to a kernel, compiled by NVRTC: its half precision is written so. No driver is
used.
"""

from collections.abc import Callable
from pathlib import Path

import numba_cuda
from cuda import pathfinder
from cuda.bindings import nvrtc
from numba.cuda.cuda_paths import get_cuda_paths

from gpuprof.errors import CompileError

_OK = nvrtc.nvrtcResult.NVRTC_SUCCESS


def compile_cuda(source: str, name: str, arch: str) -> str:
    """PTX of a CUDA source whose `__device__` functions stay callable from other modules. Raises CompileError with
    NVRTC's words.
    """
    program = _done(nvrtc.nvrtcCreateProgram(source.encode(), name.encode(), 0, [], []), name)
    options = [
        f"--gpu-architecture={arch}",
        "--relocatable-device-code=true",
        *(f"--include-path={folder}" for folder in _include_dirs()),
    ]
    (status,) = nvrtc.nvrtcCompileProgram(program, len(options), [option.encode() for option in options])
    if status != _OK:
        raise CompileError(
            f"{name}: NVRTC cannot compile it", _text(program, nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog)
        )
    return _text(program, nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX)


def _include_dirs() -> list[str]:
    """The folders of headers that numba-cuda itself names to NVRTC."""
    own = Path(numba_cuda.__file__).parent / "numba" / "cuda"
    version = nvrtc.nvrtcVersion()[1]
    headers = pathfinder.locate_nvidia_header_directory("cccl")
    return [
        str(own / "include" / str(version)),
        str(get_cuda_paths()["include_dir"].info),
        *([headers.abs_path] if headers else []),
        str(own / "memory_management"),
    ]


def _text(program: object, size_of: Callable, get: Callable) -> str:
    text = bytearray(_done(size_of(program), "NVRTC"))
    get(program, text)
    return text.rstrip(b"\0").decode(errors="replace")


def _done(result: tuple, name: str) -> object:
    status, value = result
    if status != _OK:
        raise CompileError(f"{name}: NVRTC failed with {status.name}")
    return value
