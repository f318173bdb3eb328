"""Every form of sm_90's asynchronous instructions assembles, and ptxas takes it for PTX too."""

import pytest

from gpuprof.errors import PtxError, UnsupportedInstruction
from tests.forms import hopper as forms
from tests.support.nvidia_tools import needs_ptxas
from tests.support.ptx_support import assemble_text, ptxas


@pytest.mark.parametrize("form", [*forms.FORMS, *forms.BULK_SM100])
def test_form_assembles(form):
    program = assemble_text(forms.kernel(form))
    assert len(program.code) > 1


@needs_ptxas
def test_ptxas_accepts_the_forms(tmp_path):
    ptxas(tmp_path, forms.kernel("\n    ".join(forms.FORMS)), "sm_90a")


@pytest.mark.parametrize(
    "form, text",
    [
        ("mbarrier.poke.shared.b64 [bar];", "mbarrier.poke"),
        ("cp.async.bulk.shared::cluster.global.bulk_group [%r1], [%rd1], 64, [%r2];", "complete_tx"),
        ("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s64 [%rd1], [%r1], 64;", ".add.s64"),
        ("cp.reduce.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%rd2, {%r3}], "
            "[%r1];", "without an operation"),
        ("cp.async.bulk.tensor.2d.shared::cluster.global.tile::gather4.mbarrier::complete_tx::bytes [%r1], [%rd2, "
            "{%r3, %r4}], [%r2];", "gather4"),
    ],
)  # fmt: skip
def test_other_forms_are_refused_by_name(form, text):
    with pytest.raises(UnsupportedInstruction, match=rf"k.ptx:18: .*{text}"):
        assemble_text(forms.kernel(form))


@pytest.mark.parametrize(
    "form, text",
    [
        ("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd2, {%r3}], "
            "[%r1];", "1 coordinates for 2 dimensions"),
        ("cp.async.bulk.tensor.2d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r1], [%rd2, {%r3, "
            "%r4}], [%r2], {%rs1};", "3 to 5"),
        ("cp.async.bulk.wait_group.read %r1;", "must be a constant"),
        ("cp.async.bulk.prefetch.L2.global.L2::cache_hint;", "policy is missing"),
        ("setmaxnreg.inc.sync.aligned.u32 20;", "24 to 256"),
        ("tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [buf], 5, %r3;", "ordinal"),
    ],
)  # fmt: skip
def test_operands_that_do_not_fit(form, text):
    with pytest.raises(PtxError, match=text):
        assemble_text(forms.kernel(form))
