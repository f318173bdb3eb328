"""Damaged PTX is refused with a line and a column, or assembles and runs; what once broke stays here. GPUPROF_FUZZ=1
(`make fuzz`) tries many more.
"""

import os
from itertools import islice

import pytest

from gpuprof.assemble import assemble as assembler
from gpuprof.errors import KernelFault, PtxError
from gpuprof.isa.gpubin import layout as gpubin_layout
from tests.fuzz.ptx_fuzz import corpus, hunt, judge, rounds
from tests.support.matrices import long_from
from tests.support.ptx_support import PREAMBLE, kernel_text, ptx_module, run_kernel

N_CASES = 60_000 if os.environ.get("GPUPROF_FUZZ") else 160  # thorough: about an hour


@pytest.mark.parametrize("seed", long_from(1, range(2)))
def test_fuzz_damaged_ptx(seed):
    counts, findings = hunt(islice(rounds(seed, corpus()), N_CASES // 2))
    assert [(kind, finding.number, finding.message) for kind, finding in findings.items()] == []
    assert counts.keys() >= {"refused", "unsupported", "ran"}


# What the fuzzer found, or a hostile mind: the text and the error.
BROKEN = {
    "huge local": (kernel_text(".local .b8 big[137438953472];"), "k.ptx:12:12: variable big: the local variables of a "
        "function take 137438953504 bytes; the limit is 524288"),
    "huge global": (PREAMBLE + ".global .b8 big[4294967296];\n", "k.ptx:4:13: variable big: the global variables of "
        "the module take 4294967296 bytes; the limit is 2147483648"),
    "a label twice": (kernel_text("bra L;\nL: L: ret;"), "k.ptx:13:1: label L is defined twice in one block"),
    "no thread": (PREAMBLE + ".entry k() .maxntid 32, 0 { ret; }", "k.ptx:4:25: .maxntid 0: an "
        "extent is 1 to 2147483647"),
    "too many threads": (PREAMBLE + ".entry k() .reqntid 99999999999 { ret; }", "k.ptx:4:21: .reqntid "
        "99999999999: an extent is 1 to 2147483647"),
    "huge argument": (kernel_text(".param .b8 big[2147483648];"), "k.ptx:12:12: variable big: the local variables of a "
        "function take 2147483680 bytes; the limit is 524288"),
    "an unordered comparison of integers": (kernel_text("setp.gtu.u32 %p1, %r1, 0;"), "k.ptx:12:1: setp.gtu.u32: .gtu "
        "compares floating-point numbers, not .u32"),
    "a result that is a number": (
        PREAMBLE + ".func (.param .b32 r) f() { st.param.b32 [r], 1; ret; }\n.entry k() { .param .b32 o; call "
            "(0f7FC00000), f, (); ret; }",
        "k.ptx:5:29: call: a result is a register or a .param variable",
    ),
    "huge const": (PREAMBLE + ".const .b8 a[65536];\n.const .b8 b;\n", "k.ptx:5:12: variable b: the const variables of "
        "the module take 65537 bytes; the limit is 65536"),
    "a line too far": (kernel_text(".loc 1 4294967296 1"), "k.ptx:12:6: the numbers of a position are 0 to 4294967295"),
    "inlined too far": (kernel_text(".loc 1 2 3, inlined_at 1 2 99999999999999999999"), "k.ptx:12:24: the numbers of a "
        "position are 0 to 4294967295"),
    "inlined too deep": (
        kernel_text("".join(f".loc 1 {n + 1} 1, function_name x, inlined_at 1 {n} 1\nadd.u32 %r1, %r1, "
            "1;\n" for n in range(3000))),
        "k.ptx:413:1: inlined more than 200 deep",
    ),
    "a comment without an end, many "
        "times": (kernel_text("/*" + "* /" * 100_000), "k.ptx:12:1: unexpected character '/'"),
    "a crowd of registers": (kernel_text(".reg .b32 %x<1048576>, %y<1048576>;"), "k.ptx:12:6: %y<1048576>: more "
        "than 2097152 registers in a function"),
    "a vector of one": (kernel_text("mov.b32 %r1, {%r2};"), "k.ptx:12:1: mov.b32: 1 elements do not make 32 bits"),
    "a vector of one into a register": (kernel_text("mov.b32 {%r2}, %r1;"), "k.ptx:12:1: mov.b32: 1 "
        "elements do not make 32 bits"),
    "too few registers": (PREAMBLE + "\n.entry k() .maxnreg 3 { .reg .b64 %d<9>; ld.v4.u64 {%d0, %d1, %d2, %d3}, "
        "[%d4]; st.v4.u64 [%d4], {%d0, %d1, %d2, %d3}; }", "k.ptx:5:1: function k does not fit into 3 registers; "
        "raise --max-registers"),
    "half a version": (".version 8.\n.target sm_80\n", "k.ptx:1:10: .version 8.: expected two numbers, as in 8.0"),
    "a huge cluster": (PREAMBLE + ".entry k() .maxclusterrank 9223372036854775808 { ret; }", "k.ptx:4:28: "
        ".maxclusterrank 9223372036854775808: an extent is 1 to 2147483647"),
    "stochastic rounding to one number": (kernel_text("cvt.rs.f64.f32 %fd1, %f1;"), "k.ptx:12: unsupported .rs form "
        "of cvt.rs.f64.f32"),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_what_once_broke(name):
    text, message = BROKEN[name]
    with pytest.raises(PtxError) as raised:
        assembler.assemble_program(ptx_module(text))
    assert str(raised.value) == message


def test_a_barrier_number_of_more_than_31_bits_is_a_fault():
    text = kernel_text("mov.u32 %r1, 0x80000001;\nshr.u32 %r2, %tid.x, 10;\nadd.u32 %r1, %r1, %r2;\nbarrier.sync %r1;")
    with pytest.raises(KernelFault, match="barrier 2147483649 with 0 threads: barriers are 0 to 15"):
        run_kernel(
            assembler.assemble_program(ptx_module(text)),
            "k",
            [lambda *_: bytes(8), lambda *_: bytes(4), lambda *_: bytes(4), lambda *_: bytes(8)],
            block=64,
        )


@pytest.mark.parametrize("n", (250, 251))
def test_values_that_leave_one_register_over_are_spilled(n):
    """The uniform registers behind them begin at an even number, which was one too many where there are none."""
    loads = "".join(f"ld.global.b32 %x{i}, [%rd1+{4 * i}];\n" for i in range(n))
    stores = "".join(f"st.global.b32 [%rd1+{4 * i}], %x{i};\n" for i in range(n))
    text = kernel_text(f".reg .b32 %x<{n}>;\n{loads}bar.sync 0;\n{stores}")
    function = assembler.assemble_program(ptx_module(text)).functions[0]
    assert (function.registers, function.spill_nbytes) == (255, {250: 0, 251: 8}[n])


def test_zeros_up_to_the_limit_in_each_space(monkeypatch):
    """The reader of object files once counted both spaces together."""
    monkeypatch.setattr(gpubin_layout, "MAX_ZERO_NBYTES", 4096)
    text = PREAMBLE + ".global .b8 big[4096];\n.const .b8 c[64];\n.entry k() { ret; }"
    assert judge(text, run=False) == "assembled"
