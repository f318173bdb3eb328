"""Code that a driver would link to a kernel of numba's: the kernel's other PTX texts, CUDA sources, and a part of
cudadevrt in PTX of our own.
"""

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from gpuprof.base.inputs import NUMBA_LINK, read_input
from gpuprof.errors import UsageError

# Grid barrier of cooperative launches. Block 0 adds what carries the others' ones into the highest bit: it flips when
# all have come, whatever the number of blocks, and the counter is ready for the next time.
_GRID_BARRIER = """
.global .align 4 .u32 gpuprof_grid_arrived;
.visible .func (.param .b64 func_retval0) cudaCGGetIntrinsicHandle(.param .b32 cudaCGGetIntrinsicHandle_param_0)
{
    .reg .b64 %rd<2>;
    mov.u64 %rd1, 1;
    st.param.b64 [func_retval0], %rd1;
    ret;
}
.visible .func (.param .b32 func_retval0) cudaCGSynchronize(.param .b64 cudaCGSynchronize_param_0, .param .b32 cudaCGSynchronize_param_1)
{
    .reg .pred %p<4>;
    .reg .b32 %r<16>;
    .reg .b64 %rd<2>;
    bar.sync 0;
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %tid.y;
    mov.u32 %r3, %tid.z;
    or.b32 %r1, %r1, %r2;
    or.b32 %r1, %r1, %r3;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra $together;
    mov.u32 %r4, %nctaid.x;
    mov.u32 %r5, %nctaid.y;
    mul.lo.u32 %r4, %r4, %r5;
    mov.u32 %r5, %nctaid.z;
    mul.lo.u32 %r4, %r4, %r5;
    sub.u32 %r6, 0x80000001, %r4;
    mov.u32 %r7, %ctaid.x;
    mov.u32 %r8, %ctaid.y;
    mov.u32 %r9, %ctaid.z;
    or.b32 %r7, %r7, %r8;
    or.b32 %r7, %r7, %r9;
    setp.eq.u32 %p2, %r7, 0;
    selp.u32 %r10, %r6, 1, %p2;
    mov.u64 %rd1, gpuprof_grid_arrived;
    membar.gl;
    atom.global.add.u32 %r11, [%rd1], %r10;
$wait:
    ld.volatile.global.u32 %r12, [%rd1];
    xor.b32 %r12, %r12, %r11;
    setp.ge.s32 %p3, %r12, 0;
    @%p3 bra $wait;
    membar.gl;
$together:
    bar.sync 0;
    mov.u32 %r13, 0;
    st.param.b32 [func_retval0], %r13;
    ret;
}
"""  # noqa: E501
_ONCE = re.compile(r"^\s*\.(version|target|address_size)\b.*$", re.MULTILINE)
_SECTION = re.compile(r"^\s*\.section\s+\S+\s*\{.*?^\s*\}", re.MULTILINE | re.DOTALL)
_LINES = re.compile(r"^\s*\.(file|loc)\s.*$", re.MULTILINE)


def linked(texts: Iterable[str], files: Iterable[Any], compile_cuda: Callable[[str, str], str]) -> str:
    """One PTX text. `files`: paths and numba's LinkableCode; `compile_cuda`: source and name -> PTX.

    Raises UsageError for files that hold no PTX and no CUDA source.
    """
    first, *others = texts
    others += [_linked_file(file, compile_cuda) for file in files]
    text = "\n".join([first, *map(_body, others)])
    return text + _GRID_BARRIER if "cudaCGSynchronize" in first else text


def _linked_file(file: Any, compile_cuda: Callable[[str, str], str]) -> str:
    if isinstance(file, str):
        kind, name, data = Path(file).suffix[1:], file, read_input(file, NUMBA_LINK)
    else:
        kind, name, data = file.kind, file.name, file.data
    text = data if isinstance(data, str) else data.decode(errors="replace")
    if kind == "cu":
        return compile_cuda(text, name)
    if kind == "ptx":
        return text
    raise UsageError(
        f"{name}: numba kernels link with PTX and CUDA sources only; this is {kind or 'of an unknown kind'}"
    )


def _body(ptx: str) -> str:
    """A text without what a module has once, and without lines: their file numbers are its own."""
    return _ONCE.sub("", _LINES.sub("", _SECTION.sub("", ptx)))
