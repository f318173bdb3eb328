"""Every form of the memory, lane and control instructions is accepted: by the assembler, and by ptxas for the target it is said to need."""

import subprocess

import pytest
from ptx_support import PTXAS, assemble_text, needs_ptxas

from gpuprof.errors import PtxError, UnsupportedInstruction
from tests.ptx_forms_memory import FORMS, module
from tests.ptx_forms_modules import HEAD, MODULES


@pytest.mark.parametrize("target", FORMS)
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
    path = tmp_path / "forms.ptx"
    path.write_text(module(target, FORMS[target]))
    done = subprocess.run([PTXAS, f"-arch={target}", str(path), "-o", str(tmp_path / "forms.cubin")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", MODULES)
def test_every_module_is_assembled(name):
    assemble_text(HEAD + MODULES[name])


@needs_ptxas
@pytest.mark.parametrize("name", MODULES)
def test_ptxas_accepts_the_modules(tmp_path, name):
    path = tmp_path / "module.ptx"
    path.write_text(HEAD + MODULES[name])
    done = subprocess.run([PTXAS, "-arch=sm_90", str(path), "-o", str(tmp_path / "module.cubin")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
