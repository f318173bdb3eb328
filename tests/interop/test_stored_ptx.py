"""PTX that Triton and numba-cuda made of the tests' kernels computes what numpy computes. No compiler is needed: see
tests/support/stored_ptx.py.
"""

import re

import pytest

from tests.support.compiled_again import compiled_again
from tests.support.matrices import long_from
from tests.support.running import run_file
from tests.support.stored_ptx import CHIPS, FILES, FOLDER


@pytest.mark.parametrize("name", long_from(12, FILES))
def test_it_computes_what_numpy_computes(name):
    _, stored, arch = FILES[name]
    arrays, _ = run_file(FOLDER / name, chip_name=CHIPS[arch])
    names = re.findall(r"(\w+): \w+\[", " ".join(text for _, text in stored.arguments))
    stored.check({array: arrays[array].copy_to_host() for array in names})


@pytest.mark.parametrize("name", [min(names) for names in (["triton_add_sm80.ptx"], ["numba_transpose_sm80.ptx"])])
def test_it_is_what_the_compiler_makes(name):
    again = compiled_again("tests.support.stored_ptx", name)
    assert again == (FOLDER / name).read_text(), "compile them anew: python -m tests.support.stored_ptx"


def test_the_folder_has_no_other_files():
    stored = {path.name for path in FOLDER.glob("*.ptx") if path.name.startswith(("triton_", "numba_"))}
    assert stored == set(FILES)
