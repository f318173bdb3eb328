r"""PC samples of CUPTI, as CUPTI's sample program `pc_sampling_utility` prints them: one line per instruction.

    functionName: _Z4copyPf, functionIndex: 1, pcOffset: 16, lineNumber:3, fileName: copy.cu, dirName: /src, \
stallReasonCount: 1, smsp__pcsamp_warps_issue_stalled_long_scoreboard: 6

It has neither launches nor cycles: each kernel becomes one launch, of one thread and no cycles, and a note says so.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from gpuprof.base.inputs import CUPTI_SAMPLES, read_input_text
from gpuprof.compile.demangle import demangle
from gpuprof.errors import FileFormatError
from gpuprof.importers.imported_profile import Function, Instruction, Launch, Module, Profile, Samples, Site, SourceLine
from gpuprof.importers.ncu_metrics import NOT_ISSUED, SAMPLES
from gpuprof.isa.stalls import INDEX

LINE = re.compile(
    r"functionName: (?P<function>.*?), functionIndex: \d+, pcOffset: (?P<offset>\d{1,12}), "
    r"lineNumber: ?(?P<line>\d{0,9}), fileName: ?(?P<file>.*?), dirName: ?(?P<folder>.*?), "
    r"stallReasonCount: \d+(?P<reasons>(?:, \w+: \d{1,18})*),? *"
)
REASON = re.compile(r", (\w+): (\d+)")
STARTS = "functionName: "  # of lines that are samples
NO_CUBIN = "ERROR_NO_CUBIN"  # for a file's name
INSTRUCTION_NBYTES = 16
MOST_OFFSET = 1 << 28
UNKNOWN_TEXT = "?"
NOTE = "CUPTI records neither launches nor cycles: each kernel is shown as one launch without a shape"


class Wrong(ValueError):
    """A fault of the file; the text describes it."""


class Row(NamedTuple):
    function: str
    offset: int
    line: SourceLine | None
    counts: dict[str, int]  # by stall reason, "drain" or "drain_not_issued"


def read(path: Path, disassemble: Callable | None) -> Profile:
    """Raises FileFormatError for a file that has no such lines, UsageError for one that cannot be read."""
    text = read_input_text(path, CUPTI_SAMPLES, errors="replace")
    try:
        return profile_of(list(rows_of(text)))
    except Wrong as error:
        raise FileFormatError(f"{path}: cannot be imported: {error}") from None


def rows_of(text: str) -> Iterator[Row]:
    for number, line in enumerate(text.split("\n"), 1):
        if STARTS not in line:
            continue
        match = LINE.fullmatch(line[line.index(STARTS) :])
        if not match:
            raise Wrong(f"line {number} is not a sample of pc_sampling_utility")
        offset = int(match["offset"])
        if offset % INSTRUCTION_NBYTES or offset >= MOST_OFFSET:
            raise Wrong(f"line {number} has a pcOffset of {offset:,}, where no instruction is")
        yield Row(match["function"], offset, source_line_of(match), dict(counts_of(match["reasons"], number)))


def source_line_of(match: re.Match) -> SourceLine | None:
    if match["file"] in ("", NO_CUBIN) or not int(match["line"] or 0):
        return None
    folder = f"{match['folder'].rstrip('/')}/" if match["folder"] else ""
    return SourceLine(folder + match["file"], int(match["line"]))


def counts_of(text: str, number: int) -> Iterator[tuple[str, int]]:
    for name, n in REASON.findall(text):
        reason = name.removeprefix(SAMPLES)
        if reason.removesuffix(NOT_ISSUED) not in INDEX:
            raise Wrong(f"line {number} has the stall reason {name!r}, which this gpuprof does not know")
        yield reason, int(n)


def profile_of(rows: list[Row]) -> Profile:
    if not rows:
        raise Wrong("it has no sample of pc_sampling_utility")
    code: dict[str, dict[int, Instruction]] = {}
    counts: dict[tuple[str, int], Counter] = {}
    for row in rows:
        lines = (row.line,) if row.line else ()
        code.setdefault(row.function, {})[row.offset] = Instruction(UNKNOWN_TEXT, lines)
        counts.setdefault((row.function, row.offset), Counter()).update(row.counts)
    numbers = {name: number for number, name in enumerate(code)}
    samples: list[dict[tuple[Site, int], Samples]] = [{} for _ in code]
    has_not_issued = any(reason.endswith(NOT_ISSUED) for counted in counts.values() for reason in counted)
    for (function, offset), counted in counts.items():
        site = Site(0, numbers[function], offset)
        for reason, number in INDEX.items():
            if counted[reason]:
                not_issued = counted[reason + NOT_ISSUED] if has_not_issued else None
                samples[numbers[function]][site, number] = Samples(counted[reason], not_issued)
    functions = tuple(Function(name, demangle(name), is_kernel=True, code=counted) for name, counted in code.items())
    launches = tuple(
        Launch(0, number, (1, 1, 1), (1, 1, 1), 0, 0, 0, {}, counted, {}) for number, counted in enumerate(samples)
    )
    return Profile("CUPTI", "unknown card", {}, 0, (Module("", "", functions),), {}, launches, (NOTE,))
