"""Finding the kernel a launch names."""

from difflib import get_close_matches

from gpuprof.device.launch import normalised
from gpuprof.errors import UsageError
from gpuprof.isa.program import Function, Program


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
    """Whether a program has a kernel (or several) of a name."""
    return bool(_matches(program, name))


def _kernels(program: Program) -> list[Function]:
    return [function for function in program.functions if function.is_kernel]


def _matches(program: Program, name: str) -> list[Function]:
    """The kernels a name may mean; the most exact reading that means any counts."""
    kernels, wanted = _kernels(program), normalised(name)
    return (
        [kernel for kernel in kernels if kernel.name == name]
        or [kernel for kernel in kernels if normalised(kernel.display) == wanted]
        or [kernel for kernel in kernels if _unqualified(normalised(kernel.display)) == wanted]
    )


def _unqualified(display: str) -> str:
    """The name after its last `::` that is outside template arguments."""
    depth, start = 0, 0
    for index, char in enumerate(display):
        depth += (char == "<") - (char == ">")
        if depth == 0 and display.startswith("::", index):
            start = index + 2
    return display[start:]


def _not_found(module: str, wanted: str, names: list[str]) -> str:
    if not names:
        return f"{module} has no kernel {wanted}; it has no kernels at all"
    text = f"{module} has no kernel {wanted}; it has {', '.join(names)}"
    near = get_close_matches(wanted, names, n=1)
    return text + (f". Did you mean {near[0]}?" if near else "")
