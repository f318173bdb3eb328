"""The device runtime that kernels launch grids with, as far as it is code: bodies for what a module only declares.

The names are those that compilers call: `cudaGetParameterBufferV2` in the CUDA programming guide's section on launches
from PTX, with `__cudaCDP2` before it since CUDA 12. `cudaLaunchDeviceV2` is a service itself
(`lower.flow.syscall.SERVICES`). Launches cannot fail here, they end the program by name instead, so the last error is
always none.

A barrier of the whole grid counts in a workspace: every launch has one, as cooperative launches have on a GPU. A driver
hands it out and puts its address into %envreg1 (upper half) and %envreg2; here it is a variable of the module whose PTX
reads those. Its eight bytes are those of cooperative_groups/details/driver_abi.h: the size, and the word that blocks
count in.
"""

from gpuprof.assemble.ptx import ast
from gpuprof.assemble.ptx.parse import parse
from gpuprof.isa.special import GRID_WORKSPACE

PREFIXES = ("__cudaCDP2", "cuda")

# What the service gets is the address of {kernel, grid, block, shared bytes}: at 0, 8, 20, 32.
_BODIES = {
    "GetParameterBufferV2": """
.extern .func (.param .b64 address) gpuprof_parameter_buffer (.param .b64 request);
.func (.param .b64 address) NAME (.param .b64 kernel, .param .align 4 .b8 grid[12], .param .align 4 .b8 block[12], .param .b32 shared)
{
    .local .align 8 .b8 request[40];
    .reg .b64 %d<5>;
    .reg .b32 %r<8>;
    ld.param.b64 %d1, [kernel];
    ld.param.b32 %r1, [grid];
    ld.param.b32 %r2, [grid+4];
    ld.param.b32 %r3, [grid+8];
    ld.param.b32 %r4, [block];
    ld.param.b32 %r5, [block+4];
    ld.param.b32 %r6, [block+8];
    ld.param.b32 %r7, [shared];
    st.local.b64 [request], %d1;
    st.local.b32 [request+8], %r1;
    st.local.b32 [request+12], %r2;
    st.local.b32 [request+16], %r3;
    st.local.b32 [request+20], %r4;
    st.local.b32 [request+24], %r5;
    st.local.b32 [request+28], %r6;
    st.local.b32 [request+32], %r7;
    mov.b64 %d2, request;
    cvta.local.u64 %d3, %d2;
    call (%d4), gpuprof_parameter_buffer, (%d3);
    st.param.b64 [address], %d4;
    ret;
}""",  # noqa: E501
    "StreamCreateWithFlags": """
.extern .func (.param .b64 stream) gpuprof_new_stream ();
.func (.param .b32 error) NAME (.param .b64 where, .param .b32 flags)
{
    .reg .b64 %d<3>;
    ld.param.b64 %d1, [where];
    call (%d2), gpuprof_new_stream, ();
    st.b64 [%d1], %d2;
    st.param.b32 [error], 0;
    ret;
}""",
    "StreamDestroy": ".func (.param .b32 error) NAME (.param .b64 stream) { st.param.b32 [error], 0; ret; }",
    "GetLastError": ".func (.param .b32 error) NAME () { st.param.b32 [error], 0; ret; }",
    "PeekAtLastError": ".func (.param .b32 error) NAME () { st.param.b32 [error], 0; ret; }",
}
_HEADER = ".version 8.0\n.target sm_80\n.address_size 64\n"


def with_device_runtime(tree: ast.Module) -> ast.Module:
    """The module with bodies for the functions of the device runtime that it declares."""
    for index, function in enumerate(tree.functions):
        text = _body_of(function)
        if text:
            for made in parse(_HEADER + text.replace("NAME", function.name), function.name).functions:
                _stand_at(made, function.line)
                if made.name == function.name:
                    tree.functions[index] = made
                elif made.name not in {other.name for other in tree.functions}:
                    tree.functions.append(made)
    return tree


def _body_of(function: ast.Function) -> str:
    for prefix in PREFIXES:
        if function.body is None and function.name.startswith(prefix) and function.name.removeprefix(prefix) in _BODIES:
            return _BODIES[function.name.removeprefix(prefix)]
    return ""


def _stand_at(function: ast.Function, line: int) -> None:
    """Gives a function and its statements the line of its declaration, for listings."""
    function.line = line
    for statement in function.body.statements if function.body else ():
        statement.line = line


_WORKSPACE_NBYTES = 8


def with_workspace(tree: ast.Module, ptx: str) -> ast.Module:
    """The module with the variable, when its text asks for it."""
    if "%envreg1" in ptx and "%envreg2" in ptx:
        size = ast.Number(_WORKSPACE_NBYTES)
        tree.variables.append(ast.Variable(GRID_WORKSPACE, "global", "b32", size.value, size.value, 0, True, [size]))
    return tree
