"""How many stalls instructions have and how long they are, what ended them, and loops."""

import re
from collections.abc import Iterator

from gpuprof.isa.flow.graph import is_branch
from gpuprof.isa.stalls import N_REASONS
from gpuprof.report.html.block import Columns, PageTable, by_column
from gpuprof.report.html.profile_block import Profile
from gpuprof.report.model import Instruction
from gpuprof.report.waits import joined
from gpuprof.report.warp_ends import location, name_of
from gpuprof.tables.table import Column

STALLS = (
    Column("instruction", "int", "", "Row of `instructions`."),
    Column("term", "int", "", "Row of `terms`."),
    Column("stalls", "int", "stalls", "How many."),
    Column("longest_cycles", "int", "cycles", "The longest of them."),
)
LENGTHS = (
    Column("instruction", "int", "", "Row of `instructions`."),
    Column("term", "int", "", "Row of `terms`."),
    Column("least_cycles", "int", "cycles", "The shortest that is counted here; the longest is less than twice that."),
    Column("stalls", "int", "stalls", "How many."),
)
BLAMES = (
    Column("instruction", "int", "", "Row of `instructions`: the one that stalls."),
    Column("term", "int", "", "Row of `terms`."),
    Column("cause", "int", "", "Row of `instructions`: the one that is waited for; -1 where it is in another launch."),
    Column("place", "text", "", "The line that is waited for, or its address."),
    Column("ending", "text", "", "How the stalls ended."),
    Column("cycles", "int", "warp-cycles", "Of these stalls."),
    Column("stalls", "int", "stalls", "How many."),
)
LOOPS = (
    Column("first", "int", "", "Row of `instructions`: the one that the loop jumps back to."),
    Column("last", "int", "", "The branch that jumps back."),
)
TARGET = re.compile(r"\b0x([0-9a-f]+)$")  # of a branch, at the end of its text


def term_of(profile: Profile) -> dict[int, int]:
    """The row of `terms` by stall reason."""
    words = profile.report.vocabulary
    rows = {place: row for row, place in enumerate(words.numbers())}
    return {reason: rows[words.place(reason)] for reason in range(N_REASONS)}


def stall_columns(profile: Profile) -> Columns:
    return by_column(STALLS, (row[:4] for row in stall_rows(profile)))


def length_columns(profile: Profile) -> Columns:
    return by_column(
        LENGTHS, ((row, term, *bin_) for row, term, _, _, lengths in stall_rows(profile) for bin_ in lengths)
    )


def stall_rows(profile: Profile) -> Iterator[tuple]:
    terms = term_of(profile)
    for row, (_, instruction) in enumerate(profile.instructions):
        for reason, total in joined((instruction,), profile.report.vocabulary).items():
            yield row, terms[reason], total.stalls, total.longest_cycles, total.lengths


def blame_columns(profile: Profile) -> Columns:
    return by_column(BLAMES, blame_rows(profile))


def blame_rows(profile: Profile) -> Iterator[tuple]:
    terms = term_of(profile)
    for number, kernel in enumerate(profile.report.kernels):
        for blame in kernel.blames:
            cause = -1 if blame.ending.other_launch else profile.places.get((number, blame.cause_pc), -1)
            yield (
                profile.places[number, blame.pc],
                terms[blame.reason],
                cause,
                name_of(*location(kernel, blame.cause_pc)),
                str(blame.ending),
                blame.cycles,
                blame.stalls,
            )


def loop_columns(profile: Profile) -> Columns:
    return by_column(LOOPS, loop_rows(profile))


def loop_rows(profile: Profile) -> Iterator[tuple[int, int]]:
    """Branches back: each, with the code from its target on, is a loop."""
    for row, (number, instruction) in enumerate(profile.instructions):
        first = profile.places.get((number, target(instruction)), row + 1)
        if first <= row and profile.instructions[first][1].function == instruction.function:
            yield first, row


def target(instruction: Instruction) -> int:
    """The address that a branch names; -1 of any other instruction."""
    match = TARGET.search(instruction.text) if is_branch(instruction.opcode) else None
    return int(match[1], 16) if match else -1


TABLES = (
    PageTable("stalls", "How many stalls each instruction has, by reason.", STALLS, stall_columns),
    PageTable("lengths", "How long these stalls are.", LENGTHS, length_columns),
    PageTable("blames", "What ended the stalls of each instruction.", BLAMES, blame_columns),
    PageTable("loops", "Loops of the code.", LOOPS, loop_columns),
)
