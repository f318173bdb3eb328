"""The facts that a check compares: the exact numbers of every launch of a database, as plain values."""

import hashlib
import sqlite3
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from gpuprof.base.cache_control import AS_THE_PROGRAM, KEEP
from gpuprof.base.wording import plural
from gpuprof.correlate.identity.code_text import relative_text
from gpuprof.correlate.identity.launch_names import LaunchKey, ShaderOf, launch_keys, shaders_of_draws, title
from gpuprof.correlate.identity.origin import origin
from gpuprof.correlate.metrics import OF_LINES, cache_controls, launch_values
from gpuprof.errors import NotComparable
from gpuprof.isa.printing.printable import printable

LINE_SHARE = 0.01  # of a launch's warp-cycles: cheaper lines are not worth a row of a baseline
DIGEST_CHARACTERS = 16
MAX_LINE_CHARACTERS = 120  # of a source line's text, stored to distinguish lines and to name them


Position = tuple[str, int]  # a path, as the recording has it, and a line
Chain = tuple[Position, ...]  # the innermost first


class Origin(NamedTuple):
    """The origin of an instruction: the position that it is charged to, and those of inlined code within, if any."""

    at: Position
    inlined: Chain


Origins = dict[int, Origin]  # by pc


class LineKey(NamedTuple):
    """A source line by what it says, so that it stays itself when lines above it come and go."""

    file: str  # without its folders
    text: str  # its words, one space between them
    occurrence: int  # 1 for the first line of the file that says this, 2 for the next, ...


class LineCost(NamedTuple):
    values: dict[str, int]  # its share of metrics, by name; zeros left out
    place: str = ""  # "path:line"; empty when it comes from a baseline
    at: Position | None = None  # the same, with the path as the recording has it
    inlined: dict[str, Chain] = {}  # noqa: RUF012 - by metric, of the inlined code that has most of it; never changed

    def positions(self, metric: str) -> Chain:
        """The positions of the code of its share in a metric: inlined code first, the line itself last."""
        own = (self.at,) if self.at else ()
        return (*self.inlined.get(metric, ()), *own)

    @property
    def warp_cycles(self) -> int:
        return self.values.get("warp_cycles", 0)


@dataclass(frozen=True)
class LaunchFacts:
    metrics: dict[str, int]  # by name of correlate.metrics
    lines: dict[LineKey, LineCost]  # in source order; from a baseline only the costly ones
    module: str = ""  # file that the kernel's module came from, without its folders
    shader_of: ShaderOf | None = None
    cache: str = KEEP  # what its caches held, as base.cache_control.CacheControl says it
    code: str = ""  # digest of the kernel's instructions; empty in baselines that do not have it
    at: Position | None = None  # the kernel's first line in its own file; None where it has none, and in a baseline


@dataclass(frozen=True)
class Facts:
    """`tool` (gpuprof's version) and `origin` are what must agree for two sets of facts to be comparable. `launches`
    are in the order they ran.
    """

    tool: str
    origin: dict[str, str]
    launches: dict[LaunchKey, LaunchFacts] = field(default_factory=dict)


def is_costly(metric: str, value: int, launch: LaunchFacts) -> bool:
    """True where a line's share in a metric of a launch is large enough to be reported."""
    return value > 0 and value >= LINE_SHARE * launch.metrics.get(metric, 0)


def measure(database: sqlite3.Connection, path: Path) -> Facts:
    """The facts of a database; raises NotComparable when nothing was measured, the recording is not complete, or
    sampling cost cycles.
    """
    meta = dict(database.execute("SELECT key, value FROM meta"))
    if meta["complete"] != "1":
        raise NotComparable(
            f"{path}: the recording is not complete ({meta['damage'] or meta['marks'] or 'no end'}); collect again"
        )
    if "measured_by" in meta:
        raise NotComparable(
            f"{path}: was measured on a card by {printable(meta['measured_by'])}, and a check compares exact numbers; "
            "see `gpuprof export --format comparison --against`"
        )
    values = launch_values(database)
    if not any(metrics.get("warp_cycles") for metrics in values.values()):
        n_launches = plural(len(values), "launch", "launches")
        raise NotComparable(f"{path}: it has no measurements ({n_launches}, no warp-cycles); collect again")
    if database.execute("SELECT 1 FROM launch_metrics WHERE metric = 'disturbance_cycles' AND value != 0").fetchone():
        raise NotComparable(
            f"{path}: its cycles include those of the sampler (--stream lsu); collect with --stream aux"
        )
    origins = code_origins(database)
    lines, codes, first_lines = line_costs(database, origins), code_digests(database), kernel_lines(database, origins)
    shaders, controls = shaders_of_draws(database), cache_controls(database)
    launches = {
        key: LaunchFacts(
            values[launch],
            lines.get(launch, {}),
            module,
            shaders.get(launch),
            printable(str(controls.get(launch, AS_THE_PROGRAM))),
            codes[function],
            first_lines.get(function),
        )
        for launch, key, module, function in launch_keys(database)
    }
    return Facts(printable(meta["tool_version"]), origin(database, meta), launches)


def code_digests(database: sqlite3.Connection) -> dict[int, str]:
    """Kernel -> a digest of its instructions and of its module's device functions, which it may call. Where the code
    was loaded, and which lines it comes from, do not count.
    """
    texts: dict[int, list[str]] = {}
    query = "SELECT function, pc, opcode, text FROM instructions ORDER BY pc"
    for function, pc, opcode, text in database.execute(query):
        texts.setdefault(function, []).append(relative_text(opcode, text, pc))
    functions = database.execute("SELECT function, module, is_kernel FROM functions ORDER BY function").fetchall()
    called: dict[int, list[str]] = {}
    for function, module, is_kernel in functions:
        if not is_kernel:
            called.setdefault(module, []).extend(["", *texts.get(function, ())])
    return {
        function: _digest("\n".join([*texts.get(function, ()), *called.get(module, ())]))
        for function, module, is_kernel in functions
        if is_kernel
    }


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:DIGEST_CHARACTERS]


def kernel_lines(database: sqlite3.Connection, origins: Origins) -> dict[int, Position]:
    """Function -> the first line of its own file that has code of it."""
    first: dict[int, Position] = {}
    for pc, function in database.execute("SELECT pc, function FROM instructions ORDER BY pc"):
        if pc in origins:
            first[function] = min(first.get(function, origins[pc].at), origins[pc].at)
    return first


def launch_titles(database: sqlite3.Connection, origins: Origins) -> dict[int, tuple[str, Position | None]]:
    """Each launch with its title and its kernel's first line."""
    shaders, first_lines = shaders_of_draws(database), kernel_lines(database, origins)
    return {
        launch: (title(key, shaders.get(launch)), first_lines.get(function))
        for launch, key, _, function in launch_keys(database)
    }


def line_costs(database: sqlite3.Connection, origins: Origins) -> dict[int, dict[LineKey, LineCost]]:
    """Launch -> the cost of each of its lines, in source order."""
    keys = line_keys(database)
    sums: dict[int, dict[Origin, Counter]] = {}
    for metric in OF_LINES:
        for launch, pc, value in database.execute(metric.by_pc):
            if value and pc in origins:
                sums.setdefault(launch, {}).setdefault(origins[pc], Counter())[metric.name] += value
    return {launch: _by_key(keys, counted) for launch, counted in sums.items()}


def _by_key(keys: "Keys", counted: dict[Origin, Counter]) -> dict[LineKey, LineCost]:
    """Two files of one name and text share a key."""
    values: dict[LineKey, Counter] = {}
    charged: dict[LineKey, Position] = {}
    most: dict[LineKey, dict[str, tuple[int, Chain]]] = {}  # by metric, of inlined code
    for (at, inlined), counts in sorted(counted.items()):
        key = keys.key(*at)
        charged.setdefault(key, at)
        values.setdefault(key, Counter()).update(counts)
        for metric, value in counts.items():
            if value > most.setdefault(key, {}).get(metric, (0, ()))[0]:
                most[key][metric] = (value, inlined)
    return {
        key: LineCost(
            dict(values[key]),
            f"{printable(at[0])}:{at[1]}",
            at,
            {metric: chain for metric, (_, chain) in most[key].items() if chain},
        )
        for key, at in charged.items()
    }


def places(database: sqlite3.Connection) -> dict[int, Position]:
    """pc -> path and line it is charged to: the innermost position in the file of the function that holds it.

    Code inlined from headers is charged to the line of the kernel's own file that includes it.
    """
    return {pc: origin.at for pc, origin in code_origins(database).items()}


def code_origins(database: sqlite3.Connection) -> Origins:
    """pc -> the position that it is charged to, as `places` has it, and those of inlined code within."""
    chains: dict[int, list[Position]] = {}
    for query in (
        "SELECT pc, path, line FROM instructions JOIN sources USING (source) WHERE line > 0",
        "SELECT pc, path, line FROM inline_frames JOIN sources USING (source) ORDER BY pc, depth",
    ):
        for pc, path, line in database.execute(query):
            chains.setdefault(pc, []).append((path, line))
    origins = {}
    for pc, chain in chains.items():
        depth = next(depth for depth, (path, _) in enumerate(chain) if path == chain[-1][0])
        origins[pc] = Origin(chain[depth], tuple(chain[:depth]))
    return origins


class Keys:
    """Line keys of the sources of a database."""

    def __init__(self, texts: dict[str, str | None]):
        self._keys = {path: list(_keys_of(path, text or "")) for path, text in texts.items()}

    def key(self, path: str, line: int) -> LineKey:
        """A line whose text is not known is known by its number."""
        keys = self._keys[path]
        return keys[line - 1] if line <= len(keys) else LineKey(_file_name(path), f"line {line}", 1)


def line_keys(database: sqlite3.Connection) -> Keys:
    return Keys(dict(database.execute("SELECT path, text FROM sources")))


def _keys_of(path: str, text: str) -> Iterator[LineKey]:
    seen = Counter()
    for line in text.split("\n"):
        words = printable(" ".join(line.split()))[:MAX_LINE_CHARACTERS]
        seen[words] += 1
        yield LineKey(_file_name(path), words, seen[words])


def _file_name(path: str) -> str:
    return printable(PurePosixPath(path.replace("\\", "/")).name)
