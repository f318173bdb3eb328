"""Device functions of NVIDIA's headers: each is declared, or listed here with the reason."""

import re
import subprocess
from fnmatch import fnmatchcase
from pathlib import Path

from gpuprof.compile.toolchain import find

NAMES = [
    line
    for line in (Path(__file__).parent / "toolkit/device_functions.txt").read_text().splitlines()
    if not line.startswith("#")
]
HEADERS = (
    "cuda_fp16.h", "cuda_bf16.h", "cuda_fp8.h", "cuda_pipeline.h", "cuda_awbarrier.h", "cuComplex.h",
)  # fmt: skip

INSIDE = "inside of NVIDIA's headers, of which it is no part that programs use"
OLD = "a name of CUDA 1, whose successor is declared"
RUNTIME = "kernels ask for nothing of the device runtime but launches and streams"
# name, with * for any characters -> why it is not declared
ABSENT = {
    "__internal_*": INSIDE,
    "__nv_*_impl": INSIDE,
    "__reduce_*_impl": INSIDE,
    "__*AtomicAdd*": INSIDE, "__*AtomicExch*": INSIDE, "__*AtomicMin*": INSIDE, "__*AtomicMax*": INSIDE,
    "__*AtomicInc*": INSIDE, "__*AtomicDec*": INSIDE, "__*AtomicAnd*": INSIDE, "__*AtomicOr*": INSIDE,
    "__*AtomicXor*": INSIDE, "__*AtomicCAS*": INSIDE,
    "__h*_internal": INSIDE,
    "__float_simpl_*": INSIDE,
    "__cudaCDP2*": INSIDE,
    "__cudaDeviceSynchronizeDeprecationAvoidance": INSIDE,
    "__nv_memcpy_async_shared_global_*": INSIDE,
    "__nv_associate_access_property": INSIDE,
    "__nv_aligned_device_malloc": INSIDE,
    "__isinf*": "glibc's name of what isinf calls", "__isnan*": "glibc's name of what isnan calls",
    "__finite*": "glibc's name of what isfinite calls",
    "cudaCG*": "inside of cooperative groups of several devices",
    "d[ams][du][dlb]": OLD, "double2*": OLD, "[a-z]*2double": OLD, "syncthreads_*": OLD,
    "any": OLD, "all": OLD, "ballot": OLD,
    "__pm[0-3]": "performance counters, which hold nothing here",
    "__isGridConstant": "a parameter's space is local memory here",
    "__cvta_*grid_constant*": "a parameter's space is local memory here",
    "__cluster_map_shared_multicast": "an address for several blocks, which no documented instruction makes",
    "__nv_cvt_*fp4*": "cuda_fp4.h is not there", "__nv_cvt_*fp6*": "cuda_fp6.h is not there",
    "cudaGetCurrentGraphExec": RUNTIME, "cudaGraphKernelNodeSet*": RUNTIME, "cudaGraphKernelNodeUpdatesApply": RUNTIME,
    "cuda*_ptsz": RUNTIME, "cudaGetParameterBufferV2": RUNTIME,
}  # fmt: skip
MISSING = re.compile(r"no member named '(\w+)' in the global namespace")


def reason(name: str) -> str:
    return next((why for pattern, why in ABSENT.items() if fnmatchcase(name, pattern)), "")


def undeclared(names: list[str]) -> set[str]:
    """The names that a program for sm_90 cannot use. Macros are there."""
    tools = find()
    lines = [f"#include <{header}>" for header in HEADERS]
    for number, name in enumerate(names):
        lines += [f"#ifndef {name}", f"namespace n{number} {{ using ::{name}; }}", "#endif"]
    flags = [flag for flag in tools.flags if flag not in ("-emit-llvm", "-S")]
    command = [*tools.command, *flags, "--cuda-gpu-arch=sm_90", "-fsyntax-only", "-ferror-limit=0", "-"]
    done = subprocess.run(command, input="\n".join(lines), capture_output=True, text=True)
    assert len(MISSING.findall(done.stderr)) == done.stderr.count("error: "), done.stderr[-3000:]
    return set(MISSING.findall(done.stderr))


def test_a_device_function_is_declared_or_has_a_reason():
    absent = undeclared(NAMES)
    assert [name for name in NAMES if (name in absent) != bool(reason(name))] == []
