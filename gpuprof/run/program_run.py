"""Runs a whole CUDA program inside a recording, or without one."""

import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from gpuprof.base.inputs import check_is_file
from gpuprof.base.processes import why_died
from gpuprof.chips import Chip
from gpuprof.compile import libraries
from gpuprof.compile.source import read_source
from gpuprof.device.launching.launch_requests import comment_requests
from gpuprof.errors import ContextLost, KernelFault, NotComparable, NotLaunched, UsageError
from gpuprof.isa.program import Function
from gpuprof.program.api_server import ApiServer, TimeNotices
from gpuprof.program.arena import Arena
from gpuprof.program.binary import is_binary
from gpuprof.program.build import CUDA_SUFFIXES, HOST_SUFFIXES, Executable
from gpuprof.program.clocks import measures_events
from gpuprof.program.launch_choice import LaunchChoice
from gpuprof.program.process import run_process
from gpuprof.run.program_build import BuiltProgram, build_whole
from gpuprof.run.run_settings import Settings
from gpuprof.run.session import open_device
from gpuprof.timing.state.occupancy import occupancy

NO_TIMES = "launches take no time in the debugger: the time between events is 0; gpuprof run --timed models it"
STANDARD = "c++17"  # nvcc's
# `int main(`, not a member's name and not in a line comment; `main` is no kernel's.
MAIN = re.compile(r"^(?!\s*//)[^\n\"]*?(?<![\w.:>])main\s*\(", re.MULTILINE)


def has_main(text: str) -> bool:
    """True for a source that defines `main`."""
    return MAIN.search(text) is not None


def is_whole_program(path: Path) -> bool:
    """True for a file of CUDA C++ that defines `main`, and whose comments name no launches."""
    is_cuda = path.suffix in CUDA_SUFFIXES and path.is_file()
    return is_cuda and has_main(read_source(str(path))) and not comment_requests(path)


def is_source(path: Path) -> bool:
    """True for a file whose name is that of a source of programs."""
    return path.suffix in (*CUDA_SUFFIXES, *HOST_SUFFIXES)


def is_host_source(path: Path) -> bool:
    """True for a file whose name is that of a source without kernels."""
    return path.suffix in HOST_SUFFIXES


def _name_of(source: Path) -> str:
    """The name that the program gets as its argv[0]."""
    return str(source.with_suffix("")) if is_source(source) else str(source)


def program_sources(file: Path, others: Sequence[str]) -> tuple[Path, ...]:
    """The sources of a whole program, or its executable; none where the file is something else. Raises UsageError for a
    file among several that is no source.
    """
    if is_binary(file) and not others:
        return (file,)
    sources = (file, *map(Path, others))
    has_more = len(sources) > 1 and all(map(is_source, sources))
    if not (has_more or is_host_source(file) or is_whole_program(file)):
        return ()
    check_sources(sources)
    return sources


def check_sources(sources: Sequence[Path]) -> None:
    """Raises UsageError for a file that is no source of a program; one executable is one, too."""
    if len(sources) == 1 and is_binary(sources[0]):
        return
    for path in sources:
        if not is_source(path):
            kinds = ", ".join((*CUDA_SUFFIXES, *HOST_SUFFIXES))
            raise UsageError(f"{path}: a program's sources are {kinds} files; its arguments come after --")
        check_is_file(path)


def _blocks_per_sm(chip: Chip, function: Function, threads: int, shared_nbytes: int) -> int:
    return occupancy(chip, function, threads, shared_nbytes).blocks_per_sm


def _chosen(settings: Settings) -> tuple[LaunchChoice, Settings]:
    """The sampling filter's kernels and numbers of launches say, of a program, which launches are timed. Of these, the
    samples that its other keys let pass are wanted.
    """
    wanted = settings.sampling.filter
    choice = LaunchChoice(wanted.kernel, wanted.skip, wanted.count, settings.profiles_from_start)
    rest = replace(settings.sampling, filter=replace(wanted, kernel="", skip=0, count=0))
    return choice, replace(settings, sampling=rest)


def run_program(sources: Sequence[Path], arguments: Sequence[str], settings: Settings) -> int:
    """Builds a program's sources, runs it on an emulated GPU, and gives its exit code (negative for a signal).

    Raises CompileError for what does not compile or link, and the fault that ended the program's context, after the
    program has ended.
    """
    options = settings.options
    options = replace(
        options, standard=options.standard or STANDARD, host_compiler=options.host_compiler or libraries.AUTO
    )
    choice, settings = _chosen(replace(settings, options=options, has_host=True))
    chip = settings.chosen_chip()
    built = build_whole(sources, options, chip.arch)
    for notice in built.notices:
        settings.observer.notice(notice)
    settings, clock_notice = _timed_where_needed(built.executable, settings, str(sources[0]))
    with Arena(chip.memory_nbytes) as arena:
        ended = _run(built, [_name_of(sources[0]), *arguments], arena, settings, choice, clock_notice)
    if death := why_died(str(sources[0]), ended.code):
        settings.observer.notice(death)
    if ended.fault is not None:
        raise ContextLost(str(sources[0]), ended.fault)
    if ended.unchecked and not ended.code:
        raise NotLaunched(
            f"{sources[0]}: {ended.unchecked} was not launched, and the program did not request the error"
        )
    if settings.recorder and settings.recorder.n_launches == 0:
        raise NotComparable(f"{sources[0]}: the program launched no kernel, so nothing was recorded")
    return ended.code


def _timed_where_needed(executable: Executable, settings: Settings, name: str) -> tuple[Settings, str]:
    """Decides whether launches are timed where the user does not. A program that asks for the time between events wants
    to show it, or waits for it to pass. A clock of the host is read for much else: besides the settings, the sentence
    for a program that reads it.
    """
    if settings.is_timed is not None:
        return settings, ""
    is_timed = measures_events(executable.objects)
    notice = f"{name}: reads the host's clock, on which its kernels take no time; --timed models it"
    return replace(settings, is_timed=is_timed), "" if is_timed else notice


class _Ended(NamedTuple):
    """The end of a program: its exit code, the fault that ended its context, a kernel that it launched without one."""

    code: int
    fault: KernelFault | None
    unchecked: str


def _run(
    built: BuiltProgram,
    words: Sequence[str],
    arena: Arena,
    settings: Settings,
    choice: LaunchChoice,
    clock_notice: str,
) -> _Ended:
    """`words`: the program's name first."""
    device = open_device(settings, memory=arena.memory)
    for program, image in built.code:
        device.executor.adopt(program, image)
    handlers = ApiServer(
        device,
        arena,
        built.executable,
        [program for program, _ in built.code],
        blocks_per_sm=_blocks_per_sm,
        notice=settings.observer.notice,
        reports_writes=settings.save_stream,
        choice=choice,
        lists_calls=settings.recorder is not None,
        notices=TimeNotices(clock_notice, NO_TIMES if settings.supervisor else ""),
    )
    device.executor.place_of_call = handlers.place_of_call
    try:
        sys.stdout.flush()
        code = run_process(built.executable, words, handlers)
        if handlers.fault is None:
            device.synchronize()
            device.executor.finish()
    except BaseException:
        device.executor.drop()
        raise
    if handlers.fault is not None:
        device.executor.drop()
    return _Ended(code, handlers.fault, handlers.unchecked)
