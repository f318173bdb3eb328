"""The time of a program: what its engines did, and what the GPU waited for while no kernel ran."""

from collections.abc import Iterator

from gpuprof.report.html.block import Columns, PageTable, by_column
from gpuprof.report.html.profile_block import Profile
from gpuprof.report.pages.api import waits_of
from gpuprof.report.pages.summary import program_facts
from gpuprof.report.tasks.program_time import ProgramTime
from gpuprof.tables.table import Column

PROGRAM = (
    Column("label", "text", "", "What the fact is about."),
    Column("text", "text", "", "The fact, as the summary in a terminal says it."),
)
ENGINES = (
    Column("name", "text", "", "copy engine in, copy engine out, memory, host."),
    Column("operations", "int", "", "That it carried out."),
    Column("busy_cycles", "int", "cycles", "Of all of them."),
    Column("share", "share", "", "Of the program's time, in which it was busy."),
    Column("nbytes", "int", "bytes", "That they moved or filled."),
    Column("pinned_nbytes", "int", "bytes", "Of these, from or to page-locked memory of the host."),
    Column("gbytes_per_s", "real", "GB/s", "While it was busy; not known where it moved nothing."),
)
OPERATIONS = (
    Column("engine", "int", "", "Row of `engines`. Rows ascend by it, then by the start."),
    Column("task", "int", "", "Number of its task, which has the name and the kind."),
    Column("memory", "text", "", "pinned or pageable, of the host's memory; empty where there is none."),
    Column("is_node", "int", "", "1: a node of a graph."),
    Column("stream", "int", "", "Number of the stream."),
    Column("start_cycle", "int", "cycles", "From power-on."),
    Column("end_cycle", "int", "cycles", "From power-on."),
    Column("nbytes", "int", "bytes", "That it moved or filled."),
    Column("gbytes_per_s", "real", "GB/s", "Its rate; not known where it moved nothing."),
)
WAITS = (
    Column("cause", "text", "", "What the GPU waited for while no kernel ran."),
    Column("gaps", "int", "", "Times without a kernel for this cause."),
    Column("cycles", "int", "cycles", "Of all of them."),
    Column("share", "share", "", "Of the program's time."),
    Column("longest_cycles", "int", "cycles", "Of the longest."),
    Column("before", "text", "", "Name of what started after the longest; empty for nothing."),
)
GAPS = (
    Column("wait", "int", "", "Row of `waits`: its cause."),
    Column("start_cycle", "int", "cycles", "From power-on. Rows ascend by it."),
    Column("end_cycle", "int", "cycles", "From power-on."),
    Column("next", "text", "", "Name of what starts then; empty for nothing."),
)


def program_columns(profile: Profile) -> Columns:
    facts = program_facts(profile.program) if profile.program else ()
    return by_column(PROGRAM, ((label, str(part)) for label, parts in facts for part in parts))


def engine_columns(profile: Profile) -> Columns:
    return by_column(ENGINES, engine_rows(profile.program) if profile.program else ())


def engine_rows(program: ProgramTime) -> Iterator[tuple]:
    for each in program.engines:
        share, rate = each.busy / (program.cycles or 1), each.gbytes_per_s(program.clock_mhz)
        yield each.name, len(each.operations), each.busy, share, each.nbytes, each.pinned_nbytes, rate


def operation_columns(profile: Profile) -> Columns:
    return by_column(OPERATIONS, operation_rows(profile.program) if profile.program else ())


def operation_rows(program: ProgramTime) -> Iterator[tuple]:
    for engine, operations in enumerate(engine.operations for engine in program.engines):
        for each in operations:
            what = (engine, each.task, each.memory, int(each.is_node), each.stream)
            yield *what, each.start, each.end, each.nbytes, each.gbytes_per_s(program.clock_mhz)


def wait_columns(profile: Profile) -> Columns:
    return by_column(WAITS, wait_rows(profile.program) if profile.program else ())


def wait_rows(program: ProgramTime) -> Iterator[tuple]:
    for each in waits_of(program):
        longest = each.longest
        yield each.cause, len(each.gaps), each.cycles, each.cycles / (program.cycles or 1), longest.cycles, longest.next


def gap_columns(profile: Profile) -> Columns:
    return by_column(GAPS, gap_rows(profile.program) if profile.program else ())


def gap_rows(program: ProgramTime) -> Iterator[tuple]:
    place = {each.cause: number for number, each in enumerate(waits_of(program))}
    return ((place[gap.cause], gap.start, gap.end, gap.next) for gap in program.gaps)


TABLES = (
    PageTable("program", "The time of a program; no rows for launches of none.", PROGRAM, program_columns),
    PageTable("engines", "What carries out copies, fills and functions of the host.", ENGINES, engine_columns),
    PageTable("operations", "Copies, fills and functions of the host.", OPERATIONS, operation_columns),
    PageTable("waits", "What the GPU waited for, the longest sum first.", WAITS, wait_columns),
    PageTable("gaps", "Times in which no kernel ran.", GAPS, gap_columns),
)
