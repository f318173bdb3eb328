"""CUDA C++ to PTX: clang parses, a child process generates code, the result is kept in a cache."""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from gpuprof.compile import cache, toolchain
from gpuprof.compile.lineinfo import label_index
from gpuprof.compile.metadata import Metadata
from gpuprof.compile.module import PtxModule
from gpuprof.compile.naming import qualified_name, symbol_of
from gpuprof.compile.toolchain import Toolchain
from gpuprof.errors import CompileError, UsageError

_FATAL = re.compile(r"LLVM ERROR: (.*)")
_LOCATED = re.compile(r",? \S+:(\d+)$")
_IN_FUNCTION = re.compile(r"In function: (\S+)")


def compile_cuda(
    path: Path | str,
    *,
    arch: str = "sm_80",
    instantiate: Sequence[str] = (),
    include_dirs: Sequence[Path | str] = (),
    defines: Sequence[str] = (),
    clang: str | None = None,
) -> PtxModule:
    """Compiles one .cu file for the device.

    instantiate: template kernels to instantiate, as the source names them ("scan<256>"); `display` gives them that name.
    defines: "NAME" or "NAME=VALUE". clang: another clang than the ziglang wheel's.
    Raises CompileError (with clang's own diagnostics) or UsageError (no such file).
    """
    path = str(path)
    source = _read(path)
    tools = toolchain.find(clang)
    # The text goes in on stdin, so that what is compiled is what is embedded; #include "..." still looks beside the file.
    flags = [*tools.flags, f"--cuda-gpu-arch={arch}", "-iquote", os.path.dirname(path) or "."]
    flags += [*(f"-I{each}" for each in include_dirs), *(f"-D{each}" for each in defines)]
    text = _with_instances(path, source, instantiate)
    key = cache.digest([each.encode("utf-8", "surrogateescape") for each in (text, *flags, tools.identity, os.getcwd())])
    module = cache.load(key)
    if module is None:
        ir, headers = _parse(tools, flags, text, path)
        made = _generate(ir, arch, path)
        module = _module(made, tools, path, source, instantiate, arch)
        cache.store(key, module, headers)
    return module


def _module(made: dict, tools: Toolchain, path: str, source: str, instantiate: Sequence[str], arch: str) -> PtxModule:
    named = dict(zip(made["instances"], instantiate, strict=True))
    return PtxModule(
        name=path,
        ptx=made["ptx"],
        sources=_sources(made["files"], path, source, tools.library_names),
        display=made["display"] | named,
        compiler=tools.name,
        arch=arch,
        param_types={symbol: tuple(types) for symbol, types in made["param_types"].items()},
    )


def _read(path: str) -> str:
    try:
        # Bytes that are not UTF-8 pass through to clang, which complains about them where they matter.
        return Path(path).read_text(encoding="utf-8", errors="surrogateescape")
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error


def _with_instances(path: str, source: str, instantiate: Sequence[str]) -> str:
    """The source as clang gets it: its own lines keep their numbers, and a line for each instance follows.

    A variable that holds the kernel's address instantiates it, and tells `codegen` its symbol.
    """
    forced = "".join(
        f'\n#line 1 "<kernel {_quoted(name)}>"\nextern "C" __device__ __attribute__((nodebug)) auto gpuprof_instance_{index} = &{name};\n'
        for index, name in enumerate(instantiate)
    )
    return f'#line 1 "{_quoted(path)}"\n{source}{forced}'


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _parse(tools: Toolchain, flags: list[str], text: str, path: str) -> tuple[str, list[str]]:
    """Runs clang. Returns LLVM IR, and the headers that were read beyond the toolchain's own."""
    with tempfile.TemporaryDirectory(prefix="gpuprof-") as folder:
        dependencies = Path(folder) / "headers.d"
        command = [*tools.command, *flags, "-MMD", "-MF", str(dependencies), "-MT", "ir", "-o", "-", "-"]
        done = subprocess.run(command, input=text.encode("utf-8", "surrogateescape"), capture_output=True)
        if done.returncode:
            raise CompileError(f"{path} does not compile", done.stderr.decode("utf-8", "replace"))
        return done.stdout.decode("utf-8", "replace"), _headers(dependencies.read_text(encoding="utf-8", errors="replace"))


def _headers(dependencies: str) -> list[str]:
    """The files of a make rule "ir: a.h b\\ c.h", continued over lines with a backslash."""
    names = re.findall(r"(?:\\.|[^\s\\])+", dependencies.partition(":")[2].replace("\\\n", " "))
    return [re.sub(r"\\(.)", r"\1", name) for name in names if name != "-"]


def _generate(ir: str, arch: str, path: str) -> dict:
    """Runs `codegen` in a child process, since LLVM ends the process on what it cannot generate.

    -P: a file of the user's folder must not stand in for a module of the same name.
    """
    done = subprocess.run([sys.executable, "-P", "-m", "gpuprof.compile.codegen", arch], input=ir.encode(), capture_output=True)
    places, _, result = done.stdout.partition(b"\n")
    if done.returncode:
        raise CompileError(_explain(done.stderr.decode("utf-8", "replace"), json.loads(places or b"[]"), ir, path))
    return json.loads(result)


def _explain(complaint: str, places: list[str], ir: str, path: str) -> str:
    """LLVM's last words, with the line of the instruction they are about, or else of its function, when they name one."""
    fatal, inside = _FATAL.search(complaint), _IN_FUNCTION.search(complaint)
    lines = complaint.strip().splitlines()
    what = fatal[1] if fatal else lines[-1] if lines else "LLVM ended without a message"
    place, function = path, ""
    metadata = Metadata(ir)
    for each in metadata.of_kind("DISubprogram"):
        if inside and symbol_of(each) == inside[1]:
            place = f"{metadata.file_of(each)}:{each.number('line')}"
            function = f" for `{qualified_name(metadata, each)}`"
    if located := _LOCATED.search(what):
        index = label_index(int(located[1]))
        place = places[index] if index is not None else place
        what = what[: located.start()]
    return f"{place}: no PTX can be generated{function}: {what}"


def _sources(files: list[str], path: str, source: str, library_names: dict[str, str]) -> dict[str, str]:
    """The text of each file in the `.file` table that exists."""
    found = {}
    for name in files:
        if name == path:
            found[name] = source.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
            continue
        library, _, rest = name.partition("/")
        place = Path(library_names[library], rest) if library in library_names else Path(name)
        if place.is_file():
            found[name] = place.read_text(encoding="utf-8", errors="replace")
    return found
