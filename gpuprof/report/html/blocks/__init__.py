"""The tables of a page's data, in their order: each is declared in the file that fills it."""

from gpuprof.report.html.block import PageTable
from gpuprof.report.html.blocks import (
    draws,
    findings,
    grid,
    header,
    kernels,
    listings,
    machine,
    measured,
    numbers,
    program,
    stalls,
    timeline,
)

TABLES: tuple[PageTable, ...] = (
    *(*header.TABLES, *kernels.TABLES, *measured.TABLES, *findings.TABLES, *listings.TABLES),
    *(*stalls.TABLES, *grid.TABLES),
    *(*timeline.TABLES, *program.TABLES, *draws.TABLES, *machine.TABLES, *numbers.TABLES),
)
