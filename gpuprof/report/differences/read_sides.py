"""The kernels of two databases as values that are compared.

databases ─ read_difference ─> pairs of kernels and launches ─ compare.difference ─> Compared
"""

import re
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from gpuprof.base.cache_control import AS_THE_PROGRAM
from gpuprof.base.wording import base_name, suggestion
from gpuprof.compare.changes import Change
from gpuprof.compare.code import opcode_of
from gpuprof.compare.difference import SAMPLES, WARP_CYCLES, Difference, KernelDifference, LaunchSide, difference_of
from gpuprof.compare.kernels import REQUEST, KernelName, KernelPair, paired_kernels
from gpuprof.compare.launches import Launched, paired_launches
from gpuprof.compare.pairing import by_group
from gpuprof.correlate.identity.launch_names import LaunchKey, ShaderOf, launch_keys, shaders_of_draws, title
from gpuprof.correlate.identity.origin import origin
from gpuprof.correlate.metrics import cache_controls, launch_values
from gpuprof.errors import NotComparable, UsageError
from gpuprof.isa.printing.printable import printable
from gpuprof.report.differences.kernel_sides import kernel_side
from gpuprof.report.header_queries import chip_facts
from gpuprof.report.queries import read_report

ORDER = ("gpuprof", "compiler", "chip", "chip_sha256", "model", "host")  # as check.causes has them: the widest first


class Head(NamedTuple):
    """One side: the file's name, and what its profile says about itself. `origin`: by names of ORDER."""

    name: str
    origin: dict[str, str]
    is_complete: bool
    notes: tuple[str, ...]
    caches: dict[int, str]  # by launch, what its caches held; those that are left out as the program leaves them
    disturbance_cycles: int  # of all launches, what sampling cost
    n_cut_off: int  # launches that did not end, and are not compared
    clock_mhz: float | None
    is_card: bool

    def cache(self, launch: int) -> str:
        """The content of a launch's caches, in the words of a baseline."""
        return self.caches.get(launch, str(AS_THE_PROGRAM))


class Launch(NamedTuple):
    """A launch of a side. `function`: of the database; `side`: what the difference has of it."""

    number: int
    function: int
    key: LaunchKey
    shader_of: ShaderOf | None
    side: LaunchSide


@dataclass(frozen=True)
class Compared:
    """Both sides and their difference."""

    old: Head
    new: Head
    difference: Difference

    @property
    def has_card(self) -> bool:
        """True where another tool measured a side on a card: no compiler, model or host made its numbers."""
        return self.old.is_card or self.new.is_card

    @property
    def origins(self) -> list[tuple[str, str, str]]:
        """(name, old, new) of what made the numbers and is not the same, in ORDER."""
        both = ((name, self.old.origin[name], self.new.origin[name]) for name in ORDER)
        different = [
            (name, was, now) for name, was, now in both if was != now and (name == "chip" or not self.has_card)
        ]
        has_other_chip = any(name == "chip" for name, _, _ in different)
        return [each for each in different if not (each[0] == "chip_sha256" and has_other_chip)]


class Choice(NamedTuple):
    """The kernels that are compared: those whose names a regular expression finds; with `partner`, the one that
    `kernel` finds on the old side with the one that `partner` finds on the new side.
    """

    kernel: str | None = None
    partner: str | None = None


ALL = Choice()


class _Side(NamedTuple):
    """A database, and what is read of it once. `kernels`: those that were launched, the most cycles first."""

    database: sqlite3.Connection
    head: Head
    launches: list[Launch]
    by_function: dict[int, list[Launch]]
    kernels: list[KernelName]

    def words_of(self, kernel: KernelName) -> list[str]:
        """The instructions of a kernel, without their operands."""
        query = "SELECT text FROM instructions WHERE function = ? ORDER BY pc"
        return [opcode_of(text) for (text,) in self.database.execute(query, (kernel.number,))]

    def of(self, kernel: KernelName) -> list[Launch]:
        return self.by_function.get(kernel.number, [])


def read_difference(
    old: sqlite3.Connection, new: sqlite3.Connection, names: tuple[str, str], choice: Choice = ALL
) -> Compared:
    """`names`: of both files. Raises NotComparable where a side has no launch, or no kernel of one is one of the other,
    UsageError for a choice that finds no kernel, or several where it is to find one.
    """
    unit = WARP_CYCLES if _has_ledger(old) and _has_ledger(new) else SAMPLES
    sides = (_side_of(old, names[0], unit), _side_of(new, names[1], unit))
    for side in sides:
        if not side.launches:
            raise NotComparable(f"{side.head.name}: nothing was measured: no launch of it ended; collect again")
    pairs, gone, come = _kernel_pairs(*sides, choice)
    pairings = [_launch_pairs(sides[0].of(pair.old), sides[1].of(pair.new)) for pair in pairs]
    kernels = _kernel_differences(sides, pairs, [pairing[0] for pairing in pairings], unit)
    lonely = [
        [launch for pairing in pairings for launch in pairing[place]]
        + [launch for kernel in kernels_of_one for launch in side.of(kernel)]
        for place, kernels_of_one, side in ((1, gone, sides[0]), (2, come, sides[1]))
    ]
    chosen = [
        sum(launch.side.cost for kernel in [*(pair[place] for pair in pairs), *some] for launch in side.of(kernel))
        for place, some, side in ((0, gone, sides[0]), (1, come, sides[1]))
    ]
    kernels.sort(key=lambda each: (-abs(each.cycles.delta), -abs(each.cost.delta), each.name))
    return Compared(
        sides[0].head,
        sides[1].head,
        Difference(
            tuple(kernels),
            *(tuple(launch.side for launch in sorted(some)) for some in lonely),
            Change("cost", *chosen),
            unit,
        ),
    )


def _has_ledger(database: sqlite3.Connection) -> bool:
    return bool(database.execute("SELECT EXISTS (SELECT 1 FROM ledger)").fetchone()[0])


def _side_of(database: sqlite3.Connection, name: str, unit: str) -> _Side:
    meta = dict(database.execute("SELECT key, value FROM meta"))
    launches = list(_launches(database, unit))
    by_function = by_group(launches, lambda launch: launch.function)
    cycles = {number: sum(launch.side.cycles for launch in some) for number, some in by_function.items()}
    query = "SELECT function, display, f.name, m.name FROM functions f JOIN modules m USING (module)"
    kernels = [
        KernelName(number, name, symbol, base_name(module))
        for number, name, symbol, module in database.execute(query)
        if number in cycles
    ]
    kernels.sort(key=lambda kernel: (-cycles[kernel.number], kernel.number))
    return _Side(database, _head(database, meta, name), launches, by_function, kernels)


def _head(database: sqlite3.Connection, meta: dict[str, str], name: str) -> Head:
    notes = [note for key in ("damage", "marks") for note in meta.get(key, "").splitlines()]
    if "measured_by" in meta:
        notes.insert(0, f"measured on a card by {meta['measured_by']}, not by gpuprof")
    query = "SELECT COALESCE(SUM(value), 0) FROM launch_metrics WHERE metric = 'disturbance_cycles'"
    return Head(
        name,
        origin(database, meta) | {"gpuprof": printable(meta["tool_version"])},
        meta["complete"] == "1",
        tuple(map(printable, dict.fromkeys(notes))),
        {launch: str(control) for launch, control in cache_controls(database).items()},
        int(database.execute(query).fetchone()[0]),
        database.execute("SELECT COUNT(*) FROM launches WHERE NOT complete").fetchone()[0],
        chip_facts(meta).clock_mhz,
        "measured_by" in meta,
    )


def _launches(database: sqlite3.Connection, unit: str) -> Iterator[Launch]:
    table, column = ("ledger", "cycles") if unit == WARP_CYCLES else ("samples", "samples")
    costs = dict(database.execute(f"SELECT launch, SUM({column}) FROM {table} GROUP BY launch"))
    cycles = dict(database.execute("SELECT launch, cycles FROM launches WHERE complete"))
    shaders = shaders_of_draws(database)
    for number, key, _, function in launch_keys(database):
        if number not in cycles:
            continue
        shader_of = shaders.get(number)
        side = LaunchSide(number, title(key, shader_of), key.shape, cycles[number], costs.get(number, 0))
        yield Launch(number, function, key, shader_of, side)


def _kernel_pairs(
    old: _Side, new: _Side, choice: Choice
) -> tuple[list[KernelPair], list[KernelName], list[KernelName]]:
    if choice.partner is not None:
        return [KernelPair(_one(old, "--kernel", choice.kernel), _one(new, "--with", choice.partner), REQUEST)], [], []
    olds, news = (_found(side, choice.kernel) for side in (old, new))
    if choice.kernel is not None and not (olds or news):
        raise _finds_none("--kernel", choice.kernel, [*old.kernels, *new.kernels])
    pairs, gone, come = paired_kernels(olds, news, old.words_of, new.words_of)
    if not pairs:
        was, now = (
            f"{side.head.name} has {', '.join(printable(kernel.name) for kernel in side.kernels)}"
            for side in (old, new)
        )
        raise NotComparable(f"no kernel of one is one of the other: {was}; {now}; name two, with --kernel A --with B")
    return pairs, gone, come


def _found(side: _Side, pattern: str | None, flag: str = "--kernel") -> list[KernelName]:
    if pattern is None:
        return side.kernels
    try:
        finds = re.compile(pattern).search
    except re.error as error:
        raise UsageError(f"{flag} {pattern!r} is not a regular expression: {error}") from None
    return [kernel for kernel in side.kernels if finds(kernel.name) or finds(kernel.symbol)]


def _one(side: _Side, flag: str, pattern: str | None) -> KernelName:
    """The one kernel that is called so, or that the regular expression finds."""
    found = [kernel for kernel in side.kernels if kernel.name == pattern] or _found(side, pattern, flag)
    if not found:
        raise _finds_none(flag, pattern, side.kernels)
    if len(found) > 1:
        names = ", ".join(printable(kernel.name) for kernel in found)
        raise UsageError(f"{flag} {pattern!r} finds {len(found)} kernels of {side.head.name}: {names}; name one")
    return found[0]


def _finds_none(flag: str, pattern: str | None, kernels: Sequence[KernelName]) -> UsageError:
    names = sorted({printable(kernel.name) for kernel in kernels})
    near = f"{suggestion(pattern or '', names)} " if suggestion(pattern or "", names) else ""
    return UsageError(f"{flag} {pattern!r} finds no kernel; {near}there are: {', '.join(names)}")


LaunchPairs = list[tuple[Launch, Launch]]


def _launch_pairs(old: Sequence[Launch], new: Sequence[Launch]) -> tuple[LaunchPairs, list[Launch], list[Launch]]:
    """Launches of two kernels, which may have other names."""
    olds, news = ({_known(launch): launch for launch in side} for side in (old, new))
    pairing = paired_launches(list(olds), list(news))
    return (
        [(olds[was], news[now]) for was, now in pairing.pairs],
        [olds[was] for was in pairing.old],
        [news[now] for now in pairing.new],
    )


def _known(launch: Launch) -> Launched:
    shader_of = launch.shader_of
    return Launched(
        "", launch.key.shape, launch.key.ordinal, "", (shader_of.stage, shader_of.name) if shader_of else ()
    )


def _kernel_differences(
    sides: tuple[_Side, _Side], pairs: Sequence[KernelPair], launches: Sequence[LaunchPairs], unit: str
) -> list[KernelDifference]:
    of_sides = []
    for place, side in enumerate(sides):
        wanted = {pair[place].number for pairs_of_kernel in launches for pair in pairs_of_kernel}
        report = read_report(side.database, launches=None if len(wanted) == len(side.launches) else wanted)
        of_sides.append((report, {kernel.function: kernel for kernel in report.kernels}, launch_values(side.database)))
    found = []
    for pair, launch_pairs in zip(pairs, launches, strict=True):
        values = [
            kernel_side(report, kernels[kernel.number], [both[place].side for both in launch_pairs], counted, unit)
            for place, ((report, kernels, counted), kernel) in enumerate(zip(of_sides, pair[:2], strict=True))
        ]
        found.append(difference_of(pair, *values))
    return found
