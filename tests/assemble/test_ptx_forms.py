"""Every instruction that real kernels use assembles; ptxas, where it is installed, says that they are written right."""

import pytest

from gpuprof.compile.ptxfile import module_of_ptx
from gpuprof.run.compile_file import build_ptx
from tests.forms.common import FORMS, OPCODES, kernel, lines, mnemonic, without_types
from tests.support.nvidia_tools import needs_ptxas
from tests.support.ptx_support import ptxas

ALL = [line for group in FORMS for line in lines(group)]


def test_the_list_is_whole():
    used = {mnemonic(line).split(".")[0] for line in ALL} | {"ret"}
    assert len(OPCODES) == len(set(OPCODES))
    assert set(OPCODES) - used == set()
    assert len({without_types(line) for line in ALL}) >= 186


@pytest.mark.parametrize("line", ALL)
def test_it_assembles(line, tmp_path):
    assert build_ptx(module_of_ptx(kernel(line), "form.ptx", tmp_path, ()))


@pytest.mark.parametrize("group", FORMS)
def test_a_kernel_of_each_group_assembles(group, tmp_path):
    """All of them at once: registers are shared, results overwritten."""
    assert build_ptx(module_of_ptx(kernel("\n".join(lines(group))), "group.ptx", tmp_path, ()))


@needs_ptxas
@pytest.mark.parametrize("group", FORMS)
def test_ptxas_takes_them(group, tmp_path):
    ptxas(tmp_path, kernel("\n".join(lines(group))))
