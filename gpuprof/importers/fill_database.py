"""A card's profile as a database, which every page and export reads.

A card has no ledger: the tables of exact warp-cycles are empty, and `samples` has those of its sampler. `meta` has the
maker as `measured_by`. Launches follow each other, since a profiler runs them one by one.
"""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import accumulate
from pathlib import Path

from gpuprof.base.files import replacing
from gpuprof.base.stages import stage
from gpuprof.base.wording import installed_version
from gpuprof.correlate.checked_tables import in_tables
from gpuprof.correlate.correlate import PRAGMAS, insert
from gpuprof.correlate.schema import DDL
from gpuprof.errors import FileFormatError, GpuprofError
from gpuprof.importers.imported_profile import Function, Instruction, Launch, Module, Profile, Site
from gpuprof.isa.causes import KINDS
from gpuprof.isa.encoding import PC_END
from gpuprof.isa.stalls import REASONS
from gpuprof.tables.code import (
    CAUSE_KINDS,
    FUNCTIONS,
    INLINE_FRAMES,
    INSTRUCTIONS,
    LAUNCH_METRICS,
    LAUNCHES,
    META,
    MODULES,
    SOURCES,
    STALL_REASONS,
)
from gpuprof.tables.launch import COUNTERS
from gpuprof.tables.samples import SAMPLES
from gpuprof.tables.table import SUM

FIRST_PC = 0x1000
INSTRUCTION_NBYTES = 16  # of every card since Volta
MODULE_ALIGNMENT = 0x1000
UNKNOWN_TEXT = "?"
UNKNOWN_FUNCTION = "(inlined)"


def write(profile: Profile, source: Path, database: Path) -> None:
    """Write the database of what was read from `source`. Raises FileFormatError for values that no database holds."""
    try:
        with replacing(database) as partial:
            partial.touch()  # unlike SQLite, the system gives the reason if it refuses this
            with closing(sqlite3.connect(partial, isolation_level=None)) as db:
                build(db, profile, source)
                with stage(f"packing {database.name}"):
                    db.execute("VACUUM")
    except sqlite3.OperationalError as error:
        raise GpuprofError(f"{database}: cannot be written: {error}") from None


def build(database: sqlite3.Connection, profile: Profile, source: Path) -> None:
    """All tables of an empty database."""
    try:
        database.executescript(PRAGMAS + DDL)
        database.execute("BEGIN")
        fill(database, profile)
        database.execute("COMMIT")
    except (sqlite3.IntegrityError, OverflowError, UnicodeEncodeError) as error:
        raise FileFormatError(f"{source}: contradicts itself: {error}") from None
    for wrong in in_tables(database):
        raise FileFormatError(f"{source}: cannot be imported: {wrong.text}")


class Layout:
    """Addresses of modules and functions: each follows the one before it."""

    def __init__(self, profile: Profile):
        ends: dict[tuple[int, int], int] = {}
        for site in sites(profile):
            key = site.module, site.function
            ends[key] = max(ends.get(key, 0), site.offset + INSTRUCTION_NBYTES)
        self.base: list[int] = []
        self.nbytes: list[int] = []
        self.first: dict[tuple[int, int], int] = {}
        self.n_instructions: dict[tuple[int, int], int] = {}
        self.number: dict[tuple[int, int], int] = {}
        pc = FIRST_PC
        for m, module in enumerate(profile.modules):
            self.base.append(pc)
            for f in range(len(module.functions)):
                self.number[m, f] = len(self.number)
                self.first[m, f] = pc
                self.n_instructions[m, f] = ends.get((m, f), 0) // INSTRUCTION_NBYTES
                pc += ends.get((m, f), 0)
            self.nbytes.append(pc - self.base[m])
            pc += -pc % MODULE_ALIGNMENT
        self.end = pc

    def pc(self, site: Site) -> int:
        return self.first[site.module, site.function] + site.offset


def sites(profile: Profile) -> Iterator[Site]:
    """Every instruction with known code, samples or counters; some occur more than once."""
    for m, module in enumerate(profile.modules):
        for f, function in enumerate(module.functions):
            yield from (Site(m, f, offset) for offset in function.code)
    for launch in profile.launches:
        yield from (site for site, _ in launch.samples)
        yield from launch.counters


def fill(database: sqlite3.Connection, profile: Profile) -> None:
    layout = Layout(profile)
    if layout.end > PC_END:
        raise OverflowError(f"code of {layout.end:,} bytes")
    paths = sorted({line.path for _, _, code in known_code(profile) for line in code.lines} | set(profile.sources))
    numbers = {path: number for number, path in enumerate(paths)}
    insert(database, MODULES, (module_row(layout, m, module) for m, module in enumerate(profile.modules)))
    insert(database, SOURCES, ((numbers[path], path, profile.sources.get(path)) for path in paths))
    insert(
        database,
        FUNCTIONS,
        (
            function_row(layout, m, f, function)
            for m, module in enumerate(profile.modules)
            for f, function in enumerate(module.functions)
        ),
    )
    insert(database, INSTRUCTIONS, instruction_rows(profile, layout, numbers))
    insert(database, INLINE_FRAMES, frame_rows(profile, layout, numbers))
    insert(database, STALL_REASONS, ((number, reason.name, reason.text) for number, reason in enumerate(REASONS)))
    insert(database, CAUSE_KINDS, ((number, kind.name, kind.label, kind.text) for number, kind in enumerate(KINDS)))
    starts = [0, *accumulate(launch.cycles for launch in profile.launches)]
    for number, launch in enumerate(profile.launches):
        kernel = profile.modules[launch.module].functions[launch.function].display
        insert(database, LAUNCHES, [launch_row(layout, number, launch, kernel, starts[number])])
        insert(database, LAUNCH_METRICS, ((number, *item) for item in sorted(launch.metrics.items())))
        insert(
            database,
            SAMPLES,
            sorted(
                (number, layout.pc(site), reason, *samples, None)
                for (site, reason), samples in launch.samples.items()
                if samples.n
            ),
        )
        insert(
            database,
            COUNTERS,
            sorted(
                (number, layout.pc(site), *(counts.get(name, 0) for name in COUNTERS.names(SUM)))
                for site, counts in launch.counters.items()
            ),
        )
    insert(database, META, sorted(meta(profile).items()))


def known_code(profile: Profile) -> Iterator[tuple[int, int, Instruction]]:
    for m, module in enumerate(profile.modules):
        for f, function in enumerate(module.functions):
            yield from ((m, f, instruction) for instruction in function.code.values())


def module_row(layout: Layout, m: int, module: Module) -> tuple:
    return m, module.name, layout.base[m], layout.nbytes[m], "", module.arch, ""


def function_row(layout: Layout, m: int, f: int, function: Function) -> tuple:
    key = m, f
    names = (function.symbol, function.display, int(function.is_kernel))
    sizes = (layout.first[key], layout.n_instructions[key], function.registers, function.shared_nbytes)
    return layout.number[key], m, *names, *sizes, 0, 0


def instruction_rows(profile: Profile, layout: Layout, numbers: dict[str, int]) -> Iterator[tuple]:
    """Rows of the instructions that were disassembled, or that something was measured for."""
    for site in sorted(set(sites(profile))):
        code = profile.modules[site.module].functions[site.function].code
        known = code.get(site.offset, Instruction(UNKNOWN_TEXT))
        file_and_line = (numbers[known.lines[0].path], known.lines[0].line) if known.lines else (None, 0)
        function = layout.number[site.module, site.function]
        yield layout.pc(site), site.module, function, known.text, "", *file_and_line, 0, 0, "", "", 0, "", 0


def frame_rows(profile: Profile, layout: Layout, numbers: dict[str, int]) -> Iterator[tuple]:
    """Disassemblers print where code is inlined, but not the name of the inlined function."""
    for m, module in enumerate(profile.modules):
        for f, function in enumerate(module.functions):
            for offset, instruction in sorted(function.code.items()):
                for depth, line in enumerate(instruction.lines[1:], 1):
                    pc = layout.pc(Site(m, f, offset))
                    yield pc, depth, UNKNOWN_FUNCTION, numbers[line.path], line.line


def launch_row(layout: Layout, number: int, launch: Launch, kernel: str, start: int) -> tuple:
    n_samples = sum(samples.n for samples in launch.samples.values())
    return (
        number,
        layout.number[launch.module, launch.function],
        kernel,
        ",".join(map(str, launch.grid)),
        ",".join(map(str, launch.block)),
        launch.dynamic_shared_nbytes,
        launch.stream,
        "",
        *(start, start + launch.cycles, launch.cycles),
        *(n_samples, n_samples, 0, 0, 1),
    )


def meta(profile: Profile) -> dict[str, str]:
    return {
        "tool_version": installed_version(),
        "model_version": "",
        "measured_by": profile.maker,
        "chip": profile.chip,
        "chip_json": json.dumps({"name": profile.chip} | profile.facts, sort_keys=True),
        "period_cycles": str(profile.period_cycles),
        "mode": "",
        "complete": "1",
        "damage": "",
        "marks": "\n".join(profile.notes),
        "samples_outside": "0",
        "ledger_cycles_outside": "0",
    }
