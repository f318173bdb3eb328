"""`python -m gpuprof.jit.build`: compiles ahead what `shipped.txt` lists, so that no run has to. What is there and fits
stays, so a second time takes a second.

    python -m gpuprof.jit.build                       for this machine's processor, next to this file: a checkout
    python -m gpuprof.jit.build --all FOLDER          for each processor of this architecture: a wheel
    python -m gpuprof.jit.build --list FOLDER...      prints the lines of shipped.txt for the files in folders

The same sources and versions give the same bytes.
"""

import argparse
import importlib
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from gpuprof.base.files import replacing
from gpuprof.jit import store
from gpuprof.jit.arguments import kinds_from
from gpuprof.jit.cached import Stored
from gpuprof.jit.processor import levels, processor
from gpuprof.jit.sources import PACKAGE

LIST = Path(__file__).with_name("shipped.txt")
LONGEST = ("timing.engine", "trace.checkers.races.stamps")  # files that begin first: they take half of the time


class Line(NamedTuple):
    """A line of shipped.txt: a function and the kinds of its arguments."""

    module: str
    function: str
    kinds: str

    @classmethod
    def of(cls, text: str) -> "Line":
        name, _, kinds = text.strip().partition("(")
        module, _, function = name.rpartition(".")
        return cls(module, function, kinds.removesuffix(")"))

    def stored(self) -> Stored:
        return getattr(importlib.import_module(f"{PACKAGE.name}.{self.module}"), self.function)

    def facts(self) -> store.Function:
        file = PACKAGE.joinpath(*self.module.split(".")).with_suffix(".py")
        return store.Function(f"{self.module}.{self.function}", file, self.kinds)


def lines() -> list[Line]:
    return [Line.of(text) for text in LIST.read_text().splitlines() if text and not text.startswith("#")]


def missing(folder: Path, processors: Sequence[str]) -> list[Line]:
    """Lines of functions that a folder lacks, or has for other sources or versions."""
    return [line for line in lines() if not all(store.read(folder, line.facts(), cpu).code for cpu in processors)]


def build(folder: Path, processors: Sequence[str], jobs: int) -> int:
    """Fills a folder, and removes what does not belong there; returns how many functions were compiled. Raises
    CalledProcessError.
    """
    folder.mkdir(parents=True, exist_ok=True)
    todo = sorted(((line, cpu) for cpu in processors for line in missing(folder, [cpu])), key=_order)
    with ThreadPoolExecutor(jobs) as pool:
        # One file, and one processor, a process: what is written for one with more instructions is no use to another.
        each = [list(group) for _, group in groupby(todo, key=_order)]
        list(pool.map(lambda group: _in_a_process(folder, group[0][1], [line for line, _ in group]), each))
    wanted = {line.facts().file_name(cpu) for line in lines() for cpu in processors}
    for path in folder.glob(f"*{store.SUFFIX}"):
        if path.name not in wanted:
            path.unlink()
    return len({line for line, _ in todo})


def _order(one: tuple[Line, str]) -> tuple:
    line, cpu = one
    return line.module not in LONGEST, line.module, cpu


def _in_a_process(folder: Path, cpu: str, group: Iterable[Line]) -> None:
    """Compiles functions of one file: a process of its own, in which nothing else has been compiled."""
    environment = {name: value for name, value in os.environ.items() if name not in store.settings()}
    environment |= {"PYTHONPATH": str(PACKAGE.parent), "PYTHONHASHSEED": "0"}
    command = [sys.executable, "-m", "gpuprof.jit.build", "--only", "-", "--for", cpu, "--", folder]
    text = "".join(f"{line.module}.{line.function}({line.kinds})\n" for line in group)
    subprocess.run(command, input=text, text=True, env=environment, check=True)


def _compile(folder: Path, processors: Sequence[str], group: Iterable[Line]) -> None:
    for line in group:
        made = line.stored().object_files(kinds_from(line.kinds), processors)
        for cpu, data in made.items():
            with replacing(folder / line.facts().file_name(cpu)) as partial:
                partial.write_bytes(data)


def function_of(path: Path) -> str:
    """The function of a file, as shipped.txt has it."""
    _, _, line, _ = path.read_bytes().split(b"\n", 3)
    return json.loads(line)["function"].removeprefix("gpuprof.")


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m gpuprof.jit.build", description="Compiles gpuprof's code ahead.")
    parser.add_argument("--all", action="store_true", help="for each processor of this architecture")
    parser.add_argument("--list", action="store_true", help="print the lines of shipped.txt for the files in folders")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes at once (the cores)")
    parser.add_argument("--only", help=argparse.SUPPRESS)
    parser.add_argument("--for", nargs="+", dest="processors", help=argparse.SUPPRESS)
    parser.add_argument("folders", nargs="*", type=Path, default=[store.SHIPPED])
    given = parser.parse_args(arguments)
    if given.list:
        functions = {function_of(path) for folder in given.folders for path in folder.rglob(f"*{store.SUFFIX}")}
        print("\n".join(sorted(functions)))
        return 0
    if given.only:
        _compile(given.folders[0], given.processors, [Line.of(text) for text in sys.stdin])
        return 0
    processors = list(levels()) if given.all else [processor()]
    if n := build(given.folders[0], processors, given.jobs):
        print(f"{n} functions compiled for {' and '.join(processors)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
