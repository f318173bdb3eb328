"""Every form of the instructions that compute on one thread's registers is assembled, but for those that
`gpuprof list instructions` says are refused.
"""

import pytest

from gpuprof.errors import UnsupportedInstruction
from tests.forms.scalar import FORMS, forms, module
from tests.support.matrices import long_from
from tests.support.ptx_support import assemble_text

REFUSED = ("cvt.rs", "e2m1x4")  # together in one instruction: gpuprof.assemble.catalogue


@pytest.mark.parametrize("target", long_from(1, FORMS))
def test_every_form_is_assembled(target):
    refused = []
    for form in forms(target):
        try:
            assemble_text(module(target, [form])[0])
        except UnsupportedInstruction:
            refused.append(form)
    assert refused == [form for form in forms(target) if all(word in form for word in REFUSED)], (
        "give the form's opcode an entry in the TABLE of its file under gpuprof/assemble/lower/"
    )
