"""CUDA C++ to PTX: clang parses, a child process generates code, the result is cached."""

import json
import os
import re
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from gpuprof.base.confinement import is_confined
from gpuprof.base.scratch import temporary_folder
from gpuprof.compile import absent, cache, toolchain
from gpuprof.compile.attempts import Repaired, Sources, compiled, flags_of
from gpuprof.compile.child import Ended, diagnostics_of, run_child
from gpuprof.compile.embedded import opened_texts
from gpuprof.compile.includes import check_opened, included_files
from gpuprof.compile.llvm.lineinfo import label_index
from gpuprof.compile.llvm.metadata import Metadata
from gpuprof.compile.llvm.naming import qualified_name, symbol_of
from gpuprof.compile.module import PtxModule
from gpuprof.compile.passes.math_calls import call_math_functions, math_source
from gpuprof.compile.source import (
    ChangedSource,
    bounded_ptx,
    feature_macros,
    headers_of,
    source_of,
    split_defines,
    with_instances,
)
from gpuprof.compile.toolchain import OURS, Headers, Toolchain
from gpuprof.errors import CompileError
from gpuprof.isa.facts import Facts
from gpuprof.isa.gpubin.layout import from_plain

_FATAL = re.compile(r"LLVM ERROR: (.*)")
_LOCATED = re.compile(r",? \S+:(\d+)$")
_IN_FUNCTION = re.compile(r"In function: (\S+)")

LAUNCHES = "-fgpu-rdc"  # kernels that launch kernels need it, and clang's complaint names it
MATH_NAME = "mathematical functions"  # the source of those that clang's names call
FAST_MATH = ("-fgpu-flush-denormals-to-zero", "-DGPUPROF_FAST_MATH")
UNIT_NAME = "-cuid={}"  # it is in the names of static kernels, and clang would make one of the folder


def compile_cuda(  # noqa: PLR0913  # the flags of a compiler
    path: Path | str | ChangedSource,
    *,
    arch: str = "sm_80",
    instantiate: Sequence[str] = (),
    include_dirs: Sequence[Path | str] = (),
    defines: Sequence[str] = (),
    optimize: int = 3,
    standard: str | None = None,
    clang: str | None = None,
    headers: Headers = OURS,
    fast_math: bool = False,
    for_debugger: bool = False,
) -> PtxModule:
    """Compiles one .cu file for the device.

    instantiate: template kernels to instantiate, as the source names them ("scan<256>"); `display` gives them that
    name.
    defines: "NAME" or "NAME=VALUE". optimize: 0 to 3. standard: "c++17", else C++20. clang: another clang than the
    ziglang wheel's. fast_math: as by nvcc's --use_fast_math. for_debugger: the PTX says where variables are.
    Raises CompileError (with clang's own diagnostics) or UsageError (no such file).
    """
    tools = toolchain.find(clang, headers)
    how = _Flags(arch, include_dirs, defines, optimize, standard, tools, fast_math, for_debugger)
    return _compiled([_unit(path, how, instantiate)], how, instantiate)


def compile_linked(
    paths: Sequence[Path],
    *,
    arch: str,
    include_dirs: Sequence[Path | str],
    defines: Sequence[str],
    optimize: int,
    standard: str | None,
    headers: Headers,
    fast_math: bool = False,
    for_debugger: bool = False,
) -> PtxModule:
    """Compiles .cu files for the device and links them, as `nvcc -rdc=true` does: what one declares as extern, another
    defines. The module has the first one's name.

    Raises what `compile_cuda` raises, and CompileError for what two of them define.
    """
    tools = toolchain.find(None, headers)
    how = _Flags(arch, include_dirs, defines, optimize, standard, tools, fast_math, for_debugger)
    units = [_unit(path, how, (), linked_flags(number)) for number, path in enumerate(paths)]
    return _compiled(units, how, ())


def linked_flags(number: int) -> list[str]:
    """Flags of a file whose device code is linked with others'; they are the host's, too. `number`: the file's."""
    return [LAUNCHES, UNIT_NAME.format(number)]


class _Flags(NamedTuple):
    """The flags of all files of a module."""

    arch: str
    include_dirs: Sequence[Path | str]
    defines: Sequence[str]
    optimize: int
    standard: str | None
    tools: Toolchain
    fast_math: bool = False
    for_debugger: bool = False


class _Unit(NamedTuple):
    """A file, as clang gets it. `text` is `source` with the text that goes before and after it."""

    path: str
    source: str
    text: str
    flags: list[str]


def _unit(
    given: Path | str | ChangedSource, how: _Flags, instantiate: Sequence[str], more: Sequence[str] = ()
) -> _Unit:
    path, source = source_of(given)
    _, macros = split_defines(how.defines)
    text = macros + with_instances(path, source, instantiate, "__attribute__((nodebug)) ")
    return _unit_of(path, source, text, how, more)


def _unit_of(path: str, source: str, text: str, how: _Flags, more: Sequence[str]) -> _Unit:
    # The text goes in on stdin, so that what is compiled is what is embedded; #include "..." still looks next to the
    # file.
    flags = [*how.tools.flags, f"--cuda-gpu-arch={how.arch}", "-iquote", os.path.dirname(path) or "."]
    flags += FAST_MATH if how.fast_math else []
    flags += [f"-O{how.optimize}", *([f"-std={how.standard}"] if how.standard else []), *more]
    reserved, _ = split_defines(how.defines)
    flags += [
        *(f"-I{each}" for each in how.include_dirs),
        *(f"-D{each}" for each in (*feature_macros(how.arch), *reserved)),
    ]
    return _Unit(path, source, text, flags)


def _compiled(units: Sequence[_Unit], how: _Flags, instantiate: Sequence[str]) -> PtxModule:
    parts = [part for unit in units for part in (unit.text, *unit.flags)]
    parts += [*(["debug"] if how.for_debugger else []), *cache.environment_parts(), how.tools.identity, os.getcwd()]
    key = cache.digest([each.encode("utf-8", "surrogateescape") for each in parts])
    module = cache.load(key)
    if module is None:
        for unit in units:
            included_files(unit.path, unit.source, how.include_dirs)  # refuses what clang should not open
            if is_confined():
                _check_opened(how.tools, unit)
        irs, opened = zip(*(_parse(how.tools, unit) for unit in units), strict=True)
        irs = _with_math(irs, how)
        headers = list(dict.fromkeys(each for files in opened for each in files))
        made = _generate(irs, how, units[0].path)
        module = _module(made, how, units, instantiate, headers)
        cache.store(key, module, [each for each in headers if not _is_library(each, how.tools)])
    return module


def _check_opened(tools: Toolchain, unit: _Unit) -> None:
    """Refuses what clang would open outside of a confined run's folder, before its errors can quote it."""
    source = unit.text.encode("utf-8", "surrogateescape")
    command = [*tools.command, *unit.flags]
    check_opened(command, unit.path, source, partial(_is_library, tools=tools), cache.environment())


def _with_math(irs: Sequence[str], how: _Flags) -> list[str]:
    """The modules, and one with the mathematical functions that clang has them call."""
    parts = [call_math_functions(ir) for ir in irs]
    names = sorted({name for _, called in parts for name in called})
    if not names:
        return list(irs)
    text = math_source(names)
    library = _parse(how.tools, _unit_of(MATH_NAME, text, text, how._replace(defines=()), linked_flags(len(irs))))
    return [*(ir for ir, _ in parts), library[0]]


def _is_library(place: str, tools: Toolchain) -> bool:
    return any(Path(place).is_relative_to(folder) for folder in tools.library_names.values())


def _module(
    made: dict, how: _Flags, units: Sequence[_Unit], instantiate: Sequence[str], opened: Sequence[str]
) -> PtxModule:
    named = dict(zip(made["instances"], instantiate, strict=True))
    path = units[0].path
    return PtxModule(
        name=path,
        ptx=bounded_ptx(path, made["ptx"]),
        sources=_sources(made["files"], units, how.tools.library_names, opened),
        display=made["display"] | named,
        compiler=how.tools.name,
        arch=how.arch,
        param_types={symbol: tuple(types) for symbol, types in made["param_types"].items()},
        facts=from_plain(Facts, made["facts"], "facts"),
    )


def _parse(tools: Toolchain, unit: _Unit) -> tuple[str, list[str]]:
    """Runs clang. Returns LLVM IR, and the files that it opened in addition to the source."""
    path = unit.path
    with temporary_folder() as folder:
        dependencies = folder / "headers.d"
        command = [*tools.command, *unit.flags, "-MD", "-MF", str(dependencies), "-MT", "ir", "-o", "-"]

        def run(repaired: Repaired) -> Ended:
            headers = {name: text for name, text in repaired.texts.items() if name != path}
            flags = flags_of(repaired._replace(texts=headers), folder)
            text = unit.text.replace(unit.source, repaired.texts.get(path, unit.source), 1)
            once = partial(
                run_child, what=path, source=text.encode("utf-8", "surrogateescape"), env=cache.environment()
            )
            done = once([*command, *flags, "-"])
            return once([*command, *flags, *linked_flags(0), "-"]) if LAUNCHES.encode() in done.errors else done

        done = compiled(run, path, Sources({path: unit.source}, partial(_is_library, tools=tools)))
        if done.code:
            messages = diagnostics_of(done)
            raise CompileError(f"{path} does not compile{absent.hint_for(messages)}", messages)
        return done.out.decode("utf-8", "replace"), headers_of(
            dependencies.read_text(encoding="utf-8", errors="replace")
        )


def _generate(irs: Sequence[str], how: _Flags, path: str) -> dict:
    """Runs `codegen` in a child process, since LLVM ends the process on what it cannot generate.

    -P: a file of the user's folder must not replace a module of the same name.
    """
    command = [sys.executable, "-P", "-m", "gpuprof.compile.codegen", how.arch, str(how.optimize)]
    command += [word for word, is_set in (("debug", how.for_debugger), ("fast", how.fast_math)) if is_set]
    done = run_child(command, path, "\0".join(irs).encode(), _same_package())
    places, _, result = done.out.partition(b"\n")
    if done.code:
        raise CompileError(_explain(diagnostics_of(done), json.loads(places or b"[]"), irs, path))
    return json.loads(result)


def _same_package() -> dict[str, str]:
    """An environment in which Python imports this very package: a checkout goes before one that is installed."""
    root = Path(__file__).parents[2]
    if root.name in ("site-packages", "dist-packages"):
        return dict(os.environ)
    others = os.environ.get("PYTHONPATH")
    return {**os.environ, "PYTHONPATH": f"{root}{os.pathsep}{others}" if others else str(root)}


def _explain(complaint: str, places: list[str], irs: Sequence[str], path: str) -> str:
    """LLVM's last words, with the line of the instruction they are about, or else of its function, when they name
    one.
    """
    fatal, inside = _FATAL.search(complaint), _IN_FUNCTION.search(complaint)
    lines = complaint.strip().splitlines()
    what = fatal[1] if fatal else lines[-1] if lines else "LLVM ended without a message"
    position, function = path, ""
    for metadata in map(Metadata, irs):
        for each in metadata.of_kind("DISubprogram"):
            if inside and symbol_of(each) == inside[1]:
                position = f"{metadata.file_of(each)}:{each.number('line')}"
                function = f" for `{qualified_name(metadata, each)}`"
    if located := _LOCATED.search(what):
        index = label_index(int(located[1]))
        position = places[index] if index is not None else position
        what = what[: located.start()]
    return f"{position}: no PTX can be generated{function}: {what}"


def _sources(
    files: list[str], units: Sequence[_Unit], library_names: dict[str, str], opened: Sequence[str]
) -> dict[str, str]:
    """The text of each file in the `.file` table that clang has opened."""

    def place_of(name: str) -> str:
        library, _, rest = name.partition("/")
        return str(Path(library_names[library], rest)) if library in library_names else name

    own = {unit.path: unit.source for unit in units}
    texts = opened_texts({name: place_of(name) for name in files if name not in own}, opened)
    for path in own.keys() & set(files):
        texts[path] = own[path].encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return {name: texts[name] for name in files if name in texts}
