"""Two branches in a row to one place become one where ptxas makes one of them; the results stay."""

import re
import subprocess

import numpy as np
import pytest

from gpuprof.isa.opcodes import TABLE
from tests.ptxas.sass_slots import find_nvdisasm
from tests.support.nvidia_tools import PTXAS, needs_ptxas
from tests.support.ptx_support import PREAMBLE, assemble_text, run_kernel

KERNEL = f"""{PREAMBLE}.visible .entry k(.param .u64 out)
{{
    .reg .b32 %r<9>; .reg .b64 %rd<4>; .reg .pred %p<4>;
    ld.param.u64 %rd0, [out]; mov.u32 %r0, %tid.x; mul.wide.u32 %rd1, %r0, 4; add.u64 %rd0, %rd0, %rd1;
    ld.global.u32 %r1, [%rd0]; mov.u32 %r2, 1; setp.lt.u32 %p1, %r0, 20;
BODY
    st.global.u32 [%rd0], %r2;
    ret;
}}
"""
BODY = "mad.lo.u32 %r2, %r2, %r2, %r1;" * 12  # too long to be guarded


def chain(n_before: int, first: str = "@%p1", second: str = "@%p2", between: str = "") -> str:
    """`n_before` instructions between the first branch and the second one's comparison."""
    steps = "".join(f"mad.lo.u32 %r3, %r{3 if step else 1}, %r1, 7;" for step in range(n_before))
    value = 3 if n_before else 1
    return f"{first} bra OVER; {steps} setp.lt.u32 %p2, %r{value}, 1000; {between} {second} bra OVER; {BODY} OVER:"


# name -> text, and how many branches ptxas 13.0 leaves of it (sm_90)
CASES = {
    "a comparison": (chain(0), 1),
    "four instructions and a comparison": (chain(4), 1),
    "five and a comparison": (chain(5), 2),
    "negated": (chain(1, "@!%p1", "@!%p2"), 1),
    "one negated": (chain(1, "@!%p1"), 1),
    "other negated": (chain(1, "@%p1", "@!%p2"), 1),
    "a comparison that has another": (chain(1, between="setp.gt.u32 %p3, %r1, 2; or.pred %p2, %p2, %p3;"), 1),
    "read after it": (
        "mov.u32 %r3, 5;" + chain(1).replace("OVER:", "OVER: add.u32 %r2, %r2, %r3;"),
        2,
    ),
    "a load": (chain(1, between="ld.global.u32 %r4, [%rd0+128]; setp.eq.u32 %p2, %r4, 0;"), 2),
    "if and else": (chain(1).replace(" OVER:", f" bra END; OVER: {BODY.replace('%r1', '%r0')} END:"), 2),
}


def text_of(name: str) -> str:
    return KERNEL.replace("BODY", CASES[name][0])


@pytest.mark.parametrize("name", CASES)
def test_branches(name):
    program = assemble_text(text_of(name))
    assert [TABLE[number].name for number in program.code["opcode"]].count("BRA") == CASES[name][1]


@needs_ptxas
@pytest.mark.parametrize("name", CASES)
def test_branches_of_ptxas(name, tmp_path):
    (tmp_path / "k.ptx").write_text(text_of(name))
    subprocess.run([PTXAS, "-arch=sm_90a", "k.ptx", "-o", "k.cubin"], check=True, cwd=tmp_path)
    command = [find_nvdisasm(), "-c", str(tmp_path / "k.cubin")]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert len(re.findall(r"\bBRA\b", said)) - 1 == CASES[name][1]  # the last is a jump to itself, after the kernel


def by_hand(value: int, lane: int, n_before: int, is_first_negated: bool, is_second_negated: bool) -> int:
    tested = value
    for _ in range(n_before):
        tested = tested * value + 7 & 0xFFFFFFFF
    if (lane < 20) != is_first_negated or (tested < 1000) != is_second_negated:
        return 1
    result = 1
    for _ in range(12):
        result = result * result + value & 0xFFFFFFFF
    return result


@pytest.mark.parametrize("second", ["@%p2", "@!%p2"])
@pytest.mark.parametrize("first", ["@%p1", "@!%p1"])
@pytest.mark.parametrize("n_before", [0, 1, 4])
def test_results(n_before, first, second):
    values = [lane * 17 % 41 * (1 + lane % 3 * 400) for lane in range(32)]
    program = assemble_text(KERNEL.replace("BODY", chain(n_before, first, second)))
    (out,) = run_kernel(program, "k", [np.array(values, np.uint32)])
    assert np.frombuffer(out, np.uint32).tolist() == [
        by_hand(value, lane, n_before, "!" in first, "!" in second) for lane, value in enumerate(values)
    ]
