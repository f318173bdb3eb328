"""Reads chip files. A number is `{ value = 108, source = "..." }`, or just the number in a file of the user's own.

`inherits = "a100"` takes everything the file does not say from another chip. What is time there is time here: at
another clock the inherited latency of the DRAM is another number of cycles (`clock`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gpuprof.base.inputs import CHIP
from gpuprof.chips.fields import BY_NAME, FIELDS, OPTIONAL_TABLES, TABLES
from gpuprof.chips.sourced import Family, Field, checked, similar
from gpuprof.errors import UsageError


def dram_cycles_at(clock_mhz: float, dram_cycles: int, l2_far_cycles: int, stated_at_mhz: float) -> int:
    """Converts `dram_cycles` from cycles at `stated_at_mhz` to cycles at `clock_mhz`, both of the SMs' clock.

    The way to the L2 and back takes the same cycles at any clock. Beyond it the time is the DRAM's, which has its own
    clock, and stays the same in nanoseconds. `dram_gbytes_per_s`, `dram_row_cycle_ns` and `dram_row_open_ns` are
    already stated in time.
    """
    return l2_far_cycles + round((dram_cycles - l2_far_cycles) * clock_mhz / stated_at_mhz)


FILES = Family("chip", Path(__file__).parent, "a100", CHIP)
LINE_NBYTES = 128  # of the L1 and the L2


@dataclass(frozen=True)
class Chip:
    """A GPU as numbers. Every row of `fields.FIELDS` is an attribute; the tables of `fields.TABLES` map names to
    numbers, and so does `graphics`, which is empty for a chip that draws nothing.

    `sources` says where each number comes from, by name ("sms", "latency.alu").
    """

    name: str
    values: dict[str, Any]
    lanes: dict[str, float]
    latency: dict[str, int]
    bypass: dict[str, int]
    barrier: dict[str, float]
    chain: dict[str, int]
    tensor: dict[str, int]
    graphics: dict[str, float]
    sources: dict[str, str]

    def __post_init__(self):
        self.__dict__.update(self.values)

    def __getattr__(self, name: str):
        raise AttributeError(f"a chip has no number {name!r}")

    @property
    def is_foreign(self) -> bool:
        """Another maker's part, expressed in the words of this model; `notes` says how."""
        return self.maker != "NVIDIA"

    @property
    def warps_per_partition(self) -> int:
        return self.warp_slots // self.partitions

    def describe(self) -> dict[str, Any]:
        """Plain numbers, as they go into a record stream."""
        tables = {table: getattr(self, table) for table in (*TABLES, *OPTIONAL_TABLES)}
        return {"name": self.name, **self.values, **{name: table for name, table in tables.items() if table}}


def list_chips() -> tuple[str, ...]:
    """Names of the chips that come with gpuprof, in alphabetical order."""
    return FILES.names()


def drawing_chips() -> list[str]:
    """Names of the chips that have the units of a graphics pipeline."""
    return [name for name in list_chips() if load_chip(name).graphics]


def load_chip(name: str | Path) -> Chip:
    """A chip by name, in any case, or from a file whose name ends in .toml. Raises UsageError naming the file and the
    key that is wrong.
    """
    path = FILES.path_of(name)
    return _build(path, FILES.read(path, _check_keys, _joined))


def described(description: Mapping[str, Any], origin: str) -> Chip:
    """The inverse of `Chip.describe`. Raises UsageError, with `origin` in front, for what describes no chip."""
    name = description.get("name")
    if not isinstance(name, str):
        raise UsageError(f"{origin}: the chip has no name")
    if name in list_chips() and load_chip(name).describe() == description:
        return load_chip(name)
    data = {key: value for key, value in description.items() if key != "name"}
    _check_keys(origin, data)
    return replace(_build(Path(origin), data), name=name)


def altered(chip: Chip, changes: Mapping[str, int | float | str], origin: str) -> Chip:
    """The chip with other numbers, by name ("sms", "latency.alu"). Another `clock_mhz` changes `dram_cycles` as well,
    unless it is given. Raises UsageError, with `origin` in front, for a number that is wrong.
    """
    values = dict(chip.values)
    tables = {table: dict(getattr(chip, table)) for table in (*TABLES, *OPTIONAL_TABLES)}
    for name, value in changes.items():
        table, _, entry = name.rpartition(".")
        field = field_of(name)
        if field is None:
            raise UsageError(f"{origin}: unknown key {name!r}{_similar(name)}")
        if table in OPTIONAL_TABLES and not tables[table]:
            raise UsageError(f"{origin}: {name}: {chip.name} has no {table}")
        (tables[table] if table else values)[entry] = checked(origin, name, field, value)
    named = set(changes)
    if "clock_mhz" in changes and "dram_cycles" not in changes:
        values["dram_cycles"] = _dram_cycles_at(values["clock_mhz"], chip.values)
        named.add("dram_cycles")
    changed = replace(chip, values=values, **tables, sources={**chip.sources, **dict.fromkeys(named, origin)})
    _check_together(origin, changed)
    return changed


def field_of(name: str) -> Field | None:
    """The row of a number, by its name in a file: "sms", "latency.alu"."""
    table, _, entry = name.rpartition(".")
    return _fields_of(table).get(entry) if table else BY_NAME.get(name)


def _fields_of(table: str) -> dict[str, Field]:
    """The entries that a table may have; none for what is no table."""
    if table in OPTIONAL_TABLES:
        return {field.name: field for field in OPTIONAL_TABLES[table]}
    if table not in TABLES:
        return {}
    entries, field = TABLES[table]
    return dict.fromkeys(entries, field)


def _dram_cycles_at(clock_mhz: float, numbers: Mapping[str, Any]) -> int:
    return dram_cycles_at(clock_mhz, numbers["dram_cycles"], numbers["l2_far_cycles"], numbers["clock_mhz"])


def _similar(name: str) -> str:
    entries = [f"{table}.{entry}" for table in (*TABLES, *OPTIONAL_TABLES) for entry in _fields_of(table)]
    return similar(name, ["inherits", *BY_NAME, *entries])


def _joined(path: Path, data: dict[str, Any], parent: dict[str, Any]) -> dict[str, Any]:
    """A file's entries over those of the chip that it inherits."""
    merged = {**parent, **data}
    for table in (*TABLES, *OPTIONAL_TABLES):
        merged[table] = {**parent.get(table, {}), **data.get(table, {})}
    if "clock_mhz" in data and "dram_cycles" not in data:
        merged |= _inherited_dram(path, data["clock_mhz"], parent)
    return merged


def _inherited_dram(path: Path, clock: Any, parent: dict[str, Any]) -> dict[str, Any]:
    """`dram_cycles` of a file that inherits it from a chip of another clock; nothing where a number is missing or
    wrong, which `_build` refuses by name.
    """
    needed = ("clock_mhz", "dram_cycles", "l2_far_cycles")
    numbers = {name: _plain(parent.get(name)) for name in needed}
    clock_mhz = _plain(clock)
    if not all(map(_is_positive, (clock_mhz, *numbers.values()))) or clock_mhz == numbers["clock_mhz"]:
        return {}
    entry = parent["dram_cycles"]
    source = entry["source"] if isinstance(entry, dict) else path.name
    at = f"{source}; its time beyond the L2, from {numbers['clock_mhz']:g} to {clock_mhz:g} MHz"
    return {"dram_cycles": {"value": _dram_cycles_at(clock_mhz, numbers), "source": at}}


def _plain(entry: Any) -> Any:
    return entry.get("value") if isinstance(entry, dict) else entry


def _is_positive(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < float("inf")


def _check_keys(path: Path | str, data: dict[str, Any]) -> None:
    for key, value in data.items():
        is_table = key in TABLES or key in OPTIONAL_TABLES
        if key not in BY_NAME and not is_table and key != "inherits":
            raise UsageError(f"{path}: unknown key {key!r}{_similar(key)}")
        if is_table:
            if not isinstance(value, dict):
                raise UsageError(f"{path}: {key}: expected a table, got {value!r}")
            for entry in value:
                if entry not in _fields_of(key):
                    raise UsageError(f"{path}: unknown key '{key}.{entry}'{_similar(f'{key}.{entry}')}")


def _build(path: Path, data: dict[str, Any]) -> Chip:
    sources: dict[str, str] = {}
    values = {field.name: FILES.number(path, field.name, field, data, sources) for field in FIELDS}
    tables = {}
    for table, (names, field) in TABLES.items():
        entries = data.get(table, {})
        tables[table] = {name: FILES.number(path, name, field, entries, sources, f"{table}.") for name in names}
    for table, fields in OPTIONAL_TABLES.items():
        entries = data.get(table)
        tables[table] = {
            field.name: FILES.number(path, field.name, field, entries, sources, f"{table}.")
            for field in fields
            if entries
        }
    chip = Chip(path.stem, values, **tables, sources=sources)
    _check_together(path, chip)
    return chip


def _check_together(path: Path | str, chip: Chip) -> None:
    """Checks the relations between numbers, which no single number shows."""
    if chip.warp_slots % chip.partitions:
        raise UsageError(
            f"{path}: warp_slots is {chip.warp_slots}, which its {chip.partitions} partitions cannot share evenly"
        )
    if chip.warps_per_partition > 32:
        raise UsageError(
            f"{path}: warp_slots gives {chip.warps_per_partition} slots per partition, more than the 32 the model has"
        )
    if chip.l1_shared_pool and chip.shared_nbytes >= chip.l1_nbytes:
        raise UsageError(
            f"{path}: shared_nbytes is {chip.shared_nbytes}, which leaves no L1 of l1_nbytes {chip.l1_nbytes}"
        )
    l1_nbytes = chip.l1_nbytes - chip.shared_nbytes if chip.l1_shared_pool else chip.l1_nbytes
    if l1_nbytes < LINE_NBYTES * chip.l1_ways:
        raise UsageError(
            f"{path}: l1_nbytes leaves {l1_nbytes} bytes of L1, less than one set of l1_ways = {chip.l1_ways} lines"
        )
    if chip.l2_nbytes < LINE_NBYTES * chip.l2_slices:
        raise UsageError(
            f"{path}: l2_nbytes is {chip.l2_nbytes}, less than a line for each of l2_slices = {chip.l2_slices}"
        )
    if chip.registers < chip.register_granularity * chip.partitions:
        raise UsageError(
            f"{path}: registers is {chip.registers}, less than register_granularity for each of {chip.partitions} "
            "partitions"
        )
    if chip.max_shared_nbytes_per_block > chip.shared_nbytes:
        raise UsageError(
            f"{path}: max_shared_nbytes_per_block is {chip.max_shared_nbytes_per_block}, more than the SM's "
            f"{chip.shared_nbytes}"
        )
    for key in (
        "tlb_page_nbytes",
        "l2_tlb_page_nbytes",
        "l2_fetch_nbytes",
        "l2_interleave_nbytes",
        "dram_interleave_nbytes",
    ):
        if chip.values[key] & (chip.values[key] - 1):
            raise UsageError(f"{path}: {key} is {chip.values[key]}, which is not a power of two")
    reach = chip.tlb_entries * chip.tlb_page_nbytes
    if chip.l2_tlb_entries and chip.l2_tlb_entries * chip.l2_tlb_page_nbytes < reach:
        raise UsageError(
            f"{path}: l2_tlb_entries of l2_tlb_page_nbytes cover less than the {reach} bytes of each SM's TLB"
        )
    if not chip.l2_near_cycles <= chip.l2_far_cycles <= chip.dram_cycles:
        raise UsageError(f"{path}: l2_near_cycles, l2_far_cycles and dram_cycles must ascend")
    nearest = BY_NAME["l2_near_cycles"].low
    if chip.l2_near_cycles - chip.l2_spread_cycles < nearest:
        raise UsageError(
            f"{path}: l2_spread_cycles is {chip.l2_spread_cycles}, which leaves less than {nearest:g} of l2_near_cycles"
        )
