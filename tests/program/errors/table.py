"""The table of errors: what each call gives in each state, with the sentence of CUDA's manual that says so.

    table.csv ─ rows ─> Row ─ lines_of ─> the input of sources/calls.cu ─ said_by ─> Said of each line ─ wrong ─> text

A line of the table calls by CUDA's names: "2:cudaStreamBeginCapture a global" is thread 2's. In a state after the call,
"= 901" is what a further call gives, and "status 200" how the streams a, b and n are captured (0 not, 1 they are, 2
their capture is invalid, - there is no such stream).
"""

import csv
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
PROGRAM = HERE.parent / "sources" / "calls.cu"
BEGIN = ("1 begin", "2 forget")


class Row(NamedTuple):
    kind: str
    state: str
    before: str
    call: str
    result: int
    after: str
    says: str
    where: str


class Said(NamedTuple):
    """The program's output of one line: the call's result, its thread's last error, the streams' states."""

    result: int
    last: int
    status: str


class Step(NamedTuple):
    """A line of the program's input, and what of its result is expected: None where that does not matter."""

    line: str
    result: int | None = None
    status: str | None = None


def rows() -> list[Row]:
    """The table, in the order of the page."""
    with (HERE / "table.csv").open(newline="") as file:
        return [Row(**(row | {"result": int(row["result"])})) for row in csv.DictReader(file)]


def steps_of(row: Row) -> Iterator[Step]:
    """The calls of a row."""
    yield from (Step(line) for line in BEGIN)
    yield from (Step(_line(call)) for call in _parts(row.before))
    step = Step(_line(row.call), row.result)
    for part in _parts(row.after):
        if part.startswith("status "):
            step = step._replace(status=part.removeprefix("status "))
            continue
        yield step
        call, _, result = part.partition(" = ")
        step = Step(_line(call), int(result))
    yield step


def said_by(lines: Iterable[str], **options: str) -> list[Said | None]:
    """The program's output of each line of its input; None of those that it prints nothing of."""
    lines = list(lines)
    ended = [*lines, *BEGIN, ""]  # a context that is lost at its end would be an error
    command = [sys.executable, "-m", "gpuprof", "run", str(PROGRAM)]
    done = subprocess.run(
        command, input="\n".join(ended), capture_output=True, text=True, timeout=600, env=options or None
    )
    assert not done.returncode, done.stderr[-3000:]
    printed = iter(done.stdout.splitlines())
    said = [None if line[2:] in ("begin", "forget") else _said(next(printed, "")) for line in lines]
    rest = list(printed)
    assert not rest, f"more was printed: {rest[:5]}"
    return said


def wrong(step: Step, said: Said | None) -> str:
    """The fault of a step, "" for none."""
    if said is None:
        return ""
    if step.result is not None and said.result != step.result:
        return f"{step.line}: {said.result}; {step.result} is expected"
    if step.status is not None and said.status != step.status:
        return f"{step.line}: the streams are {said.status}; {step.status} is expected"
    return ""


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(";") if part.strip()]


def _line(call: str) -> str:
    return f"2 {call[2:]}" if call.startswith("2:") else f"1 {call}"


def _said(line: str) -> Said:
    result, last, status = line.split()
    return Said(int(result), int(last), status)
