"""Every form of the memory, lane and control instructions is accepted: by the assembler, and by ptxas for the target it
is said to need.
"""

import re

import pytest

from gpuprof.errors import PtxError, UnsupportedInstruction
from tests.forms.memory import FORMS, module
from tests.forms.modules import HEAD, MODULES
from tests.support.matrices import long_from
from tests.support.nvidia_tools import needs_ptxas
from tests.support.ptx_support import assemble_text, ptxas


@pytest.mark.parametrize("target", long_from(1, FORMS))
def test_every_form_is_assembled(target):
    refused = []
    for line in FORMS[target]:
        try:
            assemble_text(module(target, [line]))
        except (PtxError, UnsupportedInstruction) as error:
            refused.append(f"{line}: {error}")
    assert refused == []


@needs_ptxas
@pytest.mark.parametrize("target", FORMS)
def test_ptxas_accepts_the_forms(tmp_path, target):
    ptxas(tmp_path, module(target, FORMS[target]), target)


@pytest.mark.parametrize("name", MODULES)
def test_every_module_is_assembled(name):
    program = assemble_text(HEAD + MODULES[name])
    entries = re.findall(r"\.entry (\w+)", MODULES[name])
    assert entries and set(entries) <= {function.name for function in program.functions}


@needs_ptxas
@pytest.mark.parametrize("name", MODULES)
def test_ptxas_accepts_the_modules(tmp_path, name):
    ptxas(tmp_path, HEAD + MODULES[name])
