"""Instructions of one generation: which targets are refused, by which words, and that ptxas refuses them too."""

import subprocess

import pytest

from gpuprof.errors import UnsupportedInstruction
from tests.support.nvidia_tools import PTXAS, needs_ptxas
from tests.support.ptx_support import assemble_text

GROUPS = "wgmma.fence.sync.aligned;"
FIFTH = "tcgen05.fence::before_thread_sync;"


def module(target: str, instruction: str) -> str:
    return (
        f".version 9.0\n.target {target}\n.address_size 64\n.visible .entry k()\n{{\n    {instruction}\n    ret;\n}}\n"
    )


REFUSED = [
    ("sm_120", GROUPS, "only sm_90a has wgmma, the target is sm_120"),
    ("sm_120a", GROUPS, "only sm_90a has wgmma, the target is sm_120a"),
    ("sm_121f", GROUPS, "only sm_90a has wgmma, the target is sm_121f"),
    ("sm_100a", GROUPS, "only sm_90a has wgmma, the target is sm_100a"),
    ("sm_120a", FIFTH, "only sm_100a, sm_103a and sm_110a have tcgen05, the target is sm_120a"),
]


@pytest.mark.parametrize(("target", "instruction", "why"), REFUSED)
def test_what_a_later_generation_has_not(target, instruction, why):
    with pytest.raises(UnsupportedInstruction) as caught:
        assemble_text(module(target, instruction))
    assert str(caught.value) == f"k.ptx:6: unsupported instruction {instruction[:-1]}: {why}"


@pytest.mark.parametrize("target", ["sm_80", "sm_90", "sm_90a"])
def test_older_targets_are_not_compared(target):
    """Clang's code for an H200 has the target sm_90, and code for newer chips may be timed on older ones."""
    assert assemble_text(module(target, GROUPS)).arch == target


def test_what_no_target_has_here_needs_no_reason():
    with pytest.raises(UnsupportedInstruction) as caught:
        assemble_text(module("sm_100a", FIFTH))
    assert str(caught.value) == f"k.ptx:6: unsupported instruction {FIFTH[:-1]}"


@needs_ptxas
@pytest.mark.parametrize(("target", "instruction", "why"), REFUSED)
def test_ptxas_refuses_it_too(tmp_path, target, instruction, why):
    path = tmp_path / "k.ptx"
    path.write_text(module(target, instruction))
    done = subprocess.run(
        [PTXAS, f"-arch={target}", str(path), "-o", str(tmp_path / "k.cubin")], capture_output=True, text=True
    )
    assert done.returncode and f"not supported on .target '{target}'" in done.stderr
