"""The functions of CUDA's runtime and driver API, and which of them gpuprof has: `cuda/api.csv`, one row each.

name      without the version that symbols of the driver end in: cuMemAlloc
header    of NVIDIA's that declares it, in CUDA 13.0
status    works, partly, refused, or left out: the kinds of functions that gpuprof does not aim at
calls     how many calls of it six public repositories have (docs/programs-api.md names them)
note      why it is left out, or which part of it is not there
"""

import csv
import re
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from gpuprof.cuda import API

WORKS, PARTLY, REFUSED, LEFT_OUT = STATUSES = ("works", "partly", "refused", "left out")
HERE = (WORKS, PARTLY)
PAGE = "docs/programs-api.md"
# cuMemAlloc_v2, cuMemcpy_ptds: versions, and the forms for programs whose default stream is each thread's own.
VERSION = re.compile(r"(_v\d)?(_ptsz|_ptds)?$")


class ApiFunction(NamedTuple):
    name: str
    header: str
    status: str
    calls: int
    note: str

    @property
    def is_here(self) -> bool:
        return self.status in HERE


@cache
def api_functions() -> dict[str, ApiFunction]:
    """The table, by name."""
    with open(API, encoding="utf-8", newline="") as file:
        rows = csv.reader(file)
        next(rows)  # the columns' names
        return {name: ApiFunction(name, header, status, int(calls), note) for name, header, status, calls, note in rows}


def refusal(names: Iterable[str]) -> str:
    """The sentence about functions that are not here: "gpuprof does not have cudaIpcOpenMemHandle (memory of other
    processes); docs/programs-api.md lists what it has".
    """
    return f"gpuprof does not have {', '.join(map(_with_reason, names))}; {PAGE} lists what it has"


def _with_reason(name: str) -> str:
    known = api_functions().get(VERSION.sub("", name))
    return f"{name} ({known.note})" if known and known.note and not known.is_here else name
