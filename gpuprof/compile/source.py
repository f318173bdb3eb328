"""The source text and the architecture as a compiler gets them, and the headers that the compiler says it read."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from gpuprof.base.inputs import PTX, SOURCE, read_input_text
from gpuprof.errors import CompileError

# A chip's architecture -> nvcc's name for it with all its features, and the macro by which sources ask for features
# that only this architecture has (CUDA C++ programming guide, 5.1.2; wgmma: `sm_90a`; setmaxnreg: that and `sm_100a`).
# A chip that gpuprof emulates has them, so sources are compiled for them. What only sm_120a has are products of blocks
# with scales, which are not emulated: libraries would choose them.
_ALL_OF = {"sm_90": ("sm_90a", "__CUDA_ARCH_FEAT_SM90_ALL"), "sm_100": ("sm_100a", "__CUDA_ARCH_FEAT_SM100_ALL")}


class ChangedSource(NamedTuple):
    """A file whose text is replaced by another one: lines, messages and headers are those of the file."""

    path: str
    text: str


def source_of(source: Path | str | ChangedSource) -> ChangedSource:
    """The file with the text that is compiled. Raises what `read_source` raises."""
    return source if isinstance(source, ChangedSource) else ChangedSource(str(source), read_source(str(source)))


def read_source(path: str) -> str:
    """Bytes that are not UTF-8 pass through to the compiler, which complains about them where they matter."""
    return read_input_text(path, SOURCE, errors="surrogateescape")


def bounded_ptx(path: str, ptx: str) -> str:
    """The PTX of a compiler, if it is no longer than a .ptx file may be. Raises CompileError."""
    if len(ptx) > PTX.most_nbytes:
        raise CompileError(f"{path}: has {len(ptx):,} bytes of PTX; the limit is {PTX.most_nbytes:,}")
    return ptx


def with_instances(path: str, source: str, instantiate: Sequence[str], attributes: str = "") -> str:
    """The source with its own line numbers, followed by a line for each instance.

    A variable that holds the kernel's address instantiates it, and gives its symbol: gpuprof_instance_0, ...
    """
    forced = "".join(
        f'\n#line 1 "<kernel {_quoted(name)}>"\nextern "C" __device__ {attributes}auto gpuprof_instance_{index} = '
        f"&{name};\n"
        for index, name in enumerate(instantiate)
    )
    return f'#line 1 "{_quoted(path)}"\n{source}{forced}'


def split_defines(defines: Sequence[str]) -> tuple[list[str], str]:
    """Macros ("N", "N=8") for the compiler's own headers, which are those with a reserved name, and the text that
    defines the others.

    The text goes between the headers that come before every source and the source: a program may call a macro T or N,
    as templates of headers call their parameters.
    """
    reserved = [each for each in defines if each.startswith("_")]
    lines = []
    for each in defines:
        name, given, value = each.splitlines()[0].partition("=") if each else ("", "", "")
        if not each.startswith("_"):
            lines.append(f"#define {name} {value if given else 1}\n")
    return reserved, '#line 1 "<command line>"\n' + "".join(lines) if lines else ""


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def headers_of(dependencies: str) -> list[str]:
    """The files of a make rule "ir: a.h b\\ c.h", continued over lines with a backslash."""
    names = re.findall(r"(?:\\.|[^\s\\])+", dependencies.partition(":")[2].replace("\\\n", " "))
    return [re.sub(r"\\(.)", r"\1", name).replace("$$", "$") for name in names if name != "-"]


def nvcc_arch(arch: str) -> str:
    return _ALL_OF.get(arch, (arch, ""))[0]


def feature_macros(arch: str) -> list[str]:
    return [_ALL_OF[arch][1]] if arch in _ALL_OF else []
