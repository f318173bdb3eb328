"""The end of a call: how the command ended and what it printed, for programs (a plain value) and for readers (text)."""

import re
from typing import Any, NamedTuple

from gpuprof.errors import Regression, UsageError

VERDICTS = (0, Regression.exit_code)  # ends with an answer; others are errors
# What gpuprof, compilers and Python say when they get no more memory.
NO_MEMORY = re.compile(r"out of memory|no room|MemoryError|bad_alloc|of memory|unable to allocate", re.IGNORECASE)

SCHEMA = {
    "type": "object",
    "properties": {
        "command": {"type": "string", "description": "The command line, without the options that limit it."},
        "exit_code": {
            "type": ["integer", "null"],
            "description": "0: fine; 1: the run failed, or results are wrong; 2: wrong usage; 3: slower than the "
            "baseline allows; 4: not comparable; null: stopped, see `note`; negative: ended by that signal.",
        },
        "stdout": {"type": "string"},
        "stderr": {"type": "string"},
        "note": {"type": "string", "description": "What the server's limits did to the call; often empty."},
    },
    "required": ["command", "exit_code", "stdout", "stderr", "note"],
}


class Outcome(NamedTuple):
    """`exit_code`: None for a command that was stopped, negative for a signal. `note`: what limits did to it."""

    command: str
    exit_code: int | None
    stdout: str = ""
    stderr: str = ""
    note: str = ""

    @property
    def is_error(self) -> bool:
        return self.exit_code not in VERDICTS

    @property
    def as_dict(self) -> dict[str, Any]:
        """By SCHEMA."""
        return self._asdict()

    def texts(self) -> list[str]:
        """The output, then how it ended."""
        how = "stopped" if self.exit_code is None else f"exit code {self.exit_code}"
        end = "\n".join(filter(None, (self.stderr.rstrip("\n"), self.note, f"[{self.command}: {how}]")))
        return [self.stdout, end] if self.stdout else [end]


def refused(command: str, error: UsageError) -> Outcome:
    """A call that starts nothing."""
    return Outcome(command, UsageError.exit_code, stderr=f"gpuprof: {error}\n")


def may_lack_memory(exit_code: int | None, stderr: str) -> bool:
    """True for an end that a limit on memory can explain: it says so, or a signal came."""
    return bool(exit_code) and (exit_code < 0 or NO_MEMORY.search(stderr) is not None)
