"""PTX that a Python compiler made, as a module whose lines lead to the Python source."""

import ast
import re
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from gpuprof.compile.module import PtxModule
from gpuprof.compile.ptxfile import module_of_ptx

_INLINE = re.compile(r"// begin inline asm\n.*?// end inline asm", re.DOTALL)
_LOC = re.compile(r"^[ \t]*\.loc\s.*$", re.MULTILINE)
_LINE = re.compile(r"(?<=\.loc)(\s+\d+\s+)(\d+)")
_PACKAGE = re.compile(r".*/(?:site|dist)-packages/(.+)")
_INLINED = re.compile(r"^(\s*\.loc\s+(\d+)\s+(\d+)\s+\d+\s*,\s*function_name\s+)[\w$]+", re.MULTILINE)
_FILE = re.compile(r'^(\s*\.file\s+(\d+)\s+")([^"]*)(?=")', re.MULTILINE)


def python_module(ptx: str, name: str, compiler: str, display: dict[str, str]) -> PtxModule:
    """The PTX with its source files named as the user knows them. `display`: symbol -> the function's name in
    Python.
    """
    # the user's own script made it, in this process: it may be of any file
    module = module_of_ptx(ptx, name, Path(), (Path(Path().resolve().anchor),))
    files = {number: path for _, number, path in _FILE.findall(ptx)}
    ptx = _INLINED.sub(
        lambda match: match[1] + _function_at(module.sources, files[match[2]], int(match[3])),
        _INLINE.sub(_one_line, ptx),
    )
    return PtxModule(
        name=name,
        ptx=_FILE.sub(lambda match: match[1] + shown_name(match[3]), ptx),
        sources={shown_name(path): text for path, text in module.sources.items()},
        display=module.display | display,
        compiler=compiler,
        arch=module.arch,
    )


def _function_at(sources: Mapping[str, str], path: str, line: int) -> str:
    """The name of the Python function that a line belongs to; compilers give inlined code the kernel's name, or a
    mangled one.
    """
    inside = [(first, name) for first, last, name in _functions(sources.get(path, "")) if first <= line <= last]
    return max(inside)[1] if inside else Path(path).stem


@cache
def _functions(text: str) -> list[tuple[int, int, str]]:
    """First line, last line and name of each function of a Python file."""
    try:
        tree = ast.parse(text)
    except SyntaxError:  # not Python: a CUDA source that was linked in
        return []
    return [(node.lineno, node.end_lineno, node.name) for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]


def _one_line(block: re.Match) -> str:
    """Inline assembly with one position.

    LLVM counts the lines of the assembly from the Python line that it belongs to, and names each that has an
    instruction or a label.
    """
    first, *others = _LOC.split(block[0])
    positions = _LOC.findall(block[0])
    if not positions:
        return block[0]
    lines_before = first.count("\n") - 1  # the comment that begins the block is none of the assembly's
    position = _LINE.sub(lambda line: f"{line[1]}{int(line[2]) - lines_before}", positions[0])
    return first + position + "".join(others)


def shown_name(path: str) -> str:
    """A path without the folders of this machine: from the present folder on, from where packages are, or from the
    script's folder.
    """
    if package := _PACKAGE.match(path):
        return package[1]
    for folder in (Path(), Path(sys.path[0])):
        if Path(path).is_absolute() and Path(path).is_relative_to(folder.resolve()):
            return Path(path).relative_to(folder.resolve()).as_posix()
    return path
