"""A profile that a page is made of, with what several of its tables need."""

import sqlite3
from dataclasses import dataclass
from functools import cached_property

from gpuprof.report.model import Instruction, Kernel, Report, Section
from gpuprof.report.sections import LISTINGS
from gpuprof.report.tasks.program_time import ProgramTime, read_program_time


@dataclass(frozen=True, eq=False)
class Profile:
    database: sqlite3.Connection
    report: Report

    @cached_property
    def program(self) -> ProgramTime | None:
        """The time of the whole program, whichever launches are shown; None where host and GPU have no common clock."""
        return self.report.program or read_program_time(self.database)

    @cached_property
    def instructions(self) -> list[tuple[int, Instruction]]:
        """(number of the kernel, instruction) of every kernel, in their order: rows of the table `instructions`."""
        return [
            (number, instruction)
            for number, kernel in enumerate(self.report.kernels)
            for instruction in kernel.instructions
        ]

    @cached_property
    def places(self) -> dict[tuple[int, int], int]:
        """The row of the table `instructions` by kernel and address."""
        return {(kernel, instruction.pc): row for row, (kernel, instruction) in enumerate(self.instructions)}

    @cached_property
    def sections(self) -> list[tuple[int, Kernel, str, Section]]:
        """(number of the kernel, kernel, listing, section) of every listing: rows of the table `sections`."""
        return [
            (number, kernel, listing, section)
            for number, kernel in enumerate(self.report.kernels)
            for listing, of_kernel in LISTINGS.items()
            for section in of_kernel(kernel)
        ]
