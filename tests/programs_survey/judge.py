"""What a program's own check says of its results."""

import re
from typing import NamedTuple

WRONG = re.compile(
    r"\bfail(ed|ure|s)?\b|mismatch|\bincorrect|\bwrong\b|\bnot ok\b|\berror:|does not match|disagree", re.I
)
RIGHT = re.compile(r"\bpass(ed|es)?\b|success|\bcorrect(ly)?\b|verified|\bok\b|\bmatch(es|ed)?\b|\btrue\b", re.I)
# What reads like a failure and is none: "0 errors", "failed: 0".
NOTHING = re.compile(r"\b(no|0|zero) (error|fail|mismatch)\w*|(fail|error|mismatch)\w*\s*[:=]\s*0(\.0*)?\b(?!\.)", re.I)


class Verdict(NamedTuple):
    """`says`: "passes", "wrong", or "nothing" where a program does not check itself. `line`: that says so."""

    says: str
    line: str


def judge(output: str, exit_code: int) -> Verdict:
    """A program that ended."""
    lines = [NOTHING.sub("no findings", line) for line in output.splitlines()]
    wrong = next((line for line in lines if WRONG.search(line)), None)
    if exit_code:
        return Verdict("wrong", wrong or f"exit code {exit_code}")
    if wrong is not None:
        return Verdict("wrong", wrong)
    right = next((line for line in lines if RIGHT.search(line)), None)
    return Verdict("passes", right) if right is not None else Verdict("nothing", "")
