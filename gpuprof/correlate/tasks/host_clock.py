"""The one clock of host and GPU: see `Recording.host_clock_mhz`."""

import json
import sqlite3

import numpy as np

from gpuprof.records.reader import HOST

LATEST = float(1 << 62)  # a cycle


def clock_in(database: sqlite3.Connection) -> float | None:
    """The chip's clock in MHz where a database has one clock for both; None where it has not."""
    query = "SELECT EXISTS (SELECT 1 FROM device_operations) OR EXISTS (SELECT 1 FROM meta WHERE key = ?)"
    (has_one,) = database.execute(query, (HOST,)).fetchone()
    if not has_one:
        return None
    (chip,) = database.execute("SELECT value FROM meta WHERE key = 'chip_json'").fetchone()
    clock = json.loads(chip).get("clock_mhz")
    return float(clock) if clock else None


def cycles_of(nanoseconds: np.ndarray, clock_mhz: float) -> np.ndarray:
    """GPU cycles of times of the host, int64 (n,), rounded; LATEST for what is beyond."""
    return np.minimum(np.rint(nanoseconds.astype(np.float64) * clock_mhz / 1000), LATEST).astype(np.int64)


def ns_of(cycles: float, clock_mhz: float) -> float:
    """Nanoseconds of a number of cycles."""
    return cycles * 1000 / clock_mhz
