"""How a suite's own Makefile builds and runs a program, read from what `make -n run` would do."""

import re
import shlex
import subprocess
from pathlib import Path
from typing import NamedTuple

WITH_A_WORD = ("-I", "-D", "-o", "-x", "-arch", "-gencode", "-Xcompiler", "-Xptxas", "-include", "-ccbin")
COMPILERS = ("nvcc", "gcc", "g++", "cc", "c++", "clang", "clang++")
SOURCES = (".cu", ".cpp", ".cc", ".cxx", ".c")
# nvcc's names for device code that is linked over several files; `-rdc=true` may be two words.
LINKS_DEVICE = re.compile(r"(?<!\S)(?:-dc|--device-c|(?:-rdc|--?relocatable-device-code)[= ]true)(?!\S)")
CUDA = ("cudart", "cudart_static", "cuda", "cudadevrt")  # libraries that every program has
CONTROL = re.compile(r"[;&|]+")


class Recipe(NamedTuple):
    """`folder`: where the program is built and run. `arguments`: of its first run."""

    folder: Path
    sources: tuple[str, ...]
    include_dirs: tuple[str, ...]
    defines: tuple[str, ...]
    standard: str
    arguments: tuple[str, ...]
    links_device: bool = False
    libraries: tuple[str, ...] = ()


def read_recipe(folder: Path, makefile: str = "Makefile") -> Recipe:
    """The recipe of a folder with a Makefile. Its commands are not executed, but `$(shell ...)` is."""
    command = ["make", "-n", "-B", "-f", makefile, "run"]
    told = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)
    return parse_recipe(folder, told.stdout)


def parse_recipe(folder: Path, told: str) -> Recipe:
    """`told`: what `make -n -B run` prints."""
    sources, include_dirs, defines, libraries, standard, arguments = [], [], [], [], "", None
    for line in told.replace("\\\n", " ").splitlines():
        for command in CONTROL.split(line):
            words = _words(command)
            if words and Path(words[0]).name in COMPILERS:
                flags = iter(words[1:])
                for word in flags:
                    if word in WITH_A_WORD:
                        word += next(flags, "")
                    if word.startswith("-I"):
                        include_dirs.append(word[2:])
                    elif word.startswith("-D"):
                        defines.append(word[2:])
                    elif word.startswith("-l") and word[2:] not in CUDA:
                        libraries.append(word[2:])
                    elif word.startswith(("-std=", "--std=")):
                        standard = word.split("=")[1].replace("gnu", "c")
                    elif word.endswith(SOURCES) and not word.startswith("-"):
                        sources.append(word)
            elif words and words[0].startswith("./") and arguments is None:
                arguments = tuple(words[1:])
    sources, include_dirs, defines, libraries = (
        tuple(dict.fromkeys(each)) for each in (sources, include_dirs, defines, libraries)
    )
    links_device = LINKS_DEVICE.search(told) is not None
    return Recipe(folder, sources, include_dirs, defines, standard, arguments or (), links_device, libraries)


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return []
