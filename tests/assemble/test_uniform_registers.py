"""Values that all lanes of a warp agree on, and 64-bit values whose upper half is zero: kernels that keep fourteen of
them through a loop, their registers beside those of ptxas 13.0, and their results.
"""

import numpy as np
import pytest

from tests.support.nvidia_tools import needs_ptxas
from tests.support.ptx_support import assemble_text, kernel_text, ptxas_registers, run_kernel

N = 14
START = """\
.reg .b64 %u<16>; .reg .b64 %x<9>; .reg .b32 %t<9>;
mov.u32 %t0, %tid.x;
mov.u32 %t1, %ctaid.x;
cvt.u64.u32 %x0, %t0;
ld.param.u64 %rd0, [p0];
ld.param.u32 %t2, [p1];
ld.param.u64 %x1, [p3];
"""
# Each turn adds and mixes in all fourteen values, the last one of the turn first.
TURN = "".join(f"add.s64 %x3, %x3, %u{k}; xor.b64 %x3, %x3, %x4; shl.b64 %x4, %x3, 1;\n" for k in range(N))
LOOP = f"""\
mov.b64 %x3, %x0;
mov.b64 %x4, 1;
mov.u32 %t3, 0;
TURNS: .pragma "nounroll";
{TURN}
add.u32 %t3, %t3, 1;
setp.lt.s32 %p1, %t3, %t2;
@%p1 bra TURNS;
"""
END = "shl.b64 %x5, %x0, 3; add.s64 %x6, %rd0, %x5; st.global.u64 [%x6], %x3;"

# How the values are made, and the registers that ptxas 13.0 takes for sm_80.
STRIDES = "".join(f"mul.lo.s64 %u{k}, %x1, {2 * k + 3};\n" for k in range(N))
OF_LANES = "".join(f"mad.lo.s64 %u{k}, %x1, {2 * k + 3}, %x0;\n" for k in range(N))
MASKED = "".join(f"mad.lo.s64 %x7, %x1, {2 * k + 3}, %x0; and.b64 %u{k}, %x7, 4095;\n" for k in range(N))
# One more for each turn of a loop that lanes leave apart.
BY_TURNS = f"""\
mov.b64 %x7, %x1;
mov.u32 %t4, 0;
APART: .pragma "nounroll";
add.s64 %x7, %x7, %x1; xor.b64 %x7, %x7, 5;
add.u32 %t4, %t4, 1;
setp.lt.u32 %p2, %t4, %t0;
@%p2 bra APART;
{STRIDES.replace("%x1", "%x7")}"""

HOW = {"strides": STRIDES, "of lanes": OF_LANES, "masked": MASKED, "by turns": BY_TURNS}


def text_of(how: str) -> str:
    return kernel_text(START + HOW[how] + LOOP + END)


def values_of(how: str, factor: int) -> np.ndarray:
    """uint64 (N, 32)."""
    lanes = np.arange(32, dtype=np.uint64)
    odd = (2 * np.arange(N, dtype=np.uint64) + np.uint64(3))[:, None]
    if how == "by turns":
        x = np.full(32, factor, np.uint64)
        for turn in range(31):
            x = np.where(turn < np.maximum(lanes, 1), x + np.uint64(factor) ^ np.uint64(5), x)
        return odd * x
    made = odd * np.uint64(factor) + (lanes if how != "strides" else np.zeros_like(lanes))
    return made & np.uint64(4095) if how == "masked" else made


def mixed(values: np.ndarray, n: int) -> list[int]:
    """What LOOP leaves in its first register after n turns."""
    x, other = np.arange(32, dtype=np.uint64), np.ones(32, np.uint64)
    for _ in range(n):
        for value in values:
            x = (x + value) ^ other
            other = x << np.uint64(1)
    return x.tolist()


@pytest.mark.parametrize("how", HOW)
def test_values_are_what_they_were(how):
    (out,) = run_kernel(assemble_text(text_of(how)), "k", [np.zeros(32, np.uint64), 3, 0.0, 123457])
    assert np.frombuffer(out, np.uint64).tolist() == mixed(values_of(how, 123457), 3)


# The counter of LOOP is one word; each stride two. ptxas 13.0 takes 12 and 25 registers of the first and the third.
@pytest.mark.parametrize(
    "how, registers, uniform", [("strides", 8, 30), ("of lanes", 36, 1), ("masked", 24, 1), ("by turns", 36, 1)]
)
def test_registers_of_a_thread_and_of_its_warp(how, registers, uniform):
    (function,) = assemble_text(text_of(how)).functions
    assert (function.registers, function.uniform_words) == (registers, uniform)


@needs_ptxas
@pytest.mark.parametrize("how, registers", [("strides", 12), ("masked", 25)])
def test_ptxas_takes_so_many(how, registers, tmp_path):
    """Of its version 13.0; another may differ by a register or two."""
    (found,) = ptxas_registers(tmp_path, text_of(how), "sm_90").values()
    assert abs(found - registers) <= 2
