"""Registers and spills beside those of ptxas, for the samples and for tests/register_kernels, from the same PTX."""

import pytest

from gpuprof.assemble.assemble import assemble_program
from gpuprof.compile.cuda import compile_cuda
from tests.ptxas.registers import LIMITS, SOURCES, read_table, said_by_ptxas
from tests.support.nvidia_tools import needs_ptxas


@pytest.fixture(scope="module")
def modules():
    return {source.name: compile_cuda(source) for source in SOURCES}


@pytest.fixture(scope="module")
def ours(modules):
    """(source, kernel, 0) -> the function we make of it."""
    return assembled(modules, 0)


def assembled(modules, limit):
    return {
        (source, function.name, limit): function
        for source, module in modules.items()
        for function in assemble_program(module, max_registers=limit or None).functions
        if function.is_kernel
    }


@pytest.fixture(scope="module")
def theirs():
    return {(row.source, row.kernel, row.limit): row for row in read_table()}


@pytest.mark.long
def test_the_table_is_about_these_kernels(ours, theirs):
    assert {(source, kernel, limit) for source, kernel, _ in ours for limit in LIMITS} == theirs.keys()
    assert len(ours) >= 50


@pytest.mark.parametrize("folder", ["samples", "register_kernels"])
def test_registers_are_those_of_ptxas_within_10_percent_on_average(ours, theirs, folder):
    names = {source.name for source in SOURCES if source.parent.name == folder}
    errors = {
        key[1]: function.registers / theirs[key].registers - 1 for key,
        function in ours.items() if key[0] in names
    }  # fmt: skip
    assert sum(map(abs, errors.values())) / len(errors) <= 0.10, errors
    assert max(map(abs, errors.values())) <= 0.4, errors


@pytest.mark.long
@pytest.mark.parametrize("limits", [LIMITS[1:2], pytest.param(LIMITS[2:], marks=pytest.mark.long)])
def test_kernels_spill_where_ptxas_spills(modules, theirs, limits):
    """The two allocators must agree on nearly all, and where they do not, it is about a few values."""
    limited = {key: function for limit in limits for key, function in assembled(modules, limit).items()}
    assert all(function.registers <= key[2] for key, function in limited.items())
    wrong = {key: (f.spill_nbytes, theirs[key].spill_store_bytes) for key, f in limited.items()
             if (f.spill_nbytes > 0) != (theirs[key].spill_store_bytes > 0)}  # fmt: skip
    assert len(wrong) <= 0.06 * len(limited), wrong
    assert all(max(pair) <= 96 for pair in wrong.values()), wrong


@needs_ptxas
def test_the_table_is_what_ptxas_says(tmp_path, theirs):
    """Of its version 13.0; another may differ by a register, so a part is compared, and loosely."""
    for row in said_by_ptxas(SOURCES[0], tmp_path):
        assert abs(row.registers - theirs[row.source, row.kernel, row.limit].registers) <= 4
