"""The tables of a page's data, in their order."""

from gpuprof.report.html.blocks import (
    draws,
    findings,
    grid,
    header,
    kernels,
    listings,
    machine,
    numbers,
    stalls,
    timeline,
)
from gpuprof.report.html.schema import PageTable

TABLES: tuple[PageTable, ...] = (
    *(*header.TABLES, *kernels.TABLES, *findings.TABLES, *listings.TABLES, *stalls.TABLES, *grid.TABLES),
    *(*timeline.TABLES, *draws.TABLES, *machine.TABLES, *numbers.TABLES),
)
