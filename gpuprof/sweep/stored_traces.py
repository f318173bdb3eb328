"""The traces of a sweep's launches in a file: each program is emulated once, and timed for every chip.

    Tasks ─ swept_program ─> first run of each program, which writes its traces ─> NAME.gptrace
          └───────────────> the other runs, which read them

A run whose traces cannot serve others is done as without a file, and so are those like it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path

from gpuprof.base.inputs import TRACES
from gpuprof.base.scratch import temporary_folder
from gpuprof.base.wording import plural
from gpuprof.errors import GpuprofError, NotComparable
from gpuprof.run.swept_program import chip_names, swept_program, versions_here
from gpuprof.run.trace_file.layout import MOST_OBJECT_NBYTES, SweptProgram
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
        if made and (n_left := _store(path, known, made)):
            notice(f"{path}: is full: the traces of {plural(n_left, 'program', 'programs')} are not in it")
        for group in groups:
            if group.why_not and group.tasks:
                notice(f"{group.why_not}: each run emulates it")
        if left := [*alone, *(task for group in groups for task in _others(group))]:
            yield from carry_out(left)


def _grouped(tasks: Sequence[Task]) -> tuple[list[_Alike], list[Task]]:
    """The tasks by program; and those whose kernels cannot be found, as their runs will say."""
    groups: dict[SweptProgram, _Alike] = {}
    alone = []
    programs = _Programs()
    for task in tasks:
        try:
            program = programs.of(task)
        except GpuprofError:
            alone.append(task)
        else:
            groups.setdefault(program, _Alike(program)).tasks.append(task)
    return list(groups.values()), alone


class _Programs:
    """The programs of tasks. Images and arrays, which tasks share, are looked at once."""

    def __init__(self) -> None:
        self._chip_names: dict[int, frozenset[str]] = {}  # by the image's id
        self._digests: dict[int, bytes] = {}  # by an id

    def of(self, task: Task) -> SweptProgram:
        """Raises UsageError for a kernel that the image has not."""
        work = task.work
        assert isinstance(work, Kernels)
        if id(work.image) not in self._chip_names:
            self._chip_names[id(work.image)] = chip_names(work.image, work.requests)
        return swept_program(self._digests_of(task, work), self._chip_names[id(work.image)], task.chip)

    def _digests_of(self, task: Task, work: Kernels) -> Iterator[bytes]:
        """Gives those of all that the launches depend on, but for the chip. Texts of plain fields are the same
        wherever they are.
        """
        requests = [replace(request, place="") for request in work.requests]
        yield self._digest(work.image)
        yield sha256(repr((requests, work.wanted, work.seed)).encode()).digest()
        yield sha256(repr((task.max_instructions or task.max_cycles, sorted(work.arrays))).encode()).digest()
        yield from (self._digest(data) for _, data in sorted(work.arrays.items()))

    def _digest(self, data: bytes) -> bytes:
        if id(data) not in self._digests:
            self._digests[id(data)] = sha256(data).digest()
        return self._digests[id(data)]


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


def _store(path: Path, known: Sequence[ProgramPlace], made: Sequence[_Alike]) -> int:
    """Adds programs to the file; gives how many have no room in it."""
    parts = [(path, place.start, place.end) for place in known]
    most_nbytes = TRACES.most_nbytes - MOST_OBJECT_NBYTES  # besides what is before and after the programs
    left_nbytes = most_nbytes - sum(end - start for _, start, end in parts)
    n_left = 0
    for group in sorted(made, key=lambda group: group.program):
        [place] = programs_of(group.path, versions_here())
        left_nbytes -= place.end - place.start
        if left_nbytes >= 0:
            parts.append((group.path, place.start, place.end))
        else:
            n_left += 1
            left_nbytes += place.end - place.start
    write_programs(path, versions_here(), parts)
    return n_left


def _others(group: _Alike) -> list[Task]:
    """The runs of a program that are left, with its traces if there are any."""
    if group.path is None:
        return group.tasks
    return [replace(task, traces=Traces(group.path, group.program, False)) for task in group.tasks]
