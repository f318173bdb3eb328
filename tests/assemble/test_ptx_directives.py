"""Directives: what PTX 9.0 has is accepted wherever it may stand, anything else is refused with its name and place."""

import pytest

from gpuprof.errors import PtxError
from tests.support.ptx_support import PREAMBLE, assemble_text

PRAGMAS = ["nounroll", "used_bytes_mask 0xfff", "enable_smem_spilling", "frequency 100", "something later"]


@pytest.mark.parametrize("text", PRAGMAS)
def test_pragmas_stand_in_modules_before_bodies_and_in_them(text):
    """Of PTX 9.0, and what a later version may have: a pragma may change how a program runs, never what it computes."""
    pragma = f'.pragma "{text}";'
    program = assemble_text(f"{PREAMBLE}{pragma}\n.visible .entry k() {pragma} {{ {pragma} L: {pragma} ret; }}")
    assert [function.name for function in program.functions] == ["k"]


@pytest.mark.parametrize("directive", [
    ".maxntid 64", ".maxntid 8, 8, 1", ".reqntid 32, 1, 1", ".minnctapersm 2", ".maxnctapersm 4", ".maxnreg 32",
    ".explicitcluster",
    ".reqnctapercluster 2, 1, 1", ".maxclusterrank 8",
])  # fmt: skip
def test_directives_of_kernels(directive):
    assert assemble_text(f"{PREAMBLE}.visible .entry k() {directive} {{ ret; }}").functions[0].is_kernel


def test_directives_of_functions_and_prototypes():
    text = """.func f() .noreturn .abi_preserve 16 { trap; }
.visible .entry k(.param .u64 g)
{ .reg .u64 %g; ld.param.u64 %g, [g]; P: .callprototype _ () .noreturn .abi_preserve 16 .abi_preserve_control 2; call %g, (), P; ret; }
"""  # noqa: E501
    assert len(assemble_text(PREAMBLE + text).functions) == 2


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (".warpsize 32", "k.ptx:4:1"),
        (".entry k() .minwarps 2 { ret; }", "k.ptx:4:12"),
        (".entry k() { .weird 1; }", "k.ptx:4:14"),
        (".entry k() .reqnctapercluster 2 .blocksareclusters { ret; }", "k.ptx:4:33"),
    ],
)
def test_others_are_refused_by_name(text, place):
    name = next(word for word in text.split() if word in (".warpsize", ".minwarps", ".weird", ".blocksareclusters"))
    with pytest.raises(PtxError) as refusal:
        assemble_text(PREAMBLE + text)
    assert f"directive {name!r}" in str(refusal.value) and place in str(refusal.value)
