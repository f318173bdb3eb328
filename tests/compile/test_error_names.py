"""The runtime's errors: each name and number once, and texts where CUDA has one."""

import re

from gpuprof.cuda import INCLUDE

ROW = re.compile(r'^    DO\((cuda\w+), (\d+), "([^"]+)"\)', re.MULTILINE)


def test_every_error_has_its_own_name_and_number():
    rows = ROW.findall((INCLUDE / "gpuprof" / "runtime_errors.h").read_text())
    numbers = [int(number) for _, number, _ in rows]
    assert len(rows) == 139 and numbers == sorted(set(numbers)) and len({name for name, _, _ in rows}) == len(rows)
    assert rows[0] == ("cudaSuccess", "0", "no error")
    assert ("cudaErrorIllegalAddress", "700", "an illegal memory access was encountered") in rows
