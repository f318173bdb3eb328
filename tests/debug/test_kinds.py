"""Values of all kinds of C++ types, of members' and namespaces' functions: `kinds.cu`."""

import pytest

from gpuprof.debug.commands.table import run_line
from gpuprof.debug.debugger import Debugger
from gpuprof.errors import DebugError
from tests.paths import ROOT

FILE = ROOT / "tests/debug/kinds.cu"
VALUES = {
    "bits": "{low = 5, middle = -3, high = 123456789012, behind = 9 '\\t'}",
    "bits.middle * 2": "-6",
    "either": '{number = 1, bytes = "\\000\\000\\200?"}',
    "small": "big",
    "small + 1": "201",
    "grid.cells": "{{1, 2, 3}, {4, 5, 6}}",
    "sizeof(space::Grid)": "24",
    "space::counter": "42",
    "derived": "{Base = {base = 11}, flag = true}",
    "derived.base": "11",
    "ref + 1": "12",
    "*&ref": "11",
}


def printed(debugger: Debugger, line: str) -> list[str]:
    return list(run_line(debugger, line))


@pytest.mark.long
def test_values_and_arguments_of_all_kinds():
    with Debugger(FILE) as debugger:
        debugger.break_at("kinds.cu:46")
        debugger.run()
        found = {text: printed(debugger, f"print {text}")[0].partition(" = ")[2] for text in VALUES}
        assert found == VALUES
        debugger.assign("ref = 20")
        assert debugger.evaluate("derived.base").number == 20
        with pytest.raises(DebugError, match=r"bits\.low is not in memory"):
            debugger.assign("bits.low = 1")
        debugger.break_at("Derived::plus")
        debugger.break_at("space::count")
        debugger.cont()
        assert debugger.evaluate("this->base + added").number == 28
        debugger.cont()
        assert printed(debugger, "info args") == ["by = 4"]
