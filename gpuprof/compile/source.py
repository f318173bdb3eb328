"""The source text as a compiler gets it, and the headers that the compiler says it read."""

import re
from collections.abc import Sequence

from gpuprof.base.text import read_utf8
from gpuprof.errors import UsageError


def read_text(path: str) -> str:
    """Bytes that are not UTF-8 pass through to the compiler, which complains about them where they matter."""
    try:
        return read_utf8(path, "surrogateescape")
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error


def with_instances(path: str, source: str, instantiate: Sequence[str], attributes: str = "") -> str:
    """The source with its own line numbers, followed by a line for each instance.

    A variable that holds the kernel's address instantiates it, and tells its symbol: gpuprof_instance_0, ...
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

    The text goes between the headers that stand before every source and the source: a program may call a macro T or N,
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
    return text.replace("\\", "\\\\").replace('"', '\\"')


def headers_of(dependencies: str) -> list[str]:
    """The files of a make rule "ir: a.h b\\ c.h", continued over lines with a backslash."""
    names = re.findall(r"(?:\\.|[^\s\\])+", dependencies.partition(":")[2].replace("\\\n", " "))
    return [re.sub(r"\\(.)", r"\1", name) for name in names if name != "-"]
