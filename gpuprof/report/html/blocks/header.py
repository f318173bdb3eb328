"""The header above every view, and the words for stall reasons."""

from collections.abc import Iterator

from rich.text import Text

from gpuprof.isa.stalls import NAMES, REASONS
from gpuprof.report.html.block import Columns, PageTable, by_column
from gpuprof.report.html.profile_block import Profile
from gpuprof.report.terminal.report_header import facts
from gpuprof.report.terminal.styles import WARM
from gpuprof.tables.table import Column

FACTS = (
    Column("label", "text", "", "What the fact is about."),
    Column("text", "text", "", "The fact, as the terminal's pages say it."),
    Column("is_warning", "int", "", "1 where the numbers are worth less for it."),
)
CHIP = (
    Column("name", "text", "", "The chip's name."),
    Column("clock_mhz", "real", "MHz", "Its clock."),
    Column("sms", "real", "", "Its SMs."),
    Column("partitions", "real", "", "Schedulers of an SM."),
    Column("warp_slots", "real", "", "Warps that an SM can hold."),
)
TERMS = (
    Column("name", "text", "", "The stall reason, in the requested vocabulary."),
    Column("reason", "text", "", "Nsight Compute's name of the first reason with this term: its colour."),
    Column("text", "text", "", "What it means."),
    Column("advice", "text", "", "What helps."),
)


def fact_columns(profile: Profile) -> Columns:
    return by_column(FACTS, fact_rows(profile))


def fact_rows(profile: Profile) -> Iterator[tuple[str, str, int]]:
    for label, parts in facts(profile.report.header):
        for part in parts:
            text = part if isinstance(part, Text) else Text(part)
            yield label, text.plain, int(text.style == WARM)


def chip_columns(profile: Profile) -> Columns:
    chip = profile.report.chip
    return by_column(CHIP, [tuple(getattr(chip, column.name) for column in CHIP)])


def term_columns(profile: Profile) -> Columns:
    words = profile.report.vocabulary
    return by_column(TERMS, [(words.word(n), NAMES[n], REASONS[n].text, REASONS[n].advice) for n in words.numbers()])


TABLES = (
    PageTable("facts", "What the header of the terminal's pages says.", FACTS, fact_columns),
    PageTable("chip", "The chip: one row.", CHIP, chip_columns),
    PageTable("terms", "Stall reasons. `selected` is the first, and no stall.", TERMS, term_columns),
)
