"""The traces of a sweep's launches in a file: each program is emulated once, and timed for every chip.

    Tasks ─ swept_program ─> first run of each program, which writes its traces ─> NAME.gptrace
          └───────────────> the other runs, which read them

A run whose traces cannot serve others is done as without a file, and so are those like it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from gpuprof.base.scratch import temporary_folder
from gpuprof.errors import GpuprofError, NotComparable
from gpuprof.run.swept_program import chip_names, swept_program, versions_here
from gpuprof.run.trace_file.layout import SweptProgram
from gpuprof.run.trace_file.read import holds_traces
from gpuprof.run.trace_file.read_sweep import ProgramPlace, programs_of
from gpuprof.run.trace_file.write_sweep import write_programs
from gpuprof.sweep.run_sweep import Kernels, Outcome, Task, Traces

CarryOut = Callable[[list[Task]], Iterator[Outcome]]


@dataclass
class _Alike:
    """The runs of one program that are not done yet, and where its traces are; `why_not`: why they are nowhere."""

    program: SweptProgram
    tasks: list[Task] = field(default_factory=list)
    path: Path | None = None
    why_not: str = ""


def with_traces(
    tasks: Sequence[Task], path: Path, carry_out: CarryOut, notice: Callable[[str], None]
) -> Iterator[Outcome]:
    """The outcomes, in the order they are ready. path: of the file, which is read as far as it has these programs, and
    gets the others. carry_out: does runs; notice: gets a sentence for each program that every run emulates.

    Raises FileFormatError for a file that is damaged, foreign or of another version, NotComparable for one of other
    programs only, GpuprofError when the disk refuses.
    """
    known = programs_of(path, versions_here()) if holds_traces(path) else []
    groups, alone = _grouped(tasks)
    digests = {each.program.digest for each in known}
    if known and digests.isdisjoint(group.program.digest for group in groups):
        raise NotComparable(
            f"{path}: its traces are of another program, or of other launches or data; give another name, or remove it"
        )
    there = {place.program: place for place in known}
    for group in groups:
        group.path = path if group.program in there else None
    with temporary_folder() as folder:
        made = yield from _written(groups, folder, carry_out)
        if made:
            _keep(path, known, made)
        for group in groups:
            if group.why_not and group.tasks:
                notice(f"{group.why_not}: each run emulates it")
        yield from carry_out([*alone, *(task for group in groups for task in _others(group))])


def _grouped(tasks: Sequence[Task]) -> tuple[list[_Alike], list[Task]]:
    """The tasks by program; and those whose kernels cannot be found, as their runs will say."""
    names: dict[int, frozenset[str]] = {}
    groups: dict[SweptProgram, _Alike] = {}
    alone = []
    for task in tasks:
        work = task.work
        assert isinstance(work, Kernels)
        try:
            if id(work.image) not in names:
                names[id(work.image)] = chip_names(work.image, work.requests)
        except GpuprofError:
            alone.append(task)
            continue
        program = swept_program(_parts(task, work), names[id(work.image)], task.chip)
        groups.setdefault(program, _Alike(program)).tasks.append(task)
    return list(groups.values()), alone


def _parts(task: Task, work: Kernels) -> Iterator[bytes]:
    """All that the launches depend on, but for the chip. The texts of values of plain fields are the same wherever they
    are.
    """
    yield work.image
    yield repr([replace(request, place="") for request in work.requests]).encode()
    yield repr((work.wanted, work.seed, task.max_instructions or task.max_cycles)).encode()
    for name, data in sorted(work.arrays.items()):
        yield name.encode()
        yield data


def _written(groups: Sequence[_Alike], folder: Path, carry_out: CarryOut) -> Iterator[Outcome]:
    """Does one run of each program whose traces are nowhere. Where it fails, for its chip perhaps, the next one is
    tried. Gives the groups whose traces it has written.
    """
    made: list[_Alike] = []
    while first := [group for group in groups if group.tasks and group.path is None and not group.why_not]:
        by_number = {group.tasks[0].number: group for group in first}
        writing = [
            replace(group.tasks.pop(0), traces=Traces(folder / f"{number}.gptrace", group.program, True))
            for number, group in by_number.items()
        ]
        for outcome in carry_out(writing):
            group = by_number[outcome.number]
            group.why_not = outcome.not_stored or (outcome.error if outcome.is_wrong else "")
            if not outcome.error and not outcome.not_stored:
                group.path = folder / f"{outcome.number}.gptrace"
                made.append(group)
            yield outcome
    return made


def _keep(path: Path, known: Sequence[ProgramPlace], made: Sequence[_Alike]) -> None:
    """Adds programs to the file."""
    parts = [(path, place.start, place.end) for place in known]
    for group in sorted(made, key=lambda group: group.path.name):
        [place] = programs_of(group.path, versions_here())
        parts.append((group.path, place.start, place.end))
    write_programs(path, versions_here(), parts)


def _others(group: _Alike) -> list[Task]:
    """The runs of a program that are left, with its traces if there are any."""
    if group.path is None:
        return group.tasks
    return [replace(task, traces=Traces(group.path, group.program, False)) for task in group.tasks]
