"""Texts of PTX that are linked to one, as a program's cuLinkComplete asks."""

from pathlib import Path

import pytest

from gpuprof.compile.ptxfile import linked_ptx, module_of_ptx
from gpuprof.errors import PtxError
from gpuprof.run.compile_file import build_ptx

KERNEL = """\
.version 7.8
.target sm_80
.address_size 64
.file 1 "kernel.cu"
.extern .func (.param .b32 r) twice (.param .b32 x);
.visible .entry k(.param .u32 n)
{
    .reg .b32 %r<3>;
    .loc 1 5 3
    ld.param.u32 %r1, [n];
    { .param .b32 x; .param .b32 r; st.param.b32 [x], %r1; call.uni (r), twice, (x); ld.param.b32 %r2, [r]; }
    ret;
}
.section .debug_str
{
.b8 107,0
}
"""
TWICE = """\
.version 8.3
.target sm_75
.address_size 64
.visible .func (.param .b32 r) twice (.param .b32 x)
{
    .reg .b32 %r<3>;
    ld.param.b32 %r1, [x];
    add.u32 %r2, %r1, %r1;
    st.param.b32 [r], %r2;
    ret;
}
"""


def test_one_text_stays_as_it_is():
    assert linked_ptx([KERNEL]) == KERNEL


def test_several_have_one_head_and_no_lines():
    linked = linked_ptx([KERNEL, TWICE])
    assert linked.startswith(".version 8.3\n.target sm_80\n.address_size 64\n")
    assert [word for word in (".file", ".loc", ".section", "debug_str") if word in linked] == []
    assert linked.count(".version") == linked.count(".target") == 1
    program, _ = build_ptx(module_of_ptx(linked, "linked", Path(), ()))
    assert [function.name for function in program.functions if function.is_kernel] == ["k"]


def test_nothing_is_no_text():
    with pytest.raises(PtxError, match="nothing to link"):
        linked_ptx([])
