"""Keywords of Python as flags of `gpuprof collect`: `max_registers=64` is `--max-registers=64`.

The flags are declared in `cli.options`, which no room imports; a test compares this table with them.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from gpuprof.base.wording import suggestion
from gpuprof.errors import UsageError

_SHORT = ("O", "l", "L", "D", "I")
_LONG = (
    *("launch", "chip", "host", "period", "trigger", "mode", "seed", "phase", "partition", "stall", "counters", "fifo"),
    *("drain", "stream", "buffer", "poll", "filter", "draw", "stage", "kernel-name", "launch-skip", "launch-count"),
    *("record", "cache", "repeat", "max-cycles", "max-instructions", "sample-blocks", "threads", "param", "passes"),
    "load-base",
    *("trace", "no-accesses", "rules", "no-profile-from-start", "save-stream", "expect", "rtol", "atol"),
    *("error-exitcode", "limit", "suppressions", "max-registers", "compiler", "std", "rdc", "host-compiler", "cccl"),
    *("config", "use_fast_math"),
)
FLAGS = {name.replace("-", "_"): f"--{name}" for name in _LONG} | {name: f"-{name}" for name in _SHORT}


def flag_words(keywords: Mapping[str, Any]) -> list[str]:
    """The words of the command line: a list or tuple repeats its flag, True is a switch; None and False are left out.

    Raises UsageError for a keyword that is no flag.
    """
    check_flags(keywords, "collect")
    return [word for name, value in keywords.items() for word in _words(FLAGS[name], value)]


def check_flags(keywords: Mapping[str, Any], where: str) -> None:
    """Raises UsageError for a keyword that is no flag of `gpuprof collect`; the message names the nearest."""
    for name in keywords:
        if name not in FLAGS:
            near = suggestion(name, FLAGS) or "the flags are those of `gpuprof collect --help`, with _ for -"
            raise UsageError(f"{where}: unknown keyword {name!r}; {near}")


def _words(flag: str, value: Any) -> Iterator[str]:
    # A value may begin with "-": it is one word with its flag.
    if isinstance(value, list | tuple):
        for each in value:
            yield from _words(flag, each)
    elif value is True:
        yield flag
    elif value is not None and value is not False:
        yield f"{flag}={value}" if flag.startswith("--") else f"{flag}{value}"
