"""Source, PTX and instructions: sections of rows, the instructions that each row has, and what these cost."""

from collections.abc import Iterator

from gpuprof.correlate.counts import Counters
from gpuprof.report.estimates import scale_of
from gpuprof.report.html.block import Columns, PageTable, by_column
from gpuprof.report.html.profile_block import Profile
from gpuprof.report.model import Instruction
from gpuprof.report.sections import is_known
from gpuprof.tables.table import Column

SECTIONS = (
    Column("kernel", "int", "", "Row of `kernels`."),
    Column("listing", "text", "", "source, ptx or isa."),
    Column("function", "text", "", "The function whose code it is."),
    Column("path", "text", "", "The file, or the module."),
    Column("rows", "int", "", "How many rows of `rows` are its own; they follow those of the section before."),
)
ROWS = (
    Column("number", "int", "", "Line, or address; 0 for code without a line."),
    Column("text", "text", "", "The line."),
    Column("low", "share", "", "Lower end of the 95 % interval of its sampled share; unknown without a sample."),
    Column("high", "share", "", "The upper end."),
    Column("share", "share", "", "Its share of the kernel's samples, each weighed by what it stands for."),
    Column("own", "int", "", "How many rows of `row_instructions` are its own code; they follow the row before."),
    Column("inlined", "int", "", "How many more, after these, were inlined there."),
)
ROW_INSTRUCTIONS = (Column("instruction", "int", "", "Row of `instructions`."),)
INSTRUCTIONS = (
    Column("kernel", "int", "", "Row of `kernels`."),
    Column("address", "int", "", "Of the code."),
    Column("function", "text", "", "The function whose code it is in."),
    Column("operation", "text", "", "load, store, atomic and so on, of memory instructions."),
    Column("space", "text", "", "The memory that it accesses."),
    Column("live_registers", "real", "", "Registers of a thread that hold a value which is read later, before it."),
    *(Column(name, "int", "", "A counter: see `counters` in gpudb.md.") for name in Counters._fields),
)
COSTS = (
    Column("instruction", "int", "", "Row of `instructions`."),
    Column("term", "int", "", "Row of `terms`."),
    Column("cycles", "int", "warp-cycles", "Exact, from the ledger."),
    Column("samples", "int", "samples", "That hit it."),
    Column("weight", "int", "", "What these samples stand for."),
)


def section_columns(profile: Profile) -> Columns:
    return by_column(
        SECTIONS,
        [
            (number, listing, section.function, section.path, len(section.rows))
            for number, _, listing, section in profile.sections
        ],
    )


def row_columns(profile: Profile) -> Columns:
    return by_column(ROWS, row_rows(profile))


def row_rows(profile: Profile) -> Iterator[tuple]:
    scales = [scale_of(kernel) for kernel in profile.report.kernels]
    for (number, _, _, section), inlined in zip(profile.sections, inlined_at(profile), strict=True):
        for row, others in zip(section.rows, inlined, strict=True):
            share = low = high = None
            if row.cost.n_samples:
                share, low, high, _ = scales[number].estimate(row.cost)
            yield row.number, row.text, low, high, share, len(row.instructions), len(others)


def inlined_at(profile: Profile) -> Iterator[list[list[Instruction]]]:
    """The code inlined at each row of each section, as `sections.source_sections` counts it for `inclusive`."""
    through: dict[tuple, list[Instruction]] = {}
    for number, kernel in enumerate(profile.report.kernels):
        for instruction in kernel.instructions:
            for position in filter(is_known, dict.fromkeys(instruction.positions[1:])):
                if position != instruction.positions[0]:
                    through.setdefault((number, *position), []).append(instruction)
    for number, _, listing, section in profile.sections:
        is_source = listing == "source"
        yield [
            through.get((number, section.function, section.path, row.number), []) if is_source else []
            for row in section.rows
        ]


def row_instruction_columns(profile: Profile) -> Columns:
    return {
        "instruction": [
            profile.places[number, instruction.pc]
            for (number, _, _, section), inlined in zip(profile.sections, inlined_at(profile), strict=True)
            for row, others in zip(section.rows, inlined, strict=True)
            for instruction in (*row.instructions, *others)
        ]
    }


def instruction_columns(profile: Profile) -> Columns:
    live = dict(profile.database.execute("SELECT pc, registers FROM live_registers"))
    return by_column(
        INSTRUCTIONS,
        [
            (
                number,
                instruction.pc,
                instruction.function,
                instruction.operation,
                instruction.space,
                live.get(instruction.pc),
                *instruction.cost.counters,
            )
            for number, instruction in profile.instructions
        ],
    )


def cost_columns(profile: Profile) -> Columns:
    return by_column(COSTS, cost_rows(profile))


def cost_rows(profile: Profile) -> Iterator[tuple[int, ...]]:
    words = profile.report.vocabulary
    numbers = words.numbers()
    for row, (_, instruction) in enumerate(profile.instructions):
        cost = instruction.cost
        if not cost.warp_cycles and not cost.n_samples:
            continue
        merged = [words.merged(per_reason) for per_reason in (cost.cycles, cost.samples, cost.weights)]
        for term, place in enumerate(numbers):
            values = [of_reason[place] for of_reason in merged]
            if any(values):
                yield row, term, *values


TABLES = (
    PageTable("sections", "Sections of the listings of each kernel.", SECTIONS, section_columns),
    PageTable("rows", "Lines of the sections.", ROWS, row_columns),
    PageTable(
        "row_instructions", "The instructions of each row, its own first.", ROW_INSTRUCTIONS, row_instruction_columns
    ),
    PageTable(
        "instructions", "The instructions of each kernel and of what it calls.", INSTRUCTIONS, instruction_columns
    ),
    PageTable("costs", "What each instruction cost, by stall reason.", COSTS, cost_columns),
)
