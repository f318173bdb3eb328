"""Loads and stores of a wmma fragment: those that ptxas 13.0 has for sm_75 to sm_120."""

import pytest

from gpuprof.isa.encoding import decode
from tests.support.ptx_support import assemble_text, kernel_text

STORE = """\
.reg .f32 %v<8>;
ld.param.u64 %rd0, [p0];
cvta.to.global.u64 %rd1, %rd0;
mov.f32 %v0, 0f3F800000; mov.f32 %v1, %v0; mov.f32 %v2, %v0; mov.f32 %v3, %v0;
mov.f32 %v4, %v0; mov.f32 %v5, %v0; mov.f32 %v6, %v0; mov.f32 %v7, %v0;
wmma.store.d.sync.aligned.{layout}.m16n16k16.global.f32 [%rd1], {{%v0,%v1,%v2,%v3,%v4,%v5,%v6,%v7}}, %r0;
"""


@pytest.mark.parametrize(("layout", "stores"), [("row", ["STG.64"] * 4), ("col", ["STG.32"] * 8)])
def test_pairs_of_a_row_are_one_store(layout, stores):
    program = assemble_text(kernel_text("mov.u32 %r0, 16;\n" + STORE.format(layout=layout)))
    names = [decode(row).op.name for row in program.code]
    assert [name for name in names if name.startswith("ST")] == stores


LOAD = """\
.reg .b32 %v<8>;
.shared .align 32 .b8 tile[2048];
ld.param.u64 %rd0, [p0];
cvta.to.global.u64 %rd1, %rd0;
mov.u32 %r0, 16;
wmma.load.{fragment}.sync.aligned.{layout}.m16n16k16.{space}.{type} {registers}, [{address}], %r0;
st.global.u32 [%rd1], %v0; st.global.u32 [%rd1+4], %v1; st.global.u32 [%rd1+8], %v2; st.global.u32 [%rd1+12], %v3;
"""
WORDS, TRANSPOSED = ["LDG.32"] * 4, ["LDG.32"] * 4 + ["MOVM"] * 4


@pytest.mark.parametrize(
    ("fragment", "layout", "space", "loads"),
    [
        ("a", "row", "global", WORDS),
        ("a", "col", "global", TRANSPOSED),
        ("b", "row", "global", TRANSPOSED),
        ("b", "col", "global", WORDS),
        ("a", "row", "shared", ["LDSM.4"]),
        ("a", "col", "shared", ["LDSM.4"]),
        ("b", "row", "shared", ["LDSM.4"]),
        ("b", "col", "shared", ["LDSM.4"]),
        ("c", "row", "global", WORDS),
        ("c", "col", "global", TRANSPOSED),
        ("c", "row", "shared", ["LDS.32"] * 4),
        ("c", "col", "shared", ["LDS.32"] * 4 + ["MOVM"] * 4),
    ],
)
def test_loads_of_halves(fragment, layout, space, loads):
    """Halves that do not follow each other come as words of the transpose; of shared memory ldmatrix does both."""
    registers = [f"%v{k}" for k in range(4 if fragment == "c" else 8)]
    text = LOAD.format(
        fragment=fragment,
        layout=layout,
        space=space,
        type="f16",
        registers="{" + ", ".join(registers) + "}",
        address="%rd1" if space == "global" else "tile",
    )
    names = [decode(row).op.name for row in assemble_text(kernel_text(text)).code]
    kinds = ("LDG", "LDS", "MOVM")
    assert sorted(name for name in names if name.startswith(kinds)) == loads
