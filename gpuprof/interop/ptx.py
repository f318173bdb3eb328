"""PTX that a Python compiler made, as a module whose lines lead to the Python source."""

import re
import sys
from pathlib import Path

from gpuprof.compile.module import PtxModule
from gpuprof.compile.ptxfile import module_of_ptx

_INLINE = re.compile(r"// begin inline asm\n.*?// end inline asm", re.DOTALL)
_LOC = re.compile(r"^\s*\.loc\s.*$", re.MULTILINE)
_PACKAGE = re.compile(r".*/(?:site|dist)-packages/(.+)")
_FILE = re.compile(r'^(\s*\.file\s+\d+\s+")([^"]*)(?=")', re.MULTILINE)


def python_module(ptx: str, name: str, compiler: str, display: dict[str, str]) -> PtxModule:
    """The PTX with its source files named as the user knows them. `display`: symbol -> the function's name in Python."""
    module = module_of_ptx(ptx, name, Path())
    names = {old: shown_name(old) for old in _files(ptx)}
    return PtxModule(
        name=name,
        ptx=_FILE.sub(lambda match: match[1] + names[match[2]], _INLINE.sub(_one_line, ptx)),
        sources={names[old]: text for old, text in module.sources.items()},
        display=module.display | display,
        compiler=compiler,
        arch=module.arch,
    )


def _one_line(block: re.Match) -> str:
    """Inline assembly with its first position alone. LLVM counts the lines of the assembly on from the Python line it stands for."""
    first, *others = _LOC.split(block[0])
    positions = _LOC.findall(block[0])
    return first + "".join(positions[:1]) + "".join(others)


def shown_name(path: str) -> str:
    """A path without the folders of this machine: from the present folder on, from where packages are, or from the script's folder."""
    if package := _PACKAGE.match(path):
        return package[1]
    for folder in (Path(), Path(sys.path[0])):
        if Path(path).is_absolute() and Path(path).is_relative_to(folder.resolve()):
            return Path(path).relative_to(folder.resolve()).as_posix()
    return path


def _files(ptx: str) -> set[str]:
    return {match[2] for match in _FILE.finditer(ptx)}
