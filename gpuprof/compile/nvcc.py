"""CUDA C++ to PTX by nvcc, where it is installed. The result has the shape of our own front end's: same cache, same
names in the profile.
"""

import os
import re
import shutil
import tempfile
from collections.abc import Collection, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from gpuprof.base.scratch import temporary_folder
from gpuprof.compile import cache, demangle
from gpuprof.compile.child import diagnostics_of, run_child
from gpuprof.compile.embedded import opened_texts
from gpuprof.compile.includes import included_files
from gpuprof.compile.module import PtxModule
from gpuprof.compile.ptxfile import functions_of
from gpuprof.compile.source import ChangedSource, bounded_ptx, headers_of, nvcc_arch, source_of, with_instances
from gpuprof.errors import CompileError

DEFAULT_TOOLKIT = "/usr/local/cuda"
_RELEASE = re.compile(r"\bV(\d+(?:\.\d+)+)")
_FILE_LINE = re.compile(r'^(\s*\.file\s+\d+\s+")([^"]*)(")', re.MULTILINE)
_INSTANCE = re.compile(r"^.*\.global .*\bgpuprof_instance_(\d+) = (?:generic\()?([\w$]+)\)?;\n", re.MULTILINE)
_TOOLKIT_INCLUDE = re.compile(r"(?:^|/)(?:targets/[\w-]+/)?include/")
_ENTRY_DECLARATION = re.compile(r"^\.visible \.entry [\w$]+\s*\([^()]*\)\s*;\n", re.MULTILINE)

UNKNOWN_ARCH = b"Unsupported gpu architecture"
LAUNCHES = b"requires separate compilation mode"  # nvcc's complaint about kernels that launch kernels


class Nvcc(NamedTuple):
    """command: how it is started. version: "13.0.88". toolkit: the folder its own headers are below."""

    command: str
    version: str
    toolkit: Path


def find(named: str = "nvcc") -> Nvcc:
    """The nvcc a user names, or else the one of PATH, CUDA_HOME, CUDA_PATH or /usr/local/cuda. Raises CompileError when
    there is none.
    """
    folders = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), DEFAULT_TOOLKIT]
    places = (
        [named] if named != "nvcc" else [named, *(os.path.join(folder, "bin", "nvcc") for folder in folders if folder)]
    )
    command = next((path for place in places if (path := shutil.which(place))), None)
    if command is None:
        raise CompileError(
            f"{named}: no such program on PATH, in CUDA_HOME or {DEFAULT_TOOLKIT}: install the CUDA toolkit, name its "
            "compiler with "
            "--compiler PATH/nvcc, or leave out --compiler to use gpuprof's own clang"
        )
    asked = run_child([command, "--version"], command)
    release = _RELEASE.search(asked.out.decode("utf-8", "replace"))
    if asked.code or not release:
        raise CompileError(f"{command}: `{command} --version` prints no version; is this nvcc?", diagnostics_of(asked))
    return Nvcc(command, release[1], Path(command).resolve().parent.parent)


def compile_nvcc(
    path: Path | str | ChangedSource,
    *,
    arch: str,
    instantiate: Sequence[str] = (),
    include_dirs: Sequence[Path | str] = (),
    defines: Sequence[str] = (),
    optimize: int = 3,
    standard: str | None = None,
    fast_math: bool = False,
    nvcc: str = "nvcc",
) -> PtxModule:
    """Compiles one .cu file for the device with nvcc; the arguments are those of `compile_cuda`.

    standard: "c++17", else nvcc's own. For an `arch` older than all that nvcc knows, the module is for the oldest that
    it knows, and says so. Raises CompileError (with nvcc's own diagnostics) or UsageError (no such file).
    """
    path, source = source_of(path)
    tools = find(nvcc)
    # `-O` is for host code; the device's optimizer has its own, and needs no flag for its best.
    flags = ["-ptx", "-lineinfo", *(["-Xcicc", f"-O{optimize}"] if optimize < 3 else [])]
    flags += [f"-std={standard}"] if standard else []
    flags += ["--use_fast_math"] if fast_math else []
    flags += [*(f"-I{each}" for each in include_dirs), *(f"-D{each}" for each in defines)]
    text = with_instances(path, source, instantiate)
    of_tools = (tools.command, tools.version, cache.own_files())
    parts = ("nvcc", text, arch, *flags, *cache.environment_parts(), *of_tools, os.getcwd())
    key = cache.digest([each.encode("utf-8", "surrogateescape") for each in parts])
    module = cache.load(key)
    if module is None:
        included = included_files(path, source, include_dirs)
        ptx, opened, arch = _run(tools, arch, flags, text, path)
        module = _module(ptx, tools, path, source, instantiate, arch, _evident(opened, included, tools))
        cache.store(key, module, [each for each in opened if not each.startswith(f"{tools.toolkit}/")])
    return module


def _run(tools: Nvcc, arch: str, flags: list[str], text: str, path: str) -> tuple[str, list[str], str]:
    """Runs nvcc on a copy of the text, which names its origin by #line. Returns PTX, the files that nvcc opened in
    addition to the copy, and the architecture that it compiled for.
    """
    source_folder = os.path.dirname(os.path.abspath(path))  # where #include "..." looks first
    with temporary_folder(_temporary()) as folder:
        source, ptx, dependencies = (folder / name for name in (Path(path).name, "out.ptx", "headers.d"))
        source.write_text(text, encoding="utf-8", errors="surrogateescape")
        link = folder / "source"  # a name that -Xcompiler does not split
        link.symlink_to(source_folder)
        quoted = ("-Xcompiler", "-iquote", "-Xcompiler", str(link))
        command = [
            tools.command,
            *flags,
            *quoted,
            "-x",
            "cu",
            "-MD",
            "-MF",
            str(dependencies),
            "-o",
            str(ptx),
            str(source),
        ]
        # nvcc's own temporary files go with this folder, also when it is killed
        run = partial(run_child, what=path, env=cache.environment() | {"TMPDIR": str(folder)})
        done = run([*command, f"-arch={nvcc_arch(arch)}"])
        if UNKNOWN_ARCH in done.errors:
            arch = _oldest_beyond(arch, tools)
            done = run([*command, f"-arch={nvcc_arch(arch)}"])
        command += [f"-arch={nvcc_arch(arch)}"]
        if LAUNCHES in done.errors + done.out:
            done = run([*command, "-rdc=true"])
        if done.code:
            messages = diagnostics_of(done) + done.out.decode("utf-8", "replace")
            messages = messages.replace(str(source), path).replace(str(link), source_folder)
            raise CompileError(f"{path} does not compile with nvcc", messages)
        named = headers_of(
            dependencies.read_text(encoding="utf-8", errors="replace").replace(
                str(link), source_folder.replace(" ", "\\ ")
            )
        )
        headers = [os.path.normpath(each) for each in named]
        kept = [each for each in headers if each != str(source)]
        return ptx.read_text(encoding="utf-8", errors="replace").replace(str(link), source_folder), kept, arch


def _oldest_beyond(arch: str, tools: Nvcc) -> str:
    """The oldest architecture that nvcc knows, if it is younger than `arch`; else `arch`."""
    listed = run_child([tools.command, "--list-gpu-arch"], tools.command).out.decode("utf-8", "replace")
    known = sorted(map(int, re.findall(r"compute_(\d+)", listed)))
    return f"sm_{known[0]}" if known and known[0] > int(arch.removeprefix("sm_")) else arch


def _evident(opened: Sequence[str], included: Collection[Path], tools: Nvcc) -> list[str]:
    """The files that nvcc has opened: it says so of those that `#line` names, too."""
    places = {each: os.path.realpath(each) for each in opened}
    own = os.path.realpath(tools.toolkit)

    def is_own(place: str) -> bool:
        return place.startswith(f"{own}/") and bool(_TOOLKIT_INCLUDE.match(place[len(own) :]))

    return [each for each, place in places.items() if Path(place) in included or is_own(place)]


def _temporary() -> str:
    """The folder of temporary files; -Xcompiler splits what it is given, so the system's own folder where the name of
    the user's would be split.
    """
    named = tempfile.gettempdir()
    if not re.search(r"[\s,]", named):
        return named
    return next((each for each in ("/tmp", "/var/tmp") if os.access(each, os.W_OK | os.X_OK)), named)


def _module(
    ptx: str, tools: Nvcc, path: str, source: str, instantiate: Sequence[str], arch: str, opened: Sequence[str]
) -> PtxModule:
    symbols = {int(index): symbol for index, symbol in _INSTANCE.findall(ptx)}
    named = {symbols[index]: name for index, name in enumerate(instantiate)}
    ptx = _INSTANCE.sub("", ptx)
    if named:  # they were declared ahead of the variables that held their addresses
        ptx = _ENTRY_DECLARATION.sub("", ptx)
    places: dict[str, str] = {}  # name in the profile -> where the file is

    def rename(match: re.Match) -> str:
        name = _name_of(match[2], path, tools.toolkit)
        places[name] = match[2]
        return match[1] + name + match[3]

    ptx = _FILE_LINE.sub(rename, ptx)
    sources = opened_texts({name: file for name, file in places.items() if name != path}, opened)
    if path in places:
        sources[path] = source.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    signatures = {symbol: demangle.signature(symbol) for symbol in functions_of(ptx)}
    return PtxModule(
        name=path,
        ptx=bounded_ptx(path, ptx),
        sources=sources,
        display={symbol: each.name for symbol, each in signatures.items()} | named,
        compiler=f"nvcc {tools.version}",
        arch=arch,
        param_types={symbol: each.types for symbol, each in signatures.items() if each.types is not None},
    )


def _name_of(place: str, path: str, toolkit: Path) -> str:
    """The profile's name for a file of the `.file` table, where nvcc writes absolute paths: as the user does, and alike
    on every machine.
    """
    absolute = os.path.normpath(place)
    if absolute == os.path.abspath(path):
        return path
    if os.path.realpath(absolute).startswith(f"{toolkit}/"):
        return "<cuda>/" + _TOOLKIT_INCLUDE.split(absolute, maxsplit=1)[-1]
    here = os.getcwd() + os.sep
    return absolute.removeprefix(here)
