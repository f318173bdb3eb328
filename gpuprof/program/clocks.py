"""Programs that ask for times of events, found by the names in their object files."""

import re
from collections.abc import Iterable
from pathlib import Path

# A name ends with a zero byte in a table of symbols, and as a string that cuGetProcAddress or dlsym gets.
EVENTS = re.compile(rb"cu(?:da)?EventElapsedTime(?:_v2)?\0")


def measures_events(files: Iterable[Path]) -> bool:
    """True if code in these files can ask for the time between two events."""
    return any(EVENTS.search(path.read_bytes()) for path in files)
