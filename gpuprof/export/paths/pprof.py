"""A profile of pprof (github.com/google/pprof, proto/profile.proto), gzipped: `go tool pprof FILE`.

A sample is an instruction of a kernel. Its values are the cost of `costs`, the part of it that each stall reason has,
then the samples and the instructions executed. Lines of a location are innermost first, as
pprof has inlined functions.
"""

import sqlite3
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from gpuprof.base.protobuf.encode import encode
from gpuprof.base.protobuf.message import Field, Message
from gpuprof.export import GZIP_MARK
from gpuprof.export.paths.path_costs import SAMPLES, WARP_CYCLES, Costs, read_costs
from gpuprof.isa.printing.printable import printable
from gpuprof.isa.stalls import NAMES

VALUE_TYPE = Message("ValueType", {"type": Field(1, "int"), "unit": Field(2, "int")})
SAMPLE = Message("Sample", {"location_id": Field(1, "uint", True), "value": Field(2, "int", True)})
MAPPING = Message(
    "Mapping",
    {
        "id": Field(1, "uint"),
        "memory_start": Field(2, "uint"),
        "memory_limit": Field(3, "uint"),
        "filename": Field(5, "int"),
        "has_functions": Field(7, "bool"),
        "has_filenames": Field(8, "bool"),
        "has_line_numbers": Field(9, "bool"),
        "has_inline_frames": Field(10, "bool"),
    },
)
LINE = Message("Line", {"function_id": Field(1, "uint"), "line": Field(2, "int")})
LOCATION = Message(
    "Location",
    {"id": Field(1, "uint"), "mapping_id": Field(2, "uint"), "address": Field(3, "uint"), "line": Field(4, LINE, True)},
)
FUNCTION = Message(
    "Function",
    {"id": Field(1, "uint"), "name": Field(2, "int"), "system_name": Field(3, "int"), "filename": Field(4, "int")},
)
PROFILE = Message(
    "Profile",
    {
        "sample_type": Field(1, VALUE_TYPE, True),
        "sample": Field(2, SAMPLE, True),
        "mapping": Field(3, MAPPING, True),
        "location": Field(4, LOCATION, True),
        "function": Field(5, FUNCTION, True),
        "string_table": Field(6, "string", True),
        "comment": Field(13, "int", True),
        "default_sample_type": Field(14, "int"),
    },
)
COUNTS = {
    SAMPLES: "SELECT kernel, pc, SUM(samples) FROM samples JOIN launches USING (launch) GROUP BY kernel, pc",
    "inst_executed": "SELECT kernel, pc, SUM(inst_executed) FROM counters JOIN launches USING (launch) "
    "GROUP BY kernel, pc",
}
UNITS = {WARP_CYCLES: "cycles"}  # the others are counts


def write(database: sqlite3.Connection, path: Path) -> None:
    modules = database.execute("SELECT name, load_base, code_nbytes FROM modules ORDER BY module").fetchall()
    counts = {name: dict(_counts(database, query)) for name, query in COUNTS.items()}
    profile = profile_of(read_costs(database), counts, modules)
    path.write_bytes(gzipped(encode(PROFILE, profile)))


def _counts(database: sqlite3.Connection, query: str) -> Iterator[tuple[tuple[str, int], int]]:
    return (((kernel, pc), n) for kernel, pc, n in database.execute(query))


def gzipped(data: bytes) -> bytes:
    """RFC 1952. Python's own header has no comment, by which a file of ours is known again."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    ends = zlib.crc32(data).to_bytes(4, "little") + (len(data) & 0xFFFFFFFF).to_bytes(4, "little")
    return GZIP_MARK + packer.compress(data) + packer.flush() + ends


class Numbers:
    """Numbers things as they come."""

    def __init__(self, first: int, *known: Any):
        self.first = first
        self.of: dict[Any, int] = {each: first + place for place, each in enumerate(known)}

    def __call__(self, thing: Any) -> int:
        return self.of.setdefault(thing, self.first + len(self.of))


def profile_of(
    costs: Costs, counts: Mapping[str, Mapping[tuple[str, int], int]], modules: list[tuple[str, int, int]]
) -> Mapping[str, Any]:
    """`counts`: further values by kernel and address, each with its name."""
    text = Numbers(0, "")
    function = Numbers(1)
    location = Numbers(1)
    reasons = [name for name in NAMES if any(name in row.by_reason for row in costs.rows)]
    further = {name: found for name, found in counts.items() if name != costs.unit and found}
    types = [(costs.unit, costs.unit), *((f"{costs.unit}_{reason}", costs.unit) for reason in reasons)]
    types += [(name, name) for name in further]
    samples = []
    for row in costs.rows:
        inner = row.frames if row.frames[0].path else row.frames[1:]
        ids = [location((row.pc, inner or row.frames))]
        if inner and inner != row.frames:
            ids.append(location((0, row.frames[:1])))
        values = [row.total, *(row.by_reason.get(reason, 0) for reason in reasons)]
        values += [found.get((row.kernel, row.pc), 0) for found in further.values()]
        samples.append({"location_id": ids, "value": values})
    locations = [
        {
            "id": number,
            "mapping_id": mapping_of(pc, modules),
            "address": pc,
            "line": [
                {"function_id": function((each.function, each.path)), "line": each.line} for each in reversed(frames)
            ],
        }
        for (pc, frames), number in location.of.items()
    ]
    functions = [
        {"id": number, "name": text(printable(name)), "system_name": text(printable(name)), "filename": text(path)}
        for (name, path), number in function.of.items()
    ]
    return {
        "sample_type": [{"type": text(name), "unit": text(UNITS.get(of, "count"))} for name, of in types],
        "sample": samples,
        "mapping": list(mappings(modules, text)),
        "location": locations,
        "function": functions,
        "default_sample_type": text(costs.unit),
        "string_table": list(text.of),
    }


def mapping_of(pc: int, modules: list[tuple[str, int, int]]) -> int:
    """0 for none."""
    return next((number for number, (_, base, n) in enumerate(modules, 1) if base <= pc < base + n), 0)


def mappings(modules: list[tuple[str, int, int]], text: Numbers) -> Iterator[dict[str, Any]]:
    has = dict.fromkeys(("has_functions", "has_filenames", "has_line_numbers", "has_inline_frames"), True)
    for number, (name, base, nbytes) in enumerate(modules, 1):
        place = {"id": number, "memory_start": base, "memory_limit": base + nbytes}
        yield place | {"filename": text(printable(name))} | has
