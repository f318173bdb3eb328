"""A report of Nsight Compute, .ncu-rep, as a profile: metrics, machine code, sources and PC samples.

Samples and counters are by address. An address belongs to the function that was loaded at the greatest address up to
it; reports before 2022 lack the addresses of functions, so the lowest address of a launch is taken as its kernel's
first.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from gpuprof.base.inputs import NCU_REPORT, read_input
from gpuprof.base.protobuf.decode import Malformed, decode
from gpuprof.compile.demangle import demangle
from gpuprof.errors import FileFormatError
from gpuprof.importers.imported_profile import Function, Instruction, Launch, Module, Profile, Samples, Site
from gpuprof.importers.ncu_metrics import (
    CHIP_NAME,
    CYCLES,
    NOT_ISSUED,
    OF_INSTRUCTIONS,
    SAMPLES,
    chip_of,
    first,
    of_launch,
    period_of,
)
from gpuprof.importers.ncu_report import RESULT, Report, parse, value_of
from gpuprof.isa.stalls import INDEX

INSTRUCTION_NBYTES = 16
MOST_OFFSET = 1 << 28  # of an instruction in its function: the longest are a few megabytes
TOOL = "Nsight Compute Target"
Disassembler = Callable[[bytes], Mapping[str, dict[int, Instruction]]]
NO_CODE = "instructions and lines are not known: the machine code was not disassembled"


def read(path: Path, disassemble: Disassembler | None) -> Profile:
    """The profile of a report. `disassemble`: a cubin's instructions by function; None without a disassembler. Raises
    FileFormatError for a file that is damaged, newer, or has unknown content; UsageError for one that cannot be read.
    """
    try:
        return profile_of(parse(read_input(path, NCU_REPORT)), disassemble)
    except Malformed as error:
        raise FileFormatError(f"{path}: cannot be imported: {error}") from None


def profile_of(report: Report, disassemble: Disassembler | None) -> Profile:
    """Raises Malformed for content that no valid report has."""
    if not report.results:
        raise Malformed("it has no launch")
    modules = Modules(report, disassemble)
    chip: dict[str, int | float] = {}
    launches, names, found_periods = [], set(), set()
    for raw in report.results:
        result = decode(RESULT, raw)
        metrics = dict(named_metrics(report, result))
        single = {name: value_of(metric.get("value")) for name, metric in metrics.items()}
        chip = chip or chip_of(single)
        launches.append(launch_of(modules, result, metrics, single, chip))
        names |= {str(single[CHIP_NAME])} if CHIP_NAME in single else set()
        found_periods.add(period_of(single))
    periods = sorted(found_periods - {0})
    notes = (
        *([NO_CODE] if disassemble is None else []),
        *([f"launches were sampled every {' and '.join(map(str, periods))} cycles"] if len(periods) > 1 else []),
    )
    sources = {
        text["path"]: text.get("text", "")
        for source in report.sources
        for texts in source["texts"]
        for text in texts["texts"]
        if "path" in text
    }
    maker = f"Nsight Compute {report.facts[TOOL].split()[0]}" if report.facts.get(TOOL) else "Nsight Compute"
    card = " and ".join(sorted(names)) or "unknown card"
    return Profile(maker, card, chip, max(periods, default=0), modules.modules(), sources, tuple(launches), notes)


def named_metrics(report: Report, result: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for metric in result["metrics"]:
        number = metric.get("name", 0)
        if number >= len(report.strings):
            raise Malformed(f"a metric has name {number:,} of {len(report.strings):,}")
        yield report.strings[number], metric


class Modules:
    """The modules of a report; functions are added as launches name them."""

    def __init__(self, report: Report, disassemble: Disassembler | None):
        self.ids: dict[int, int] = {}
        self.arch: list[str] = []
        self.code: list[Mapping[str, dict[int, Instruction]]] = []
        self.addresses: list[dict[int, str]] = []  # where functions were loaded
        self.functions: list[dict[str, Function]] = []
        self.numbers: list[dict[str, int]] = []  # of functions in their module
        self._sorted: dict[int, list[int]] = {}
        for source in report.sources:
            self._read(source, disassemble)

    def _read(self, source: dict[str, Any], disassemble: Disassembler | None) -> None:
        number = self.number(source.get("module", 0))
        if source.get("arch"):
            self.arch[number] = f"sm_{source['arch'] >> 16}{source['arch'] & 0xFFFF}"
        if source.get("cubin") and disassemble:
            self.code[number] = disassemble(source["cubin"])
        for functions in source["functions"]:
            for function in functions["functions"]:
                if "symbol" in function:
                    self.addresses[number][function.get("address", 0)] = function["symbol"]

    def number(self, module_id: int) -> int:
        if module_id not in self.ids:
            self.ids[module_id] = len(self.ids)
            self.arch.append("")
            self.code.append({})
            self.addresses.append({})
            self.functions.append({})
            self.numbers.append({})
        return self.ids[module_id]

    def add(self, module: int, function: Function) -> int:
        """Adds a function and gives its number in the module."""
        self.functions[module][function.symbol] = function
        return self.numbers[module].setdefault(function.symbol, len(self.numbers[module]))

    def finder(self, module: int, kernel: str, addresses: set[int]) -> Callable[[int], Site]:
        """A function that maps an address of a launch to its instruction."""
        loaded = self.addresses[module]
        if not loaded and addresses:
            loaded = {min(addresses): kernel}
        bases = self._bases(module) if loaded is self.addresses[module] else sorted(loaded)

        def find(address: int) -> Site:
            at = bisect_right(bases, address)
            offset = address - bases[at - 1] if at else -1
            if not 0 <= offset < MOST_OFFSET or offset % INSTRUCTION_NBYTES:
                raise Malformed(f"{kernel} has a sample or a count at {address:#x}, where it has no instruction")
            return Site(module, self._function(module, loaded[bases[at - 1]]), offset)

        return find

    def _bases(self, module: int) -> list[int]:
        if module not in self._sorted:
            self._sorted[module] = sorted(self.addresses[module])
        return self._sorted[module]

    def _function(self, module: int, symbol: str) -> int:
        if symbol not in self.functions[module]:
            code = self.code[module].get(symbol, {})
            return self.add(module, Function(symbol, demangle(symbol), is_kernel=False, code=code))
        return self.numbers[module][symbol]

    def modules(self) -> tuple[Module, ...]:
        return tuple(
            Module(f"module {number}", arch, tuple(functions.values()))
            for number, (arch, functions) in enumerate(zip(self.arch, self.functions, strict=True))
        )


def launch_of(
    modules: Modules,
    result: dict[str, Any],
    metrics: dict[str, dict[str, Any]],
    single: dict[str, Any],
    chip: dict[str, int | float],
) -> Launch:
    values_by_name = of_launch(single, chip)
    module = modules.number(result.get("module", {}).get("id", 0))
    symbol = result.get("symbol", "")
    if not symbol:
        raise Malformed("a launch has no kernel")
    kernel = Function(
        symbol,
        result.get("name") or symbol,
        is_kernel=True,
        registers=int(values_by_name.get("registers", 0)),
        shared_nbytes=int(values_by_name.get("shared_nbytes", 0)),
        code=modules.code[module].get(symbol, {}),
    )
    function = modules.add(module, kernel)
    sampled = dict(samples_by_address(metrics))
    counted = dict(counts_by_address(metrics))
    find = modules.finder(module, symbol, {address for address, _ in sampled} | counted.keys())
    cycles = first(single, CYCLES)
    if cycles is None:
        raise Malformed(f"{symbol} has none of the metrics {', '.join(CYCLES)}")
    return Launch(
        module,
        function,
        extent(result.get("grid")),
        extent(result.get("block")),
        int(first(single, ("launch__shared_mem_per_block_dynamic",)) or 0),
        int(first(single, ("launch__stream_id",)) or 0),
        round(cycles),
        values_by_name,
        {(find(address), reason): samples for (address, reason), samples in sampled.items()},
        {find(address): counts for address, counts in counted.items()},
    )


def extent(value: dict[str, int] | None) -> tuple[int, int, int]:
    x, y, z = ((value or {}).get(axis, 1) for axis in "xyz")
    return x, y, z


def by_address(metric: dict[str, Any], name: str) -> Iterator[tuple[int, int]]:
    """(address, count) of each instance; a missing count is 0."""
    for instance in metric["instances"]:
        address, count = value_of(instance.get("id")), value_of(instance.get("value")) or 0
        if not isinstance(address, int) or not isinstance(count, int | float) or not 0 <= count < 1 << 63:
            raise Malformed(f"{name} has {count!r} at {address!r}")
        yield address, int(count)


def samples_by_address(metrics: dict[str, dict[str, Any]]) -> Iterator[tuple[tuple[int, int], Samples]]:
    """(address, number of the stall reason) -> samples."""
    for name, metric in metrics.items():
        if not name.startswith(SAMPLES) or name.endswith(NOT_ISSUED):
            continue
        reason = name.removeprefix(SAMPLES)
        if reason not in INDEX:
            raise Malformed(f"it has the stall reason {reason!r}, which this gpuprof does not know")
        not_issued = metrics.get(name + NOT_ISSUED)
        without = None if not_issued is None else dict(by_address(not_issued, name + NOT_ISSUED))
        for address, n in by_address(metric, name):
            if n:
                yield (address, INDEX[reason]), Samples(n, None if without is None else without.get(address, 0))


def counts_by_address(metrics: dict[str, dict[str, Any]]) -> Iterator[tuple[int, dict[str, int]]]:
    found: dict[int, dict[str, int]] = {}
    for name, column in OF_INSTRUCTIONS.items():
        if name in metrics:
            for address, n in by_address(metrics[name], name):
                found.setdefault(address, {})[column] = n
    yield from found.items()
