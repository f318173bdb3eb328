"""Finding a `__device__` or `__constant__` variable by its name in the source."""

import re

from gpuprof.isa.program import Program, Variable

# Itanium C++ ABI, 5.1.2: _Z3foo or (static) _ZL3foo, and _ZN2ns3fooE in a namespace. A number is the length of the name
# after it.
_NESTED = re.compile(r"_ZN(?:L?\d+\w+)+E$")
_PLAIN = re.compile(r"_ZL?\d+\w+$")
_LENGTH = re.compile(r"L?(\d+)")


def find_variable(program: Program, name: str) -> Variable | None:
    """The variable of a name ("weights", "ns::weights") or symbol; None when there is none."""
    for variable in program.variables:
        if name in (variable.name, source_name(variable.name)):
            return variable
    return None


def source_name(symbol: str) -> str:
    """A variable's name as the source writes it; a symbol that is not C++'s stays as it is."""
    if _NESTED.match(symbol):
        return _parts(symbol[3:-1]) or symbol
    if _PLAIN.match(symbol):
        return _parts(symbol[2:]) or symbol
    return symbol


def _parts(text: str) -> str:
    """ "2ns3foo" -> "ns::foo"; "" when the lengths do not add up."""
    names = []
    while text:
        length = _LENGTH.match(text)
        if not length:
            return ""
        end = length.end() + int(length.group(1))
        names.append(text[length.end() : end])
        text = text[end:]
    return "::".join(name for name in names if not name.startswith("_GLOBAL__N_"))
