"""Reports of Nsight Compute made by hand: field numbers stand here a second time, beside the importer's."""

import struct
from pathlib import Path

Fields = list[tuple[int, object]]
STALLED = "smsp__pcsamp_warps_issue_stalled_"
BASE, HELPER = 0x7F00_0000_1000, 0x7F00_0000_0400  # where functions were loaded
SOURCE = "__global__ void copy(float *x)\n{\n    x[threadIdx.x] = helper(x);\n}\n"


def varint(number: int) -> bytes:
    return bytes([number]) if number < 128 else bytes([number % 128 + 128]) + varint(number // 128)


def message(fields: Fields) -> bytes:
    """Integers as varints, floats as doubles, texts, bytes and messages with their lengths."""
    data = b""
    for number, value in fields:
        if isinstance(value, int):
            data += varint(number * 8) + varint(value)
        elif isinstance(value, float):
            data += varint(number * 8 + 1) + struct.pack("<d", value)
        else:
            content = (
                value.encode() if isinstance(value, str) else value if isinstance(value, bytes) else message(value)
            )
            data += varint(number * 8 + 2) + varint(len(content)) + content
    return data


def sized(data: bytes) -> bytes:
    return struct.pack("<I", len(data)) + data


def value(number: int | float | str) -> Fields:
    return [({str: 1, float: 3, int: 5}[type(number)], number)]


class Strings:
    """Names of metrics, numbered as they come."""

    def __init__(self):
        self.names: list[str] = []

    def number(self, name: str) -> int:
        if name not in self.names:
            self.names.append(name)
        return self.names.index(name)


def metric(strings: Strings, name: str, whole=None, instances: dict[int, int] | None = None) -> Fields:
    fields: Fields = [(1, strings.number(name))]
    if whole is not None:
        fields.append((2, value(whole)))
    return fields + [(3, [(1, value(key)), (2, value(n))]) for key, n in (instances or {}).items()]


# Of a launch: 5 warps of a block; three instructions of the kernel and one of the helper.
SINGLE = {
    "sm__cycles_elapsed.max": 1000.25,
    "sm__cycles_active.avg": 500.0,
    "sm__warps_active.avg.per_cycle_active": 2.5,
    "smsp__cycles_elapsed.avg.per_second": 1.25e9,
    "smsp__pcsamp_interval": 5.0,
    "smsp__inst_issued.sum": 20.0,
    "launch__registers_per_thread": 24.0,
    "launch__shared_mem_per_block_static": 512.0,
    "launch__shared_mem_per_block_dynamic": 64.0,
    "launch__stream_id": 7.0,
    "launch__occupancy_limit_warps": 16.0,
    "launch__occupancy_limit_registers": 10.0,
    "lts__t_sectors.sum": 40.0,
    "lts__t_sectors_lookup_hit.sum": 30.0,
    "dram__bytes_read.sum": 320.0,
    "device__attribute_display_name": "Card X",
    "device__attribute_multiprocessor_count": 4,
    "device__attribute_num_schedulers_per_multiprocessor": 4,
    "device__attribute_max_warps_per_multiprocessor": 48,
}
INSTANCES = {
    "inst_executed": {BASE: 5, BASE + 16: 5, BASE + 48: 5, HELPER: 5},
    "thread_inst_executed": {BASE: 160, BASE + 16: 160, BASE + 48: 160, HELPER: 160},
    "memory_l2_theoretical_sectors_global": {BASE + 16: 40},
    "memory_l2_theoretical_sectors_global_ideal": {BASE + 16: 20},
    f"{STALLED}long_scoreboard": {BASE + 16: 6, BASE + 48: 0},
    f"{STALLED}long_scoreboard_not_issued": {BASE + 16: 4},
    f"{STALLED}drain": {BASE + 48: 2},
    f"{STALLED}selected": {BASE: 1, HELPER: 3},
    "sass__inst_executed_per_opcode": {},
}


def result(strings: Strings, single: dict, instances: dict, **changes) -> Fields:
    found = {"symbol": "_Z4copyPf", "name": "copy", "grid": (2, 1, 1), "block": (160, 1, 1)} | changes
    extents = [(10, found["grid"]), (11, found["block"])]
    return [
        (5, found["symbol"]),
        (6, found["name"]),
        *((number, [(axis, n) for axis, n in enumerate(extent, 1)]) for number, extent in extents),
        *((13, metric(strings, name, whole)) for name, whole in single.items()),
        *((13, metric(strings, name, None, each)) for name, each in instances.items()),
        (15, [(1, 77)]),
    ]


def block(strings: list[str], sources: list[Fields], results: list[Fields], extra: Fields | None = None) -> bytes:
    payload = b"".join(sized(message(each)) for each in (*sources, *results))
    head: Fields = [(1, len(sources)), (2, len(results)), (5, len(payload))]
    head += [(4, [(1, text) for text in strings])] if strings else []
    head += [(3, extra)] if extra else []
    return sized(message(head)) + payload


def report(
    *,
    version: int = 7,
    single: dict | None = None,
    instances: dict | None = None,
    cubin: bytes = b"",
    addresses: bool = True,
    launches: int = 1,
    **changes,
) -> bytes:
    """The bytes of a report; the keywords bend one thing each."""
    strings = Strings()
    source: Fields = [
        (1, 77),
        (6, 8 << 16),
        (8, [(1, [(1, "copy.cu"), (2, SOURCE)])]),
        *([(4, cubin)] if cubin else []),
        *([(9, [(1, [(1, "_Z4copyPf"), (2, BASE), (3, 9)]), (1, [(1, "helper"), (2, HELPER)])])] if addresses else []),
    ]
    whole = SINGLE if single is None else single
    by_address = INSTANCES if instances is None else instances
    results = [result(strings, whole, by_address, **changes) for _ in range(launches)]
    half = len(strings.names) // 2  # their numbers go on through the blocks
    return b"".join(
        (
            b"NVR\0",
            sized(message([(1, version)])),
            block(strings.names[:half], [], [], [(8, [(1, "Nsight Compute Target"), (2, "2023.1.1.0 (build 1)")])]),
            block(strings.names[half:], [source], results),
        )
    )


def write_report(path: Path, **changes) -> Path:
    path.write_bytes(report(**changes))
    return path
