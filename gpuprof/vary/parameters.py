"""The parameters of --vary: block=64,128, D.TILE=8,16, pad.tile=0,1."""

import re
from collections.abc import Callable
from typing import NamedTuple

from gpuprof.base.wording import suggestion
from gpuprof.errors import UsageError

NONE = "none"  # no limit of registers, no bounds
OWN = "autotune"  # the list that a Triton kernel has itself
MOST_VALUE = 1 << 20
_MACRO = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_STANDARD = re.compile(r"(c|gnu)\+\+\w+", re.ASCII)


class Kind(NamedTuple):
    """`is_value`: says if a text is a value; `values` names these in a message. `named`: what a name after a dot is:
    "" where none may follow. `needs_name`: one must. `suffixes`: the files that it has an effect on; `of_launches`: it
    needs launches that are known, which a script or a program does not have.
    """

    is_value: Callable[[str], bool]
    values: str
    example: str
    text: str
    suffixes: tuple[str, ...]
    named: str = ""
    needs_name: bool = False
    of_launches: bool = False


class Varied(NamedTuple):
    """A parameter and its values, as they were written. `kind` is a key of KINDS; `name` is "" without one."""

    kind: str
    name: str
    texts: tuple[str, ...]

    @property
    def title(self) -> str:
        return f"{self.kind}.{self.name}" if self.name else self.kind


def extent(text: str) -> tuple[int, int, int]:
    """The block "32x8" as (x, y, z). Raises ValueError."""
    values = [int(each) if each.isascii() and each.isdecimal() else 0 for each in text.split("x")]
    if len(values) > 3 or not all(0 < each <= MOST_VALUE for each in values):
        raise ValueError(text)
    x, y, z = (*values, 1, 1)[:3]
    return x, y, z


def _is_extent(text: str) -> bool:
    try:
        extent(text)
    except ValueError:
        return False
    return True


def _number(least: int, most: int, *words: str) -> Callable[[str], bool]:
    def is_value(text: str) -> bool:
        return text in words or (text.isascii() and text.isdecimal() and len(text) < 8 and least <= int(text) <= most)

    return is_value


COMPILED = (".cu", ".cuh", ".py", "")  # a program that is built has no suffix, and is refused by its own words
ASSEMBLED = (*COMPILED, ".ptx")
LAUNCHED = (*ASSEMBLED, ".gpubin")

KINDS = {
    "block": Kind(_is_extent, "numbers of threads, such as 128 or 32x8", "block=64,128,256",
                  "threads of a block; the grid follows, so that as many threads run along each axis",
                  LAUNCHED, named="kernel", of_launches=True),
    "max_registers": Kind(_number(16, 1 << 16, NONE), "numbers from 16 on, or none", "max_registers=32,64,none",
                          "largest number of registers per thread; other values are spilled", ASSEMBLED),
    "min_blocks": Kind(_number(1, 64, NONE), "numbers from 1 to 64, or none", "min_blocks=1,2,4",
                       "the second number of __launch_bounds__: blocks that must fit on an SM",
                       (".cu", ".cuh"), named="kernel", of_launches=True),
    "D": Kind(bool, "values", "D.TILE=8,16,32", "a macro of the source, and {NAME} in launches and arguments",
              COMPILED, named="macro", needs_name=True),
    "pad": Kind(_number(0, 4096), "numbers of elements from 0 to 4096", "pad.tile=0,1,2",
                "elements more in the last dimension of a __shared__ array",
                (".cu", ".cuh"), named="array", needs_name=True, of_launches=True),
    "config": Kind(lambda text: text == OWN, f"{OWN}; others by --config", f"config={OWN}",
                   "Config of a Triton kernel: those of its own @triton.autotune", (".py",)),
    "compiler": Kind(bool, "clang, nvcc or paths", "compiler=clang,nvcc", "the compiler", COMPILED),
    "opt": Kind(lambda text: text in ("O0", "O1", "O2", "O3"), "levels from O0 to O3", "opt=O1,O2,O3",
                "the compiler's optimization level", COMPILED),
    "use_fast_math": Kind(lambda text: text in ("no", "yes"), "no and yes", "use_fast_math=no,yes",
                          "approximate functions of floats, as by nvcc's option", COMPILED),
    "std": Kind(lambda text: bool(_STANDARD.fullmatch(text)), "C++ standards", "std=c++17,c++20",
                "the C++ standard", COMPILED),
}  # fmt: skip


def parse_varied(text: str) -> Varied:
    """ "D.TILE=8,16" as written after --vary. Raises UsageError for text that is no parameter."""
    title, equals, rest = text.partition("=")
    word, dot, name = title.strip().partition(".")
    kind = KINDS.get(word)
    if kind is None:
        near = suggestion(word, KINDS)
        raise UsageError(
            f"--vary {text}: there is no {word!r}{f'; {near}' if near else ''}; there are: {', '.join(KINDS)}"
        )
    texts = tuple(each.strip() for each in rest.split(","))
    if not equals or not all(texts):
        raise UsageError(f"--vary {text}: expected VALUE,VALUE,... as in {kind.example}")
    _check_name(text, kind, bool(dot), name)
    for each in texts:
        if not kind.is_value(each):
            raise UsageError(f"--vary {text}: {each!r} is no value; expected {kind.values}, as in {kind.example}")
        if texts.count(each) > 1:
            raise UsageError(f"--vary {text}: the value {each} is given twice")
    return Varied(word, name, texts)


def _check_name(text: str, kind: Kind, has_dot: bool, name: str) -> None:
    if has_dot and not kind.named:
        raise UsageError(f"--vary {text}: no name may follow, as in {kind.example}")
    if (has_dot or kind.needs_name) and not name:
        raise UsageError(f"--vary {text}: the name of the {kind.named} is missing, as in {kind.example}")
    if name and kind.named != "kernel" and not _MACRO.fullmatch(name):
        raise UsageError(f"--vary {text}: {name!r} cannot name the {kind.named}")


def check_titles(varied: tuple[Varied, ...]) -> None:
    """Raises UsageError where one parameter is given twice."""
    titles = [each.title for each in varied]
    for title in titles:
        if titles.count(title) > 1:
            raise UsageError(f"--vary {title}: is given twice; give all values at once: {title}=A,B,...")
