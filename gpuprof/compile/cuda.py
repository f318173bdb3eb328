"""CUDA C++ to PTX: clang parses, a child process generates code, the result is kept in a cache."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from gpuprof.compile import toolchain
from gpuprof.compile.module import PtxModule
from gpuprof.errors import CompileError, UsageError

_FATAL = re.compile(r"LLVM ERROR: (.*)")
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

    instantiate: template kernels to instantiate, as the source names them ("scan<256>"). defines: "NAME" or "NAME=VALUE".
    clang: another clang than the ziglang wheel's. Raises CompileError (with clang's own diagnostics) or UsageError (no such file).
    """
    source = _read(path)
    tools = toolchain.find(clang)
    flags = [*tools.flags, f"--cuda-gpu-arch={arch}", *(f"-I{each}" for each in include_dirs), *(f"-D{each}" for each in defines)]
    # The text goes in on stdin, so that what is compiled is what is embedded; #include "..." still looks beside the file.
    flags += ["-iquote", os.path.dirname(path) or "."]
    ir = _run_clang([*tools.command, *flags, "-o", "-", "-"], _with_instances(str(path), source, instantiate))
    made = _generate(ir, arch, str(path))
    return PtxModule(
        name=str(path),
        ptx=made["ptx"],
        sources=_sources(made["files"], str(path), source),
        display=made["display"],
        compiler=tools.identity,
        arch=arch,
        param_types={symbol: tuple(types) for symbol, types in made["param_types"].items()},
    )


def _read(path: Path | str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="surrogateescape")
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error


def _with_instances(path: str, source: str, instantiate: Sequence[str]) -> str:
    """The source as clang gets it: its own lines keep their numbers, each instance is forced by a line of its own after them."""
    forced = "".join(
        f'\n#line 1 "<kernel {_quoted(name)}>"\nstatic __attribute__((host, used)) auto gpuprof_instance_{index}() {{ return &{name}; }}\n'
        for index, name in enumerate(instantiate)
    )
    return f'#line 1 "{_quoted(path)}"\n{source}{forced}'


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _run_clang(command: list[str], text: str) -> str:
    done = subprocess.run(command, input=text.encode("utf-8", "surrogateescape"), capture_output=True)
    if done.returncode:
        raise CompileError("the source does not compile", done.stderr.decode("utf-8", "replace"))
    return done.stdout.decode("utf-8", "replace")


def _generate(ir: str, arch: str, path: str) -> dict:
    """Runs `codegen` in a child process, since LLVM ends the process on what it cannot generate."""
    command = [sys.executable, "-m", "gpuprof.compile.codegen", arch]
    done = subprocess.run(command, input=ir.encode(), capture_output=True)
    if done.returncode:
        raise CompileError(_explain(done.stderr.decode("utf-8", "replace"), ir, path))
    return json.loads(done.stdout)


def _explain(complaint: str, ir: str, path: str) -> str:
    from gpuprof.compile.metadata import Metadata
    from gpuprof.compile.naming import qualified_name, symbol_of

    fatal, inside = _FATAL.search(complaint), _IN_FUNCTION.search(complaint)
    what = fatal[1] if fatal else complaint.strip().splitlines()[-1] if complaint.strip() else "LLVM ended without a message"
    if inside:
        metadata = Metadata(ir)
        for function in metadata.of_kind("DISubprogram"):
            if symbol_of(function) == inside[1]:
                place = f"{metadata.file_of(function)}:{function.number('line')}"
                return f"{place}: no PTX can be generated for `{qualified_name(metadata, function)}`: {what}"
    return f"{path}: no PTX can be generated: {what}"


def _sources(files: list[str], path: str, source: str) -> dict[str, str]:
    found = {}
    for name in files:
        if name == path:
            found[name] = source
        elif os.path.isfile(name):
            found[name] = Path(name).read_text(encoding="utf-8", errors="replace")
    return found
