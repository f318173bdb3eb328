"""Values of all kinds of C++ types, of members' and namespaces' functions: `kinds.cu`."""

import pytest

from gpuprof.debug.commands.command_table import run_line
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
    "derived": "{<Base> = {base = 11}, flag = true}",
    "derived.base": "11",
    "ref + 1": "12",
    "*&ref": "11",
    "mixed": "{tag = 7, {whole = 1078530011, real = 3.14159274}}",
    "mixed.real": "3.14159274",
}
TYPES = {
    "either": ["type = union Either {", "    float number;", "    unsigned char bytes[4];", "}"],
    "derived": ["type = struct Derived : Base {", "    bool flag;", "}"],
    "mixed": ["type = struct Mixed {", "    int tag;", "    union {", "        unsigned int whole;",
              "        float real;", "    };", "}"],
}  # fmt: skip
SCOPE = {
    "Symbol text is a variable in local memory, length 8.",
    "Symbol bits is a variable in local memory, length 8.",
    "Symbol out is a variable in local memory, length 8.",
}


def printed(debugger: Debugger, line: str) -> list[str]:
    return list(run_line(debugger, line))


@pytest.mark.long
def test_values_and_arguments_of_all_kinds():
    with Debugger(FILE) as debugger:
        debugger.break_at("kinds.cu:59")
        debugger.run()
        found = {text: printed(debugger, f"print {text}")[0].partition(" = ")[2] for text in VALUES}
        assert found == VALUES
        assert {name: printed(debugger, f"ptype {name}") for name in TYPES} == TYPES
        address = debugger.evaluate("text").number
        assert printed(debugger, "print text")[0].partition(" = ")[2] == f'{address:#x} "say \\"hi\\""'
        assert f'text = {address:#x} "say \\"hi\\""' in printed(debugger, "info locals")
        assert printed(debugger, "print/x text")[0].partition(" = ")[2] == f"{address:#x}"
        assert printed(debugger, "print (char *)3")[0].partition(" = ")[2] == (
            "0x3 <error: Cannot access memory at address 0x3>"
        )
        scope = printed(debugger, "info scope kinds.cu:59")
        assert scope[0] == "Scope for kinds.cu:59:"
        assert set(scope) > SCOPE
        assert printed(debugger, "info scope space::count")[1:] == [
            "Symbol by is a variable in local memory, length 4."
        ]
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
        with pytest.raises(DebugError, match="no register"):
            debugger.evaluate("$_exitcode")
        debugger.points.remove(1)
        debugger.points.remove(2)
        debugger.points.remove(3)
        assert debugger.cont().reason == "exit"
        assert debugger.evaluate("$_exitcode").number == 0
