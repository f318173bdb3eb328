"""What a program's own check says of its results."""

import re
from typing import NamedTuple

WRONG = re.compile(
    r"\bfail(ed|ure|s)?\b|mismatch|\bincorrect|\bwrong\b|\bnot ok\b|\berror:|(not|n't) match|disagree", re.I
)
RIGHT = re.compile(r"\bpass(ed|es)?\b|success|\bcorrect(ly)?\b|verified|\bok\b|\bmatch(es|ed)?\b|\btrue\b", re.I)
# What reads like a failure and is none: "0 errors", "failed: 0".
NOTHING = re.compile(r"\b(no|0|zero) (error|fail|mismatch)\w*|(fail|error|mismatch)\w*\s*[:=]\s*0(\.0*)?\b(?!\.)", re.I)
USAGE = re.compile(r"^\W*(\S+: )?usage\b", re.I)
NO_MEMORY = re.compile(
    r"out of (device |host )?memory|bad_?alloc|cannot allocate memory|MemoryError|memoryallocation", re.I
)
ASKED = re.compile(r"out of (?:device )?memory: (\d+) bytes asked(?:.*?, (\d+) of \d+ bytes are in use)?")


class Verdict(NamedTuple):
    """`says`: "passes", "wrong", or "nothing" where a program does not check itself; "usage" where it wants other
    arguments, "memory" where it wants more of it than there is. `line`: that says so.
    """

    says: str
    line: str


def judge(output: str, exit_code: int, address_gib: int) -> Verdict:
    """A program that ended. `address_gib`: the addresses that it had, GiB."""
    verdict = _judged(output, exit_code)
    if verdict.says == "passes":
        return verdict
    if usage := next(filter(USAGE.search, output.splitlines()), None):
        return Verdict("usage", usage)
    return Verdict("memory", _need(output, address_gib)) if NO_MEMORY.search(output) else verdict


def _need(output: str, address_gib: int) -> str:
    asked = ASKED.search(output)
    if asked is None:
        return f"needs more than the limit of {address_gib} GiB"
    return f"needs {sum(int(each or 0) for each in asked.groups()) / 1e9:.1f} GB of device memory"


def _judged(output: str, exit_code: int) -> Verdict:
    lines = [NOTHING.sub("no findings", line) for line in output.splitlines()]
    wrong = next((line for line in lines if WRONG.search(line)), None)
    if exit_code:
        return Verdict("wrong", wrong or f"exit code {exit_code}")
    if wrong is not None:
        return Verdict("wrong", wrong)
    right = next((line for line in lines if RIGHT.search(line)), None)
    return Verdict("passes", right) if right is not None else Verdict("nothing", "")
