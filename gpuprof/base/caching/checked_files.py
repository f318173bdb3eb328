"""Large files that this user has had checked before: they are not checked again.

A file is known by its place on the disk, its size and the times at which it was last written and moved, in
nanoseconds. A file that was written moments ago is not entered, as it may be written again at the same time by the
system's clock.
"""

import time
from pathlib import Path

from gpuprof.base.caching.entries import digest, store, stored

CHECKED = "checked"  # folder of the cache
LEAST_NBYTES = 16 << 20  # smaller ones are checked in a moment
LEAST_AGE_NS = 2_000_000_000  # coarser clocks of file systems tick in less
ENTRY = b"checked"


def key_of(path: Path, checks: str) -> str:
    """The name by which the file is known, and by which checks; "" where it is checked each time. Raises OSError."""
    found = path.stat()
    if found.st_size < LEAST_NBYTES:
        return ""
    numbers = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
    return digest([checks.encode(), *(str(number).encode() for number in numbers)])


def was_checked(key: str) -> bool:
    return bool(key) and stored(CHECKED, key) == ENTRY


def enter(path: Path, checks: str, key: str) -> None:
    """Enters a file that was sound, whose key was `key` before it was checked, unless it has changed since."""
    newest = max(path.stat().st_mtime_ns, path.stat().st_ctime_ns)
    if key and key_of(path, checks) == key and time.time_ns() - newest >= LEAST_AGE_NS:
        store(CHECKED, key, ENTRY)
