"""Every scalar form of PTX ISA 9.0 assembles here, and ptxas, where it is installed, takes the same text."""

import re
import subprocess

import pytest
from ptx_forms_scalar import FORMS, expanded, forms, module
from ptx_support import PTXAS, needs_ptxas, ptx_module

from gpuprof.assemble.assemble import assemble_program
from gpuprof.errors import PtxError, UnsupportedInstruction

# What is refused by name, and why.
REFUSED = {
    "sm_100a": expanded("cvt.rs(|.relu).satfinite.e2m1x4.f32 h0, {r1, r2, r3, r4}, r5"),  # the manual leaves open in which order the random bits go
    "sm_90": expanded("fma.rn.oob(|.relu).(f16|bf16) h0, h1, h2, h3"),  # the manual does not give the bits of an out-of-bounds NaN
}  # fmt: skip


@pytest.mark.parametrize("target", FORMS)
def test_every_form_assembles(target):
    found = forms(target)
    assert len(found) == len(set(found))
    text, first = module(target, found)
    assert _refused(text, first, found) == [form for form in REFUSED.get(target, ()) if form in found]


def _refused(text: str, first: int, found: list[str]) -> list[str]:
    try:
        assemble_program(ptx_module(text))
    except UnsupportedInstruction as error:
        lines = {int(line) for line in re.findall(r"k\.ptx:(\d+): unsupported", str(error))}
        return [form for number, form in enumerate(found) if number + first in lines]
    except PtxError as error:
        raise AssertionError(f"{found[error.line - first]}: {error}") from error
    return []


@pytest.mark.parametrize("target", REFUSED)
def test_what_is_not_documented_is_refused_by_name(target):
    for form in REFUSED[target]:
        text, first = module(target, [form])
        with pytest.raises(UnsupportedInstruction, match=rf"k\.ptx:{first}: unsupported .*{re.escape(form.split()[0])}"):
            assemble_program(ptx_module(text))


@needs_ptxas
@pytest.mark.parametrize("target", FORMS)
def test_ptxas_takes_every_form(target, tmp_path):
    found = [*forms(target), *REFUSED.get(target, ())]
    text, first = module(target, found)
    path = tmp_path / "k.ptx"
    path.write_text(text)
    done = subprocess.run([PTXAS, f"-arch={target}", str(path), "-o", str(tmp_path / "k.cubin")], capture_output=True, text=True)
    if "is not defined for option 'gpu-name'" in done.stderr or "Unsupported .version" in done.stderr:
        pytest.skip(f"this ptxas is too old for {target}")
    wrong = [
        f"{found[int(line) - first]} {message}"
        for line, message in re.findall(r"line (\d+); error\s*: (.*)", done.stderr)
        if first <= int(line) < first + len(found)
    ]
    assert (done.returncode, wrong) == (0, []), done.stderr[:2000]
