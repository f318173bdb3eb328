"""GPUVerify's kernels: what each file says of itself, and how it is launched.

A file says `//pass` or `//xfail:...`, with what is reported then, and the sizes of its launch. Its annotations for the
verifier become nothing, but for the values of parameters.
"""

import re
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

from gpuprof.errors import GpuprofError
from gpuprof.isa.program import Function
from gpuprof.trace.checkers.memcheck import Memcheck
from gpuprof.trace.checkers.racecheck import Racecheck
from tests.support.planted import Planted

ANNOTATIONS = (
    *("requires", "invariant", "assert", "ensures", "assume", "axiom", "global_invariant", "requires_fresh_array"),
    *("function_wide_invariant", "candidate_invariant", "non_temporal_loads_begin", "non_temporal_loads_end"),
)
PRELUDE = "".join(f"#define __{name}(...)\n" for name in ANNOTATIONS) + "#line 1\n"
MOST_THREADS, MOST_BLOCKS = 256, 4  # the verifier looks at any two threads
NBYTES = 1 << 20  # of each array
UNMET = "__axiom("  # of what no launch makes true
DEFAULT = 4  # of an integer that no precondition names


class Case(NamedTuple):
    """`is_racy`: what its authors say."""

    name: str
    path: Path
    is_racy: bool
    is_warp_synchronous: bool  # lanes of a warp are taken to go on together


def cases(folder: Path) -> Iterator[Case]:
    """Files that pass, and those that are said to have a race. All others are wrong in another way."""
    for path in sorted(folder.rglob("*.cu")):
        text = path.read_text(errors="replace")
        if UNMET in text:
            continue
        said = "\n".join(line for line in text.splitlines() if line.startswith("//"))
        is_racy = bool(re.search(r"^//xfail", said, re.M)) and bool(re.search(r"race on|possible \S+ race", said))
        if is_racy or said.startswith("//pass"):
            yield Case(str(path.parent.relative_to(folder)), path, is_racy, "--warp-sync" in said)


def kinds_found(case: Case, scratch: Path) -> list[str]:
    """Kinds of races that are found. Raises GpuprofError where it cannot be run."""
    text = case.path.read_text(errors="replace")
    racecheck = Racecheck(warp_synchronous=not case.is_warp_synchronous)
    planted = Planted(scratch, PRELUDE + text, Memcheck(), racecheck, max_instructions=1 << 20)
    found = []
    for name in planted.module.kernels:
        planted.run(name, *_extents(text), *_arguments(planted, planted.module[name].function, text))
        found += [finding.kind for finding in racecheck.results[-1].findings]
    return sorted(set(found))


def _extents(text: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """(grid, block), no larger than what is looked at."""
    sizes = {}
    for name, most in (("gridDim", MOST_BLOCKS), ("blockDim", MOST_THREADS)):
        given = re.search(rf"--{name}=\[?([\d,]+)", text)
        numbers = [int(number) for number in given[1].split(",") if number] if given else [1]
        for k, number in enumerate(numbers):
            numbers[k] = min(number, most)
            most = max(1, most // numbers[k])
        sizes[name] = (*numbers, 1, 1)[:3]
    return sizes["gridDim"], sizes["blockDim"]


def _arguments(planted: Planted, function: Function, text: str) -> Iterator:
    declared = re.search(rf"\b{re.escape(function.display)}\s*\(([^)]*)\)", text)
    names = re.findall(r"(\w+)\s*(?:\[\w*\])?\s*(?:,|$)", declared[1]) if declared else []
    for parameter, name in zip_longest(function.params, names[: len(function.params)], fillvalue=""):
        if parameter.nbytes > 8:
            raise GpuprofError(f"{function.display}: a structure is its parameter {parameter.name}")
        if parameter.nbytes == 8 and parameter.is_pointer:
            yield planted.array(NBYTES)
        else:
            yield _value(name, text)


def _value(name: str, text: str) -> int:
    """What a precondition says of a parameter, by its name in the source."""
    for given, value in re.findall(r"__requires\(\s*(\w+)\s*==\s*(\d+|blockDim\.x)", text):
        if given == name:
            return int(value) if value.isdigit() else _extents(text)[1][0]
    return DEFAULT
