"""Processes."""

import pytest

from gpuprof.base.processes import how_ended, why_died

WAYS = {
    0: ("exit code 0", ""),
    3: ("exit code 3", ""),
    -8: ("signal 8 (SIGFPE)", "app: the program was ended by signal 8 (SIGFPE): its host code divided an integer by 0"),
    -6: (
        "signal 6 (SIGABRT)",
        "app: the program was ended by signal 6 (SIGABRT): its host code gave up: look for abort, a failed assert, or "
        "an exception that is not caught",
    ),
    -9: (
        "signal 9 (SIGKILL)",
        "app: the program was ended by signal 9 (SIGKILL): something else ended it, most often because memory ran out: "
        "try a smaller problem",
    ),
    -11: (
        "signal 11 (SIGSEGV)",
        "app: the program was ended by signal 11 (SIGSEGV): its host code used an address that is not there: look for "
        "a null or freed pointer, an index past the end, or too small a stack (`ulimit -s`)",
    ),
    -13: ("signal 13 (SIGPIPE)", ""),
    -15: ("signal 15 (SIGTERM)", "app: the program was ended by signal 15 (SIGTERM)"),
    -200: ("signal 200", "app: the program was ended by signal 200"),
}


@pytest.mark.parametrize("code", WAYS)
def test_how_a_program_ended(code):
    assert (how_ended(code), why_died("app", code)) == WAYS[code]
