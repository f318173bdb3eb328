"""Programs that ask for times of events, found by the names in their object files."""

import re
from collections.abc import Iterable
from pathlib import Path

from gpuprof.program.line_table import sections

# A name ends with a zero byte in a table of symbols, and as a string that cuGetProcAddress or dlsym gets.
EVENTS = re.compile(rb"cu(?:da)?EventElapsedTime(?:_v2)?\0")


def measures_events(files: Iterable[Path]) -> bool:
    """True if code in these files can ask for the time between two events."""
    return any(_names(path, EVENTS) for path in files)


def _names(path: Path, wanted: re.Pattern[bytes]) -> bool:
    """True if an object file has such a name in its code or data. Debug information names what headers declare."""
    return any(wanted.search(content) for name, content in sections(path) if not name.startswith(".debug"))
