"""The baseline file: facts as sorted, readable TOML, made to be committed and to be read in a diff.

It names lines of source by their text, without numbers, so that an edit above a line does not touch its row.
"""

import json
from collections.abc import Iterator, Set
from pathlib import Path
from typing import Any

from gpuprof.base.files import replacing
from gpuprof.base.inputs import BASELINE, is_missing
from gpuprof.base.toml import read_toml
from gpuprof.base.wording import installed_version
from gpuprof.check.causes import made_by_another
from gpuprof.check.facts import LINE_SHARE, Facts, LaunchFacts, LineCost, LineKey, is_costly
from gpuprof.correlate.identity.launch_names import LaunchKey, ShaderOf
from gpuprof.correlate.identity.origin import NO_HOST
from gpuprof.correlate.metrics import BY_NAME, METRICS, OF_LINES
from gpuprof.errors import FileFormatError, NotComparable

# 1: first version. 2: launches in the order they ran, with their modules; lines with their shares in metrics; metrics
# of operations. 3: cycles of draws. 4: the draws that launches are shaders of. 5: what the caches held. 6: a digest of
# each kernel's code.
# Another set of metrics in correlate.metrics is another format, since a count that is left out means
# zero: a baseline older than OLDEST does not compare.
FORMAT = 6
OLDEST = 5
FIRST = "warp_cycles"  # the metric that a line's row begins with
ORIGIN = ("model", "chip", "chip_sha256", "compiler")
HOST = "host"  # a baseline of launches that are no program's has no such row

TITLE = "# gpuprof baseline"  # what each of them begins with
HEADER = f"""\
{TITLE}, written by `gpuprof check --update`. Commit it, and read its diff in review.
# The numbers are exact and the same on every machine. Counts of zero are left out. Launches are in their order.
# code: a digest of the kernel's instructions.
# cache: what the caches held: cold (nothing), warm (as after one launch like it), keep (as the launches before left).
# shader_of: draw, its name, pass, stage.
# lines: warp-cycles, file, text (and which of the lines that say the same), and the line's share in other metrics; from
# {LINE_SHARE:.0%} of any of them on.
"""


def write_baseline(path: Path, facts: Facts) -> None:
    """Write or replace a baseline; the same facts give the same bytes."""
    with replacing(path) as partial:
        partial.write_text("".join(baseline_lines(facts)), encoding="utf-8", newline="\n")


def baseline_lines(facts: Facts) -> Iterator[str]:
    yield HEADER
    yield f"format = {FORMAT}\n"
    yield f"tool = {quoted(facts.tool)}\n"
    for name in ORIGIN:
        yield f"{name} = {quoted(facts.origin[name])}\n"
    if (host := facts.origin[HOST]) != NO_HOST:
        yield f"{HOST} = {quoted(host)}\n"
    for key, launch in facts.launches.items():
        yield f"\n[[launch]]\nkernel = {quoted(key.name)}\nordinal = {key.ordinal}\n"
        yield f"module = {quoted(launch.module)}\n"
        if launch.code:
            yield f"code = {quoted(launch.code)}\n"
        yield f"cache = {quoted(launch.cache)}\n"
        if launch.shader_of:
            yield f"shader_of = {json.dumps(launch.shader_of, ensure_ascii=False)}\n"
        yield from (f"{m.name} = {launch.metrics[m.name]}\n" for m in METRICS if launch.metrics.get(m.name))
        yield "lines = [\n"
        yield from (
            f"  {line_row(line, cost)},\n"
            for line, cost in launch.lines.items()
            if any(is_costly(metric, value, launch) for metric, value in cost.values.items())
        )
        yield "]\n"


def line_row(line: LineKey, cost: LineCost) -> str:
    occurrence = f", {line.occurrence}" if line.occurrence > 1 else ""
    shares = ", ".join(
        f"{m.name} = {cost.values[m.name]}" for m in OF_LINES if m.name in cost.values and m.name != FIRST
    )
    shares = f", {{{shares}}}" if shares else ""
    return f"[{cost.warp_cycles}, {quoted(line.file)}, {quoted(line.text)}{occurrence}{shares}]"


def quoted(text: str) -> str:
    """A TOML basic string: JSON's escapes are among TOML's, and the text is printable."""
    return json.dumps(text, ensure_ascii=False)


def read_baseline(path: Path) -> Facts:
    """Raises NotComparable when there is none or it is older, FileFormatError when it is damaged or newer."""
    if is_missing(path):
        raise NotComparable(
            f"{path}: there is no baseline yet; `gpuprof check ... --baseline {path} --update` writes one"
        )
    try:
        values = read_toml(path, BASELINE)
    except ValueError as error:
        raise FileFormatError(f"{path}: is not a baseline: {error}") from None
    return _Reader(path).facts(values)


class _Reader:
    """Takes a baseline's values apart; whatever does not fit is a FileFormatError that names the place."""

    def __init__(self, path: Path):
        self.path = path

    def facts(self, values: dict[str, Any]) -> Facts:
        version = self.take(values, "format", int, "the file")
        if version > FORMAT:
            raise FileFormatError(
                f"{self.path}: has format {version}, and this gpuprof reads up to {FORMAT}: use a newer gpuprof"
            )
        if version < OLDEST:
            tool, model = (self.take(values, name, str, "the file") for name in ("tool", "model"))
            now = f"{installed_version()}, which reads formats from {OLDEST} on"
            raise made_by_another(f"{self.path}: has format {version}, and", tool, model, now)
        launches = [
            self.launch(self.expect(each, dict, "a launch")) for each in self.take(values, "launch", list, "the file")
        ]
        origin = {name: self.take(values, name, str, "the file") for name in ORIGIN}
        origin[HOST] = self.take(values, HOST, str, "the file") if HOST in values else NO_HOST
        if len(dict(launches)) != len(launches):
            raise self.wrong("it holds a launch twice")
        return Facts(self.take(values, "tool", str, "the file"), origin, dict(launches))

    def launch(self, values: dict[str, Any]) -> tuple[LaunchKey, LaunchFacts]:
        key = LaunchKey(self.take(values, "kernel", str, "a launch"), self.take(values, "ordinal", int, "a launch"))
        lines = dict(self.line(row, key) for row in self.take(values, "lines", list, str(key)))
        metrics = {
            name: self.take(values, name, int, str(key))
            for name in values
            if name not in ("kernel", "ordinal", "module", "code", "cache", "shader_of", "lines")
        }
        self.check_metrics(metrics, BY_NAME.keys(), key)
        shader_of = self.shader_of(values["shader_of"], key) if "shader_of" in values else None
        module, cache = (self.take(values, name, str, str(key)) for name in ("module", "cache"))
        code = self.take(values, "code", str, str(key)) if "code" in values else ""
        return key, LaunchFacts(metrics, lines, module, shader_of, cache, code)

    def shader_of(self, row: Any, key: LaunchKey) -> ShaderOf:
        if not isinstance(row, list) or [type(value) for value in row] != [int, str, int, str]:
            raise self.wrong(f"{key}: shader_of is {str(row)[:60]}, not [draw, name, pass, stage]")
        self.expect(row[0], int, f"{key}: its draw")
        self.expect(row[2], int, f"{key}: its pass")
        return ShaderOf(*row)

    def line(self, row: Any, key: LaunchKey) -> tuple[LineKey, LineCost]:
        types = [type(value) for value in row] if isinstance(row, list) else []
        if types[:3] != [int, str, str] or types[3:] not in ([], [int], [dict], [int, dict]):
            raise self.wrong(f"{key} has a line {str(row)[:60]}, not [warp-cycles, file, text]")
        cycles, file, text, *more = row
        occurrence = more[0] if types[3:4] == [int] else 1
        self.expect(cycles, int, f"{key}: a line's warp-cycles")
        self.expect(occurrence, int, f"{key}: the number of a line")
        shares = more[-1] if dict in types else {}
        self.check_metrics(shares, {metric.name for metric in OF_LINES} - {FIRST}, key)
        for name in shares:
            self.take(shares, name, int, f"a line of {key}")
        return LineKey(file, text, occurrence), LineCost(({FIRST: cycles} if cycles else {}) | shares)

    def check_metrics(self, values: dict[str, Any], known: Set[str], key: LaunchKey) -> None:
        unknown = sorted(values.keys() - known)
        if unknown:
            raise self.wrong(f"{key} has {unknown[0]!r}, which is not a metric of this gpuprof")

    def take(self, values: dict[str, Any], name: str, kind: type, where: str) -> Any:
        if name not in values:
            raise self.wrong(f"{where} has no {name!r}")
        return self.expect(values[name], kind, f"{where}: {name}")

    def expect(self, value: Any, kind: type, what: str) -> Any:
        if type(value) is not kind:
            raise self.wrong(f"{what} is {str(value)[:40]!r}, not of type {kind.__name__}")
        if kind is int and value < 0:
            raise self.wrong(f"{what} is {value}, less than zero")
        return value

    def wrong(self, what: str) -> FileFormatError:
        return FileFormatError(f"{self.path}: damaged baseline: {what}; write a new one with --update")
