"""Standard streams that were closed (`>&-`): what is printed there is dropped, and no file of ours has their number."""

import os
import sys

NAMES = ("stdin", "stdout", "stderr")
# The opposite of what each is for: a file that is to be written to stdout finds that it is closed.
CONTRARY = (os.O_WRONLY, os.O_RDONLY, os.O_RDONLY)


def fill_closed_streams() -> None:
    """Call it before any file is opened."""
    for number, (name, flags) in enumerate(zip(NAMES, CONTRARY, strict=True)):
        if not _is_open(number):
            os.open(os.devnull, flags)  # takes the lowest free number, which is this one
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w" if number else "r", encoding="utf-8"))  # noqa: SIM115


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True
