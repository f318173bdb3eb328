"""Processes."""

import pytest

from gpuprof.base.processes import how_ended, why_died

WAYS = {
    0: ("exit code 0", ""),
    3: ("exit code 3", ""),
    -8: ("signal 8 (SIGFPE)", "app: the program was ended by signal 8 (SIGFPE): its host code divided an integer by 0"),
    -15: ("signal 15 (SIGTERM)", "app: the program was ended by signal 15 (SIGTERM)"),
    -200: ("signal 200", "app: the program was ended by signal 200"),
}


@pytest.mark.parametrize("code", WAYS)
def test_how_a_program_ended(code):
    assert (how_ended(code), why_died("app", code)) == WAYS[code]
