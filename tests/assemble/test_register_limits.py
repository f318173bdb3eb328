"""An 8 x 8 tile of a product in registers: what it takes with and without a limit."""

import pytest

from tests.support.ptx_support import PREAMBLE, assemble_text

N_SIDE, N_STEPS = 8, 4


def tile() -> str:
    """64 sums; four steps of a row of A are one wide load, a column of B are eight loads a step."""
    lines = [".shared .align 16 .b8 tile[8192];", ".reg .f32 %s<64>, %a<32>, %b<32>; .reg .b32 %r<2>; .reg .b64 %out;"]
    lines += ["ld.param.u64 %out, [out];", "mov.u32 %r0, %tid.x;", "shl.b32 %r1, %r0, 4;"]
    lines += [f"mov.f32 %s{i}, 0f00000000;" for i in range(N_SIDE * N_SIDE)]
    for i in range(N_SIDE):
        lines.append(f"ld.shared.v4.f32 {{{', '.join(f'%a{4 * i + k}' for k in range(4))}}}, [%r1+{256 * i}];")
    for k in range(N_STEPS):
        lines += [f"ld.shared.f32 %b{8 * k + j}, [%r1+{4096 + 512 * k + 64 * j}];" for j in range(N_SIDE)]
        for i in range(N_SIDE):
            for j in range(N_SIDE):
                s = f"%s{N_SIDE * i + j}"
                lines.append(f"fma.rn.f32 {s}, %a{4 * i + k}, %b{8 * k + j}, {s};")
    lines += [f"st.global.f32 [%out+{4 * i}], %s{i};" for i in range(N_SIDE * N_SIDE)]
    return f"{PREAMBLE}.visible .entry k(.param .u64 out)\n{{ {' '.join(lines)} ret; }}\n"


@pytest.mark.parametrize(
    "limit, most",  # registers
    [
        (None, 128),  # four warps a partition
        (128, 128),
        (96, 96),  # five: the wide loads are done word by word
        (84, 84),
    ],
)
def test_a_tile_fits_without_spills(limit, most):
    function = assemble_text(tile(), max_registers=limit).functions[0]
    assert function.registers <= most
    assert function.spill_nbytes == 0
