"""A small database for the report's tests: a transpose with an inlined helper from a header, built by hand from the
schema.

Forty instructions in fifteen source lines; two launches; numbers chosen so that line 14 is the target (uncoalesced
stores).
"""

import json
import sqlite3
from pathlib import Path

from gpuprof.correlate.correlate import add_advice
from gpuprof.correlate.schema import APPLICATION_ID, DDL, VERSION
from gpuprof.isa.stalls import INDEX, REASONS

BASE = 0x1000
KERNEL = "transpose_naive"
FIDELITY = (  # as recordings hold it
    "within 5 % of what is published: 7 of 18 figures that follow from the model, 74 of 77 that it was given; worst "
    "-17 % (blocks of 128 threads, triad); kernel cycles not compared with hardware"
)

CU = """\
// Transposes an n x n matrix: reads along rows, writes down columns.
#include "index.cuh"

// LAUNCH: transpose_naive<<<(4, 4), (32, 8)>>>(128, f32[16384]=random, f32[16384])
__global__ void transpose_naive(int n, const float* in, float* out) {
    int x = blockIdx.x * 32 + threadIdx.x;
    int y = blockIdx.y * 32 + threadIdx.y;

    for (int i = 0; i < 32; i += 8) {
        if (x >= n || y + i >= n) {
            return;
        }
        float value = in[at(y + i, x, n)];
        out[at(x, y + i, n)] = value;
    }
}
"""

CUH = """\
#pragma once
// Row-major index.
__device__ inline int at(int row, int column, int n) {
    return row * n + column;
}
"""

PTX = "\n".join(
    [".version 8.0", ".target sm_80", f".visible .entry {KERNEL}(", ")", "{"]
    + [f"\t.loc\t1 {n} 0" if n % 5 == 0 else f"\tadd.s32 \t%r{n}, %r1, {n};" for n in range(6, 60)]
    + ["}"]
)

# source line, inlined (line of index.cuh, or 0), text, space, operation
CODE = (
    [(6, 0, "S2R R0, tid.x", "", ""), (6, 0, "S2R R1, ctaid.x", "", ""), (6, 0, "IMAD R2, R1, 32, R0", "", "")]
    + [(7, 0, "S2R R3, tid.y", "", ""), (7, 0, "S2R R4, ctaid.y", "", ""), (7, 0, "IMAD R5, R4, 32, R3", "", "")]
    + [
        (9, 0, "MOV R6, 0", "", ""),
        (10, 0, "ISETP.ge P0, R2, c[0x0]", "", ""),
        (10, 0, "ISETP.ge P1, R5, c[0x0]", "", ""),
        (10, 0, "@P0 BRA 0x1270", "", ""),
    ]
    + [(13, 4, f"IMAD R{n}, R5, R9, R2", "", "") for n in range(10, 14)]
    + [(13, 0, "IMAD.WIDE D4, R10, 4, c[0x8]", "", ""), (13, 0, "LDG.32 R14, [D4]", "global", "load")]
    + [(14, 4, f"IMAD R{n}, R2, R9, R5", "", "") for n in range(20, 24)]
    + [(14, 0, "IMAD.WIDE D6, R20, 4, c[0x10]", "", ""), (14, 0, "STG.32 [D6], R14", "global", "store")]
    + [(9, 0, f"IADD R{n}, R6, 8", "", "") for n in range(30, 46)]
    + [(9, 0, "BRA 0x1070", "", ""), (0, 0, "EXIT", "", "")]
)
assert len(CODE) == 40

# instruction: {reason: warp-cycles}; what is not here issues once per warp (SELECTED) and waits a little (WAIT).
SPECIAL = {
    15: {"selected": 512, "long_scoreboard": 3000, "wait": 88},
    20: {"selected": 512, "long_scoreboard": 18000, "wait": 488},
    21: {"selected": 512, "lg_throttle": 30000, "long_scoreboard": 9000, "drain": 488},
    39: {"selected": 128, "drain": 4000},
}
WARPS = 512
ARITHMETIC = {"IADD": ("int", 1), "IMAD": ("int", 2), "IMAD.WIDE": ("int", 2)}  # operations of a thread


def cycles_of(index: int) -> dict[str, int]:
    return SPECIAL.get(index, {"selected": WARPS, "wait": 200})


def samples_of(index: int) -> dict[str, int]:
    """One sample for 100 warp-cycles."""
    return {reason: cycles // 100 for reason, cycles in cycles_of(index).items() if cycles >= 100}


def counters_of(index: int) -> tuple[int, ...]:
    _, _, _, space, operation = CODE[index]
    sectors, ideal = {"load": (2048, 2048), "store": (16384, 2048), "": (0, 0)}[operation]
    lanes = 20 if index == 9 else 32
    return (WARPS, WARPS * lanes, WARPS * lanes, 3 if index == 9 else 0, 512 if space else 0, sectors, ideal, 0, 0, 0)


METRICS = {
    "resident_warp_cycles": 0,  # filled in: the sum of the ledger
    "sm_active_cycles": 8000,
    "issue_slots": WARPS * 39 + 128,
    "blocks_per_sm": 8,
    "occupancy_limiter": "warps",
    "l1_sectors": 18432,
    "l1_hits": 1024,
    "l2_sectors": 17408,
    "l2_hits": 8704,
    "dram_read_nbytes": 65536,
    "dram_write_nbytes": 65536,
}


def make_database(
    path: Path,
    *,
    kernel: str = KERNEL,
    period_cycles: int = 512,
    complete: bool = True,
    dropped: int = 0,
    launches: int = 2,
    with_samples: bool = True,
    with_ledger: bool = True,
    source: str | None = CU,
    chip_words: dict | None = None,
) -> Path:
    """Write the database; the keywords bend one thing each."""
    db = sqlite3.connect(path)
    db.executescript(DDL)
    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    db.execute(f"PRAGMA user_version = {VERSION}")
    meta = {
        "tool_version": "0.1.0",
        "model_version": "1",
        "fidelity": FIDELITY,
        "chip": "a100",
        "mode": "random",
        "seed": "0",
        "command": "gpuprof collect transpose.cu",
    }
    meta |= {"period_cycles": str(period_cycles), "complete": "1" if complete else "0"}
    chip = {"name": "a100", "clock_mhz": 1410.0, "sms": 108, "partitions": 4, "warp_slots": 64, "warp_lanes": 32} | (
        chip_words or {}
    )
    meta |= {"chip_json": json.dumps(chip), "damage": "", "marks": "" if complete else "interrupted by the user"}
    db.executemany("INSERT INTO meta VALUES (?, ?)", meta.items())
    db.executemany("INSERT INTO stall_reasons VALUES (?, ?, ?)", [(n, r.name, r.text) for n, r in enumerate(REASONS)])
    db.execute(
        "INSERT INTO modules VALUES (0, 'transpose.cu', ?, ?, 'clang 22', 'sm_80', ?)", (BASE, 16 * len(CODE), PTX)
    )
    db.executemany(
        "INSERT INTO sources VALUES (?, ?, ?)", [(0, "samples/transpose.cu", source), (1, "samples/index.cuh", CUH)]
    )
    db.execute(
        "INSERT INTO functions VALUES (0, 0, '_Z15transpose_naiveiPKfPf', ?, 1, ?, ?, 24, 0, 0, 0)",
        (kernel, BASE, len(CODE)),
    )
    for index, (line, inlined, text, space, operation) in enumerate(CODE):
        opcode = text.split()[1 if text.startswith("@") else 0]
        place = (1, inlined) if inlined else (0 if line else None, line)
        db.execute(
            "INSERT INTO instructions VALUES (?, 0, 0, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?)",
            (
                BASE + 16 * index,
                text,
                opcode,
                *place,
                6 + index + index // 4 if line else 0,
                space,
                operation,
                4 if space else 0,
                *ARITHMETIC.get(opcode, ("", 0)),
            ),
        )
        if inlined:
            db.execute("INSERT INTO inline_frames VALUES (?, 1, 'at', 0, ?)", (BASE + 16 * index, line))
    samples = sum(sum(samples_of(i).values()) for i in range(len(CODE))) if with_samples else 0
    for launch in range(launches):
        start = 1000 + 6000 * launch
        row = (
            launch,
            kernel,
            "4,4,1",
            "32,8,1",
            start,
            start + 5000,
            5000,
            samples + dropped,
            samples,
            dropped,
            int(dropped > 0),
            int(complete),
        )
        db.execute("INSERT INTO launches VALUES (?, 0, ?, ?, ?, 0, 0, '', ?, ?, ?, ?, ?, ?, ?, ?)", row)
        if with_samples:
            db.execute("INSERT INTO sample_sizes VALUES (?, ?)", (launch, samples))
        metrics = METRICS | {"resident_warp_cycles": sum(sum(cycles_of(i).values()) for i in range(len(CODE)))}
        db.executemany("INSERT INTO launch_metrics VALUES (?, ?, ?)", [(launch, *item) for item in metrics.items()])
        for index in range(len(CODE)):
            pc = BASE + 16 * index
            if with_ledger:
                db.executemany(
                    "INSERT INTO ledger VALUES (?, ?, ?, ?)",
                    [(launch, pc, INDEX[r], n) for r, n in cycles_of(index).items()],
                )
                db.execute(f"INSERT INTO counters VALUES ({','.join('?' * 12)})", (launch, pc, *counters_of(index)))
            if with_samples:
                db.executemany(
                    "INSERT INTO samples VALUES (?, ?, ?, ?, ?, ?)",
                    [
                        (launch, pc, INDEX[r], n, 0 if r == "selected" else n // 2, 16 * n)
                        for r, n in samples_of(index).items()
                    ],
                )
    add_advice(db, 0)
    db.commit()
    db.close()
    return path
