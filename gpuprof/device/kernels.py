"""Finding the kernel a launch names."""

import re
from difflib import get_close_matches

from gpuprof.device.launching.launch_text import normalised
from gpuprof.errors import UsageError
from gpuprof.isa.program import Function, Program

# A type has many names in C++; these are the ones compilers use in the names of template instances.
_SPELLINGS = {
    "unsigned": "unsigned int", "signed": "int", "signed int": "int", "short int": "short", "long int": "long",
    "long long int": "long long",
    "unsigned short int": "unsigned short", "unsigned long int": "unsigned long",
    "unsigned long long int": "unsigned long long",
    "int8_t": "signed char", "int16_t": "short", "int32_t": "int", "int64_t": "long", "uint8_t": "unsigned char",
    "uint16_t": "unsigned short", "uint32_t": "unsigned int", "uint64_t": "unsigned long", "size_t": "unsigned long",
    "half": "__half",
}  # fmt: skip


def find_kernel(program: Program, name: str) -> Function:
    """A kernel by symbol, by its name in the source, or by that name without its namespace when no other has it.

    Raises UsageError, with the names that come near, when there is none; with the symbols, when there are several.
    """
    matches = _matches(program, name)
    if not matches:
        raise UsageError(_not_found(program.name, normalised(name), [kernel.display for kernel in _kernels(program)]))
    if len(matches) > 1:
        symbols = ", ".join(kernel.name for kernel in matches)
        raise UsageError(f"{program.name} has {len(matches)} kernels called {name}; name one by its symbol: {symbols}")
    return matches[0]


def has_kernel(program: Program, name: str) -> bool:
    """True when a program has a kernel (or several) of a name."""
    return bool(_matches(program, name))


def means_kernel(name: str, function: Function) -> bool:
    """True when a name is a kernel's: its symbol, or its name in the source, with or without the namespace."""
    requested = normalised(name)
    return (
        function.name == name
        or _means(requested, function.display)
        or _means(requested, _unqualified(function.display))
    )


def find_instance(program: Program, name: str) -> Function:
    """The template instance that a program was compiled for, though its arguments may be written otherwise: constants,
    type aliases.

    Raises UsageError when it cannot be distinguished from the program's other instances.
    """
    base = _template(name)[0]
    instances = [
        kernel
        for kernel in _kernels(program)
        if base in (_template(kernel.display)[0], _template(_unqualified(kernel.display))[0])
    ]
    if len(instances) == 1 and not has_kernel(program, name):
        return instances[0]
    return find_kernel(program, name)


def _kernels(program: Program) -> list[Function]:
    return [function for function in program.functions if function.is_kernel]


def _matches(program: Program, name: str) -> list[Function]:
    """The kernels a name may mean; the most exact reading that means any counts."""
    kernels, requested = _kernels(program), normalised(name)
    return (
        [kernel for kernel in kernels if kernel.name == name]
        or [kernel for kernel in kernels if normalised(kernel.display) == requested]
        or [kernel for kernel in kernels if _means(requested, kernel.display)]
        or [kernel for kernel in kernels if _means(requested, _unqualified(kernel.display))]
    )


def _means(requested: str, display: str) -> bool:
    """True when a name is a kernel's, with default template arguments left out and types spelled otherwise: "scan<4u>",
    "scan<4, int>".
    """
    (base, arguments), (requested_base, requested_arguments) = _template(display), _template(requested)
    return base == requested_base and arguments[: len(requested_arguments)] == requested_arguments


def _template(name: str) -> tuple[str, list[str]]:
    """The name before its last template arguments, and these, in one spelling: ("ns::scan", ["256", "unsigned
    int"]).
    """
    text = normalised(name)
    if not text.endswith(">") or _depth(text) != 0:
        return text, []
    opening = next(index for index in range(len(text) - 1, -1, -1) if text[index] == "<" and _depth(text[index:]) == 0)
    return text[:opening], [_canonical(argument) for argument in _split(text[opening + 1 : -1]) if argument]


def _depth(text: str) -> int:
    """Angle brackets opened and not closed."""
    return text.count("<") - text.count(">")


def _split(arguments: str) -> list[str]:
    """Template arguments, at the commas outside of brackets."""
    parts = [""]
    for piece in re.split(r"(, )", arguments):
        if piece == ", " and all(parts[-1].count(a) == parts[-1].count(b) for a, b in ("<>", "()")):
            parts.append("")
        else:
            parts[-1] += piece
    return parts


def _canonical(argument: str) -> str:
    if number := re.fullmatch(r"(-?\d+)[uUlL]*", argument):
        return number.group(1)
    return _SPELLINGS.get(argument, argument)


def _unqualified(display: str) -> str:
    """The name after its last `::` that is outside template arguments."""
    depth, start = 0, 0
    for index, char in enumerate(display):
        depth += (char == "<") - (char == ">")
        if depth == 0 and display.startswith("::", index):
            start = index + 2
    return display[start:]


def _not_found(module: str, requested: str, names: list[str]) -> str:
    if not names:
        return f"{module} has no kernel {requested}; it has no kernels at all"
    text = f"{module} has no kernel {requested}; it has {', '.join(names)}"
    near = get_close_matches(requested, names, n=1)
    return text + (f". Did you mean {near[0]}?" if near else "")
