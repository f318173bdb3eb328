"""Damages recordings and gives them to every command that reads one. `python -m tests.fuzz.gprec_fuzz SECONDS [SEED]`
runs as long as it is told.

Half of the damage is to bytes, which the checksums find. The other half is to what a chunk says, with the length and
the checksum made right again, as someone who means harm would.
"""

import copy
import json
import random
import resource
import struct
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from gpuprof.assemble.object.elf import write_gpubin
from gpuprof.base.compared_results import Result
from gpuprof.cli.main import COMMANDS
from gpuprof.device import commands as cmd
from gpuprof.errors import GpuprofError
from gpuprof.records.command_stream.codec import (
    VERSION as STREAM_VERSION,
    End,
    Failed,
    Header,
    SavedCopyIn,
    SavedHostWrite,
    SavedLaunch,
    SavedLoad,
    line_of,
)
from gpuprof.records.command_stream.pieces import pack, unpack
from gpuprof.records.command_stream.read import read_stream
from gpuprof.records.encoding import file_header, frame
from gpuprof.records.merge import merge
from gpuprof.records.schema import BY_TYPE
from gpuprof.records.writer import RecordWriter
from gpuprof.report.pages import PAGES
from gpuprof.tables.draws import DRAW_COUNT_NAMES
from gpuprof.timing.sampling.configuration import Sampling
from tests.support.recordings import META, SAMPLES, gpuprof, launch_fields, saxpy_program, timing, write_saxpy

COMMANDS_SAVED = (
    Header(STREAM_VERSION, Sampling(64), "wide"),
    SavedLoad(0x1000),
    cmd.Allocate(64, "x, f32[16]"),
    SavedCopyIn(0x7_0000_0000, 64, (1,)),
    cmd.TaskBegin("step"),
    SavedLaunch(0, "_Z5saxpyifPfS_", (2, 1, 1), (64, 1, 1)),
    Failed(),
    cmd.TaskEnd("step"),
    cmd.Wait(0),
    SavedHostWrite(0x7_0000_0000, 64, (1,)),
    cmd.HostTime(5_000),
    cmd.HostCall("graph_instantiate", 3),
    cmd.Together("graph", 3),
    cmd.Together("copy", 2),
    cmd.CopyWithin(0x7_0000_0000, 0x7_0000_0020, 16, 1, "in"),
    cmd.TogetherEnd(),
    cmd.HostFunction(1),
    cmd.TogetherEnd(),
    End(),
)
Chunks = list[tuple[bytes, bytes]]
LAUNCH_NUMBERS = {
    "resident_warp_cycles": 664, "sm_active_cycles": 400, "issue_slots": 8, "blocks_per_sm": 2, "l1_sectors": 8,
    "l1_hits": 4,
    "l2_sectors": 4, "l2_hits": 2, "tensor_busy_cycles": 1,
}  # fmt: skip
LONGEST_S = 20  # a command that takes longer on a file of a few kilobytes hangs


# Files to damage.


TRACE = {
    "launch": 1,
    "generator": "g",
    "table": "t",
    "text": "what it holds",
    "columns": [
        {"name": name, "type": type_, "unit": "", "text": ""}
        for name, type_ in (("pc", "integer"), ("share", "real"), ("what", "text"))
    ],
}
FINDING = {
    **{"launch": 1, "generator": "g", "kind": "k", "severity": "note", "text": "look", "allocation": "x"},
    **{"pc": 0x1010, "other_pc": 0x1000, "block": 0, "warp": 1, "thread": 32, "address": 4096, "count": 2},
}


NONE = 0xFFFFFFFF
# A part of a script with a copy to the device and two launches that do the same; number, parent, kind, flags, name,
# row, launch, reserved, begin, end, cycle, work.
TASKS = [
    (1, 0, 2, 0, 1, 3, NONE, 0, 2, 2, 0, 0),
    (2, 0, 1, 0, 2, 3, 0, 0, 3, 3, 0, 9),
    (3, 0, 1, 0, 2, 3, 1, 0, 4, 4, 0, 9),
    (0, NONE, 0, 0, 0, 4, NONE, 0, 1, 5, 0, 0),
]


DRAW = {
    **{"draw": 0, "task": 0, "pass": 0, "buffer": 0, "name": "saxpy and saxpy", "state_changes": 1, "drains": False},
    **{"width": 16, "height": 8, "samples": 4},
    **{"start_cycle": 100, "end_cycle": 160, "counts": dict.fromkeys(DRAW_COUNT_NAMES, 3), "work": {"n_indices": 6}},
    "units": [["command", 4.5, 0, 100, 105], ["fetch", 5, 0.5, 105, 112]],
    "traffic": [["fetch", 96, 0, 64, 32]],
}


def write_tasks(writer: RecordWriter) -> None:
    for number, text in enumerate(("part", "copy to device x", "saxpy", "default stream", "host")):
        writer.task_name(number, text)
    place = {"address": 0x700000000, "nbytes": 64}
    writer.parameter({"parameter": 0, "name": "x", "kind": 0, "value": "", "begin": 0} | place)
    writer.parameter({"parameter": 1, "name": "n", "kind": 1, "value": "3", "begin": 0, "task": 0})
    tables = {
        b"TASK": TASKS,
        b"RELA": [(1, 3, 2, 0), (5, 0, NONE, 0)],
        b"ACCS": [(1, 0, 1, 0, 0, 64), (2, 0, 1, 0, 0, 32), (3, 0, 3, 0, 0, 32)],
        b"CNST": [(2, 1, 2), (2, 2, 3)],
        b"WAVE": [(0, 0, 110, 120), (0, 0, 115, 130), (0, 4, 130, 140)],
        b"CALL": [(1, 0, 7, 0, 0, 0, 10, 30, 5, 64), (3, NONE, 0, 1, 2, 0, 30, 31, 0, 0)],
        b"OPER": [(1, 0, 3, 0, 20, 40, 64)],
    }
    for type_, rows in tables.items():
        writer.table(BY_TYPE[type_].table, np.array(rows, BY_TYPE[type_].dtype))


def write_everything(path: Path) -> Path:
    """A recording that has every type of chunk, of two launches; the rows of one launch beside what `write_saxpy` has
    are zeros and ones.
    """
    with RecordWriter(path) as writer:
        writer.meta(META)
        writer.chip(
            {
                "name": "a100",
                "sms": 108,
                "clock_mhz": 1410,
                "maker": "AMD",
                "partitions": 4,
                "dispatch_units": 1,
                "warp_slots": 64,
                "notes": "n",
            }
        )
        image = write_gpubin(saxpy_program())
        writer.module(
            0, name="saxpy.cu", load_base=0x1000, code_nbytes=48, image=image, compiler="clang 22", arch="sm_80"
        )
        writer.source("saxpy.cu", "// nothing\n")
        for launch in range(2):
            own = {"sampling": {"period_cycles": 64, "mode": "all"}, "parent": 0, "traces": "g"} if launch else {}
            own |= {"draw": 0, "stage": "pixel" if launch else "vertex", "cache": "warm", "repeat": 3}
            writer.launch_begin(launch_fields(launch) | own)
            samples = SAMPLES.copy()
            samples["launch"] = launch
            writer.samples(launch, samples)
            exact = (b"LEDG", b"CNTR", b"SMCN", b"STLN", b"STLH", b"CAUS", b"SMDR", b"BANK", b"ACTV", b"ACTR", b"ACSM")
            for type_ in (*exact, b"REPT", b"ATOM", b"ACCC", b"REUS", b"BLKC", b"WRPC", b"PRIM"):
                rows = np.ones(1, BY_TYPE[type_].dtype)
                for name in {"launch", "sm", "reserved", "bin"} & set(rows.dtype.names):
                    rows[name] = launch if name == "launch" else 0
                for name in {"pc", "cause_pc"} & set(rows.dtype.names):
                    rows[name] = 0x1010
                if type_ == b"ACTV":
                    rows["cycle"] = 100  # where the launch starts
                writer.rows(BY_TYPE[type_].table, launch, rows)
            writer.launch_end(launch, timing(samples_dropped=launch, **LAUNCH_NUMBERS))
        writer.trace_table(TRACE, [[0x1010, 0.5, "a"], [0, 2, ""]])
        writer.finding(FINDING)
        write_tasks(writer)
        writer.draw(DRAW)
        writer.mark("a note", launch=1, cycle=7)
        writer.stream(1, pack(bytes(64)))
        writer.stream(0, pack(b"".join(line_of(command) for command in COMMANDS_SAVED)))
        writer.result(Result(1, "y", "zeros", 64, 0, "1e-05", "0"))
    return path


def chunks_of(data: bytes) -> Chunks:
    chunks, at = [], 16
    while at < len(data):
        type_, nbytes = struct.unpack_from("<4sI", data, at)
        chunks.append((type_, data[at + 12 : at + 12 + nbytes]))
        at += 12 + nbytes
    return chunks


def sealed(chunks: Chunks) -> bytes:
    """A file of these chunks, lengths and checksums right."""
    return file_header() + b"".join(frame(type_, payload) for type_, payload in chunks)


# Damage to bytes.


def flip(data: bytes, rng: random.Random) -> bytes:
    damaged = bytearray(data)
    for _ in range(rng.choice((1, 1, 3))):
        damaged[rng.randrange(len(damaged))] ^= 1 << rng.randrange(8)
    return bytes(damaged)


def cut(data: bytes, rng: random.Random) -> bytes:
    return data[: rng.randrange(len(data))]


def absurd_word(data: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(data) - 4)
    return data[:at] + rng.choice((b"\xff" * 4, b"\0\0\0\x01", b"\xff\xff\xff\0", b"\0" * 4)) + data[at + 4 :]


def spliced(data: bytes, rng: random.Random) -> bytes:
    a, b = rng.randrange(len(data)), rng.randrange(len(data))
    return data[:a] + data[b : b + rng.randrange(200)] + data[a + rng.randrange(3) :]


# Damage to what chunks say.

NUMBERS = (
    0,
    1,
    -1,
    2,
    3,
    16,
    63,
    2**31,
    2**32 - 1,
    2**32,
    2**53 + 1,
    2**62,
    2**63 - 1,
    2**63,
    2**64,
    10**400,
    0.5,
    -0.0,
    1e308,
    1e-300,
)
VALUES = (
    *NUMBERS, True, False, None, "", "0", "1e5", "x" * 300, "\0", "\x1b[2J", "%s{}\n\u2028", "../../etc", [], {},
        [0, 0, 0], [2**63 - 1] * 3,
    [1, 1, 2**31], [[[1]]], {"a": {"b": []}}, {"period_cycles": "many"}, {"period_cycles": 0},
    {"period_cycles": 2**63 - 1, "mode": "odd"},
)  # fmt: skip


def any_value(rng: random.Random, old):
    """Another value, most often one that may stand there as well."""
    if type(old) is int and rng.random() < 0.7:
        return rng.choice((*NUMBERS[:13], old + 1, old - 1, old * 1000))
    if isinstance(old, str) and rng.random() < 0.5:
        return rng.choice((old + "x", old[:-1], "", "\x1b[31m" + old, old * 50, "a\nb"))
    return copy.deepcopy(rng.choice(VALUES))


def places(value, path=()) -> Iterator[tuple]:
    """Paths to everything inside a JSON value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield (*path, key)
        yield from places(item, (*path, key))


def damage_json(payload: bytes, rng: random.Random) -> bytes:
    value = json.loads(payload)
    for _ in range(rng.choice((1, 1, 2))):
        *path, key = rng.choice(list(places(value)) or [("new",)])
        inside = value
        for step in path:
            inside = inside[step]
        what = rng.randrange(8)
        if what == 0:
            del inside[key]
        elif what == 1 and isinstance(inside, dict):
            inside[
                rng.choice(("complete", "parent", "sampling", "fidelity", "notes", "maker", "new", "launch", "cycle"))
            ] = any_value(rng, 0)
        else:
            inside[key] = (
                any_value(rng, inside[key]) if key in inside or isinstance(inside, list) else any_value(rng, 0)
            )
    return json.dumps(value).encode()


WORDS = (
    0,
    1,
    2,
    18,
    19,
    31,
    62,
    63,
    64,
    0xFFFF,
    0x1000,
    0x1010,
    1 << 20,
    1 << 22,
    1 << 31,
    2**32 - 1,
    2**63 - 1,
    2**63,
    2**64 - 1,
)


def damage_rows(type_: bytes, payload: bytes, rng: random.Random) -> bytes:
    if BY_TYPE[type_].kind == "table":  # its header has no launch
        return damage_rows_of(type_, bytes(4) + payload, rng)[4:]
    return damage_rows_of(type_, payload, rng)


def damage_rows_of(type_: bytes, payload: bytes, rng: random.Random) -> bytes:
    launch, n = struct.unpack_from("<II", payload)
    rows = np.frombuffer(payload, BY_TYPE[type_].dtype, n, 8).copy()
    what = rng.randrange(8)
    if what == 0:
        rows = np.concatenate([rows, rows[::-1]])  # each twice, the last in descending order
    elif what == 1:
        launch = rng.choice((0, 1, 2, 2**32 - 1))
        if "launch" in rows.dtype.names:
            rows["launch"] = launch
    elif what == 2:
        n += rng.choice((1, -1, 2**32 - 1 - n))
        return struct.pack("<II", launch, n & 0xFFFFFFFF) + rows.tobytes()
    elif what == 3:
        rows = np.resize(rows, 3000)
    elif len(rows):
        for _ in range(rng.choice((1, 1, 4))):
            name = rng.choice([name for name in rows.dtype.names if name != "launch"])
            nbytes = rows.dtype[name].itemsize
            most = 2 ** (8 * nbytes) - 1
            number = rng.choice(WORDS) & most if rng.random() < 0.8 else rng.randrange(most + 1)
            # its bytes: the column may be signed
            rows[name][rng.randrange(len(rows))] = np.frombuffer(number.to_bytes(nbytes, "little"), rows.dtype[name])[0]
    return struct.pack("<II", launch, len(rows)) + rows.tobytes()


def damage_bytes(payload: bytes, rng: random.Random) -> bytes:
    return rng.choice((flip, cut, spliced, absurd_word))(payload, rng) if len(payload) > 4 else b""


def damage_stream(payload: bytes, rng: random.Random) -> bytes:
    """A line of it, or all of them, with the compression made right again."""
    try:
        lines = unpack(payload[4:]).splitlines(keepends=True)
        at = rng.randrange(len(lines))
        lines[at] = (
            damage_json(lines[at], rng) + b"\n"
            if rng.random() < 0.8
            else rng.choice((b"", lines[0], lines[-1], b"[" * 99_999))
        )
        return payload[:4] + pack(b"".join(lines))
    except ValueError:
        return payload[:4] + rng.choice((pack(bytes(1 << 21)), pack(b""), damage_bytes(payload[4:], rng)))


def damage_payload(type_: bytes, payload: bytes, rng: random.Random) -> bytes:
    kind = BY_TYPE[type_].kind
    if rng.random() < 0.05:
        return damage_bytes(payload, rng)
    if kind == "json":
        return damage_json(payload, rng)
    if type_ == b"STRM" and rng.random() < 0.9:
        return damage_stream(payload, rng)
    return damage_rows(type_, payload, rng) if kind in ("array", "table") else damage_bytes(payload, rng)


def damage_chunks(chunks: Chunks, rng: random.Random) -> Chunks:
    """One or two chunks say something else, stand twice, elsewhere, or not at all. ENDF is left out at times, or
    nothing else would be read.
    """
    chunks = list(chunks)
    if rng.random() < 0.5:
        chunks = [chunk for chunk in chunks if chunk[0] != b"ENDF"]
    for _ in range(rng.choice((1, 1, 2, 3))):
        at = rng.randrange(len(chunks))
        type_, payload = chunks[at]
        what = rng.randrange(12)
        if what == 0:
            chunks.insert(rng.randrange(len(chunks) + 1), chunks[at])
        elif what == 1 and len(chunks) > 1:
            del chunks[at]
        elif what == 2:
            chunks[at], chunks[other] = chunks[other := rng.randrange(len(chunks))], chunks[at]
        elif what == 3:
            chunks[at] = rng.choice(list(BY_TYPE)), payload
        else:
            try:
                chunks[at] = type_, damage_payload(type_, payload, rng)
            except (ValueError, RecursionError, struct.error):  # damaged before, so that it cannot be taken apart
                chunks[at] = type_, damage_bytes(payload, rng)
    return chunks


def rounds(seed: int, folder: Path) -> Iterator[tuple[int, bytes]]:
    """Damaged files, endlessly."""
    models = [
        write_everything(folder / "everything").read_bytes(),
        write_saxpy(folder / "saxpy", record="compact").read_bytes(),
    ]
    number = 0
    while True:
        rng = random.Random(f"{seed}:{number}")
        data = models[number % 8 == 7]
        if number % 4 == 3:
            data = rng.choice((flip, cut, absurd_word, spliced))(data, rng)
        else:
            data = sealed(damage_chunks(chunks_of(data), rng))
        yield number, data
        number += 1


# What becomes of them.

READERS = [
    ("records", "a.gprec"),
    ("records", "a.gprec", "--format", "json"),
    ("records", "a.gprec", "--format", "csv"),
    ("records", "a.gprec", "--launch", "1", "--limit", "2"),
    ("export", "a.gprec", "-o", "a.folded"),
    ("quality", "a.gprec", "--launch", "0"),
    ("quality", "a.gprec", "--launch", "1", "--format", "json"),
    ("merge", "a.gprec", "a.gprec", "-o", "merged.gprec"),
    ("merge", "a.gprec", "everything", "-o", "merged.gprec"),
    ("check", "a.gprec", "--baseline", "baseline.txt", "--update"),
    ("report", "a.gprec"),
    *(("report", "a.gprec", "--page", page) for page in PAGES),
    *(("report", "a.gprec", "--format", form, "--page", page) for form in ("csv", "json") for page in PAGES),
    ("report", "a.gprec", "--launch", "1", "--width", "40"),
    ("replay", "a.gprec", "-o", "replayed.gprec"),
]
READERS = [command for command in READERS if command[0] in COMMANDS]


def take_stream(folder: Path) -> None:
    """What replay reads before it runs anything."""
    stream = read_stream(folder / "a.gprec")
    for command, _ in stream.commands():
        if isinstance(command, SavedCopyIn | SavedHostWrite):
            stream.content(command.blocks, command.nbytes)


def merge_both(folder: Path) -> None:
    merge([folder / "a.gprec", folder / "everything"], folder / "merged.gprec")
    merge([folder / "everything", folder / "a.gprec"], folder / "merged.gprec")


FUNCTIONS = (take_stream, merge_both)
CODES = {0: "read", 1: "refused", 2: "refused", 3: "refused", 4: "refused"}


def run(folder: Path, command: tuple[str, ...]) -> tuple[int, str]:
    """Exit code and error output. Anything but an exit raises, and so does one that takes too long or does not say
    why.
    """
    began = time.perf_counter()
    code, _, error = gpuprof(folder, *command)
    seconds = time.perf_counter() - began
    assert seconds < LONGEST_S, f"{command[0]} took {seconds:.0f} s"
    assert code in CODES, f"{command[0]} exits with {code}"
    assert code == 0 or (error.startswith("gpuprof: ") and "Traceback" not in error), (
        f"{command[0]} says {error[:80]!r}"
    )
    return code, error


def judge(folder: Path, data: bytes, rng: random.Random, most: int = len(READERS)) -> str:
    """How correlate takes the file: "read" or "refused". Up to `most` other commands that read recordings have a look
    as well.
    """
    (folder / "a.gprec").write_bytes(data)
    code, error = run(folder, ("correlate", "a.gprec"))
    if code == 1 and "holds the launches before the damage" in error:
        code = 0
    for function in FUNCTIONS:
        try:
            function(folder)
        except GpuprofError as refused:
            assert str(refused), function
    for command in rng.sample(READERS, min(most, len(READERS))):
        run(folder, command)
    return CODES[code]


# The long run.


def kind_of(error: BaseException) -> str:
    """Findings with the same text have one cause."""
    if isinstance(error, AssertionError):
        return str(error)[:90]
    ours = [frame for frame in traceback.extract_tb(error.__traceback__) if "/gpuprof/" in frame.filename]
    where = f"{Path(ours[-1].filename).name}:{ours[-1].lineno} {ours[-1].name}" if ours else "?"
    return f"{type(error).__name__} {where}"


def keep_findings(folder: Path, seconds: float, seed: int, report: Callable[[str], None]) -> None:
    """Each new kind of finding once, with its file in build/fuzz."""
    kept = Path("build/fuzz").absolute()
    kept.mkdir(parents=True, exist_ok=True)
    seen: set[str] = set()
    counts = {"read": 0, "refused": 0, "FOUND": 0}
    end = time.monotonic() + seconds
    for number, data in rounds(seed, folder):
        if time.monotonic() > end:
            break
        try:
            outcome = judge(folder, data, random.Random(number), 6)
        except Exception as error:
            outcome = "FOUND"
            kind = kind_of(error)
            if kind not in seen:
                seen.add(kind)
                path = kept / f"{seed}-{number}.gprec"
                path.write_bytes(data)
                report(f"{path}: {kind}: {str(error)[:160]}")
        counts[outcome] += 1
    report(f"{number} files: {counts}; {len(seen)} kinds of findings")


def main(seconds: float, seed: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))  # what wants more gets MemoryError, which is a finding
    with tempfile.TemporaryDirectory() as folder:
        keep_findings(Path(folder), seconds, seed, lambda line: print(line, flush=True))


if __name__ == "__main__":
    main(float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0)
