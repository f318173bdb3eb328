"""`gpuprof list instructions` says what is true: held against the lowering and against the tables of all forms."""

import pytest

from gpuprof.assemble.catalogue import entries
from gpuprof.assemble.lower.lowering import FORMS as SPECIAL_FORMS, HANDLERS
from gpuprof.errors import UnsupportedInstruction
from tests.forms import (
    common as ptx_forms_common,
    hopper as ptx_forms_hopper,
    memory as ptx_forms_memory,
    scalar as ptx_forms_scalar,
    tensor as ptx_forms_tensor,
    texture as ptx_forms_texture,
)
from tests.forms.common import mnemonic
from tests.support.ptx_support import assemble_text, kernel_text

ENTRIES = entries()


def known_mnemonics() -> set[str]:
    """Opcodes with modifiers of every form that the tests assemble."""
    tables = [
        *(ptx_forms_common.lines(group) for group in ptx_forms_common.FORMS),
        *ptx_forms_memory.FORMS.values(),
        *(ptx_forms_scalar.forms(target) for target in ptx_forms_scalar.FORMS),
        ptx_forms_hopper.FORMS, ptx_forms_texture.FORMS, ptx_forms_tensor.MATRICES,
    ]  # fmt: skip
    lines = [statement for table in tables for line in table for statement in line.split(";") if statement.strip()]
    return {mnemonic(line.strip()) for line in lines} | {
        "mma.sync",
        "mma.sp",
        "movmatrix",
        "wmma.load",
        "wmma.store",
        "wmma.mma",
        *WARPGROUP,
    }


# tests/emulate/test_conformance_wgmma.py
WARPGROUP = ["wgmma.mma_async", "wgmma.fence", "wgmma.commit_group", "wgmma.wait_group"]
MNEMONICS = [word.split(".") for word in known_mnemonics()]


@pytest.mark.parametrize(
    "entry", [entry for entry in ENTRIES if entry.refused != "all"], ids=lambda entry: f"{entry.kind}: {entry.name}"
)
def test_what_runs_has_a_form_that_is_tested(entry):
    base, *rest = entry.name.split(".")
    assert any(base == parts[0] and set(rest) <= set(parts[1:]) for parts in MNEMONICS)


@pytest.mark.parametrize("entry", [entry for entry in ENTRIES if entry.refused == "all"], ids=lambda entry: entry.name)
def test_what_is_refused_has_no_lowering(entry):
    with pytest.raises(UnsupportedInstruction, match=rf"k\.ptx:12: unsupported .*{entry.name}"):
        assemble_text(kernel_text(f"{entry.name} %r1, %r2;"))


PARTLY = {
    ("half precision", "fma"): "fma.rn.oob.f16 %rs1, %rs2, %rs3, %rs4;",
    ("data movement", "cvt"): "cvt.rs.satfinite.e2m1x4.f32 %rs1, {%f1, %f2, %f3, %f4}, %r1;",
    ("asynchronous copy", "cp.async.bulk.tensor"):
        "cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes"
        " [%r1], [%rd1, {%r2, %r3, %r4, %r5, %r6}], [%r7];",
    ("asynchronous copy", "cp.async.bulk.prefetch.tensor"):
        "cp.async.bulk.prefetch.tensor.2d.L2.global.tile::gather4 [%rd1, {%r2, %r3, %r4, %r5, %r6}];",
    ("texture", "tex"): "tex.2d.v4.f32.f32 {%f4, %f5, %f6, %f7}, [%rd0, {%f0, %f1}], {%r0, %r1};",
    ("texture", "tld4"): "tld4.r.2d.v4.f32.f32 {%f4, %f5, %f6, %f7}, [%rd0, {%f0, %f1}], {%r0, %r1};",
    ("surface", "suq"): "suq.memory_layout.b32 %r4, [%rd1];",
    ("warp matrix", "mma"): "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e2m1.f32 {%r0,%r1,%r2,%r3}, "
        "{%r0,%r1,%r2,%r3}, {%r0,%r1}, {%r0,%r1,%r2,%r3};",
    ("warp matrix", "mma.sp"): "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f32.e2m1.e2m1.f32"
    " {%r0,%r1,%r2,%r3}, {%r0,%r1,%r2,%r3}, {%r4,%r5,%r6,%r7}, {%r0,%r1,%r2,%r3}, %r8, 0;",
    ("warp matrix", "ldmatrix"): "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r0, %r1}, [%r2];",
    ("warp matrix", "stmatrix"): "stmatrix.sync.aligned.m16n8.x1.trans.shared.b8 [%r2], {%r0};",
}  # fmt: skip


def test_every_instruction_with_refused_forms_has_one_here():
    assert set(PARTLY) == {(entry.kind, entry.name) for entry in ENTRIES if entry.status == "partly"}


@pytest.mark.parametrize("kind, name", PARTLY)
def test_a_refused_form_stops_the_program(kind, name):
    with pytest.raises(UnsupportedInstruction, match=rf"k\.ptx:12: unsupported .*{name.split('.')[0]}"):
        assemble_text(kernel_text(PARTLY[kind, name]))


def test_every_opcode_of_the_lowering_is_listed():
    listed = {entry.name.split(".")[0] for entry in ENTRIES}
    assert (set(HANDLERS) | {opcode for opcode, _ in SPECIAL_FORMS}) - listed == set(), (
        "add the opcode to WHOLE, or to REFUSED, in gpuprof/assemble/catalogue.py"
    )


def test_kinds_and_names_are_not_doubled():
    assert len({(entry.kind, entry.name) for entry in ENTRIES}) == len(ENTRIES)
